import FlowrunTestSupport
import Synchronization
import Testing

@testable import AsyncOperations

/// What a queue and its operations keep, and when what listens to them ends.
@Suite(.timeLimit(.minutes(20))) struct LifetimeTests {
    @Test func `a queue that is never idle keeps no more than a queue that is`() async throws {
        let queue = try AsyncOperationQueue(maxConcurrentOperationCount: 4)
        let (up, go) = (Latch(), Latch())
        try queue.add(holding(up: up, until: go))
        await up.wait()
        let most = Mutex(0)
        for round in 0..<100 {
            let batch = (0..<500).map { _ in nothing() }
            // Failures may be the causes of others, and are kept no longer.
            let group = try CompoundOperation { for _ in 0..<10 { failing("", round) } }
            try batch[1].addDependency(on: batch[0])
            try queue.add(contentsOf: batch)
            try queue.add(group)
            for operation in batch { _ = await operation.outcome }
            _ = await group.outcome
            let rows = queue.core.state.withLock { $0.entries.count }
            most.withLock { $0 = max($0, rows) }
        }
        // A hundred times five hundred went through.
        #expect(most.withLock { $0 } < 4096)
        #expect(queue.operationCount == 1)
        go.open()
        try await queue.waitUntilIdle()
        #expect(queue.core.state.withLock { $0.entries.isEmpty && $0.scheduler == nil })
    }

    @Test func `identities stay unique and dependencies hold while old rows go`() async throws {
        let queue = try AsyncOperationQueue(maxConcurrentOperationCount: 2)
        let (up, go) = (Latch(), Latch())
        let held = holding(up: up, until: go)
        let last = nothing("last")
        try last.addDependency(on: held)
        let failed = failing("failed")
        let ruledOut = nothing("ruled out")
        try ruledOut.addDependency(on: failed)
        try ruledOut.addDependency(on: held)
        try queue.add(held, last, ruledOut, failed)
        await up.wait()
        var ids: Set<AsyncOperationID> = []
        for _ in 0..<10_000 {
            let operation = nothing()
            try queue.add(operation)
            _ = await operation.outcome
            ids.insert(operation.id)
        }
        #expect(ids.count == 10_000)
        #expect(!last.isFinished && !ruledOut.isFinished)
        go.open()
        #expect(await last.outcome == .success)
        #expect(await ruledOut.result == .failure(.notRun(rootCause: failed.id)))
    }

    private func all(_ events: AsyncStream<AsyncOperationQueue.Event>) async -> [AsyncOperationQueue.Event] {
        var all: [AsyncOperationQueue.Event] = []
        for await event in events { all.append(event) }
        return all
    }

    @Test func `events that are asked for after a shutdown end at once`() async throws {
        let queue = AsyncOperationQueue()
        try queue.add(nothing())
        try await queue.shutdown()
        #expect(await all(queue.events()).isEmpty)
    }

    @Test func `events of a queue that is dropped end after its operations`() async throws {
        let (up, go) = (Latch(), Latch())
        let held = holding("held", up: up, until: go)
        let later = nothing("later")
        try later.addDependency(on: held)
        let events: AsyncStream<AsyncOperationQueue.Event>
        do {
            let queue = AsyncOperationQueue()
            events = queue.events()
            try queue.add(held, later)
        }
        await up.wait()
        go.open()
        let finished = await all(events).compactMap { if case .finished = $0.kind { $0.id.name } else { nil } }
        #expect(finished == ["held", "later"])
    }

    @Test func `events and errors say names`() async throws {
        let queue = AsyncOperationQueue("mine")
        let (one, two) = (nothing("one"), nothing("two"))
        let events = queue.events()
        try one.addDependency(on: two)
        do {
            try two.addDependency(on: one)
            Issue.record("a cycle was accepted")
        } catch {
            #expect("\(error)" == "these would wait for each other: `two` -> `one` -> `two`")
        }
        queue.suspend()
        try queue.add(one, two)
        #expect(throws: UsageError.alreadyEnqueued(one.id)) { try queue.add(one) }
        #expect("\(UsageError.alreadyEnqueued(one.id))" == "`one` belongs to a queue or compound operation already")
        queue.resume()
        try await queue.shutdown()
        #expect(Set(await all(events).map(\.id.name)) == ["one", "two", "mine"])
        #expect("\(UsageError.closed(queue.id))" == "`mine` takes no more operations")
    }

    @Test func `five thousand members of what is started by itself run at once`() async throws {
        let meeting = Meeting(of: 5000)
        let compound = try CompoundOperation { for _ in 0..<5000 { AsyncOperation { _ in await meeting.come() } } }
        try compound.start()
        #expect(await compound.outcome == .success)
    }

    @Test func `a second start says that it has started`() async throws {
        let (up, go) = (Latch(), Latch())
        for operation in [
            holding(up: up, until: go).erased, try CompoundOperation { holding(until: go) }.erased,
            holding(until: go).erased,
        ] {
            try operation.start()
            #expect(throws: UsageError.alreadyStarted(operation.id)) { try operation.start() }
        }
        await up.wait()
        let (waiting, never) = (nothing(), nothing())
        try waiting.addDependency(on: never)
        try waiting.start()
        #expect(throws: UsageError.alreadyStarted(waiting.id)) { try waiting.start() }
        never.cancel()
        go.open()
    }

    /// Compound operations inside each other, the innermost with one member.
    private func nested(_ depth: Int, around member: some AsyncOperationProtocol) throws -> CompoundOperation {
        var outermost = try CompoundOperation { member }
        for _ in 1..<depth { outermost = try CompoundOperation { outermost } }
        return outermost
    }

    @Test func `compound operations fifteen thousand deep are built, cancelled and dropped`() async throws {
        _ = try nested(15_000, around: nothing())
        let member = nothing()
        let stopped = try nested(15_000, around: member)
        stopped.cancel()
        #expect(await stopped.outcome == .cancelled)
        #expect(await member.outcome == .cancelled)
    }

    @Test func `compound operations fifteen thousand deep run and are cancelled in flight`() async throws {
        let deep = try nested(15_000, around: nothing())
        try deep.start()
        #expect(await deep.outcome == .success)
        let up = Latch()
        let leaf = hanging(up: up)
        let running = try nested(15_000, around: leaf)
        var inside: [OperationCore] = [running.core]
        while let core = (inside.last as? CompoundCore)?.withMembers({ $1.cores.first }) { inside.append(core) }
        // So that each is told on its own.
        for core in inside { core.addCompletion { _ in } }
        // So that each is looked at when it starts.
        let isWaiting = Latch()
        let after = nothing()
        try after.addDependency(on: running, .done)
        try after.start()
        let waiter = AsyncOperation { _ in
            isWaiting.open()
            return await after.outcome
        }
        try waiter.start()
        await isWaiting.wait()
        try running.start()
        await up.wait()
        running.cancel(.shutdown)
        #expect(await running.outcome == .cancelled)
        #expect(await waiter.result == .success(.success))
        #expect(running.core.end == .cancelled(.shutdown))
        #expect(inside.dropFirst().allSatisfy { $0.end == .cancelled(.parent(running.id)) })
    }

    @Test func `what was cancelled stays so, whatever comes of it`() async throws {
        let (up, go) = (Latch(), Latch())
        let deaf = holding(up: up, until: go)
        #expect(!deaf.isCancelled)
        try deaf.start()
        await up.wait()
        #expect(deaf.cancel() && deaf.isCancelled)
        go.open()
        #expect(await deaf.outcome == .cancelled)
        #expect(deaf.isCancelled && !deaf.cancel())

        // A member had failed before: that outranks the request.
        let (upToo, failed) = (Latch(), failing())
        let compound = try CompoundOperation {
            failed
            hanging(up: upToo)
        }
        try compound.start()
        _ = await (failed.result, upToo.wait())
        #expect(compound.cancel() && compound.isCancelled)
        #expect(await compound.outcome == .failure)
        #expect(compound.isCancelled)
        let idle = nothing()
        idle.cancel()
        #expect(idle.isCancelled)
    }
}
