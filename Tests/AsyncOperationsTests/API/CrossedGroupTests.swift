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

    @Test func `in two queues, where each took what the other needs, one operation ends with the path`() async throws {
        let (here, there) = (AsyncOperationQueue(isSuspended: true), AsyncOperationQueue(isSuspended: true))
        let x = nothing("x", options: OperationOptions(mutexes: ["n"]))
        let y = nothing("y", options: OperationOptions(mutexes: ["m"]))
        let (a, b) = (nothing("a"), nothing("b"))
        try a.addDependency(on: x, .done)
        try b.addDependency(on: y, .done)
        let first = try CompoundOperation("first", options: OperationOptions(mutexes: ["m"])) { a }
        let second = try CompoundOperation("second", options: OperationOptions(mutexes: ["n"])) { b }
        try here.add(first, y)
        try there.add(second, x)
        here.resume()
        there.resume()
        #expect(await first.outcome == .success)
        #expect(await second.outcome == .success)
        let ends = [await x.result, await y.result]
        #expect(ends.count { if case .success = $0 { true } else { false } } == 1)
        let ring = [x.id, second.id, b.id, y.id, first.id, a.id]
        for case .failure(.cancelled(let reason, _)) in ends {
            guard case .stuck(let path) = reason else {
                Issue.record("\(reason)")
                continue
            }
            #expect(path.first == path.last)
            #expect(Set(path) == Set(ring))
        }
    }

    @Test func `where groups took all the places that others need, one operation ends with the path`() async throws {
        func groups(_ name: String, needing other: AsyncOperation<Void, Never>) throws -> [CompoundOperation] {
            try (1...2).map { number in
                let member = nothing("\(name)\(number)")
                try member.addDependency(on: other, .done)
                return try CompoundOperation("\(name) group \(number)") { member }
            }
        }
        let (one, two) = (nothing("one"), nothing("two"))
        let (first, second) = (try groups("first", needing: one), try groups("second", needing: two))
        let left = try CompoundOperation("left", mode: .limited(2)) {
            for group in first { group }
            two
        }
        let right = try CompoundOperation("right", mode: .limited(2)) {
            for group in second { group }
            one
        }
        let queue = AsyncOperationQueue(isSuspended: true)
        try queue.add(left, right)
        queue.resume()
        for group in first + second { #expect(await group.outcome == .success) }
        for operation in [one, two] {
            guard case .failure(let failure) = await operation.result else { continue }
            guard case .cancelled(.stuck(let path), _) = failure else {
                Issue.record("\(failure)")
                continue
            }
            #expect(path.first == path.last)
            #expect(path.contains(operation.id))
        }
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
