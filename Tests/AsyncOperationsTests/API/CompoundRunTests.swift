import AsyncOperations
import FlowrunTestSupport
import Testing

/// Compound operations that belong to the calling task.
@Suite(.timeLimit(.minutes(20))) struct CompoundRunTests {
    @TaskLocal private static var word = ""

    @Test func `a run returns the reports in the order of the members, alone and in a queue`() async throws {
        for queue in [nil, AsyncOperationQueue()] {
            let second = AsyncOperation("second") { 2 }
            let compound = try CompoundOperation {
                AsyncOperation("first", from: second.output) { $0 }
                second
            }
            let reports = if let queue { try await compound.run(on: queue) } else { try await compound.run() }
            #expect(reports.map(\.name) == ["first", "second"])
            #expect(compound.state == .finished && queue?.operationCount ?? 0 == 0)
        }
    }

    @Test func `a run throws the failure of its members, and what it could not start`() async throws {
        let compound = try CompoundOperation { failing("one") }
        let failure = await #expect(throws: OperationFailure<CompoundOperation.Failure>.self) {
            try await compound.run()
        }
        guard case .failed(let members) = failure else { return #expect(Bool(false), "\(failure as Any)") }
        #expect(members.leaves.map(\.name) == ["one"])
        let again = await #expect(throws: OperationFailure<CompoundOperation.Failure>.self) { try await compound.run() }
        guard case .refused(.alreadyFinished(compound.id)) = again else {
            return #expect(Bool(false), "\(again as Any)")
        }
        let queue = AsyncOperationQueue()
        try await queue.shutdown()
        let late = try CompoundOperation {}
        let closed = await #expect(throws: OperationFailure<CompoundOperation.Failure>.self) {
            try await late.run(on: queue)
        }
        guard case .refused(.closed(queue.id)) = closed else { return #expect(Bool(false), "\(closed as Any)") }
    }

    @Test(arguments: [false, true])
    func `cancelling the caller cancels the members, whose end is waited for`(isQueued: Bool) async throws {
        let (up, told, go) = (Latch(), Latch(), Latch())
        let order = Record<String>()
        let queue = isQueued ? AsyncOperationQueue() : nil
        let compound = try CompoundOperation {
            AsyncOperation { context in
                context.onCancel { _ in told.open() }
                up.open()
                await go.wait()
                order.add("ended")
            }
        }
        let task = Task {
            defer { order.add("returned") }
            if let queue { try await compound.run(on: queue) } else { try await compound.run() }
        }
        await up.wait()
        task.cancel()
        await told.wait()
        #expect(!compound.isFinished)
        go.open()
        let failure = await #expect(throws: OperationFailure<CompoundOperation.Failure>.self) { try await task.value }
        guard case .cancelled(.requested, _) = failure else { return #expect(Bool(false), "\(failure as Any)") }
        #expect(order.entries == ["ended", "returned"])
    }

    @Test func `in a task that is cancelled already, no member begins`() async throws {
        let runs = Crowd()
        let compound = try CompoundOperation { AsyncOperation { runs.enter() } }
        let task = Task {
            await untilCancelled()
            try await compound.run()
        }
        task.cancel()
        let failure = await #expect(throws: OperationFailure<CompoundOperation.Failure>.self) { try await task.value }
        guard case .cancelled = failure else { return #expect(Bool(false), "\(failure as Any)") }
        #expect(runs.now == 0)
    }

    @Test func `a refused run in a cancelled task leaves alone what runs elsewhere`() async throws {
        let queue = AsyncOperationQueue(isSuspended: true)
        let compound = try CompoundOperation { AsyncOperation {} }
        let operation = AsyncOperation { 1 }
        try queue.add(compound, operation)
        let task = Task {
            await untilCancelled()
            let first = await #expect(throws: OperationFailure<CompoundOperation.Failure>.self) {
                try await compound.run()
            }
            guard case .refused = first else { return #expect(Bool(false), "\(first as Any)") }
            await #expect(throws: OperationFailure<Never>.refused(.alreadyEnqueued(operation.id))) {
                try await AsyncOperationQueue().run(operation)
            }
        }
        task.cancel()
        await task.value
        queue.resume()
        #expect(try await operation.value == 1)
        #expect(await compound.outcome == .success)
    }

    @Test func `alone, members have the task-local values of the caller, and time on its clock`() async throws {
        let word = AsyncOperation { Self.word }
        try await Self.$word.withValue("told") { _ = try await CompoundOperation { word }.run() }
        #expect(try await word.value == "told")

        let clock = ManualClock()
        let late = try CompoundOperation(options: OperationOptions(timeout: .seconds(5))) {
            AsyncOperation { await untilCancelled() }
        }
        let task = Task { try await late.run(clock: clock) }
        await clock.advance(by: .seconds(5))
        let failure = await #expect(throws: OperationFailure<CompoundOperation.Failure>.self) { try await task.value }
        guard case .timedOut(.seconds(5), late.id?, let members?) = failure else {
            return #expect(Bool(false), "\(failure as Any)")
        }
        #expect(members.cancelled.count == 1)
    }

    @Test func `in the body that holds the only place of its queue, a run is refused`() async throws {
        let queue = try AsyncOperationQueue(maxConcurrentOperationCount: 1)
        let inner = try CompoundOperation("inner") { AsyncOperation {} }
        let isRefused = try await queue.run("outer") {
            do {
                try await inner.run(on: queue)
                return false
            } catch OperationFailure<CompoundOperation.Failure>.refused(.wouldWaitForItself) {
                return true
            } catch {
                return false
            }
        }
        #expect(isRefused && queue.operationCount == 0)
    }
}
