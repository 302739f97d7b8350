import AsyncOperations
import FlowrunTestSupport
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(20))) struct QueueRunTests {
    @Test func `it returns what the body returns and throws what it throws`() async throws {
        let queue = try AsyncOperationQueue(maxConcurrentOperationCount: 2)
        #expect(try await queue.run { _ in 7 } == 7)
        #expect(try await queue.run("named") { $0.name } == "named")
        await #expect(throws: OperationFailure.failed(TestError(3))) {
            try await queue.run { _ async throws(TestError) -> Int in throw TestError(3) }
        }
        #expect(queue.operationCount == 0)
    }

    @Test func `it waits for its turn as any other operation of the queue`() async throws {
        let queue = try AsyncOperationQueue(maxConcurrentOperationCount: 1)
        let crowd = Crowd()
        await withDiscardingTaskGroup { group in
            for _ in 0..<20 {
                group.addTask {
                    _ = try? await queue.run { _ in
                        crowd.enter()
                        await Task.yield()
                        crowd.leave()
                    }
                }
            }
        }
        #expect(crowd.most == 1)
        let clock = ManualClock()
        let timed = AsyncOperationQueue(clock: clock)
        let ids = Record<AsyncOperationID>()
        let up = Latch()
        let late = Task { () async throws(OperationFailure<Never>) in
            try await timed.run(options: .init(timeout: .seconds(1))) { context in
                ids.add(context.id)
                up.open()
                await untilCancelled()
                return 1
            }
        }
        // A limit that passes before the body begins would leave it out.
        await up.wait()
        await clock.advance(by: .seconds(1))
        let failure = await #expect(throws: OperationFailure<Never>.self) { try await late.value }
        #expect(failure == .timedOut(limit: .seconds(1), scope: ids.entries[0]))
    }

    @Test func `cancelling the caller cancels the operation, whose end is waited for`() async throws {
        let queue = AsyncOperationQueue()
        let (up, told, go) = (Latch(), Latch(), Latch())
        let order = Record<String>()
        let task = Task { () async throws(OperationFailure<Never>) in
            defer { order.add("returned") }
            return try await queue.run { context in
                context.onCancel { _ in told.open() }
                up.open()
                await go.wait()
                order.add("ended")
                return 1
            }
        }
        await up.wait()
        task.cancel()
        await told.wait()
        #expect(queue.operationCount == 1)
        go.open()
        await #expect(throws: OperationFailure<Never>.cancelled(.requested)) { try await task.value }
        #expect(order.entries == ["ended", "returned"])
    }

    @Test func `called in a task that is cancelled already, it does not enter the body`() async throws {
        let queue = AsyncOperationQueue()
        let runs = Crowd()
        let task = Task { () async throws(OperationFailure<Never>) in
            await untilCancelled()
            return try await queue.run { _ in
                runs.enter()
                return 1
            }
        }
        task.cancel()
        await #expect(throws: OperationFailure<Never>.cancelled(.requested)) { try await task.value }
        #expect(runs.now == 0 && queue.operationCount == 0)
    }

    @Test func `what the queue does not take is refused`() async throws {
        let queue = AsyncOperationQueue()
        let failure = await #expect(throws: OperationFailure<Never>.self) {
            try await queue.run("load", options: .init(timeout: .zero)) { _ in 1 }
        }
        #expect(failure?.description == "refused: `load` has a time limit of 0.0 seconds; it must be above zero")
        try await queue.shutdown()
        await #expect(throws: OperationFailure<Never>.refused(.closed(queue.id))) { try await queue.run { _ in 1 } }
    }

    /// Whether the call was refused because the calling body would wait for itself.
    private func isRefused(_ queue: AsyncOperationQueue, _ options: OperationOptions = .init()) async -> Bool {
        do {
            try await queue.run("inner", options: options) { _ in }
            return false
        } catch .refused(.wouldWaitForItself(let waiter, let awaited)) {
            return waiter.name == "outer" && awaited.name == "inner"
        } catch {
            return false
        }
    }

    @Test func `in the body that holds the only place it is refused, and nothing stays behind`() async throws {
        let queue = try AsyncOperationQueue(maxConcurrentOperationCount: 1)
        #expect(try await queue.run("outer") { _ in await isRefused(queue) })
        #expect(queue.operationCount == 0)
        let other = try AsyncOperationQueue(maxConcurrentOperationCount: 1)
        #expect(try await other.run("outer") { _ in await isRefused(queue) } == false)
        try queue.setMaxConcurrentOperationCount(2)
        #expect(try await queue.run("outer") { _ in await isRefused(queue) } == false)
    }

    @Test func `in a body that holds a mutex it wants, or holds up a barrier before it, it is refused`() async throws {
        let queue = try AsyncOperationQueue(maxConcurrentOperationCount: 4)
        let options = OperationOptions(mutexes: ["m"])
        let isRefusedForMutex = try await queue.run("outer", options: options) { _ in await isRefused(queue, options) }
        #expect(isRefusedForMutex)
        let barrier = nothing("barrier")
        let isRefusedForBarrier = try await queue.run("outer") { _ in
            try? queue.addBarrier(barrier)
            return await isRefused(queue)
        }
        #expect(isRefusedForBarrier)
        #expect(await barrier.outcome == .success)
        #expect(queue.operationCount == 0)
    }

    @Test func `the body runs at the priority of the calling task, from its first statement`() async throws {
        let queue = AsyncOperationQueue()
        for _ in 0..<100 {
            let task = Task(priority: .high) { try await queue.run { _ in Task.currentPriority } }
            #expect(try await task.value >= .high)
        }
    }

    @Test func `the body has the task-local values of its caller, whatever thread begins it`() async throws {
        let queue = try AsyncOperationQueue(maxConcurrentOperationCount: 8)
        let wrong = Crowd()
        await withDiscardingTaskGroup { group in
            for lane in 1...8 {
                group.addTask {
                    for number in 0..<500 {
                        let wanted = lane * 100_000 + number
                        await Marked.$number.withValue(wanted) {
                            let operation = AsyncOperation<Int, Never> { () async -> Int in Marked.number }
                            operation.addCompletion { _ in for _ in 0..<50 { _ = Task.isCancelled } }
                            if let found = try? await queue.run(operation), found != wanted { wrong.enter() }
                        }
                    }
                }
            }
        }
        #expect(wrong.now == 0)
    }

    @Test func `calls in the bodies of calls may be nested deeply`() async throws {
        let queue = try AsyncOperationQueue(maxConcurrentOperationCount: 1_000_000)
        #expect(try await Task.detached { try await Self.nest(20_000, in: queue) }.value == 20_000)
    }

    @concurrent private static func nest(_ depth: Int, in queue: AsyncOperationQueue) async throws -> Int {
        if depth == 0 { return 0 }
        return try await queue.run { () async throws -> Int in try await nest(depth - 1, in: queue) + 1 }
    }
}

private enum Marked {
    @TaskLocal static var number = 0
}
