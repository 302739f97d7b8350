import AsyncOperations
import FlowrunTestSupport
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(20))) struct WaitingForItselfTests {
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

    @Test func `a wait inside a time limit is the body's, but not that of a task that is left behind`() async throws {
        let queue = try AsyncOperationQueue(maxConcurrentOperationCount: 1)
        let left = Record<Task<Int, any Error>>()
        let refusal = await #expect(throws: OperationFailure<OperationFailure<Never>>.self) {
            try await queue.run("outer") { () async throws(OperationFailure<Never>) in
                do throws(OperationFailure<OperationFailure<Never>>) {
                    return try await withTimeout(.seconds(3600)) { () async throws(OperationFailure<Never>) in
                        left.add(Task { try await queue.run("later") { 2 } })
                        return try await queue.run("inner") { 1 }
                    }
                } catch {
                    guard case .failed(let error) = error else { return 0 }
                    throw error
                }
            }
        }
        guard case .failed(.refused(.wouldWaitForItself(let waiter, let awaited)))? = refusal else {
            Issue.record("\(String(describing: refusal))")
            return
        }
        #expect(waiter.name == "outer" && awaited.name == "inner")
        #expect(try await left.entries[0].value == 2)
    }

    @Test func `its result says so too, and leaves the operation alone`() async throws {
        let handle = Record<AsyncOperation<Int, Never>>()
        let seen = Record<Result<Int, OperationFailure<Never>>>()
        let operation = AsyncOperation { _ in
            seen.add(await handle.entries[0].result)
            return 3
        }
        handle.add(operation)
        try operation.start()
        #expect(await operation.result == .success(3))
        let refusal = UsageError.wouldWaitForItself(waiter: operation.id, awaited: operation.id)
        #expect(seen.entries == [.failure(.refused(refusal))])
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
        let message = "the body of `member` would wait for `mine` to be idle, which cannot be before that body ends"
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

    // What is certain only later.

    /// An operation whose body waits for `other`, and what it is told.
    private func waiting<Value>(
        _ name: String, for other: AsyncOperation<Value, Never>, up: Latch? = nil, options: OperationOptions = .init()
    ) -> AsyncOperation<OperationOutcome, Never> {
        AsyncOperation(name, options: options) { _ in
            up?.open()
            return await other.outcome
        }
    }

    @Test func `what is added behind the body that waits for it is told as soon as it is certain`() async throws {
        let queue = try AsyncOperationQueue(maxConcurrentOperationCount: 1)
        let up = Latch()
        let (later, after) = (nothing("later"), nothing("after"))
        try after.addDependency(on: later)
        try after.start()
        let waiter = waiting("waiter", for: after, up: up)
        try queue.add(waiter)
        await up.wait()
        try queue.add(later)
        #expect(await waiter.result == .success(.cancelled))
        #expect(await after.outcome == .success)
    }

    @Test func `a value that is waited for is refused late, too`() async throws {
        let queue = try AsyncOperationQueue(maxConcurrentOperationCount: 1)
        let up = Latch()
        let later = AsyncOperation("later") { _ in 1 }
        let after = AsyncOperation("after", from: later.output) { _, value in value }
        try after.start()
        let waiter = AsyncOperation("waiter") { _ async throws(OperationFailure<Never>) in
            up.open()
            return try await after.value
        }
        try queue.add(waiter)
        await up.wait()
        try queue.add(later)
        let refusal = UsageError.wouldWaitForItself(waiter: waiter.id, awaited: after.id)
        #expect(await waiter.result == .failure(.failed(.refused(refusal))))
    }

    @Test func `a wait over another queue for what stands behind the body is refused`() async throws {
        let queue = try AsyncOperationQueue(maxConcurrentOperationCount: 1)
        let (behind, elsewhere) = (nothing("behind"), nothing("elsewhere"))
        try elsewhere.addDependency(on: behind)
        let waiter = waiting("waiter", for: elsewhere)
        try queue.add(waiter, behind)
        try elsewhere.start()
        #expect(await waiter.result == .success(.cancelled))
        #expect(await elsewhere.outcome == .success)
    }

    @Test func `what may end without a place is waited for`() async throws {
        let queue = try AsyncOperationQueue(maxConcurrentOperationCount: 1)
        let (up, go) = (Latch(), Latch())
        let external = AsyncOperation("external") { _ async throws(TestError) in
            await go.wait()
            throw TestError()
        }
        let behind = nothing("behind")
        try behind.addDependency(on: external)
        let waiter = waiting("waiter", for: behind, up: up)
        try queue.add(waiter, behind)
        try external.start()
        await up.wait()
        go.open()
        #expect(await waiter.result == .success(.notRun))
    }

    @Test func `once it is ready and finds no place, the wait is refused`() async throws {
        let queue = try AsyncOperationQueue(maxConcurrentOperationCount: 1)
        let (up, go) = (Latch(), Latch())
        let external = holding(until: go)
        let behind = try CompoundOperation("behind")
        try behind.addDependency(on: external)
        let waiter = AsyncOperation("waiter") { _ in
            up.open()
            return await behind.outcome
        }
        try queue.add(waiter, behind)
        try external.start()
        await up.wait()
        go.open()
        #expect(await waiter.result == .success(.cancelled))
        #expect(await behind.outcome == .success)
    }

    @Test func `two queues whose bodies wait for each other to be idle`() async throws {
        let queues = [AsyncOperationQueue("0"), AsyncOperationQueue("1")]
        let meeting = Meeting(of: 2)
        let refusals = Record<UsageError>()
        let bodies = (0..<2).map { number in
            AsyncOperation("body \(number)") { _ in
                await meeting.come()
                do throws(UsageError) { try await queues[1 - number].waitUntilIdle() } catch { refusals.add(error) }
            }
        }
        for (queue, body) in zip(queues, bodies) { try queue.add(body) }
        for body in bodies { #expect(await body.outcome == .success) }
        #expect(refusals.entries.count == 1)
    }

    @Test func `a body that waits, over another body, for its own queue to be idle is refused`() async throws {
        let queue = AsyncOperationQueue("mine")
        let inner = AsyncOperation("inner") { _ in (try? await queue.waitUntilIdle()) != nil }
        let outer = AsyncOperation("outer") { _ in
            try? inner.start()
            return await inner.outcome
        }
        try queue.add(outer)
        let ends = (await outer.result, await inner.result)
        // The second wait closes the ring.
        #expect(ends == (.success(.cancelled), .success(true)) || ends == (.success(.success), .success(false)))
    }

    @Test func `a sibling of a retried compound operation is not waited for from inside, over any number of steps`()
        async throws
    {
        let sibling = nothing("sibling")
        let outside = nothing("outside")
        try outside.addDependency(on: sibling)
        let waiter = waiting("waiter", for: outside)
        let compound = try CompoundOperation(options: .init(retry: RetryPolicy(attempts: 2))) {
            sibling
            waiter
        }
        try outside.start()
        try compound.start()
        #expect(await waiter.result == .success(.cancelled))
        #expect(await compound.outcome == .success)
        #expect(await outside.outcome == .success)
    }

    @Test func `what joins a retried compound operation that wants the body's mutex is no longer waited for`()
        async throws
    {
        let queue = try AsyncOperationQueue(maxConcurrentOperationCount: 2)
        let up = Latch()
        let (joining, after) = (nothing("joining"), nothing("after"))
        try after.addDependency(on: joining)
        try after.start()
        let waiter = AsyncOperation("waiter", options: .init(mutexes: ["m"])) { _ in
            up.open()
            return await after.outcome
        }
        try queue.add(waiter)
        await up.wait()
        let compound = try CompoundOperation(options: .init(retry: RetryPolicy(attempts: 2))) {
            AsyncOperation(options: .init(mutexes: ["m"])) { _ in }
        }
        try queue.add(compound)
        while compound.state < .executing { await Task.yield() }
        // It runs at once, but its end counts only after the last round.
        try compound.add(joining)
        #expect(await waiter.result == .success(.cancelled))
        #expect(await after.outcome == .success)
    }

    @Test func `all members that may run wait for one that may not`() async throws {
        let last = nothing("last")
        let (first, second) = (waiting("first", for: last), waiting("second", for: last))
        let compound = try CompoundOperation(mode: .limited(2)) {
            first
            second
            last
        }
        try compound.start()
        let outcomes = [await first.result, await second.result]
        #expect(outcomes.contains(.success(.cancelled)))
        #expect(await compound.outcome == .success)
    }

    @Test func `bodies that wait in a queue that is made narrower need as many ends as there is room too little`()
        async throws
    {
        let queue = try AsyncOperationQueue(maxConcurrentOperationCount: 3)
        let go = Latch()
        let (elsewhere, behind, after) = (holding("elsewhere", until: go), nothing("behind"), nothing("after"))
        try after.addDependency(on: behind)
        try after.start()
        try elsewhere.start()
        let latches = [Latch(), Latch(), Latch()]
        let first = waiting("first", for: after, up: latches[0])
        let patient = waiting("patient", for: elsewhere, up: latches[1])
        let second = waiting("second", for: after, up: latches[2])
        try queue.add(first, patient, second)
        for latch in latches { await latch.wait() }
        try queue.add(behind)
        try queue.setMaxConcurrentOperationCount(2)
        go.open()
        #expect(await patient.result == .success(.success))
        let results = [await first.result, await second.result]
        #expect(results.contains(.success(.cancelled)) && results.contains(.success(.success)))
        #expect(await behind.outcome == .success)
    }
}
