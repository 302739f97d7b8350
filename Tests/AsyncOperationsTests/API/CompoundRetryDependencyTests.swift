import AsyncOperations
import FlowrunTestSupport
import Testing

/// Dependencies on what is tried again, and on what is inside of it.
@Suite(.timeLimit(.minutes(20))) struct CompoundRetryDependencyTests {
    private let twice = OperationOptions(retry: RetryPolicy(attempts: 2))

    @Test func `what needs something inside a retried sibling waits for its last round, not for that of both`()
        async throws
    {
        let order = Record<String>()
        let needed = AsyncOperation("needed") { context async throws(TestError) in
            order.add("needed")
            if order.entries.count == 1 { throw TestError() }
        }
        let dependent = AsyncOperation("dependent") { _ in order.add("dependent") }
        try dependent.addDependency(on: needed)
        let options = OperationOptions(retry: RetryPolicy(attempts: 2, backoff: .constant(.zero)))
        let outer = try CompoundOperation("outer", options: options) {
            try CompoundOperation("inner", options: options) { needed }
            dependent
        }
        try outer.start()
        #expect(await outer.outcome == .success)
        #expect(order.entries == ["needed", "needed", "dependent"])
    }

    @Test func `a dependency inside that is taken away leaves nothing to wait for`() async throws {
        let (up, go) = (Latch(), Latch())
        let member = holding("member", up: up, until: go)
        let compound = try CompoundOperation("compound", options: twice) { member }
        let dependent = nothing("dependent")
        try dependent.addDependency(on: member)
        let queue = try AsyncOperationQueue(maxConcurrentOperationCount: 4)
        try queue.add(compound, dependent)
        await up.wait()
        #expect(dependent.state == .pending)
        #expect(try dependent.removeDependency(on: member))
        #expect(dependent.state > .pending)
        go.open()
        try await queue.waitUntilIdle()
    }

    @Test(arguments: [true, false])
    func `dependencies on a retried operation and on a member of it do not replace each other`(isRemoved: Bool)
        async throws
    {
        let (up, go) = (Latch(), Latch())
        let member = nothing("member")
        let bad = AsyncOperation("bad") { _ async throws(TestError) in
            up.open()
            await go.wait()
            throw TestError()
        }
        let compound = try CompoundOperation("compound", mode: .serial, options: twice) {
            member
            bad
        }
        let dependent = nothing("dependent")
        try dependent.addDependency(on: compound, .success)
        let queue = try AsyncOperationQueue(maxConcurrentOperationCount: 4)
        try queue.add(compound, dependent)
        await up.wait()
        try dependent.addDependency(on: member, .done)
        if isRemoved { try dependent.removeDependency(on: compound) }
        #expect(dependent.state == .pending)
        go.open()
        #expect(await dependent.outcome == (isRemoved ? .success : .notRun))
        #expect(compound.isFinished)
    }

    @Test func `without its own dependency, a group still does not take the place that its inside waits for`()
        async throws
    {
        let clock = ManualClock()
        let order = Record<String>()
        let (up, go) = (Latch(), Latch())
        let needed = AsyncOperation("needed") { _ async throws(TestError) in
            order.add("needed")
            up.open()
            await go.wait()
            if order.entries.count == 1 { throw TestError() }
        }
        let inside = AsyncOperation("inside") { _ in order.add("inside") }
        try inside.addDependency(on: needed)
        let retry = RetryPolicy(attempts: 2, backoff: .constant(.seconds(1)))
        let rounds = try CompoundOperation("rounds", options: .init(retry: retry)) { needed }
        let group = try CompoundOperation("group") { inside }
        try group.addDependency(on: rounds)
        let serial = try CompoundOperation(mode: .serial) {
            rounds
            group
        }
        try serial.start(clock: clock)
        await up.wait()
        try group.removeDependency(on: rounds)
        go.open()
        while clock.sleeperCount == 0 { await Task.yield() }
        #expect(group.state == .pending)
        await clock.advance(by: .seconds(1))
        #expect(await serial.outcome == .success)
        #expect(order.entries == ["needed", "needed", "inside"])
    }
}
