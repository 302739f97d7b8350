import AsyncOperations
import FlowrunTestSupport
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(20))) struct CancellationTests {
    // F9
    @Test func `a compound operation that nobody has started is cancelled at the same cost for each member`() throws {
        func cost(_ count: Int) throws -> Duration {
            let compound = try CompoundOperation { (0..<count).map { _ in AsyncOperation<Void, Never> { _ in } } }
            let cost = processorTime { compound.cancel() }
            #expect(compound.reports.count == count)
            return cost
        }
        // The best of several, because others use the caches too.
        var ratio = Double.infinity
        for _ in 0..<5 where ratio > 8 { ratio = min(ratio, try cost(40_000) / cost(10_000)) }
        #expect(ratio <= 8)
    }

    // C1
    @Test func `cancelled before it belongs to a queue, it ends at once and never runs`() async throws {
        let runs = Crowd()
        let operation = AsyncOperation { _ in runs.enter() }
        #expect(operation.cancel())
        #expect(operation.state == .finished)
        #expect(await operation.result == .failure(.cancelled(.requested)))
        let queue = AsyncOperationQueue()
        #expect(throws: UsageError.alreadyFinished(operation.id)) { try queue.add(operation) }
        #expect(runs.now == 0)
    }

    // C1
    @Test func `who waited before the cancel wakes`() async throws {
        let operation = nothing()
        async let result = operation.result
        operation.cancel()
        #expect(await result == .failure(.cancelled(.requested)))
    }

    // B5, C3, J7
    @Test func `cancelled in a suspended queue, it ends without resume and without its body`() async throws {
        let queue = try AsyncOperationQueue(maxConcurrentOperationCount: 1, isSuspended: true)
        let order = Record<Int>()
        let operations = (0..<5).map { number in AsyncOperation { _ in order.add(number) } }
        let completions = Record<OperationOutcome>()
        operations[2].addCompletion { completions.add($0.outcome) }
        try queue.add(contentsOf: operations)
        #expect(operations[2].cancel())
        #expect(await operations[2].result == .failure(.cancelled(.requested)))
        #expect(completions.entries == [.cancelled])
        queue.resume()
        try await queue.waitUntilIdle()
        #expect(order.entries == [0, 1, 3, 4])
    }

    // C2, C11
    @Test func `cancelled while it waits for a dependency, it ends now, and what it needs goes on`() async throws {
        let (up, go) = (Latch(), Latch())
        let needed = holding(up: up, until: go)
        let operation = nothing()
        try operation.addDependency(on: needed)
        let queue = AsyncOperationQueue()
        try queue.add(needed, operation)
        await up.wait()
        operation.cancel()
        #expect(await operation.result == .failure(.cancelled(.requested)))
        #expect(needed.state == .executing)
        go.open()
        #expect(await needed.outcome == .success)
    }

    // C5
    @Test func `a cancel is a request: mutex and place stay taken until the body has ended`() async throws {
        let (up, go) = (Latch(), Latch())
        let deaf = AsyncOperation(options: .init(mutexes: ["m"])) { _ in
            up.open()
            await go.wait()
        }
        let next = nothing(options: .init(mutexes: ["m"]))
        let queue = try AsyncOperationQueue(maxConcurrentOperationCount: 2)
        try queue.add(deaf, next)
        await up.wait()
        deaf.cancel()
        let free = nothing()
        try queue.add(free)
        try await free.value
        #expect(next.state == .ready)
        #expect(deaf.state == .executing)
        go.open()
        try await next.value
        #expect(await deaf.outcome == .cancelled)
    }

    // C6
    @Test func `the first cancel is the one that counts, and after the end none does`() async throws {
        let up = Latch()
        let operation = hanging(up: up)
        let answers = Record<Bool>()
        operation.addCompletion { [weak operation] _ in answers.add(operation?.cancel() ?? false) }
        try operation.start()
        await up.wait()
        #expect(operation.cancel(.shutdown))
        #expect(!operation.cancel(.requested))
        #expect(await operation.result == .failure(.cancelled(.shutdown)))
        #expect(!operation.cancel())
        #expect(answers.entries == [false])
        let done = nothing()
        try done.start()
        try await done.value
        #expect(!done.cancel())
        #expect(done.isCancelled == false)
    }

    // C7
    @Test func `cancelled while it waits for a mutex, it ends at once`() async throws {
        let (up, go) = (Latch(), Latch())
        let holder = AsyncOperation(options: .init(mutexes: ["m"])) { _ in
            up.open()
            await go.wait()
        }
        let waiter = nothing(options: .init(mutexes: ["m"]))
        let queue = try AsyncOperationQueue(maxConcurrentOperationCount: 2)
        try queue.add(holder, waiter)
        await up.wait()
        waiter.cancel()
        #expect(await waiter.outcome == .cancelled)
        #expect(holder.state == .executing)
        go.open()
        try await holder.value
    }

    // C8
    @Test func `cancelled during a back-off, it ends at once and is not tried again`() async throws {
        let clock = ManualClock()
        let queue = AsyncOperationQueue(clock: clock)
        let attempts = Crowd()
        let retry = RetryPolicy(attempts: 3, backoff: .constant(.seconds(3600)))
        let operation = AsyncOperation(options: .init(retry: retry)) { _ async throws(TestError) -> Void in
            attempts.enter()
            throw TestError()
        }
        var events = queue.events().makeAsyncIterator()
        try queue.add(operation)
        while let event = await events.next(), event.kind != .retry(after: .seconds(3600)) {}
        operation.cancel()
        #expect(await operation.result == .failure(.cancelled(.requested, underlying: TestError())))
        #expect(attempts.now == 1)
    }

    // C9
    @Test func `the body learns the reason, once, also when it asks late`() async throws {
        let reasons = Record<AsyncOperationContext.CancellationReason>()
        let up = Latch()
        let operation = AsyncOperation { context in
            context.onCancel { reasons.add($0) }
            up.open()
            await untilCancelled()
            #expect(context.isCancelled)
            #expect(throws: CancellationError.self) { try context.checkCancellation() }
            context.onCancel { reasons.add($0) }
        }
        try operation.start()
        await up.wait()
        operation.cancel(.shutdown)
        _ = await operation.result
        #expect(reasons.entries == [.shutdown, .shutdown])
    }

    // C10
    @Test func `cancelled, it stays so whatever the body says then, and the error is kept beside`() async throws {
        let up = Latch()
        let operation = AsyncOperation { _ async throws(TestError) -> Int in
            up.open()
            await untilCancelled()
            throw TestError(3)
        }
        try operation.start()
        await up.wait()
        operation.cancel()
        #expect(await operation.result == .failure(.cancelled(.requested, underlying: TestError(3))))

        let proudUp = Latch()
        let proud = AsyncOperation { _ -> Int in
            proudUp.open()
            await untilCancelled()
            return 1
        }
        try proud.start()
        await proudUp.wait()
        proud.cancel()
        #expect(await proud.result == .failure(.cancelled(.requested)))
    }

    @Test func `a cancellation error of a body that was not asked to stop is a failure`() async throws {
        let operation = AsyncOperation { _ -> Int in throw CancellationError() }
        let dependent = AsyncOperation(from: operation.output) { _, _ in }
        let queue = AsyncOperationQueue()
        try queue.add(operation, dependent)
        #expect(await operation.outcome == .failure)
        #expect(await dependent.result == .failure(.notRun(rootCause: operation.id)))
        let waterfall = Waterfall(from: Int.self, failure: (any Error).self).then { _ -> Int in
            throw CancellationError()
        }
        await #expect {
            _ = try await waterfall.run(1)
        } throws: { error in
            guard case .failed(let cause)? = error as? OperationFailure<any Error> else { return false }
            return cause is CancellationError
        }
    }

    @Test func `a cancellation error of a body that was asked to stop is a cancel`() async throws {
        let up = Latch()
        let operation = AsyncOperation { context -> Int in
            up.open()
            await untilCancelled()
            try context.checkCancellation()
            return 1
        }
        try operation.start()
        await up.wait()
        operation.cancel()
        #expect(await operation.outcome == .cancelled)
    }

    // O5
    @Test func `a waiter whose own task is cancelled wakes, and the operation goes on`() async throws {
        let go = Latch()
        let operation = AsyncOperation { _ in
            await go.wait()
            return 1
        }
        try operation.start()
        let waiter = Task { () async throws(OperationFailure<Never>) in try await operation.value }
        waiter.cancel()
        await #expect(throws: OperationFailure<Never>.cancelled(.waiter)) { try await waiter.value }
        #expect(OperationFailure<Never>.cancelled(.waiter).outcome == nil)
        go.open()
        #expect(await operation.result == .success(1))
    }

    // O5
    @Test func `all waiters, streams and consumers wake on a cancel`() async throws {
        let queue = AsyncOperationQueue()
        let up = Latch()
        let producer = AsyncOperation { _ -> Int in
            up.open()
            await untilCancelled()
            return 1
        }
        let consumer = AsyncOperation(from: producer.output) { _, value in value }
        let events = queue.events()
        try queue.add(producer, consumer)
        async let waiters = (producer.result, producer.outcome, consumer.result, kinds(events, of: consumer.id))
        await up.wait()
        queue.cancelAll()
        let (result, outcome, consumed, seen) = await waiters
        #expect(result == .failure(.cancelled(.requested)))
        #expect(outcome == .cancelled)
        #expect(consumed == .failure(.cancelled(.requested)))
        #expect(seen.last == .finished(.cancelled))
        try await queue.waitUntilIdle()
    }

    // B4
    @Test func `however cancel and end race, there is one end and it is the one that was accepted`() async throws {
        let queue = try AsyncOperationQueue(maxConcurrentOperationCount: 64)
        let wrong = Atomic(0)
        for _ in 0..<100 {
            let ends = (0..<1000).map { _ in RacedOperation() }
            try queue.add(contentsOf: ends.map(\.operation))
            await withDiscardingTaskGroup { group in
                group.addTask { for end in ends { end.finish() } }
                group.addTask { for end in ends { end.cancel() } }
            }
            try await queue.waitUntilIdle()
            for end in ends where await !end.isRight { wrong.add(1, ordering: .relaxed) }
        }
        #expect(wrong.load(ordering: .relaxed) == 0)
    }
}

/// An operation that one task ends and another one cancels.
private final class RacedOperation: Sendable {
    let operation: AsyncOperation<Int, Never>
    private let wish = Record<Completion<Int, Never>>()
    private let mayFinish = Record<Bool>()
    private let wasCancelled = Record<Bool>()
    private let ends = Record<OperationOutcome>()

    init() {
        operation = AsyncOperation(whenStopped: .wait) { [wish, mayFinish] _, completion in
            wish.add(completion)
            if !mayFinish.entries.isEmpty { completion.succeed(1) }
        }
        operation.addCompletion { [ends] in ends.add($0.outcome) }
    }

    func finish() {
        mayFinish.add(true)
        for completion in wish.entries { completion.succeed(1) }
    }

    func cancel() {
        wasCancelled.add(operation.cancel())
    }

    var isRight: Bool {
        get async {
            let outcome = await operation.outcome
            let expected: OperationOutcome = wasCancelled.entries == [true] ? .cancelled : .success
            return ends.entries == [outcome] && outcome == expected
        }
    }
}
