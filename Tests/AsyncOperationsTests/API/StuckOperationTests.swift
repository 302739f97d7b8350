import AsyncOperations
import FlowrunTestSupport
import Testing

/// Operations that come to wait for themselves only because of what started first.
@Suite(.timeLimit(.minutes(20))) struct StuckOperationTests {
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

    @Test func `a limit that will open the ring is waited for`() async throws {
        let (here, there) = (AsyncOperationQueue(isSuspended: true), AsyncOperationQueue(isSuspended: true))
        let x = nothing("x", options: OperationOptions(mutexes: ["n"]))
        let y = nothing("y", options: OperationOptions(mutexes: ["m"]))
        let (a, b) = (nothing("a"), nothing("b"))
        try a.addDependency(on: x, .done)
        try b.addDependency(on: y, .done)
        let options = OperationOptions(timeout: .milliseconds(50), mutexes: ["m"])
        let first = try CompoundOperation("first", options: options) { a }
        let second = try CompoundOperation("second", options: OperationOptions(mutexes: ["n"])) { b }
        try here.add(first, y)
        try there.add(second, x)
        here.resume()
        there.resume()
        #expect(await first.outcome == .timeout)
        #expect(await second.outcome == .success)
        #expect(await x.outcome == .success)
        #expect(await y.outcome == .success)
    }

    /// What frees the last reference to a value runs its `deinit`.
    @Test func `values that end while rings are looked for are freed without a lock`() async throws {
        let queue = try AsyncOperationQueue(maxConcurrentOperationCount: 8)
        let other = AsyncOperationQueue(isSuspended: true)
        let (gate, waiting) = (nothing("gate"), nothing("waiting"))
        try waiting.addDependency(on: gate)
        let holder = try CompoundOperation("holder", options: OperationOptions(mutexes: ["k"])) { waiting }
        try queue.add(holder)
        try other.add(gate)
        for _ in 0..<100 {
            let x = nothing("x", options: OperationOptions(mutexes: ["m"]))
            try addLinkers(100, to: queue)
            try queue.add(x)
            #expect(await x.outcome == .success)
        }
        other.resume()
        #expect(await holder.outcome == .success)
    }

    /// The values of the members are gone with the last handle.
    private func addLinkers(_ count: Int, to queue: AsyncOperationQueue) throws {
        try queue.add(
            CompoundOperation(options: OperationOptions(mutexes: ["m"])) {
                for _ in 0..<count { AsyncOperation<Linker, Never> { () async -> Linker in Linker() } }
            })
    }
}

/// Changes who waits for whom when it is freed.
private final class Linker: Sendable {
    deinit {
        let (a, b) = (nothing(), nothing())
        try? a.addDependency(on: b)
    }
}
