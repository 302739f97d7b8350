import AsyncOperations
import FlowrunTestSupport
import Foundation
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(20))) struct AsyncOperationTests {
    // A1
    @Test func `a new operation is pending and nothing else`() {
        let operation = nothing("new")
        #expect(operation.state == .pending)
        #expect(!operation.isRunning && !operation.isCancelled && !operation.isFinished && !operation.isSuspended)
        #expect(operation.name == "new")
    }

    // A2
    @Test func `ready, started and finished come once each, and it is executing in its body only`() async throws {
        let queue = AsyncOperationQueue()
        let states = Record<OperationState>()
        let reached = Latch()
        let looked = Latch()
        let operation = AsyncOperation { _ in
            reached.open()
            await looked.wait()
        }
        let events = queue.events()
        states.add(operation.state)
        try queue.add(operation)
        await reached.wait()
        states.add(operation.state)
        looked.open()
        try await operation.value
        states.add(operation.state)
        #expect(states.entries == [.pending, .executing, .finished])
        #expect(
            await kinds(events, of: operation.id) == [
                .added(by: nil), .ready, .started(attempt: 1), .finished(.success),
            ])
    }

    // A2, B6, C4
    @Test func `a cancel in flight is a request, then one end`() async throws {
        let queue = AsyncOperationQueue()
        let up = Latch()
        let operation = hanging(up: up)
        let events = queue.events()
        try queue.add(operation)
        await up.wait()
        #expect(operation.cancel())
        #expect(await operation.result.outcome == .cancelled)
        #expect(
            await kinds(events, of: operation.id) == [
                .added(by: nil), .ready, .started(attempt: 1), .cancelRequested(.requested), .finished(.cancelled),
            ])
    }

    // A3
    @Test func `an operation with a callback ends when it is told so, not when the callback returns`() async throws {
        let queue = AsyncOperationQueue()
        let completions = Record<Completion<Int, Never>>()
        let returned = Latch()
        let order = Record<String>()
        let first = AsyncOperation<Int, Never>(whenStopped: .wait) { _, completion in
            completions.add(completion)
            returned.open()
        }
        let second = AsyncOperation { _ in order.add("second") }
        try second.addDependency(on: first)
        try queue.add(first, second)
        await returned.wait()
        #expect(first.state == .executing)
        order.add("told")
        #expect(completions.entries[0].succeed(7))
        #expect(await first.result == .success(7))
        try await second.value
        #expect(order.entries == ["told", "second"])
    }

    // A4, K1
    @Test func `work that never ends goes on until its limit`() async throws {
        let clock = ManualClock()
        let operation = hanging(options: .init(timeout: .seconds(1)))
        try operation.start(clock: clock)
        await clock.advance(by: .seconds(1))
        #expect(await operation.result == .failure(.timedOut(limit: .seconds(1), scope: operation.id)))
    }

    // A5, M4
    @Test func `the first of two ends counts`() async throws {
        let answers = Record<Bool>()
        let operation = AsyncOperation<Int, TestError>(whenStopped: .wait) { _, completion in
            answers.add(completion.succeed(1))
            answers.add(completion.fail(TestError()))
        }
        let ends = Record<OperationOutcome>()
        operation.addCompletion { ends.add($0.outcome) }
        try operation.start()
        #expect(await operation.result == .success(1))
        #expect(answers.entries == [true, false])
        #expect(ends.entries == [.success])
    }

    // A5
    @Test func `of eight threads that end it one is heard`() async throws {
        for _ in 0..<200 {
            let heard = Record<Int>()
            let handle = Record<Completion<Int, Never>>()
            let up = Latch()
            let operation = AsyncOperation<Int, Never>(whenStopped: .wait) { _, completion in
                handle.add(completion)
                up.open()
            }
            try operation.start()
            await up.wait()
            await withDiscardingTaskGroup { group in
                for number in 0..<8 {
                    group.addTask { if handle.entries[0].succeed(number) { heard.add(number) } }
                }
            }
            #expect(heard.entries.count == 1)
            #expect(await operation.result == .success(heard.entries[0]))
        }
    }

    // A8
    @Test func `what is over or taken is not added again, and nothing else of the call either`() async throws {
        let queue = AsyncOperationQueue(isSuspended: true)
        let other = AsyncOperationQueue()
        let ended = nothing()
        try ended.start()
        try await ended.value
        let taken = nothing()
        try queue.add(taken)
        let bystander = nothing()
        #expect(throws: UsageError.alreadyFinished(ended.id)) { try other.add(bystander, ended) }
        #expect(throws: UsageError.alreadyEnqueued(taken.id)) { try other.add(bystander, taken) }
        #expect(throws: UsageError.alreadyEnqueued(taken.id)) { try CompoundOperation { taken } }
        #expect(other.operationCount == 0)
        #expect(bystander.state == .pending)
        try other.add(bystander)
        try await bystander.value
        queue.resume()
        try await taken.value
    }

    // A9
    @Test func `a second start is refused, while it runs and after its end`() async throws {
        let up = Latch()
        let go = Latch()
        let runs = Crowd()
        let operation = AsyncOperation { _ in
            runs.enter()
            up.open()
            await go.wait()
        }
        try operation.start()
        await up.wait()
        #expect(throws: UsageError.alreadyStarted(operation.id)) { try operation.start() }
        go.open()
        try await operation.value
        #expect(throws: UsageError.alreadyFinished(operation.id)) { try operation.start() }
        #expect(runs.now == 1)
    }

    // A10
    @Test func `an operation may cancel itself`() async throws {
        let handle = Record<AsyncOperation<Void, Never>>()
        let operation = AsyncOperation { _ in
            #expect(handle.entries[0].cancel())
            await untilCancelled()
        }
        handle.add(operation)
        try operation.start()
        #expect(await operation.result == .failure(.cancelled(.requested)))
    }

    // A11
    @Test func `it may be ended from another thread while the callback waits for that`() async throws {
        let operation = AsyncOperation<Int, Never>(whenStopped: .wait) { _, completion in
            let isDone = DispatchSemaphore(value: 0)
            Thread.detachNewThread {
                completion.succeed(3)
                isDone.signal()
            }
            isDone.wait()
        }
        try operation.start()
        #expect(await operation.result == .success(3))
    }

    // A12
    @Test func `dependencies do not change once it runs`() async throws {
        let up = Latch()
        let operation = hanging(up: up)
        let other = nothing()
        try operation.start()
        await up.wait()
        #expect(throws: UsageError.alreadyStarted(operation.id)) { try operation.addDependency(on: other) }
        #expect(throws: UsageError.alreadyStarted(operation.id)) { try operation.removeDependency(on: other) }
        operation.cancel()
        _ = await operation.result
        #expect(throws: UsageError.alreadyFinished(operation.id)) { try operation.addDependency(on: other) }
    }

    // A12
    @Test func `dependencies may come until the start, also in a queue`() async throws {
        let queue = try AsyncOperationQueue(maxConcurrentOperationCount: 1, isSuspended: true)
        let order = Record<Int>()
        let (first, second) = (AsyncOperation { _ in order.add(1) }, AsyncOperation { _ in order.add(2) })
        try queue.add(first, second)
        #expect(first.state == .ready)
        try first.addDependency(on: second)
        #expect(first.state == .pending && first.dependencies == [second.id])
        #expect(throws: UsageError.cycle([second.id, first.id, second.id])) { try second.addDependency(on: first) }
        queue.resume()
        try await first.value
        #expect(order.entries == [2, 1] && first.dependencies.isEmpty)
    }

    // A13
    @Test func `dropping the completion ends the operation as abandoned`() async throws {
        let operation = AsyncOperation<Int, Never>(whenStopped: .wait) { _, _ in }
        try operation.start()
        #expect(await operation.result == .failure(.cancelled(.abandoned)))
    }

    // A13, D21
    @Test func `dropping an operation that was never started ends what waits for it`() async throws {
        let dependent: AsyncOperation<Void, Never>
        let cause: AsyncOperationID
        do {
            let forgotten = nothing()
            cause = forgotten.id
            dependent = nothing()
            try dependent.addDependency(on: forgotten)
        }
        try dependent.start()
        #expect(await dependent.result == .failure(.notRun(rootCause: cause)))
    }

    @Test func `a body may block on a thread of its own`() async throws {
        let operation = AsyncOperation<Int, TestError>.blocking { _ in 5 }
        try operation.start()
        #expect(await operation.result == .success(5))
        let failing = AsyncOperation<Int, TestError>.blocking { _ throws(TestError) in throw TestError(2) }
        try failing.start()
        #expect(await failing.result == .failure(.failed(TestError(2))))
    }

    // K11
    @Test func `a delay lasts its time and no less, and ends at once on a cancel or if it is none`() async throws {
        let clock = ManualClock()
        let delay = AsyncOperation.delay(for: .seconds(3))
        try delay.start(clock: clock)
        await clock.advance(by: .seconds(3))
        #expect(await delay.result.outcome == .success)

        let cancelled = AsyncOperation.delay(for: .seconds(3))
        try cancelled.start(clock: clock)
        clock.move(by: .seconds(2))
        cancelled.cancel()
        #expect(await cancelled.result == .failure(.cancelled(.requested)))

        let past = AsyncOperation.delay(for: .seconds(-1))
        try past.start(clock: clock)
        #expect(await past.result.outcome == .success)
    }

    // Q7
    @Test func `the priority of the task is passed to the body`() async throws {
        for priority in [TaskPriority.background, .low, .medium, .high] {
            let operation = AsyncOperation(options: .init(taskPriority: priority)) { _ in Task.basePriority }
            try operation.start()
            #expect(await operation.result == .success(priority))
        }
    }

    @Test func `resume beside start goes on without an error, whoever comes first`() async throws {
        for _ in 0..<1000 {
            let go = Latch()
            let operation = holding(until: go)
            try operation.suspend()
            try await withThrowingTaskGroup { group in
                group.addTask {
                    do { try operation.start() } catch UsageError.alreadyStarted {}
                }
                group.addTask { try operation.resume() }
                try await group.waitForAll()
            }
            #expect(!operation.isSuspended)
            go.open()
            #expect(await operation.outcome == .success)
        }
    }

    @Test func `a suspension from before the start holds with start, and not in a queue`() async throws {
        let started = nothing()
        try started.suspend()
        try started.start()
        #expect(started.isSuspended && !started.isFinished)
        try started.resume()
        #expect(await started.outcome == .success)
        let added = nothing()
        try added.suspend()
        let queue = AsyncOperationQueue()
        try queue.add(added)
        #expect(await added.outcome == .success)
        #expect(!added.isSuspended)
    }
}
