import AsyncOperations
import FlowrunTestSupport
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(20))) struct CompoundRetryTests {
    private let twice = OperationOptions(retry: RetryPolicy(attempts: 2))

    /// Fails as often as it is told to, then succeeds with the number of its run.
    private func flaky(
        _ name: String, failures: Int, _ order: Record<String>? = nil
    ) -> AsyncOperation<Int, TestError> {
        let runs = Crowd()
        return AsyncOperation(name) { _ async throws(TestError) in
            runs.enter()
            order?.add("\(name) \(runs.now)")
            if runs.now <= failures { throw TestError(runs.now) }
            return runs.now
        }
    }

    @Test func `all members run again, and each ends once, with its last end, before the whole`() async throws {
        let order = Record<String>()
        let good = flaky("good", failures: 0, order)
        let bad = flaky("bad", failures: 2, order)
        let ends = Record<String>()
        good.addCompletion { ends.add("good \($0)") }
        bad.addCompletion { ends.add("bad \($0)") }
        let compound = try CompoundOperation(
            mode: .serial, options: .init(retry: RetryPolicy(attempts: 3))
        ) {
            good
            bad
        }
        compound.addCompletion { ends.add("compound \($0.outcome)") }
        try compound.start()
        #expect(try await compound.value.map(\.outcome) == [.success, .success])
        #expect(order.entries == ["good 1", "bad 1", "good 2", "bad 2", "good 3", "bad 3"])
        #expect(ends.entries == ["good success(3)", "bad success(3)", "compound success"])
        #expect(await good.result == .success(3))
    }

    @Test func `a member that is over in a round does not end before the last round`() async throws {
        let (up, go) = (Latch(), Latch())
        let quick = nothing("quick")
        let runs = Crowd()
        let slow = AsyncOperation("slow") { _ async throws(TestError) in
            runs.enter()
            if runs.now == 2 {
                up.open()
                await go.wait()
            } else {
                throw TestError()
            }
        }
        let compound = try CompoundOperation(mode: .serial, options: twice) {
            quick
            slow
        }
        let outside = nothing("outside")
        try outside.addDependency(on: quick)
        try compound.start()
        try outside.start()
        await up.wait()
        #expect(!quick.isFinished && quick.state == .executing)
        #expect(outside.state == .pending)
        go.open()
        #expect(await quick.outcome == .success)
        #expect(await outside.outcome == .success)
    }

    @Test func `dependencies and outputs between members hold in each round`() async throws {
        let order = Record<String>()
        let source = flaky("source", failures: 0, order)
        let doubled = AsyncOperation("doubled", from: source.output) { _, number async throws(TestError) in
            order.add("doubled \(number)")
            if number < 3 { throw TestError(number) }
            return number * 2
        }
        let after = AsyncOperation("after") { _ in order.add("after") }
        try after.addDependency(on: doubled)
        let compound = try CompoundOperation(options: .init(retry: RetryPolicy(attempts: 4))) {
            after
            doubled
            source
        }
        try compound.start()
        #expect(await compound.outcome == .success)
        #expect(await doubled.result == .success(6))
        let rounds = ["source 1", "doubled 1", "source 2", "doubled 2", "source 3", "doubled 3", "after"]
        #expect(order.entries == rounds)
    }

    @Test func `errors of rounds that another one follows are not aggregated`() async throws {
        let (first, second) = (flaky("first", failures: 2), flaky("second", failures: 1))
        let compound = try CompoundOperation("compound", mode: .serial, options: twice) {
            first
            second
        }
        try compound.start()
        guard case .failure(.failed(let failure)) = await compound.result else {
            return #expect(Bool(false), "it has failed")
        }
        #expect(failure.errors.map(\.name) == ["first"])
        #expect(failure.errors.map { $0.error as? TestError } == [TestError(2)])
        #expect(compound.reports.map(\.name) == ["first", "second"])
        #expect(await second.result == .success(2))
    }

    @Test func `a member that was cancelled by its name stays so, and no further round begins`() async throws {
        let up = Latch()
        let victim = hanging("victim", up: up)
        let compound = try CompoundOperation(options: twice) {
            victim
            nothing("other")
        }
        try compound.start()
        await up.wait()
        #expect(victim.cancel(.requested))
        #expect(!victim.cancel(.shutdown))
        #expect(await compound.outcome == .cancelled)
        #expect(await victim.result == .failure(.cancelled(.requested)))
        #expect(victim.isCancelled)
    }

    @Test func `a member that was cancelled in a round that fails does not run again`() async throws {
        let runs = Crowd()
        let up = Latch()
        let victim = AsyncOperation("victim") { _ in
            runs.enter()
            up.open()
            await untilCancelled()
        }
        let bad = AsyncOperation("bad") { _ async throws(TestError) in
            await up.wait()
            victim.cancel()
            throw TestError()
        }
        let compound = try CompoundOperation(options: .init(retry: RetryPolicy(attempts: 3))) {
            victim
            bad
        }
        try compound.start()
        guard case .failure(.failed(let failure)) = await compound.result else {
            return #expect(Bool(false), "it has failed")
        }
        #expect(failure.cancelled.map(\.name) == ["victim"])
        #expect(await victim.outcome == .cancelled)
        #expect(victim.isCancelled)
        #expect(runs.now == 1)
    }

    @Test func `rounds may be nested: each outer one has as many inner ones as it needs`() async throws {
        let order = Record<String>()
        let member = flaky("member", failures: 3, order)
        let ends = Record<String>()
        let inner = try CompoundOperation("inner", options: twice) { member }
        member.addCompletion { ends.add("member \($0)") }
        inner.addCompletion { ends.add("inner \($0.outcome)") }
        let outer = try CompoundOperation("outer", options: twice) { inner }
        outer.addCompletion { ends.add("outer \($0.outcome)") }
        try outer.start()
        #expect(await outer.outcome == .success)
        #expect(order.entries == ["member 1", "member 2", "member 3", "member 4"])
        #expect(ends.entries == ["member success(4)", "inner success", "outer success"])
    }

    @Test func `a member's own attempts begin anew in each round`() async throws {
        let attempts = Record<Int>()
        let member = AsyncOperation("member", options: twice) { context async throws(TestError) in
            attempts.add(context.attempt)
            if attempts.entries.count < 4 { throw TestError() }
        }
        let compound = try CompoundOperation(options: twice) { member }
        try compound.start()
        #expect(await compound.outcome == .success)
        #expect(attempts.entries == [1, 2, 1, 2])
    }

    @Test func `a round that takes too long is stopped, and another one follows`() async throws {
        let clock = ManualClock()
        let runs = Crowd()
        let member = AsyncOperation("member") { _ in
            runs.enter()
            if runs.now == 1 { await untilCancelled() }
        }
        var options = twice
        options.timeout = .seconds(5)
        let compound = try CompoundOperation(options: options) { member }
        try compound.start(clock: clock)
        await clock.advance(by: .seconds(5))
        #expect(await compound.outcome == .success)
        #expect(runs.now == 2)
        #expect(await member.outcome == .success)
        #expect(!member.isCancelled && !compound.isCancelled)
    }

    @Test func `the last round's limit is its end`() async throws {
        let clock = ManualClock()
        let member = hanging("member")
        var options = twice
        options.timeout = .seconds(5)
        let compound = try CompoundOperation(options: options) { member }
        try compound.start(clock: clock)
        await clock.advance(by: .seconds(5))
        await clock.advance(by: .seconds(5))
        #expect(await limit(of: compound) == [.seconds(5)])
        #expect(await member.result == .failure(.cancelled(.deadline(compound.id))))
    }

    @Test func `what is added while it runs takes part in the rounds that follow`() async throws {
        let order = Record<String>()
        let added = flaky("added", failures: 0, order)
        let runs = Crowd()
        let producer = AsyncOperation("producer") { context async throws(TestError) in
            runs.enter()
            if runs.now == 1 {
                try? context.produce(added)
                throw TestError()
            }
        }
        let compound = try CompoundOperation(mode: .serial, options: twice) { producer }
        try compound.start()
        #expect(try await compound.value.map(\.name) == ["producer", "added"])
        #expect(order.entries == ["added 1", "added 2"])
        #expect(await added.result == .success(2))
    }

    @Test func `every round may produce more`() async throws {
        let runs = Crowd()
        let produced = Record<String>()
        let producer = AsyncOperation("producer") { context async throws(UsageError) in
            runs.enter()
            let round = runs.now
            try context.produce(AsyncOperation("from \(round)") { _ in produced.add("from \(round)") })
            if round < 3 { throw .closed(context.id) }
        }
        let inner = try CompoundOperation { producer }
        let compound = try CompoundOperation(options: .init(retry: RetryPolicy(attempts: 3))) { inner }
        try compound.start()
        #expect(await compound.outcome == .success)
        #expect(await producer.outcome == .success)
        #expect(produced.entries.sorted() == ["from 1", "from 1", "from 1", "from 2", "from 2", "from 3"])
    }

    @Test func `added between two rounds, it runs in the next`() async throws {
        let clock = ManualClock()
        let retry = RetryPolicy(attempts: 2, backoff: .constant(.seconds(60)))
        let bad = flaky("bad", failures: 1)
        let late = flaky("late", failures: 0)
        let compound = try CompoundOperation(options: .init(retry: retry)) { bad }
        try compound.start(clock: clock)
        while clock.sleeperCount == 0 { await Task.yield() }
        try compound.add(late)
        #expect(!late.isFinished)
        await clock.advance(by: .seconds(60))
        #expect(await compound.outcome == .success)
        #expect(await late.result == .success(1))
    }

    @Test(arguments: [true, false])
    func `added between two rounds, of which the next never begins, it ends before the whole`(isCancelled: Bool)
        async throws
    {
        let clock = ManualClock()
        let retry = RetryPolicy(
            attempts: 2, backoff: .constant(.seconds(60)), deadline: isCancelled ? nil : .seconds(90))
        let outer = try CompoundOperation("outer", failFast: isCancelled ? .off : .drain)
        let compound = try CompoundOperation("compound", options: .init(retry: retry)) { failing("bad") }
        let ends = Record<String>()
        let (inner, late) = (nothing("inner"), nothing("late"))
        let group = try CompoundOperation("group") { inner }
        inner.addCompletion { ends.add("inner \($0.outcome)") }
        group.addCompletion { ends.add("group \($0.outcome)") }
        late.addCompletion { ends.add("late \($0.outcome)") }
        compound.addCompletion { ends.add("compound \($0.outcome)") }
        let go = Latch()
        let drains = AsyncOperation("drains") { _ async throws(TestError) in
            await go.wait()
            throw TestError()
        }
        try outer.add(compound)
        try outer.add(drains)
        try outer.start(clock: clock)
        while clock.sleeperCount == 0 { await Task.yield() }
        try compound.add(group)
        try compound.add(late)
        if isCancelled { compound.cancel() }
        go.open()
        _ = await outer.outcome
        let ruledOut = isCancelled ? "cancelled" : "not run"
        #expect(
            ends.entries == [
                "inner \(ruledOut)", "late \(ruledOut)", "group \(ruledOut)",
                "compound failure",
            ])
    }

    @Test func `cancelled between two rounds, it ends at once and its members keep their last ends`() async throws {
        let clock = ManualClock()
        let retry = RetryPolicy(attempts: 2, backoff: .constant(.seconds(60)))
        let (good, bad) = (flaky("good", failures: 0), flaky("bad", failures: 9))
        let ends = Record<String>()
        good.addCompletion { ends.add("good \($0.outcome)") }
        bad.addCompletion { ends.add("bad \($0.outcome)") }
        let compound = try CompoundOperation(mode: .serial, options: .init(retry: retry)) {
            good
            bad
        }
        compound.addCompletion { ends.add("compound \($0.outcome)") }
        try compound.start(clock: clock)
        while clock.sleeperCount == 0 { await Task.yield() }
        #expect(compound.cancel())
        // The clock stands still.
        _ = await compound.result
        #expect(compound.isCancelled)
        #expect(ends.entries.count == 3 && ends.entries.last?.hasPrefix("compound") == true)
        #expect(good.isFinished && bad.isFinished)
    }

    @Test func `a member that was cancelled before the start counts in each round`() async throws {
        let gone = nothing("gone")
        let order = Record<String>()
        let bad = flaky("bad", failures: 1, order)
        let compound = try CompoundOperation(options: twice) {
            gone
            bad
        }
        gone.cancel()
        try compound.start()
        let result = await compound.result
        #expect(result.outcome == .cancelled)
        #expect(compound.reports.map(\.name).sorted() == ["bad", "gone"])
        #expect(gone.isFinished && bad.isFinished)
    }

    @Test func `a waterfall inside is begun anew`() async throws {
        let order = Record<String>()
        let waterfall = Waterfall("waterfall", from: Int.self, failure: TestError.self)
            .then { number in
                order.add("job")
                return number
            }
            .operation(1)
        let bad = flaky("bad", failures: 1, order)
        let compound = try CompoundOperation(mode: .serial, options: twice) {
            waterfall
            bad
        }
        try compound.start()
        #expect(await compound.outcome == .success)
        #expect(order.entries == ["job", "bad 1", "job", "bad 2"])
        #expect(waterfall.progress == OperationProgress(completed: 1, total: 1))
    }

    @Test func `events tell of each round, and of one end each`() async throws {
        let queue = AsyncOperationQueue()
        let events = queue.events()
        let bad = flaky("bad", failures: 1)
        let compound = try CompoundOperation("compound", options: twice) { bad }
        try queue.add(compound)
        _ = await compound.result
        let all = await kinds(events, of: compound.id)
        #expect(
            all == [
                .added(by: nil), .ready, .started(attempt: 1), .retry(after: .zero), .started(attempt: 2),
                .finished(.success),
            ])
    }

    @Test func `events count the attempts of a member over all rounds, and its body those of the round`() async throws {
        let queue = AsyncOperationQueue()
        let events = queue.events()
        let runs = Record<Int>()
        let member = AsyncOperation("member", options: twice) { context async throws(TestError) in
            runs.add(context.attempt)
            if runs.entries.count < 4 { throw TestError() }
        }
        let inner = try CompoundOperation("inner") { member }
        let outer = try CompoundOperation("outer", options: twice) { inner }
        let alone = nothing("alone", options: twice)
        try queue.add(outer, alone)
        _ = await (outer.outcome, alone.outcome)
        try await queue.shutdown()
        var attempts: [String: [Int]] = [:]
        for await event in events {
            if case .started(let attempt) = event.kind { attempts[event.id.name, default: []].append(attempt) }
        }
        #expect(runs.entries == [1, 2, 1, 2])
        #expect(attempts == ["member": [1, 2, 3, 4], "inner": [1, 2], "outer": [1, 2], "alone": [1]])
    }

    @Test func `a member that was cancelled is so in each round, whatever else would rule it out`() async throws {
        let (up, go) = (Latch(), Latch())
        let runs = Crowd()
        let once = AsyncOperation("once") { _ async throws(TestError) in
            runs.enter()
            up.open()
            await go.wait()
            if runs.now == 1 { throw TestError() }
        }
        let (outside, victim) = (nothing("outside"), nothing("victim"))
        try victim.addDependency(on: outside, .failure)
        let compound = try CompoundOperation(options: twice) {
            once
            victim
        }
        let queue = try AsyncOperationQueue(maxConcurrentOperationCount: 4)
        try queue.add(compound)
        await up.wait()
        #expect(victim.cancel())
        try queue.add(outside)
        _ = await outside.outcome
        go.open()
        #expect(await compound.outcome == .cancelled)
        #expect(await victim.result == .failure(.cancelled(.requested)))
        #expect(compound.reports.map(\.outcome) == [.cancelled, .success])
    }
}
