import AsyncOperations
import FlowrunTestSupport
import Testing

/// Changes made in one call or in several, in any order and place, come to the same.
@Suite(.timeLimit(.minutes(20))) struct SeparateChangeTests {
    private struct Failed: Error {}

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

    @Test func `a need is met inside rounds that what is needed joins later`() async throws {
        let (a, b) = (nothing("a"), nothing("b"))
        try b.addDependency(on: a)
        let compound = try CompoundOperation("c", options: OperationOptions(retry: RetryPolicy(attempts: 2))) { b }
        let queue = AsyncOperationQueue(isSuspended: true)
        try queue.add(compound)
        try compound.add(try CompoundOperation("inner") { a })
        queue.resume()
        #expect(await compound.outcome == .success)
    }

    @Test(arguments: [true, false])
    func `rounds that would wait for what waits for their end are refused, whichever part comes last`(
        isMemberLast: Bool
    ) throws {
        let (a, b, x) = (nothing("a"), nothing("b"), nothing("x"))
        try x.addDependency(on: a)
        try b.addDependency(on: x)
        let compound = try CompoundOperation("c", options: OperationOptions(retry: RetryPolicy(attempts: 2))) { b }
        let queue = AsyncOperationQueue(isSuspended: true)
        try queue.add(x)
        let cycle = UsageError.cycle([compound.id, b.id, x.id, compound.id])
        if isMemberLast {
            try queue.add(compound)
            #expect(throws: cycle) { try compound.add(a) }
        } else {
            try compound.add(a)
            #expect(throws: cycle) { try queue.add(compound) }
        }
    }

    @Test func `a need of a tolerated failure means the same, whichever part comes first`() async throws {
        let failing = AsyncOperation<Void, any Error>("failing") { _ in throw Failed() }
        let x = nothing("x")
        try x.addDependency(on: failing)
        let last = nothing("last")
        try last.addDependency(on: x)
        let inner = try CompoundOperation("inner", options: OperationOptions(toleratesFailure: true)) { failing }
        let outer = try CompoundOperation("outer") {
            inner
            last
        }
        let queue = AsyncOperationQueue(isSuspended: true)
        try queue.add(x)
        try queue.add(outer)
        queue.resume()
        #expect(await outer.outcome == .success)
    }

    @Test func `a holder that waits for a part of another, which waits for its inside, is refused`() throws {
        let (a, b, c) = (nothing("a"), nothing("b"), nothing("c", options: OperationOptions(mutexes: ["m"])))
        try c.addDependency(on: b)
        let first = try CompoundOperation("first", options: OperationOptions(mutexes: ["m"])) { b }
        try first.addDependency(on: a)
        let second = try CompoundOperation("second", options: OperationOptions(mutexes: ["n"])) {
            a
            c
        }
        let queue = AsyncOperationQueue(isSuspended: true)
        let cycle = UsageError.cycle([second.id, c.id, b.id, first.id, a.id, second.id])
        #expect(throws: cycle) { try queue.add(first, second) }
    }

    @Test func `a holder starts after all rounds of what it waits for and what wants its mutex`() async throws {
        let runs = Crowd()
        let failing = AsyncOperation<Void, any Error>("failing", options: OperationOptions(mutexes: ["m"])) { _ in
            runs.enter()
            if runs.now == 1 { throw Failed() }
        }
        let retry = RetryPolicy(attempts: 2, backoff: .constant(.milliseconds(1)))
        let rounds = try CompoundOperation("rounds", options: OperationOptions(retry: retry)) { failing }
        let member = nothing("member", options: OperationOptions(mutexes: ["m"]))
        try member.addDependency(on: rounds)
        let holder = try CompoundOperation("holder", options: OperationOptions(mutexes: ["n"])) { member }
        let queue = AsyncOperationQueue()
        try queue.add(holder, rounds)
        #expect(await holder.outcome == .success)
    }

    @Test func `the first dependency that a member brings counts for everything around it`() async throws {
        let a = nothing("a")
        let member = nothing("member")
        try member.addDependency(on: a)
        let other = try CompoundOperation("other", options: OperationOptions(mutexes: ["n"])) { member }
        let inside = nothing("inside", options: OperationOptions(mutexes: ["n"]))
        let holder = try CompoundOperation("holder", options: OperationOptions(mutexes: ["m"])) { inside }
        let queue = AsyncOperationQueue(isSuspended: true)
        try queue.add(other)
        try queue.add(holder)
        try holder.add(a)
        queue.resume()
        #expect(await other.outcome == .success)
        #expect(await holder.outcome == .success)
    }

    @Test(arguments: [true, false])
    func `a holder starts after a member that wants its mutex and has no dependencies, in what it waits for`(
        isJoining: Bool
    ) async throws {
        let member = nothing("member", options: OperationOptions(mutexes: ["m"]))
        let awaited = try CompoundOperation("awaited") {}
        let inside = nothing("inside")
        try inside.addDependency(on: awaited)
        let holder = try CompoundOperation("holder", options: OperationOptions(mutexes: ["m"])) { inside }
        let queue = AsyncOperationQueue(isSuspended: true)
        if !isJoining { try awaited.add(member) }
        try queue.add(holder)
        try queue.add(awaited)
        if isJoining { try awaited.add(member) }
        queue.resume()
        #expect(await holder.outcome == .success)
    }

    @Test(arguments: [true, false])
    func `a group that was held back no longer is where a later change makes another wait for it`(
        isNeedFirst: Bool
    ) async throws {
        let (first, second, s) = (nothing("first"), nothing("second"), nothing("s"))
        if isNeedFirst { try s.addDependency(on: first) }
        try second.addDependency(on: s)
        let inner = try CompoundOperation("inner") { second }
        let outer = try CompoundOperation("outer", mode: .limited(2)) {
            inner
            nothing("spare")
            s
        }
        let queue = AsyncOperationQueue(isSuspended: true)
        try queue.add(outer)
        try inner.add(first)
        if !isNeedFirst { try s.addDependency(on: first) }
        queue.resume()
        #expect(await outer.outcome == .success)
    }

    @Test func `a group is let go once what its inside needs has its place and waits for another part of it`()
        async throws
    {
        let quick = nothing("quick")
        let body = AsyncOperation<Void, OperationFailure<Never>>("body") { _ throws(OperationFailure<Never>) in
            try await quick.value
        }
        let last = nothing("last")
        try last.addDependency(on: body)
        let group = try CompoundOperation("group") {
            quick
            last
        }
        let compound = try CompoundOperation(mode: .limited(2)) {
            group
            body
            nothing("beside")
        }
        try compound.start()
        #expect(await body.outcome == .success)
        #expect(await compound.outcome == .success)
    }

    @Test func `a group is not held back by a member that joins it where there is a place for each`() async throws {
        let (a, b, s) = (nothing("a"), nothing("b"), nothing("s"))
        try b.addDependency(on: s)
        let inner = try CompoundOperation("inner") { a }
        let outer = try CompoundOperation("outer", mode: .limited(2)) {
            inner
            s
        }
        let queue = AsyncOperationQueue(isSuspended: true)
        try queue.add(outer)
        try inner.add(b)
        try s.addDependency(on: a)
        queue.resume()
        #expect(await outer.outcome == .success)
    }

    @Test func `a group that needs what is between two rounds does not take its only place`() async throws {
        let (up, go) = (Latch(), Latch())
        let runs = Crowd()
        let failing = AsyncOperation<Void, any Error>("failing") { _ in
            runs.enter()
            guard runs.now == 1 else { return }
            up.open()
            await go.wait()
            throw Failed()
        }
        let retry = RetryPolicy(attempts: 2, backoff: .constant(.milliseconds(1)))
        let rounds = try CompoundOperation("rounds", options: OperationOptions(retry: retry)) { failing }
        let outer = try CompoundOperation("outer", mode: .serial) { rounds }
        try outer.start()
        await up.wait()
        let last = nothing("last")
        try last.addDependency(on: rounds)
        try outer.add(try CompoundOperation("late") { last })
        go.open()
        #expect(await outer.outcome == .success)
    }

    @Test func `a member that its group could not start for is refused with the path`() async throws {
        let (a, b) = (nothing("a"), nothing("b"))
        try a.addDependency(on: b)
        let first = try CompoundOperation("first") { a }
        let second = try CompoundOperation("second") {}
        let outer = try CompoundOperation("outer", mode: .serial) {
            first
            second
        }
        try outer.start()
        #expect(throws: UsageError.cycle([b.id, second.id, first.id, a.id, b.id])) { try second.add(b) }
        b.cancel()
        #expect(await outer.outcome == .notRun)
    }

    @Test func `a need of what runs in its first attempt leaves it the only place for the next`() async throws {
        let (up, go) = (Latch(), Latch())
        let retry = RetryPolicy(attempts: 2, backoff: .constant(.milliseconds(1)))
        let flaky = AsyncOperation<Void, any Error>("flaky", options: OperationOptions(retry: retry)) { context in
            guard context.attempt == 1 else { return }
            up.open()
            await go.wait()
            throw Failed()
        }
        let last = nothing("last")
        let group = try CompoundOperation("group") { last }
        let outer = try CompoundOperation("outer", mode: .serial) {
            flaky
            group
        }
        try outer.start()
        await up.wait()
        try last.addDependency(on: flaky)
        go.open()
        #expect(await outer.outcome == .success)
    }

    @Test(arguments: [true, false])
    func `a holder starts after all rounds of what its inside needs, if the need comes last`(
        isLate: Bool
    ) async throws {
        let (a, last) = (nothing("a"), nothing("last"))
        let rounds = try CompoundOperation("rounds", options: OperationOptions(retry: RetryPolicy(attempts: 2))) {
            nothing("first", options: OperationOptions(mutexes: ["m"]))
            a
        }
        let holder = try CompoundOperation("holder", options: OperationOptions(mutexes: ["m"])) { last }
        let queue = AsyncOperationQueue(isSuspended: true)
        if !isLate { try last.addDependency(on: a) }
        try queue.add(holder)
        try queue.add(rounds)
        if isLate { try last.addDependency(on: a) }
        queue.resume()
        #expect(await holder.outcome == .success)
    }

    @Test(arguments: [0, 1, 2])
    func `so does one whose inside needs that over another queue, which the way joins last`(joining: Int) async throws {
        let (a, between, last) = (nothing("a"), nothing("between"), nothing("last"))
        let rounds = try CompoundOperation("rounds", options: OperationOptions(retry: RetryPolicy(attempts: 2))) {
            nothing("first", options: OperationOptions(mutexes: ["m"]))
            a
        }
        let holder = try CompoundOperation("holder", options: OperationOptions(mutexes: ["m"])) { last }
        try between.addDependency(on: a)
        try last.addDependency(on: between)
        let (queue, other) = (AsyncOperationQueue(isSuspended: true), AsyncOperationQueue())
        try queue.add(holder)
        try queue.add(rounds)
        switch joining {
        case 0: try other.add(between)
        case 1:
            let around = try CompoundOperation("around") { nothing() }
            let otherSuspended = AsyncOperationQueue(isSuspended: true)
            try otherSuspended.add(around)
            try around.add(between)
            otherSuspended.resume()
        default: try between.start()
        }
        queue.resume()
        #expect(await holder.outcome == .success)
    }

    @Test(arguments: [true, false])
    func `a group starts after what a member brings into an operation that its inside needs`(
        hasMutex: Bool
    ) async throws {
        let options = OperationOptions(mutexes: hasMutex ? ["m"] : [])
        let (last, wanted, member) = (nothing("last"), nothing("wanted", options: options), nothing("member"))
        let awaited = try CompoundOperation("awaited") {}
        try last.addDependency(on: awaited)
        try member.addDependency(on: wanted)
        let group = try CompoundOperation("group", options: options) { last }
        let queue = AsyncOperationQueue(isSuspended: true)
        if hasMutex {
            try queue.add(group)
            try queue.add(wanted)
        } else {
            let outer = try CompoundOperation("outer", mode: .serial) {
                group
                wanted
            }
            try queue.add(outer)
        }
        try queue.add(awaited)
        try awaited.add(member)
        queue.resume()
        #expect(await group.outcome == .success)
    }

    @Test func `a group starts after what rounds need that a way out of it joins last`() async throws {
        let (a, b, first) = (nothing("a"), nothing("b"), nothing("first"))
        let (between, last) = (nothing("between"), nothing("last"))
        try b.addDependency(on: first)
        try between.addDependency(on: a)
        try last.addDependency(on: between)
        let rounds = try CompoundOperation("rounds", options: OperationOptions(retry: RetryPolicy(attempts: 2))) {
            a
            b
        }
        let group = try CompoundOperation("group") { last }
        let outer = try CompoundOperation("outer", mode: .serial) {
            group
            first
        }
        let queue = AsyncOperationQueue(isSuspended: true)
        try queue.add(outer, rounds)
        try queue.add(between)
        queue.resume()
        #expect(await outer.outcome == .success)
    }
}
