import AsyncOperations
import FlowrunTestSupport
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(20))) struct DependencyCycleTests {
    // F7
    @Test func `an operation cannot wait for itself`() async throws {
        let operation = nothing()
        #expect(throws: UsageError.selfDependency(operation.id)) { try operation.addDependency(on: operation) }
        try operation.start()
        try await operation.value
    }

    // F8
    @Test func `a cycle is refused with the way round, and changes nothing`() async throws {
        let (a, b, c) = (nothing("a"), nothing("b"), nothing("c"))
        try a.addDependency(on: b)
        try b.addDependency(on: c)
        #expect(throws: UsageError.cycle([c.id, a.id, b.id, c.id])) { try c.addDependency(on: a) }
        let queue = AsyncOperationQueue()
        try queue.add(a, b, c)
        try await queue.waitUntilIdle()
        #expect(await a.outcome == .success)
    }

    // F8
    @Test func `a cycle through what is around operations is refused too`() throws {
        let (a, b) = (nothing("a"), nothing("b"))
        let first = try CompoundOperation("first") { a }
        let second = try CompoundOperation("second") { b }
        #expect(throws: UsageError.cycle([a.id, first.id, a.id])) { try a.addDependency(on: first) }
        try first.addDependency(on: b)
        #expect(throws: UsageError.cycle([b.id, a.id, b.id])) { try b.addDependency(on: a) }
        #expect(throws: UsageError.cycle([second.id, a.id, b.id, second.id])) { try second.addDependency(on: a) }
        let outer = try CompoundOperation("outer")
        let member = nothing("member")
        try outer.addDependency(on: member)
        #expect(throws: UsageError.self) { try outer.add(member) }
        let waiting = nothing("waiting")
        try waiting.addDependency(on: outer)
        #expect(throws: UsageError.self) { try outer.add(waiting) }
    }

    @Test func `a cycle through a member that came with its own is refused`() throws {
        let (member, other) = (nothing("member"), nothing("other"))
        try member.addDependency(on: other)
        let inner = try CompoundOperation("inner") { member }
        let outer = try CompoundOperation("outer")
        try other.addDependency(on: outer)
        #expect(throws: UsageError.cycle([outer.id, inner.id, member.id, other.id, outer.id])) { try outer.add(inner) }
    }

    @Test(arguments: [true, false])
    func `what holds a place does not begin to wait, over other queues, for what needs one`(isMember: Bool) async throws
    {
        let (up, go) = (Latch(), Latch())
        let (running, late) = (holding("running", up: up, until: go), nothing("late"))
        let waiting = nothing("waiting")
        try waiting.addDependency(on: running)
        let first = try CompoundOperation("first") {
            running
            waiting
        }
        let second = nothing("second")
        let serial = try CompoundOperation("serial", mode: .serial) {
            first
            second
        }
        let elsewhere = nothing("elsewhere")
        try elsewhere.addDependency(on: second)
        try elsewhere.start()
        try serial.start()
        await up.wait()
        if isMember {
            try late.addDependency(on: elsewhere)
            let way = [first.id, late.id, elsewhere.id, second.id, first.id]
            #expect(throws: UsageError.cycle(way)) { try first.add(late) }
        } else {
            let way = [waiting.id, elsewhere.id, second.id, first.id, waiting.id]
            #expect(throws: UsageError.cycle(way)) { try waiting.addDependency(on: elsewhere) }
        }
        go.open()
        #expect(await serial.outcome == .success)
        #expect(await elsewhere.outcome == .success)
    }

    @Test(arguments: [true, false])
    func `a group does not take the only place while it waits, over another queue, for who needs that`(isLate: Bool)
        async throws
    {
        let (queue, other) = (AsyncOperationQueue(), AsyncOperationQueue())
        let order = Record<String>()
        func noted(_ name: String) -> AsyncOperation<Void, Never> { AsyncOperation(name) { _ in order.add(name) } }
        let (inside, second, elsewhere) = (noted("inside"), noted("second"), noted("elsewhere"))
        let serial = try CompoundOperation(mode: .serial) {
            try CompoundOperation { inside }
            second
        }
        try elsewhere.addDependency(on: second)
        queue.suspend()
        if !isLate { try inside.addDependency(on: elsewhere) }
        try queue.add(serial)
        if isLate { try inside.addDependency(on: elsewhere) }
        try other.add(elsewhere)
        queue.resume()
        #expect(await serial.outcome == .success)
        #expect(order.entries == ["second", "elsewhere", "inside"])
    }

    @Test(arguments: [true, false])
    func `two that need each other's inside are refused where one place is all there is`(isLate: Bool) throws {
        let (first, last) = (nothing("first"), nothing("last"))
        let second = nothing("second")
        let group = try CompoundOperation("group") {
            first
            last
        }
        let serial = try CompoundOperation("serial", mode: .serial) {
            group
            second
        }
        try second.addDependency(on: first)
        let queue = AsyncOperationQueue()
        queue.suspend()
        let cycle = UsageError.cycle([group.id, last.id, second.id, first.id, group.id])
        if isLate {
            try queue.add(serial)
            #expect(throws: cycle) { try last.addDependency(on: second) }
            #expect(last.dependencies.isEmpty)
        } else {
            try last.addDependency(on: second)
            #expect(throws: cycle) { try queue.add(serial) }
            #expect(queue.operationCount == 0)
        }
    }

    /// Where each group takes a place, and needs another one before its end, one place has to be left.
    @Test(arguments: [2, 3], [true, false])
    func `groups that need a second place while they keep theirs do not take them all`(places: Int, isLate: Bool)
        async throws
    {
        let queue = AsyncOperationQueue(isSuspended: true)
        let compound = try CompoundOperation(mode: .limited(places))
        var needs: [(AsyncOperation<Void, Never>, AsyncOperation<Void, Never>)] = []
        for number in 0..<2 * places {
            let (first, last, between) = (nothing("first"), nothing("last"), nothing("between \(number)"))
            try between.addDependency(on: first)
            let group = try CompoundOperation("group \(number)") {
                first
                last
            }
            try compound.add(group)
            try compound.add(between)
            needs.append((last, between))
        }
        if isLate { try queue.add(compound) }
        for (last, between) in needs { try last.addDependency(on: between) }
        if !isLate { try queue.add(compound) }
        queue.resume()
        #expect(await compound.outcome == .success)
    }

    @Test func `what holds a mutex does not begin to wait for what wants it`() async throws {
        let queue = try AsyncOperationQueue(maxConcurrentOperationCount: 4)
        let options = OperationOptions(mutexes: ["m"])
        let (up, go) = (Latch(), Latch())
        let holder = try CompoundOperation("holder", options: options) { holding(up: up, until: go) }
        let wanting = nothing("wanting", options: options)
        try queue.add(holder, wanting)
        await up.wait()
        let late = nothing("late")
        try late.addDependency(on: wanting)
        let way = [holder.id, late.id, wanting.id, holder.id]
        #expect(throws: UsageError.cycle(way)) { try holder.add(late) }
        go.open()
        #expect(await wanting.outcome == .success)
    }

    @Test(arguments: [true, false])
    func `what is added while the holder of its mutex waits for it is refused, or goes first`(hasStarted: Bool)
        async throws
    {
        let queue = AsyncOperationQueue()
        let options = OperationOptions(mutexes: ["m"])
        let (up, go) = (Latch(), Latch())
        let order = Record<String>()
        let wanting = AsyncOperation("wanting", options: options) { _ in order.add("wanting") }
        let late = AsyncOperation("late") { _ in order.add("late") }
        try late.addDependency(on: wanting)
        let holder = try CompoundOperation("holder", options: options) { holding(up: up, until: go) }
        if !hasStarted { queue.suspend() }
        try queue.add(holder)
        if hasStarted { await up.wait() }
        try holder.add(late)
        if hasStarted {
            let way = [wanting.id, holder.id, late.id, wanting.id]
            #expect(throws: UsageError.cycle(way)) { try queue.add(wanting) }
            try wanting.start()
        } else {
            try queue.add(wanting)
            queue.resume()
        }
        go.open()
        #expect(await holder.outcome == .success)
        #expect(order.entries == ["wanting", "late"])
    }

    @Test func `what runs beside retried rounds that wait for it is refused only where it would`() async throws {
        let options = OperationOptions(retry: RetryPolicy(attempts: 2))
        func parts() throws -> (CompoundOperation, AsyncOperation<Void, Never>, AsyncOperation<Void, Never>) {
            let (first, between, last) = (nothing("first"), nothing("between"), nothing("last"))
            try between.addDependency(on: first)
            let rounds = try CompoundOperation("rounds", options: options) {
                first
                last
            }
            try last.addDependency(on: between)
            return (rounds, between, last)
        }
        let (inside, joining, _) = try parts()
        try inside.add(joining)
        try inside.start()
        #expect(await inside.outcome == .success)

        let (outside, between, last) = try parts()
        #expect(throws: UsageError.cycle([between.id, outside.id, last.id, between.id])) { try between.start() }
    }
}
