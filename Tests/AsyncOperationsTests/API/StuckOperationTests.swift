import AsyncOperations
import FlowrunTestSupport
import Testing

/// Operations that come to wait for themselves only because of what started first.
@Suite(.timeLimit(.minutes(20))) struct StuckOperationTests {
    @Test func `in two queues, where each took what the other needs, one operation ends with the path`() async throws {
        let pair = try CrossedPair()
        try pair.run()
        #expect(await pair.first.outcome == .success)
        #expect(await pair.second.outcome == .success)
        let ends = [await pair.x.result, await pair.y.result]
        #expect(ends.count { if case .success = $0 { true } else { false } } == 1)
        for case .failure(.cancelled(let reason, _)) in ends {
            guard case .stuck(let path) = reason else {
                Issue.record("\(reason)")
                continue
            }
            #expect(path.first == path.last)
            #expect(Set(path) == pair.ring)
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
        let pair = try CrossedPair(timeout: .milliseconds(50))
        try pair.run()
        #expect(await pair.first.outcome == .timeout)
        #expect(await pair.second.outcome == .success)
        #expect(await pair.x.outcome == .success)
        #expect(await pair.y.outcome == .success)
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

/// Two groups in two queues: each takes a mutex that an operation wants which a member of the other needs.
private struct CrossedPair {
    let x = nothing("x", options: OperationOptions(mutexes: ["n"]))
    let y = nothing("y", options: OperationOptions(mutexes: ["m"]))
    let first, second: CompoundOperation
    /// All that wait for each other.
    let ring: Set<AsyncOperationID>

    /// The limit is that of the first group.
    init(timeout: Duration? = nil) throws {
        let (a, b) = (nothing("a"), nothing("b"))
        try a.addDependency(on: x, .done)
        try b.addDependency(on: y, .done)
        first = try CompoundOperation("first", options: OperationOptions(timeout: timeout, mutexes: ["m"])) { a }
        second = try CompoundOperation("second", options: OperationOptions(mutexes: ["n"])) { b }
        ring = [x.id, second.id, b.id, y.id, first.id, a.id]
    }

    /// Both groups start before anything that they need.
    func run() throws {
        let (here, there) = (AsyncOperationQueue(isSuspended: true), AsyncOperationQueue(isSuspended: true))
        try here.add(first, y)
        try there.add(second, x)
        here.resume()
        there.resume()
    }
}

/// Changes who waits for whom when it is freed.
private final class Linker: Sendable {
    deinit {
        let (a, b) = (nothing(), nothing())
        try? a.addDependency(on: b)
    }
}
