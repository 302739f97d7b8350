import AsyncOperations
import FlowrunTestSupport
import Testing

/// Changes made in one call or in several, in any order and place, come to the same.
@Suite(.timeLimit(.minutes(20))) struct SeparateChangeTests {
    /// How a program gets its two parts going.
    enum Way: CaseIterable, Sendable {
        case together, compoundFirst, outsideFirst, otherQueue, compoundElsewhere, startedAlone, outsideStartedAlone,
            produced
    }

    /// Gets both going. What they are made of ends only if neither keeps the other waiting.
    private func begin(
        _ compound: CompoundOperation, _ outside: AsyncOperation<Void, Never>, _ way: Way
    ) async throws {
        let queue = try AsyncOperationQueue(maxConcurrentOperationCount: 4)
        switch way {
        case .together: try queue.add(compound, outside)
        case .compoundFirst:
            try queue.add(compound)
            try queue.add(outside)
        case .outsideFirst:
            try queue.add(outside)
            try queue.add(compound)
        case .otherQueue:
            try queue.add(compound)
            try AsyncOperationQueue().add(outside)
        case .compoundElsewhere:
            try queue.add(outside)
            try AsyncOperationQueue().add(compound)
        case .startedAlone:
            try compound.start()
            try outside.start()
        case .outsideStartedAlone:
            try outside.start()
            try compound.start()
        case .produced:
            try queue.add(compound)
            try await queue.run("producer") { context in try context.produce(outside) }
        }
    }

    @Test(arguments: Way.allCases)
    func `a compound operation with a mutex starts before what its inside needs, if that needs its inside`(
        way: Way
    ) async throws {
        let (a, b, x) = (nothing("a"), nothing("b"), nothing("x"))
        try x.addDependency(on: a)
        try b.addDependency(on: x)
        let compound = try CompoundOperation("c", options: OperationOptions(mutexes: ["m"])) {
            a
            b
        }
        try await begin(compound, x, way)
        #expect(await compound.outcome == .success)
        #expect(await x.outcome == .success)
    }

    @Test(arguments: Way.allCases, [2, 3])
    func `so does one in a compound operation that has places to spare`(way: Way, places: Int) async throws {
        let (a, b, s, x) = (nothing("a"), nothing("b"), nothing("s"), nothing("x"))
        try x.addDependency(on: a)
        try s.addDependency(on: x)
        try b.addDependency(on: s)
        let inner = try CompoundOperation("inner") {
            a
            b
        }
        let outer = try CompoundOperation("outer", mode: .limited(places)) {
            s
            inner
        }
        try await begin(outer, x, way)
        #expect(await outer.outcome == .success)
        #expect(await x.outcome == .success)
    }

    @Test(arguments: [true, false])
    func `where the one place is all there is, the ring is refused with its path, whichever part comes last`(
        isOutsideLast: Bool
    ) throws {
        let (a, b, s, x) = (nothing("a"), nothing("b"), nothing("s"), nothing("x"))
        try x.addDependency(on: a)
        try s.addDependency(on: x)
        try b.addDependency(on: s)
        let inner = try CompoundOperation("inner") {
            a
            b
        }
        let outer = try CompoundOperation("outer", mode: .serial) {
            s
            inner
        }
        let queue = AsyncOperationQueue(isSuspended: true)
        if !isOutsideLast { try queue.add(x) }
        let cycle = UsageError.cycle([inner.id, b.id, s.id, x.id, a.id, inner.id])
        #expect(throws: cycle) { try queue.add(outer) }
    }

    @Test func `groups that need one another's members run at once where there is a place for each`() async throws {
        let (up, go) = (Latch(), Latch())
        let slow = holding("slow", up: up, until: go)
        let quick = nothing("quick")
        let last = nothing("last")
        try last.addDependency(on: slow)
        let first = try CompoundOperation("first") { slow }
        let second = try CompoundOperation("second") {
            quick
            last
        }
        let compound = try CompoundOperation(mode: .limited(2)) {
            first
            second
        }
        try compound.start()
        await up.wait()
        // Starts although `last` waits.
        try await quick.value
        go.open()
        #expect(await compound.outcome == .success)
    }

    @Test(arguments: [true, false])
    func `a dependency on something inside retried rounds that wait for it is refused, early or late`(
        isLate: Bool
    ) async throws {
        let (a, b, x) = (nothing("a"), nothing("b"), nothing("x"))
        try b.addDependency(on: x)
        let compound = try CompoundOperation("c", options: OperationOptions(retry: RetryPolicy(attempts: 2))) {
            a
            b
        }
        let queue = AsyncOperationQueue(isSuspended: true)
        let cycle = UsageError.cycle([x.id, compound.id, b.id, x.id])
        if isLate {
            try queue.add(compound, x)
            #expect(throws: cycle) { try x.addDependency(on: a) }
            queue.resume()
            #expect(await compound.outcome == .success)
        } else {
            try x.addDependency(on: a)
            #expect(throws: cycle) { try queue.add(compound, x) }
        }
    }
}
