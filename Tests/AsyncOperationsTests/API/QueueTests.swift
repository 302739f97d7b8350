import AsyncOperations
import FlowrunTestSupport
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(20))) struct QueueTests {
    // Q1, Q2
    @Test func `the highest priority starts first, equals in the order of adding`() async throws {
        let order = Record<String>()
        let queue = try AsyncOperationQueue(maxConcurrentOperationCount: 1, isSuspended: true)
        for priority in [2, 5, 1, 4, 3, 3] as [UInt32] {
            let options = OperationOptions(priority: priority)
            try queue.add(AsyncOperation(options: options) { _ in order.add("\(priority)") })
        }
        queue.resume()
        try await queue.waitUntilIdle()
        #expect(order.entries == ["5", "4", "3", "3", "2", "1"])
    }

    // Q3
    @Test func `two at once really are two at once`() async throws {
        let meeting = Meeting(of: 2)
        let queue = try AsyncOperationQueue(maxConcurrentOperationCount: 2)
        for _ in 0..<2 { try queue.add(AsyncOperation { _ in await meeting.come() }) }
        try await queue.waitUntilIdle()
    }

    // Q4
    @Test func `raising the limit starts more, lowering it stops none`() async throws {
        let queue = try AsyncOperationQueue(maxConcurrentOperationCount: 1)
        let (meeting, go, crowd) = (Meeting(of: 3), Latch(), Crowd())
        let first = (0..<3).map { _ in
            AsyncOperation { _ in
                await meeting.come()
                await go.wait()
            }
        }
        try queue.add(contentsOf: first)
        try queue.setMaxConcurrentOperationCount(3)
        await meetingIsOver(first)
        try queue.setMaxConcurrentOperationCount(1)
        #expect(queue.maxConcurrentOperationCount == 1)
        #expect(first.allSatisfy { $0.isRunning })
        for _ in 0..<10 {
            let later = AsyncOperation { _ in
                crowd.enter()
                await Task.yield()
                crowd.leave()
            }
            try queue.add(later)
        }
        go.open()
        try await queue.waitUntilIdle()
        #expect(crowd.most == 1)
    }

    private func meetingIsOver(_ operations: [AsyncOperation<Void, Never>]) async {
        while !operations.allSatisfy(\.isRunning) { await Task.yield() }
    }

    // Q5
    @Test func `a limit below one is refused`() throws {
        #expect(throws: UsageError.invalidLimit(0)) { try AsyncOperationQueue(maxConcurrentOperationCount: 0) }
        #expect(throws: UsageError.invalidLimit(-3)) { try AsyncOperationQueue(maxConcurrentOperationCount: -3) }
        let queue = try AsyncOperationQueue(maxConcurrentOperationCount: 2)
        #expect(throws: UsageError.invalidLimit(0)) { try queue.setMaxConcurrentOperationCount(0) }
        #expect(queue.maxConcurrentOperationCount == 2)
    }

    // Q6
    @Test func `it counts what is unfinished, and is empty at the end`() async throws {
        let queue = AsyncOperationQueue(isSuspended: true)
        try queue.add(nothing(), nothing(), try CompoundOperation { nothing() })
        #expect(queue.operationCount == 3)
        queue.resume()
        try await queue.waitUntilIdle()
        #expect(queue.operationCount == 0)
    }

    // Q8
    @Test func `a barrier waits for all before it and holds all after it`() async throws {
        let order = Record<String>()
        let go = Latch()
        let queue = try AsyncOperationQueue(maxConcurrentOperationCount: 8)
        for _ in 0..<3 {
            try queue.add(
                AsyncOperation { _ in
                    await go.wait()
                    order.add("before")
                })
        }
        try queue.addBarrier(AsyncOperation { _ in order.add("barrier") })
        for _ in 0..<3 { try queue.add(AsyncOperation { _ in order.add("after") }) }
        go.open()
        try await queue.waitUntilIdle()
        #expect(order.entries == ["before", "before", "before", "barrier", "after", "after", "after"])
    }

    // Q8
    @Test func `a barrier that is cancelled leaves the one before it in force`() async throws {
        let order = Record<String>()
        let go = Latch()
        let queue = try AsyncOperationQueue(maxConcurrentOperationCount: 8)
        try queue.add(
            AsyncOperation { _ in
                await go.wait()
                order.add("before")
            })
        try queue.addBarrier(AsyncOperation { _ in order.add("barrier") })
        let cancelled = nothing()
        try queue.addBarrier(cancelled)
        let after = [0, 1].map { _ in AsyncOperation<Void, Never> { _ in order.add("after") } }
        try queue.add(after[0])
        #expect(cancelled.cancel())
        try queue.add(after[1])
        #expect(after.map(\.state) == [.pending, .pending])
        go.open()
        try await queue.waitUntilIdle()
        #expect(order.entries == ["before", "barrier", "after", "after"])
    }

    // Q8, F8
    @Test func `what a barrier's predecessors wait for cannot come behind it`() async throws {
        let queue = AsyncOperationQueue(isSuspended: true)
        let needed = nothing()
        let before = nothing()
        try before.addDependency(on: needed)
        try queue.add(before)
        try queue.addBarrier(nothing())
        #expect(throws: UsageError.self) { try queue.add(needed) }
        #expect(needed.state == .pending)
        try needed.start()
        queue.resume()
        try await queue.waitUntilIdle()
        #expect(await before.outcome == .success)
    }

    // Q10, D11
    @Test func `ten thousand failing members are counted right`() async throws {
        let members = (0..<10_000).map { failing("", $0) }
        let compound = try CompoundOperation { members }
        try compound.start()
        guard case .failure(.failed(let failure)) = await compound.result else {
            return #expect(Bool(false), "it has failed")
        }
        #expect(failure.errors.count == 10_000)
    }

    // H1
    @Test func `never two holders of a mutex, whoever adds them`() async throws {
        let queue = try AsyncOperationQueue(maxConcurrentOperationCount: 8)
        let crowd = Crowd()
        try await withThrowingDiscardingTaskGroup { group in
            for _ in 0..<8 {
                group.addTask {
                    for _ in 0..<50 {
                        try queue.add(
                            AsyncOperation(options: .init(mutexes: ["m"])) { _ in
                                crowd.enter()
                                await Task.yield()
                                crowd.leave()
                            })
                    }
                }
            }
        }
        try await queue.waitUntilIdle()
        #expect(crowd.most == 1)
    }

    // H2, H5
    @Test func `mutexes in opposite order and dependencies added in the wrong order do not deadlock`() async throws {
        let queue = try AsyncOperationQueue(maxConcurrentOperationCount: 4)
        for _ in 0..<200 {
            let one = nothing(options: .init(mutexes: ["m", "n"]))
            let two = nothing(options: .init(mutexes: ["n", "m"]))
            let three = nothing(options: .init(mutexes: ["m"]))
            try two.addDependency(on: three)
            try queue.add(two, one, three)
        }
        try await queue.waitUntilIdle()
    }

    // H4
    @Test func `a mutex wanted again inside its holder is refused`() throws {
        let inner = nothing(options: .init(mutexes: ["m"]))
        let compound = try CompoundOperation(options: .init(mutexes: ["m"])) { try CompoundOperation { inner } }
        let queue = AsyncOperationQueue()
        let error = UsageError.nestedMutex(outer: compound.id, inner: inner.id, name: "m")
        #expect(throws: error) { try queue.add(compound) }
        #expect(throws: error) { try compound.start() }
        #expect(queue.operationCount == 0)
    }

    // H6
    @Test func `a waiter takes no place`() async throws {
        let (up, go) = (Latch(), Latch())
        let queue = try AsyncOperationQueue(maxConcurrentOperationCount: 2)
        let holder = AsyncOperation(options: .init(mutexes: ["m"])) { _ in
            up.open()
            await go.wait()
        }
        let waiter = nothing(options: .init(priority: 9, mutexes: ["m"]))
        let free = nothing()
        try queue.add(holder)
        await up.wait()
        try queue.add(waiter, free)
        try await free.value
        #expect(waiter.state == .ready)
        go.open()
        try await waiter.value
    }

    // J1
    @Test func `a queue may start suspended and be filled then, and nothing runs until it is resumed`() async throws {
        let queue = AsyncOperationQueue(isSuspended: true)
        let crowd = Crowd()
        let events = queue.events()
        let operations = (0..<3).map { _ in AsyncOperation { _ in crowd.enter() } }
        try queue.add(operations[0], operations[1])
        #expect(queue.isSuspended && operations[0].isSuspended)
        try queue.add(operations[2])
        #expect(crowd.now == 0)
        queue.resume()
        try await queue.waitUntilIdle()
        #expect(crowd.now == 3)
        var hasResumed = false
        var ends = 0
        for await event in events where ends < 3 {
            switch event.kind {
            case .resumed: hasResumed = true
            case .started: #expect(hasResumed)
            case .finished: ends += 1
            default: break
            }
            if ends == 3 { break }
        }
    }

    // J2, D18
    @Test func `suspending lets what runs end and starts nothing`() async throws {
        let (up, go) = (Latch(), Latch())
        let queue = try AsyncOperationQueue(maxConcurrentOperationCount: 1)
        let held = holding(up: up, until: go)
        let next = nothing()
        try queue.add(held, next)
        await up.wait()
        queue.suspend()
        go.open()
        try await held.value
        #expect(!next.isFinished)
        queue.resume()
        try await next.value
    }

    // J6
    @Test func `twice suspended is once, and twice resumed`() async throws {
        let queue = AsyncOperationQueue()
        let up = Latch()
        let operation = hanging(up: up)
        try queue.add(operation)
        await up.wait()
        let events = queue.events()
        queue.suspend()
        queue.suspend()
        queue.resume()
        queue.resume()
        operation.cancel()
        var pauses: [AsyncOperationQueue.Event.Kind] = []
        for await event in events {
            if event.kind == .suspended || event.kind == .resumed { pauses.append(event.kind) }
            if case .finished = event.kind { break }
        }
        #expect(pauses == [.suspended, .resumed])
    }

    @Test func `a pause is told once, also where it began before there was anything to do`() async throws {
        let queue = AsyncOperationQueue()
        let events = queue.events()
        queue.suspend()
        let operation = nothing()
        try queue.add(operation)
        queue.resume()
        try await operation.value
        queue.suspend()
        queue.resume()
        try await queue.shutdown()
        var pauses: [AsyncOperationQueue.Event.Kind] = []
        for await event in events where event.id == queue.id { pauses.append(event.kind) }
        #expect(pauses == [.suspended, .resumed, .suspended, .resumed])
    }

    @Test func `who waits for an idle queue learns whether it is`() async throws {
        let queue = AsyncOperationQueue()
        #expect(try await queue.waitUntilIdle())
        let (up, go) = (Latch(), Latch())
        try queue.add(holding(up: up, until: go))
        await up.wait()
        let waiter = Task { try await queue.waitUntilIdle() }
        waiter.cancel()
        #expect(try await waiter.value == false)
        #expect(queue.operationCount == 1)
        go.open()
        #expect(try await queue.waitUntilIdle())
        #expect(queue.operationCount == 0)
    }

    // J7
    @Test func `what is cancelled while suspended ends without a resume`() async throws {
        let queue = AsyncOperationQueue(isSuspended: true)
        let compound = try CompoundOperation { nothing() }
        try queue.add(nothing(), compound)
        queue.cancelAll(.shutdown)
        try await queue.waitUntilIdle()
        #expect(await compound.outcome == .cancelled)
        #expect(queue.isSuspended)
    }

    // J8
    @Test func `suspended, clocks of compound operations stand still and those of bodies do not`() async throws {
        let clock = ManualClock()
        let queue = AsyncOperationQueue(clock: clock)
        let (upOne, upTwo) = (Latch(), Latch())
        let member = hanging(up: upOne)
        let compound = try CompoundOperation(options: .init(timeout: .seconds(10))) { member }
        let paused = Latch()
        let single = AsyncOperation(options: .init(timeout: .seconds(10))) { context in
            context.onSuspend { _ in paused.open() }
            upTwo.open()
            await untilCancelled()
        }
        try queue.add(compound, single)
        await upOne.wait()
        await upTwo.wait()
        queue.suspend()
        await paused.wait()
        await clock.advance(by: .seconds(10))
        #expect(await single.outcome == .timeout)
        #expect(compound.state == .executing && !member.isCancelled)
        queue.resume()
        await clock.advance(by: .seconds(10))
        #expect(await limit(of: compound) == [.seconds(10)])
        #expect(await member.result == .failure(.cancelled(.deadline(compound.id))))
    }

    @Test func `a running body may listen to suspension`() async throws {
        let queue = AsyncOperationQueue()
        let (up, paused, resumed) = (Latch(), Latch(), Latch())
        let operation = AsyncOperation { context in
            context.onSuspend { $0 ? paused.open() : resumed.open() }
            up.open()
            await paused.wait()
            await context.waitWhileSuspended()
        }
        try queue.add(operation)
        await up.wait()
        queue.suspend()
        await paused.wait()
        queue.resume()
        await resumed.wait()
        try await operation.value
    }

    @Test func `a suspended queue that is dropped leaves nobody waiting`() async throws {
        let operation = nothing()
        do {
            let queue = AsyncOperationQueue(isSuspended: true)
            try queue.add(operation)
        }
        #expect(await operation.result == .failure(.cancelled(.abandoned)))
    }

    @Test func `a queue that is dropped runs what it has`() async throws {
        let operation = nothing()
        do { try AsyncOperationQueue().add(operation) }
        #expect(await operation.outcome == .success)
    }

    @Test func `a shutdown reports all that it has stopped, however soon that ends`() async throws {
        for _ in 0..<200 {
            let queue = AsyncOperationQueue(isSuspended: true)
            try queue.add("waits") {}
            #expect(try await queue.shutdown(grace: .microseconds(1)).map(\.id.name) == ["waits"])
        }
    }

    // O1, O2
    @Test func `a shutdown takes nothing more, waits, and stops what is left after its grace`() async throws {
        let clock = ManualClock()
        let queue = AsyncOperationQueue(clock: clock)
        let up = Latch()
        let deaf = hanging("hanging", up: up)
        let quick = nothing()
        try queue.add(deaf, quick)
        await up.wait()
        async let reports = queue.shutdown(grace: .seconds(5))
        await clock.advance(by: .seconds(5))
        #expect(try await reports.map(\.name) == ["hanging"])
        #expect(await deaf.result == .failure(.cancelled(.shutdown)))
        #expect(await quick.outcome == .success)
        let late = nothing()
        #expect(throws: UsageError.closed(queue.id)) { try queue.add(late) }
        #expect(try await queue.shutdown().isEmpty)
    }

    @Test func `events are numbered without a gap, and a stream that is not read drops the oldest`() async throws {
        let queue = try AsyncOperationQueue(maxConcurrentOperationCount: 1)
        let (all, newest) = (queue.events(), queue.events(bufferingNewest: 2))
        for _ in 0..<10 { try queue.add(nothing()) }
        try await queue.shutdown()
        var sequences: [UInt64] = []
        for await event in all { sequences.append(event.sequence) }
        #expect(sequences == Array(0..<40))
        var kept: [UInt64] = []
        for await event in newest { kept.append(event.sequence) }
        #expect(kept == [38, 39])
    }

    // Q10
    @Test func `a hundred thousand operations in one compound end in time that grows with their number`() async throws {
        func run(_ count: Int) async throws {
            let members = (0..<count).map { _ in nothing() }
            let compound = try CompoundOperation { members }
            try compound.start()
            #expect(try await compound.value.count == count)
        }
        try await run(100_000)
    }
}
