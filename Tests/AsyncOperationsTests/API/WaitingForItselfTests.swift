import AsyncOperations
import FlowrunTestSupport
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(5))) struct WaitingForItselfTests {
    @Test func `a body that waits for its own end is told so`() async throws {
        let handle = Record<AsyncOperation<Bool, Never>>()
        let operation = AsyncOperation<Bool, Never>("self") { _ in
            let own = handle.entries[0]
            let outcome = await own.outcome
            let error = await Self.refusal(to: own)
            return outcome == .cancelled && error == .wouldWaitForItself(waiter: own.id, awaited: own.id)
        }
        handle.add(operation)
        try operation.start()
        #expect(await operation.result == .success(true))
        #expect(!operation.isCancelled)
    }

    private static func refusal(to operation: AsyncOperation<Bool, Never>) async -> UsageError? {
        do {
            _ = try await operation.value
            return nil
        } catch {
            if case .refused(let refusal) = error { return refusal }
            return nil
        }
    }

    @Test func `its result says so too, and leaves the operation alone`() async throws {
        let handle = Record<AsyncOperation<Int, Never>>()
        let seen = Record<OperationResult<Int, Never>>()
        let operation = AsyncOperation { _ in
            seen.add(await handle.entries[0].result)
            return 3
        }
        handle.add(operation)
        try operation.start()
        #expect(await operation.result == .success(3))
        #expect(seen.entries == [.cancelled(.wouldWaitForItself, underlying: nil)])
    }

    @Test func `a member that waits for what is around it, or for its dependents, is told so`() async throws {
        let handles = Record<AnyAsyncOperation>()
        let seen = Record<OperationOutcome>()
        let member = AsyncOperation { _ in for handle in handles.entries { seen.add(await handle.outcome) } }
        let dependent = nothing()
        try dependent.addDependency(on: member)
        let last = nothing()
        try last.addDependency(on: dependent)
        let inner = try CompoundOperation { member }
        let outer = try CompoundOperation {
            inner
            dependent
        }
        for handle in [inner.erased, outer.erased, dependent.erased, last.erased] { handles.add(handle) }
        try last.start()
        try outer.start()
        #expect(await outer.outcome == .success)
        #expect(await last.outcome == .success)
        #expect(seen.entries == [.cancelled, .cancelled, .cancelled, .cancelled])
    }

    @Test func `a member that waits for its queue to be idle, or shuts it down, is told so`() async throws {
        let queue = AsyncOperationQueue("mine")
        let refused = Record<String>()
        let member = AsyncOperation("member") { _ in
            do throws(UsageError) { try await queue.waitUntilIdle() } catch { refused.add("\(error)") }
            do throws(UsageError) { try await queue.shutdown() } catch { refused.add("\(error)") }
        }
        let compound = try CompoundOperation { member }
        try queue.add(compound)
        #expect(await compound.outcome == .success)
        let message = "the body of `member` would wait for `mine`, which cannot end before it"
        #expect(refused.entries == [message, message])
        // The shutdown has changed nothing.
        try queue.add(nothing())
        try await queue.waitUntilIdle()
    }

    @Test func `a later operation of a queue of one cannot be waited for in an earlier one`() async throws {
        let queue = try AsyncOperationQueue(maxConcurrentOperationCount: 1)
        let later = nothing("later")
        let earlier = AsyncOperation { _ in await later.outcome }
        try queue.add(earlier, later)
        #expect(await earlier.result == .success(.cancelled))
        #expect(await later.outcome == .success)
    }

    @Test func `what wants a mutex that the waiting body, or what is around it, holds cannot be waited for`()
        async throws
    {
        let queue = try AsyncOperationQueue(maxConcurrentOperationCount: 8)
        let options = OperationOptions(mutexes: ["m"])
        let later = nothing("later", options: options)
        let member = AsyncOperation { _ in
            try? queue.add(later)
            return await later.outcome
        }
        let compound = try CompoundOperation(options: options) { member }
        try queue.add(compound)
        #expect(await member.result == .success(.cancelled))
        #expect(await later.outcome == .success)
    }

    @Test func `what does not wait for the body may be waited for in it`() async throws {
        let queue = try AsyncOperationQueue(maxConcurrentOperationCount: 2)
        let (other, elsewhere) = (AsyncOperation { _ in 1 }, AsyncOperation { _ in 2 })
        try elsewhere.start()
        let operation = AsyncOperation { _ in (try? await other.value) ?? 0 }
        try queue.add(operation, other)
        #expect(await operation.result == .success(1))
        let outer = AsyncOperation { _ in await elsewhere.outcome }
        try queue.add(outer)
        #expect(await outer.result == .success(.success))
        // It is over.
        let again = AsyncOperation { _ in await operation.outcome }
        try queue.add(again)
        #expect(await again.result == .success(.success))
    }

    @Test func `tasks that a body leaves behind may wait for it`() async throws {
        let handle = Record<AsyncOperation<Void, Never>>()
        let outcomes = Record<OperationOutcome>()
        let done = Latch()
        let operation = AsyncOperation { _ in
            _ = Task {
                outcomes.add(await handle.entries[0].outcome)
                done.open()
            }
        }
        handle.add(operation)
        try operation.start()
        await done.wait()
        #expect(outcomes.entries == [.success])
    }
}
