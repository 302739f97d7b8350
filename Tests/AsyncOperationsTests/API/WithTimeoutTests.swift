import AsyncOperations
import FlowrunTestSupport
import Testing

@Suite(.timeLimit(.minutes(20))) struct WithTimeoutTests {
    @Test func `what ends in time gives its value or its own error`() async throws {
        let clock = ManualClock()
        #expect(try await withTimeout(.seconds(1), clock: clock) { 5 } == 5)
        await #expect(throws: OperationFailure<TestError>.failed(TestError(2))) {
            try await withTimeout(.seconds(1), clock: clock) { () async throws(TestError) -> Int in throw TestError(2) }
        }
        #expect(clock.sleeperCount == 0)
    }

    // K1
    @Test func `the limit cancels the body and is the error`() async throws {
        let clock = ManualClock()
        async let failure = #expect(throws: OperationFailure<Never>.timedOut(limit: .seconds(1), scope: nil)) {
            try await withTimeout(.seconds(1), clock: clock) { await untilCancelled() }
        }
        await clock.advance(by: .seconds(1))
        _ = await failure
    }

    /// 1 once `go` is open, and not before. Opens `told` when it is told to stop.
    private func one(after go: Latch, telling told: Latch) async -> Int {
        await withTaskCancellationHandler {
            await go.wait()
            return 1
        } onCancel: {
            told.open()
        }
    }

    // K9
    @Test func `a body that does not listen is waited for, and its late value does not count`() async throws {
        let clock = ManualClock()
        let (told, go) = (Latch(), Latch())
        let limited = Task { () async throws(OperationFailure<Never>) -> Int in
            try await withTimeout(.seconds(1), clock: clock) { await one(after: go, telling: told) }
        }
        await clock.advance(by: .seconds(1))
        await told.wait()
        go.open()
        await #expect(throws: OperationFailure<Never>.timedOut(limit: .seconds(1), scope: nil)) {
            try await limited.value
        }
    }

    @Test func `once the caller is cancelled, the limit does not count any more`() async throws {
        let clock = ManualClock()
        let (told, go) = (Latch(), Latch())
        let limited = Task { () async throws(OperationFailure<Never>) -> Int in
            try await withTimeout(.seconds(1), clock: clock) { await one(after: go, telling: told) }
        }
        while clock.sleeperCount == 0 { await Task.yield() }
        limited.cancel()
        await told.wait()
        clock.move(by: .seconds(1))
        go.open()
        #expect(try await limited.value == 1)
    }

    // K4
    @Test func `a limit of nothing runs nothing`() async throws {
        let crowd = Crowd()
        await #expect(throws: OperationFailure<Never>.timedOut(limit: .zero, scope: nil)) {
            try await withTimeout(.zero) { crowd.enter() }
        }
        #expect(crowd.now == 0)
    }

    // K10
    @Test func `limit and end at the same instant give one answer`() async throws {
        for _ in 0..<200 {
            let clock = ManualClock()
            async let answer = Self.answer(on: clock)
            await clock.advance(by: .seconds(1))
            #expect([nil, 1].contains(await answer))
        }
    }

    private static func answer(on clock: ManualClock) async -> Int? {
        try? await withTimeout(.seconds(1), clock: clock) {
            try? await clock.sleep(for: .seconds(1))
            return 1
        }
    }

    @Test func `cancelling the caller cancels the body`() async throws {
        let clock = ManualClock()
        let up = Latch()
        let limited = Task {
            try await withTimeout(.seconds(1), clock: clock) {
                up.open()
                await untilCancelled()
                try Task.checkCancellation()
            }
        }
        await up.wait()
        limited.cancel()
        guard case .failure(let error as OperationFailure<any Error>) = await limited.result else {
            return #expect(Bool(false), "it has thrown")
        }
        guard case .cancelled(.requested, _) = error else { return #expect(Bool(false), "\(error)") }
    }

    @Test func `the body uses the state of the actor that calls, and nobody else does meanwhile`() async throws {
        let counter = Counter()
        let limited = Task { try await counter.addTwice() }
        await counter.reached.wait()
        // Between its two steps, the body waits and the actor is free.
        #expect(await counter.count == 1)
        counter.go.open()
        #expect(try await limited.value == 2)
        #expect(await counter.count == 2)
    }

    @Test func `the body of an actor is told to stop in its isolation`() async throws {
        let clock = ManualClock()
        let counter = Counter()
        async let failure = #expect(throws: OperationFailure<Never>.timedOut(limit: .seconds(1), scope: nil)) {
            try await counter.addUntilStopped(on: clock)
        }
        await clock.advance(by: .seconds(1))
        _ = await failure
        #expect(await counter.count == 2)
    }

    @MainActor @Test func `a body on the main actor stays on it`() async throws {
        let page = Page()
        let text = try await withTimeout(.seconds(3600)) {
            MainActor.assertIsolated()
            await Task.yield()
            MainActor.assertIsolated()
            page.text += "!"
            return page
        }
        #expect(text === page && page.text == "!")
    }

    @Test func `what is not Sendable goes in and comes out`() async throws {
        let page = Page()
        var lines = 0
        let same = try await withTimeout(.seconds(3600)) {
            await Task.yield()
            lines += 1
            page.text = "written"
            return page
        }
        #expect(same === page && page.text == "written" && lines == 1)
    }

    @Test func `the body has the task-local values and the priority of the caller, and its cancellation is its own`()
        async throws
    {
        let clock = ManualClock()
        let seen = Latch()
        let caller = Task.detached(priority: .low) {
            await WithTimeoutTests.$word.withValue("here") {
                let failure = await #expect(throws: OperationFailure<Never>.timedOut(limit: .seconds(1), scope: nil)) {
                    try await withTimeout(.seconds(1), clock: clock) {
                        #expect(WithTimeoutTests.word == "here")
                        #expect(Task.currentPriority == .low)
                        seen.open()
                        await untilCancelled()
                    }
                }
                return (failure, Task.isCancelled)
            }
        }
        await clock.advance(by: .seconds(1))
        // A wait for the task raises its priority.
        await seen.wait()
        let (failure, isCancelled) = await caller.value
        #expect(failure != nil && !isCancelled)
    }

    @TaskLocal private static var word = ""
}

private actor Counter {
    var count = 0
    nonisolated let reached = Latch()
    nonisolated let go = Latch()

    func addTwice() async throws -> Int {
        try await withTimeout(.seconds(3600)) {
            count += 1
            reached.open()
            await go.wait()
            assertIsolated()
            count += 1
            return count
        }
    }

    func addUntilStopped(on clock: ManualClock) async throws(OperationFailure<Never>) {
        try await withTimeout(.seconds(1), clock: clock) {
            count += 1
            await untilCancelled()
            assertIsolated()
            count += 1
        }
    }
}

/// Not `Sendable`.
private final class Page {
    var text = ""
}
