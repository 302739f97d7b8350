import AsyncOperations
import FlowrunTestSupport
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(20))) struct CompoundOperationTests {
    // D1, D23
    @Test func `members of all kinds run, and it ends after the last`() async throws {
        let (up, go) = (Latch(), Latch())
        let last = holding(up: up, until: go)
        let quick = AsyncOperation<Int, Never>.blocking { _ in 1 }
        let failed = failing()
        let compound = try CompoundOperation("mixed") {
            quick
            last
            failed
            AsyncOperation<Void, Never>(whenStopped: .wait) { _, completion in completion.succeed() }
        }
        try compound.start()
        await up.wait()
        _ = await (quick.result, failed.result)
        #expect(compound.state == .executing)
        go.open()
        guard case .failure(.failed(let failure)) = await compound.result else {
            return #expect(Bool(false), "it has failed")
        }
        #expect(failure.name == "mixed")
        #expect(failure.errors.map(\.id) == [failed.id])
        #expect(compound.reports.count == 4)
    }

    @Test func `members may be of any type, alone and in lists, and the error is typed`() async throws {
        let one: any AsyncOperationProtocol = nothing("one")
        let mixed: [any AsyncOperationProtocol] = [nothing("two"), try CompoundOperation("three")]
        let same = [nothing("four"), nothing("five")]
        func make() throws(UsageError) -> CompoundOperation {
            try CompoundOperation {
                one
                mixed
                same
                [nothing("six"), AsyncOperation("seven") { _ in 7 }]
                if let last = same.last { nothing("after \(last.name)") }
            }
        }
        let made = try make()
        try made.start()
        let names = ["one", "two", "three", "four", "five", "six", "seven", "after five"]
        #expect(try await made.value.map(\.name) == names)
    }

    @Test func `where one member is refused, the others are what they were`() async throws {
        let taken = nothing("taken")
        let queue = AsyncOperationQueue(isSuspended: true)
        try queue.add(taken)
        let (simple, compound) = (nothing("simple"), try CompoundOperation("compound") { nothing("inside") })
        #expect(throws: UsageError.alreadyEnqueued(taken.id)) {
            try CompoundOperation {
                simple
                compound
                taken
            }
        }
        #expect(throws: UsageError.alreadyEnqueued(simple.id)) {
            try CompoundOperation {
                simple
                simple
            }
        }
        #expect(throws: UsageError.invalidLimit(0)) { try CompoundOperation(mode: .limited(0)) { simple } }
        #expect(throws: TestError(1)) {
            try CompoundOperation {
                simple
                try refuse()
            }
        }
        #expect(simple.state == .pending && compound.state == .pending && taken.state != .finished)

        let other = try CompoundOperation {
            simple
            compound
        }
        try other.start()
        #expect(await other.outcome == .success)
        queue.resume()
        #expect(await taken.outcome == .success)
    }

    private func refuse() throws -> AsyncOperation<Void, Never> { throw TestError(1) }

    // D1
    @Test func `members may all be synchronous`() async throws {
        let compound = try CompoundOperation { for _ in 0..<50 { nothing() } }
        try compound.start()
        #expect(try await compound.value.count == 50)
    }

    // D2
    @Test func `an empty one succeeds at once, by itself and inside another`() async throws {
        let inner = try CompoundOperation()
        let compound = try CompoundOperation { inner }
        try compound.start()
        #expect(try await compound.value.map(\.id) == [inner.id])
        #expect(await inner.outcome == .success)
    }

    // D3
    @Test func `a serial one runs one at a time, in order`() async throws {
        let crowd = Crowd()
        let order = Record<Int>()
        let compound = try CompoundOperation(mode: .serial) {
            for number in 0..<20 {
                AsyncOperation { _ in
                    crowd.enter()
                    order.add(number)
                    await Task.yield()
                    crowd.leave()
                }
            }
        }
        try compound.start()
        _ = await compound.result
        #expect(order.entries == Array(0..<20))
        #expect(crowd.most == 1)
    }

    // D4, Q3
    @Test func `a limited one reaches its limit and keeps it`() async throws {
        let crowd = Crowd()
        let meetings = [Meeting(of: 2), Meeting(of: 2)]
        let compound = try CompoundOperation(mode: .limited(2)) {
            for number in 0..<4 {
                AsyncOperation { _ in
                    crowd.enter()
                    await meetings[number / 2].come()
                    crowd.leave()
                }
            }
        }
        try compound.start()
        #expect(await compound.outcome == .success)
        #expect(crowd.most == 2)
        #expect(throws: UsageError.invalidLimit(0)) { try CompoundOperation(mode: .limited(0)) }
    }

    // D5
    @Test func `cancelled before its start, nothing in it starts and everything ends cancelled`() async throws {
        let runs = Crowd()
        let members = (0..<3).map { _ in AsyncOperation { _ in runs.enter() } }
        let compound = try CompoundOperation { members }
        let queue = AsyncOperationQueue(isSuspended: true)
        try queue.add(compound)
        compound.cancel()
        guard case .failure(.cancelled(.requested, let failure?)) = await compound.result else {
            return #expect(Bool(false), "it was cancelled")
        }
        #expect(failure.cancelled.map(\.id).sorted() == members.map(\.id))
        for member in members { #expect(await member.result == .failure(.cancelled(.parent(compound.id)))) }
        #expect(runs.now == 0)
    }

    // D5
    @Test func `cancelled before it belongs to a queue, its members end with it`() async throws {
        let member = nothing()
        let compound = try CompoundOperation { try CompoundOperation { member } }
        compound.cancel()
        #expect(await member.outcome == .cancelled)
        #expect(await compound.outcome == .cancelled)
    }

    // D6, D15
    @Test func `cancelled in flight, what runs is stopped, the rest never starts, and it ends last`() async throws {
        let up = Latch()
        let order = Record<String>()
        let first = AsyncOperation { _ async throws(TestError) -> Void in
            up.open()
            await untilCancelled()
            throw TestError(3)
        }
        let others = (0..<4).map { _ in AsyncOperation { _ in order.add("started") } }
        let compound = try CompoundOperation(mode: .serial) {
            first
            others
        }
        first.addCompletion { _ in order.add("member") }
        compound.addCompletion { _ in order.add("compound") }
        try compound.start()
        await up.wait()
        compound.cancel(.shutdown)
        guard case .failure(.cancelled(.shutdown, let failure?)) = await compound.result else {
            return #expect(Bool(false), "it was cancelled")
        }
        #expect(failure.errors.isEmpty)
        #expect(failure.cancelled.count == 5)
        #expect(await first.result == .failure(.cancelled(.parent(compound.id), underlying: TestError(3))))
        #expect(order.entries == ["member", "compound"])
    }

    // D7
    @Test func `the request to the whole is announced before those to its members`() async throws {
        let queue = AsyncOperationQueue()
        let up = Latch()
        let member = hanging(up: up)
        let compound = try CompoundOperation { member }
        let events = queue.events()
        try queue.add(compound)
        await up.wait()
        compound.cancel()
        _ = await compound.result
        var seen: [AsyncOperationID] = []
        for await event in events {
            if case .cancelRequested = event.kind { seen.append(event.id) }
            if event.id == compound.id, event.kind == .finished(.cancelled) { break }
        }
        #expect(seen == [compound.id, member.id])
    }

    // D8, D9
    @Test func `a running one takes more members and waits for them; one that is over takes none`() async throws {
        let (up, go) = (Latch(), Latch())
        let compound = try CompoundOperation { holding(up: up, until: go) }
        try compound.start()
        await up.wait()
        let (lateUp, lateGo) = (Latch(), Latch())
        try compound.add(holding(up: lateUp, until: lateGo))
        await lateUp.wait()
        go.open()
        await compound.members[0].outcome.isSuccess()
        #expect(compound.state == .executing)
        lateGo.open()
        #expect(try await compound.value.count == 2)
        let tooLate = nothing()
        #expect(throws: UsageError.closed(compound.id)) { try compound.add(tooLate) }
        try tooLate.start()
        try await tooLate.value
    }

    // D8
    @Test func `what is added to one that is being stopped is cancelled or refused, and never runs`() async throws {
        for _ in 0..<200 {
            let (up, go) = (Latch(), Latch())
            let runs = Crowd()
            let compound = try CompoundOperation { holding(up: up, until: go) }
            try compound.start()
            await up.wait()
            compound.cancel()
            let late = AsyncOperation { _ in runs.enter() }
            do {
                try compound.add(late)
                go.open()
                #expect(await late.outcome == .cancelled)
            } catch {
                #expect(error == .closed(compound.id))
                go.open()
            }
            #expect(await compound.outcome == .cancelled)
            #expect(runs.now == 0)
        }
    }

    // D10
    @Test func `a member cancelled alone leaves the others, and the whole is cancelled without errors`() async throws {
        let up = Latch()
        let victim = hanging("victim", up: up)
        let other = AsyncOperation { _ in await up.wait() }
        let compound = try CompoundOperation {
            victim
            other
        }
        try compound.start()
        await up.wait()
        try await other.value
        victim.cancel()
        guard case .failure(.cancelled(.requested, let failure?)) = await compound.result else {
            return #expect(Bool(false), "it was cancelled")
        }
        #expect(failure.cancelled.map(\.name) == ["victim"])
        #expect(failure.errors.isEmpty)
    }

    // D11
    @Test func `a failure stops nobody, and all errors are listed in the order of their ends`() async throws {
        let steps = (0..<5).map { _ in Latch() }
        let members = (0..<5).map { number in
            AsyncOperation { _ async throws(TestError) -> Void in
                await steps[number].wait()
                throw TestError(number)
            }
        }
        let order = [3, 1, 4, 0, 2]
        for (number, next) in zip(order, order.dropFirst()) {
            members[number].addCompletion { _ in steps[next].open() }
        }
        let compound = try CompoundOperation { members }
        try compound.start()
        steps[3].open()
        guard case .failure(.failed(let failure)) = await compound.result else {
            return #expect(Bool(false), "it has failed")
        }
        #expect(failure.errors.map { ($0.error as? TestError)?.number } == order)
    }

    // D12
    @Test func `fail-fast cancels the siblings and names the one that failed`() async throws {
        let up = Latch()
        let hang = hanging("hang", up: up)
        let after = nothing("after")
        try after.addDependency(on: hang)
        let failed = AsyncOperation("failed") { _ async throws(TestError) -> Void in
            await up.wait()
            throw TestError(1)
        }
        let compound = try CompoundOperation(failFast: .cancel) {
            failed
            hang
            after
        }
        try compound.start()
        guard case .failure(.failed(let failure)) = await compound.result else {
            return #expect(Bool(false), "it has failed")
        }
        #expect(failure.errors.map(\.name) == ["failed"])
        #expect(failure.cancelled.map(\.name).sorted() == ["after", "hang"])
        #expect(await hang.result == .failure(.cancelled(.sibling(failed.id))))
    }

    // D13
    @Test func `draining, what runs goes on and nothing new starts`() async throws {
        let (up, go) = (Latch(), Latch())
        let held = holding("held", up: up, until: go)
        let later = nothing("later")
        try later.addDependency(on: held)
        let failed = AsyncOperation("failed") { _ async throws(TestError) -> Void in
            await up.wait()
            throw TestError(1)
        }
        failed.addCompletion { _ in go.open() }
        let compound = try CompoundOperation(failFast: .drain) {
            failed
            held
            later
        }
        try compound.start()
        guard case .failure(.failed(let failure)) = await compound.result else {
            return #expect(Bool(false), "it has failed")
        }
        #expect(await held.outcome == .success)
        #expect(await later.result == .failure(.notRun(rootCause: failed.id)))
        #expect(failure.notRun.map(\.name) == ["later"])
    }

    // D14
    @Test func `a nested one is one error outside and has its own list inside`() async throws {
        let inner = try CompoundOperation("inner") { for number in 0..<5 { failing("f\(number)", number) } }
        let compound = try CompoundOperation("outer") {
            inner
            nothing()
        }
        try compound.start()
        guard case .failure(.failed(let failure)) = await compound.result else {
            return #expect(Bool(false), "it has failed")
        }
        #expect(failure.errors.map(\.name) == ["inner"])
        #expect((failure.errors[0].error as? CompoundOperation.Failure)?.errors.count == 5)
        #expect(failure.leaves.map(\.name).sorted() == ["inner.f0", "inner.f1", "inner.f2", "inner.f3", "inner.f4"])
    }

    // D16, D17
    @Test func `errors from before a cancel are kept, and a failure outranks it`() async throws {
        let up = Latch()
        let failed = failing("failed", 1)
        let compound = try CompoundOperation {
            failed
            hanging(up: up)
        }
        try compound.start()
        _ = await (failed.result, up.wait())
        compound.cancel()
        guard case .failure(.failed(let failure)) = await compound.result else {
            return #expect(Bool(false), "it has failed")
        }
        #expect(failure.errors.map(\.name) == ["failed"])
        #expect(failure.cancelled.count == 1)
    }

    // D19
    @Test func `it takes no place: three levels run in a queue of one`() async throws {
        let queue = try AsyncOperationQueue(maxConcurrentOperationCount: 1)
        let compound = try CompoundOperation {
            try CompoundOperation {
                try CompoundOperation { nothing() }
                nothing()
            }
            nothing()
        }
        try queue.add(compound)
        #expect(await compound.outcome == .success)
    }

    // D20
    @Test func `of two in a serial one, the second starts after the first's last member`() async throws {
        let up = Latch()
        let order = Record<String>()
        let last = hanging(up: up)
        last.addCompletion { _ in order.add("last of first") }
        let first = try CompoundOperation { last }
        let second = try CompoundOperation { AsyncOperation { _ in order.add("second") } }
        let both = try CompoundOperation(mode: .serial) {
            first
            second
        }
        try both.start()
        await up.wait()
        first.cancel()
        _ = await both.result
        #expect(order.entries == ["last of first", "second"])
    }

    // D22
    @Test func `a tolerated failure is recorded and harms nobody`() async throws {
        let tolerated = failing("tolerated", options: .init(toleratesFailure: true))
        let dependent = nothing()
        try dependent.addDependency(on: tolerated)
        let compound = try CompoundOperation {
            tolerated
            dependent
        }
        try compound.start()
        let reports = try await compound.value
        #expect(reports.map(\.outcome) == [.failure, .success])
        #expect(reports[0].isTolerated)
    }

    // L4
    @Test func `errors of earlier attempts are not aggregated`() async throws {
        let attempts = Crowd()
        let options = OperationOptions(retry: RetryPolicy(attempts: 5))
        let flaky = AsyncOperation(options: options) { _ async throws(TestError) -> Int in
            attempts.enter()
            if attempts.now < 3 { throw TestError(attempts.now) }
            return attempts.now
        }
        let compound = try CompoundOperation { flaky }
        try compound.start()
        #expect(try await compound.value.map(\.outcome) == [.success])
        #expect(await flaky.result == .success(3))
    }
}

extension OperationOutcome {
    fileprivate func isSuccess() { #expect(self == .success) }
}
