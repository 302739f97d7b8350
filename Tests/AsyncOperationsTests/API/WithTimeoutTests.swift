import AsyncOperations
import FlowrunTestSupport
import Testing

@Suite(.timeLimit(.minutes(5))) struct WithTimeoutTests {
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
        async let failure = #expect(throws: OperationFailure<Never>.timedOut(.seconds(1))) {
            try await withTimeout(.seconds(1), clock: clock) { await untilCancelled() }
        }
        await clock.advance(by: .seconds(1))
        _ = await failure
    }

    // K9
    @Test func `a body that does not listen is waited for, and its late value does not count`() async throws {
        let clock = ManualClock()
        let (told, go) = (Latch(), Latch())
        let limited = Task { () async throws(OperationFailure<Never>) -> Int in
            try await withTimeout(.seconds(1), clock: clock) {
                await withTaskCancellationHandler {
                    await go.wait()
                    return 1
                } onCancel: {
                    told.open()
                }
            }
        }
        await clock.advance(by: .seconds(1))
        await told.wait()
        go.open()
        await #expect(throws: OperationFailure<Never>.timedOut(.seconds(1))) { try await limited.value }
    }

    // K4
    @Test func `a limit of nothing runs nothing`() async throws {
        let crowd = Crowd()
        await #expect(throws: OperationFailure<Never>.timedOut(.zero)) {
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
        guard case .cancelled(.requested) = error else { return #expect(Bool(false), "\(error)") }
    }
}
