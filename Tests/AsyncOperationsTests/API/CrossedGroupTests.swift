import AsyncOperations
import FlowrunTestSupport
import Testing

/// Groups of which each takes what another needs to end.
@Suite(.timeLimit(.minutes(20))) struct CrossedGroupTests {
    @Test(arguments: [true, false], [true, false])
    func `groups that need what another's mutex or place keeps from starting start one after the other`(
        hasMutexes: Bool, isTogether: Bool
    ) async throws {
        func options(_ mutex: String) -> OperationOptions { OperationOptions(mutexes: hasMutexes ? [mutex] : []) }
        let (one, two) = (nothing("one", options: options("m")), nothing("two", options: options("n")))
        let (last, other) = (nothing("last"), nothing("other"))
        try last.addDependency(on: one)
        try other.addDependency(on: two)
        let first = try CompoundOperation("first", options: options("n")) { last }
        let second = try CompoundOperation("second", options: options("m")) { other }
        let queue = AsyncOperationQueue(isSuspended: true)
        var outermost: [any AsyncOperationProtocol] = [first, second, one, two]
        if !hasMutexes {
            let left = try CompoundOperation("left", mode: .serial) {
                first
                two
            }
            let right = try CompoundOperation("right", mode: .serial) {
                second
                one
            }
            outermost = [left, right]
        }
        if isTogether {
            try queue.add(contentsOf: outermost)
        } else {
            for operation in outermost { try queue.add(operation) }
        }
        queue.resume()
        #expect(await first.outcome == .success)
        #expect(await second.outcome == .success)
    }

    @Test func `a group that needs a part of another need not wait for its end`() async throws {
        let wanted = nothing("wanted", options: OperationOptions(mutexes: ["m"]))
        let (last, free) = (nothing("last"), nothing("free"))
        try last.addDependency(on: wanted)
        let waiting = AsyncOperation("waiting") { await free.result }
        let holder = try CompoundOperation("holder", options: OperationOptions(mutexes: ["m"])) {
            last
            free
        }
        let outer = try CompoundOperation("outer", mode: .serial) {
            try CompoundOperation("group") {
                wanted
                waiting
            }
        }
        let queue = AsyncOperationQueue(isSuspended: true)
        try queue.add(holder, outer)
        queue.resume()
        #expect(await outer.outcome == .success)
        #expect(await holder.outcome == .success)
        #expect(try await waiting.value.outcome == .success)
    }

    @Test func `two that each get a member that wants the other's mutex, before they start`() async throws {
        let go = Latch()
        let (first, second, x, y) = try crossing(until: go)
        let queue = AsyncOperationQueue(isSuspended: true)
        try queue.add(first.compound, second.compound)
        try first.compound.add(x)
        try second.compound.add(y)
        go.open()
        queue.resume()
        #expect(await first.compound.outcome == .success)
        #expect(await second.compound.outcome == .success)
    }

    @Test func `after they have started, the second of these members is refused`() async throws {
        let go = Latch()
        let (first, second, x, y) = try crossing(until: go)
        let queue = try AsyncOperationQueue(maxConcurrentOperationCount: 2)
        try queue.add(first.compound, second.compound)
        await first.up.wait()
        await second.up.wait()
        try first.compound.add(x)
        let cycle = UsageError.cycle([y.id, first.compound.id, x.id, second.compound.id, y.id])
        #expect(throws: cycle) { try second.compound.add(y) }
        go.open()
        #expect(await first.compound.outcome == .success)
        #expect(await second.compound.outcome == .success)
    }

    @Test func `a group starts after what its member needs and takes, also once it is examined again`() async throws {
        let wanted = nothing("wanted", options: OperationOptions(mutexes: ["m"]))
        let (first, sibling, gate, member) = (nothing("first"), nothing("sibling"), nothing("gate"), nothing("member"))
        try wanted.addDependency(on: first)
        try member.addDependency(on: gate)
        try gate.addDependency(on: sibling)
        let inner = try CompoundOperation("inner", options: OperationOptions(mutexes: ["m"])) { member }
        try inner.addDependency(on: wanted)
        let group = try CompoundOperation("group", options: OperationOptions(mutexes: ["n"])) {
            inner
            sibling
        }
        let queue = AsyncOperationQueue(isSuspended: true)
        try queue.add(wanted, first, group, gate)
        try inner.addDependency(on: sibling)
        queue.resume()
        #expect(await group.outcome == .success)
        #expect(await wanted.outcome == .success)
    }

    @Test func `a group in an only place whose member wants a mutex takes turns with its holder`() async throws {
        let x = nothing("x", options: OperationOptions(mutexes: ["n"]))
        let (p, q) = (nothing("p"), nothing("q"))
        try q.addDependency(on: p, .done)
        let left = try CompoundOperation("left", mode: .serial) {
            try CompoundOperation("group") { x }
            p
        }
        let holder = try CompoundOperation("holder", options: OperationOptions(mutexes: ["n"])) { q }
        let queue = AsyncOperationQueue(isSuspended: true)
        try queue.add(holder, left)
        queue.resume()
        #expect(await x.outcome == .success)
        #expect(await holder.outcome == .success)
    }

    private typealias Holder = (compound: CompoundOperation, up: Latch)

    /// Two that each hold a mutex until `go` is open, and operations that want them.
    private func crossing(
        until go: Latch
    ) throws -> (Holder, Holder, x: AsyncOperation<Void, Never>, y: AsyncOperation<Void, Never>) {
        func holder(of mutex: String) throws -> Holder {
            let up = Latch()
            let compound = try CompoundOperation(mutex, mode: .serial, options: OperationOptions(mutexes: [mutex])) {
                holding(up: up, until: go)
            }
            return (compound, up)
        }
        return (
            try holder(of: "n"), try holder(of: "m"), nothing("x", options: OperationOptions(mutexes: ["m"])),
            nothing("y", options: OperationOptions(mutexes: ["n"]))
        )
    }
}
