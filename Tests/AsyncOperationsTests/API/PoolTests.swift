import Dispatch
import FlowrunTestSupport
import Testing

@testable import AsyncOperations

/// Units that operations of any queues share.
@Suite(.timeLimit(.minutes(20))) struct PoolTests {
    @Test func `no more units are had than there are, whatever queues the operations are in`() async throws {
        let pool = Pool("connections", 3)
        let (crowd, meeting) = (Crowd(), Meeting(of: 3))
        func operation(_ number: Int) -> AsyncOperation<Void, Never> {
            AsyncOperation("\(number)", options: OperationOptions(pools: [pool: 1])) { _ in
                crowd.enter()
                if number < 3 { await meeting.come() } else { await Task.yield() }
                crowd.leave()
            }
        }
        let queues = (0..<4).map { _ in AsyncOperationQueue() }
        let all = (0..<100).map(operation)
        for (number, operation) in all.enumerated() {
            if number % 5 == 4 { try operation.start() } else { try queues[number % 5].add(operation) }
        }
        for operation in all { try await operation.value }
        #expect(crowd.most == 3)
    }

    @Test func `units of different sizes add up to no more than there are`() async throws {
        let pool = Pool("memory", 5)
        let sizes = Record<Int>()
        let queues = (0..<3).map { _ in AsyncOperationQueue() }
        for number in 0..<60 {
            let size = 1 + number % 5
            try queues[number % 3].add(
                AsyncOperation(options: OperationOptions(pools: [pool: size])) { _ in
                    sizes.add(size)
                    await Task.yield()
                    sizes.add(-size)
                })
        }
        for queue in queues { try await queue.waitUntilIdle() }
        let sums = sizes.entries.reduce(into: [0]) { $0.append($0[$0.count - 1] + $1) }
        #expect(sums.allSatisfy { (0...5).contains($0) } && sizes.entries.count == 120)
    }

    @Test func `pools named in opposite order in two queues never deadlock`() async throws {
        let (first, second) = (Pool("first"), Pool("second", 2))
        let crowd = Crowd()
        let queues = [AsyncOperationQueue(), AsyncOperationQueue()]
        for number in 0..<200 {
            let pools = number % 4 < 2 ? [first: 1, second: 1 + number % 2] : [second: 2, first: 1]
            try queues[number % 2].add(
                AsyncOperation(options: OperationOptions(pools: pools)) { _ in
                    crowd.enter()
                    await Task.yield()
                    crowd.leave()
                })
        }
        for queue in queues { try await queue.waitUntilIdle() }
        #expect(crowd.most == 1)
    }

    @Test func `a suspended queue holds no units for what has not begun`() async throws {
        let pool = Pool("disk")
        let ran = Record<String>()
        for round in 0..<50 {
            let queue = AsyncOperationQueue()
            func operation(_ name: String) -> AsyncOperation<Void, Never> {
                AsyncOperation(name, options: OperationOptions(pools: [pool: 1])) { ran.add("\(name)\(round)") }
            }
            let (first, second, other) = (operation("first"), operation("second"), operation("other"))
            first.addOutcomeCompletion { _ in queue.suspend() }
            try queue.add(first, second)
            _ = await first.outcome
            try other.start()
            try await other.value
            #expect(second.state < .executing)
            queue.resume()
            try await second.value
        }
        #expect(ran.entries == (0..<50).flatMap { ["first\($0)", "other\($0)", "second\($0)"] })
    }

    @Test func `one that is stopped in a suspended queue before it began gives its units back`() async throws {
        let pool = Pool("disk")
        for _ in 0..<50 {
            let queue = AsyncOperationQueue()
            let options = OperationOptions(timeout: .seconds(3600), pools: [pool: 1])
            let (first, second) = (nothing("first", options: options), nothing("second", options: options))
            first.addOutcomeCompletion { _ in queue.suspend() }
            try queue.add(first, second)
            _ = await first.outcome
            second.cancel()
            #expect(await second.outcome == .cancelled)
            try await AsyncOperation(options: options) {}.value
        }
    }

    @Test func `the highest priority takes a free unit, whoever else waits for more`() async throws {
        let pool = Pool("slots", 2)
        let order = Record<String>()
        let queue = try AsyncOperationQueue(maxConcurrentOperationCount: 2)
        let (up, go, blocked, goOn) = (Latch(), Latch(), Latch(), Latch())
        let holder = AsyncOperation(options: OperationOptions(pools: [pool: 1])) {
            up.open()
            await go.wait()
        }
        let blocker = AsyncOperation {
            blocked.open()
            await goOn.wait()
        }
        try queue.add(holder)
        await up.wait()
        let large = nothing("large", options: OperationOptions(pools: [pool: 2]))
        try large.start()
        try queue.add(blocker)
        await blocked.wait()
        try queue.add("high", options: OperationOptions(priority: 9, pools: [pool: 1])) { order.add("high") }
        for _ in 0..<20 { try queue.add { order.add("low") } }
        goOn.open()
        while order.entries.count < 21 { await Task.yield() }
        #expect(order.entries.first == "high")
        go.open()
        try await large.value
    }

    @Test func `units that were freed while nothing waited for them here are had at the next turn`() async throws {
        let pool = Pool("disk")
        let (up, go, blocked, goOn) = (Latch(), Latch(), Latch(), Latch())
        let queue = try AsyncOperationQueue(maxConcurrentOperationCount: 1)
        let holder = AsyncOperation(options: OperationOptions(pools: [pool: 1])) {
            up.open()
            await go.wait()
        }
        try holder.start()
        await up.wait()
        try queue.add {
            blocked.open()
            await goOn.wait()
        }
        await blocked.wait()
        let high = nothing("high", options: OperationOptions(priority: 9, pools: [pool: 1]))
        let low = AsyncOperation("low") { _ async throws in try await high.value }
        try queue.add(high, low)
        go.open()
        try await holder.value
        goOn.open()
        try await low.value
    }

    @Test func `queues take turns`() async throws {
        let disk = Pool("disk")
        let order = Record<String>()
        func operation(_ name: String) -> AsyncOperation<Void, Never> {
            AsyncOperation(name, options: OperationOptions(pools: [disk: 1])) { _ in order.add(name) }
        }
        let (up, go) = (Latch(), Latch())
        let holder = AsyncOperation(options: OperationOptions(pools: [disk: 1])) { _ in
            up.open()
            await go.wait()
        }
        let (busy, other) = (AsyncOperationQueue(), AsyncOperationQueue())
        try busy.add(holder)
        await up.wait()
        for number in 1...3 { try busy.add(operation("busy \(number)")) }
        for number in 1...3 { try other.add(operation("other \(number)")) }
        go.open()
        try await busy.waitUntilIdle()
        try await other.waitUntilIdle()
        #expect(order.entries == ["busy 1", "other 1", "busy 2", "other 2", "busy 3", "other 3"])
    }

    @Test func `one that asks for more than is free keeps no other from it`() async throws {
        let pool = Pool("memory", 2)
        let (up, go) = (Latch(), Latch())
        let holder = AsyncOperation(options: OperationOptions(pools: [pool: 1])) { _ in
            up.open()
            await go.wait()
        }
        try holder.start()
        await up.wait()
        let large = nothing("large", options: OperationOptions(pools: [pool: 2]))
        let small = nothing("small", options: OperationOptions(pools: [pool: 1]))
        try large.start()
        try await small.value
        #expect(large.state == .ready)
        #expect(large.waitingFor?.operations == [large.id, holder.id])
        go.open()
        try await large.value
    }

    @Test func `a suspended queue keeps no units`() async throws {
        let pool = Pool("disk")
        let (up, go) = (Latch(), Latch())
        let holder = AsyncOperation(options: OperationOptions(pools: [pool: 1])) { _ in
            up.open()
            await go.wait()
        }
        try holder.start()
        await up.wait()
        let queue = AsyncOperationQueue()
        let waiting = nothing("waiting", options: OperationOptions(pools: [pool: 1]))
        try queue.add(waiting)
        queue.suspend()
        let later = nothing("later", options: OperationOptions(pools: [pool: 1]))
        try later.start()
        go.open()
        try await later.value
        #expect(!waiting.isFinished)
        queue.resume()
        try await waiting.value
    }

    enum End: CaseIterable { case success, failure, timeout, cancel, attempt }

    @Test(arguments: End.allCases)
    func `every end frees the units, and so does the wait before another attempt`(end: End) async throws {
        let pool = Pool("disk")
        let clock = ManualClock()
        let queue = AsyncOperationQueue(clock: clock)
        let up = Latch()
        var options = OperationOptions(pools: [pool: 1])
        if end == .timeout { options.timeout = .seconds(1) }
        if end == .attempt { options.retry = RetryPolicy(attempts: 2, backoff: .constant(.seconds(3600))) }
        let holder = AsyncOperation(options: options) { context async throws in
            up.open()
            switch end {
            case .success: break
            case .failure, .attempt: throw Broken()
            case .timeout, .cancel: await untilCancelled()
            }
        }
        try queue.add(holder)
        await up.wait()
        let next = nothing("next", options: OperationOptions(pools: [pool: 1]))
        try next.start()
        if end == .timeout { await clock.advance(by: .seconds(1)) }
        if end == .cancel { holder.cancel() }
        try await next.value
        holder.cancel()
        _ = await holder.outcome
    }

    @Test func `cancelled while it waits for units, it ends at once`() async throws {
        let pool = Pool("disk")
        let (up, go) = (Latch(), Latch())
        let holder = AsyncOperation(options: OperationOptions(pools: [pool: 1])) { _ in
            up.open()
            await go.wait()
        }
        try holder.start()
        await up.wait()
        let waiting = nothing("waiting", options: OperationOptions(pools: [pool: 1]))
        try waiting.start()
        waiting.cancel()
        #expect(await waiting.outcome == .cancelled)
        go.open()
        #expect(await holder.outcome == .success)
    }

    @Test func `a body does not wait for what wants the units that it has`() async throws {
        let pool = Pool("disk")
        let other = AsyncOperationQueue()
        let inner = nothing("inner", options: OperationOptions(pools: [pool: 1]))
        let outer = AsyncOperation("outer", options: OperationOptions(pools: [pool: 1])) { _ async throws in
            try other.add(inner)
            try await inner.value
        }
        try outer.start()
        guard case .failure(.failed(let error)) = await outer.result,
            case OperationFailure<Never>.refused(let refusal) = error
        else {
            Issue.record("\(await outer.result)")
            return
        }
        #expect(refusal == .wouldWaitForItself(waiter: outer.id, awaited: inner.id))
        try await inner.value
    }

    @Test func `one that comes to want them while a body waits for it is told so, too`() async throws {
        let pool = Pool("disk")
        let other = AsyncOperationQueue()
        let (up, go) = (Latch(), Latch())
        let first = holding("first", up: up, until: go)
        let inner = nothing("inner", options: OperationOptions(pools: [pool: 1]))
        try inner.addDependency(on: first)
        let waits = Latch()
        let outer = AsyncOperation("outer", options: OperationOptions(pools: [pool: 1])) { _ async throws in
            waits.open()
            try await inner.value
        }
        try other.add(first, inner)
        await up.wait()
        try outer.start()
        await waits.wait()
        go.open()
        #expect(await outer.outcome == .failure)
        try await inner.value
    }

    @Test func `what cannot be had is refused, and says what could`() throws {
        let pool = Pool("gpu", 4)
        for asked in [0, 5] {
            let operation = nothing("a", options: OperationOptions(pools: [pool: asked]))
            let error = UsageError.invalidUnits(operation.id, pool: "gpu", asked: asked, of: 4)
            #expect(throws: error) { try operation.start() }
            #expect("\(error)" == "`a` asks for \(asked) of pool `gpu`; it must be 1 to 4")
        }
        let none = nothing("b", options: OperationOptions(pools: [Pool("none", 0): 1]))
        #expect(throws: UsageError.invalidUnits(none.id, pool: "none", asked: 1, of: 0)) { try none.start() }
        let compound = try CompoundOperation("c", options: OperationOptions(pools: [pool: 1])) { nothing() }
        let error = UsageError.poolOfCompound(compound.id, pool: "gpu")
        #expect(throws: error) { try AsyncOperationQueue().add(compound) }
        #expect("\(error)" == "compound operation `c` asks for pool `gpu`; let its members ask for it")
    }

    @Test func `a wait raises what has the units that it needs`() async throws {
        let pool = Pool("disk")
        let up = Latch()
        let holder = AsyncOperation(options: OperationOptions(taskPriority: .low, pools: [pool: 1])) { _ in
            let reached = Latch()
            await withTaskPriorityEscalationHandler {
                up.open()
                await reached.wait()
            } onPriorityEscalated: { _, new in
                if new >= .high { reached.open() }
            }
        }
        try holder.start()
        await up.wait()
        let waiting = nothing("waiting", options: OperationOptions(pools: [pool: 1]))
        try AsyncOperationQueue().add(waiting)
        await Task(priority: .high) { _ = await waiting.result }.value
        #expect(holder.isFinished)
    }

    @Test func `a stage of width four: items go on as soon as they are through it`() async throws {
        let converter = Pool("converter", 4)
        let (crowd, meeting) = (Crowd(), Meeting(of: 4))
        let stored = Record<Int>()
        let queue = try AsyncOperationQueue(maxConcurrentOperationCount: 8)
        for item in 0..<40 {
            let read = AsyncOperation("read \(item)") { item }
            let convert = AsyncOperation(
                "convert \(item)", from: read.output, options: OperationOptions(pools: [converter: 1])
            ) { _, number in
                crowd.enter()
                if item < 4 { await meeting.come() }
                crowd.leave()
                return number * 2
            }
            let store = AsyncOperation("store \(item)", from: convert.output) { number in stored.add(number) }
            try queue.add(read, convert, store)
        }
        try await queue.waitUntilIdle()
        #expect(stored.entries.sorted() == (0..<40).map { $0 * 2 })
        #expect(crowd.most == 4)
    }

    @Test func `hundreds that are started by themselves share one unit`() async throws {
        let pool = Pool("disk")
        let crowd = Crowd()
        let all = (0..<300).map { _ in
            AsyncOperation(options: OperationOptions(pools: [pool: 1])) { _ in
                crowd.enter()
                crowd.leave()
            }
        }
        for operation in all { try operation.start() }
        for operation in all { try await operation.value }
        #expect(crowd.most == 1)
    }

    @Test func `queues that want much of two pools, of which both have some, leave each other alone`() async throws {
        let (first, second) = (Pool("first", 4), Pool("second", 4))
        let queues = try (0..<2).map { _ in try AsyncOperationQueue(maxConcurrentOperationCount: 8) }
        let (up, go) = (Latch(), Latch())
        let holder = AsyncOperation(options: OperationOptions(pools: [first: 1, second: 1])) { _ in
            up.open()
            await go.wait()
        }
        try queues[0].add(holder)
        await up.wait()
        let (smallUp, smallGo) = (Latch(), Latch())
        let small = AsyncOperation(options: OperationOptions(pools: [first: 1])) { _ in
            smallUp.open()
            await smallGo.wait()
        }
        try small.start()
        await smallUp.wait()
        let all = [first, second].flatMap { pool in
            queues.map { _ in nothing(options: OperationOptions(pools: [pool: 4])) }
        }
        for (number, operation) in all.enumerated() { try queues[number % 2].add(operation) }
        smallGo.open()
        try await small.value
        #expect(all.allSatisfy { $0.state == .ready })
        go.open()
        for operation in all { try await operation.value }
    }

    @Test func `user code that takes long keeps no units from others`() async throws {
        let pool = Pool("disk")
        let (up, go) = (Latch(), Latch())
        let queue = try AsyncOperationQueue(maxConcurrentOperationCount: 2)
        let holder = AsyncOperation(options: OperationOptions(pools: [pool: 1])) { _ in
            up.open()
            await go.wait()
        }
        try queue.add(holder)
        await up.wait()
        let other = nothing("other", options: OperationOptions(pools: [pool: 1]))
        try other.start()
        let (inside, isOver) = (Latch(), DispatchSemaphore(value: 0))
        let ended = nothing("ended")
        ended.addOutcomeCompletion { _ in
            inside.open()
            isOver.wait()
        }
        try queue.add(ended)
        await inside.wait()
        go.open()
        try await other.value
        isOver.signal()
        try await queue.waitUntilIdle()
    }

    @Test func `units are counted, not listed`() async throws {
        let bytes = Pool("bytes", .max)
        let (up, go) = (Latch(), Latch())
        let holder = AsyncOperation("holder", options: OperationOptions(pools: [bytes: .max])) { _ in
            up.open()
            await go.wait()
        }
        try holder.start()
        await up.wait()
        let waiting = nothing("waiting", options: OperationOptions(pools: [bytes: .max]))
        try waiting.start()
        #expect(waiting.waitingFor?.operations == [waiting.id, holder.id])
        go.open()
        try await waiting.value
    }

    @Test func `each of hundreds of operations may have a pool of its own`() async throws {
        let queue = try AsyncOperationQueue(maxConcurrentOperationCount: 2)
        for number in 0..<200 {
            try queue.add(nothing(options: OperationOptions(pools: [Pool("\(number)"): 1])))
        }
        try await queue.waitUntilIdle()
    }

    @Test func `a pool is known as long as anything has or wants some of it`() async throws {
        let pool = Pool("disk")
        let queue = AsyncOperationQueue()
        for _ in 0..<20 { try queue.add(nothing(options: OperationOptions(pools: [pool: 1]))) }
        try await queue.waitUntilIdle()
        #expect(PoolTable.shared.withLock { !$0.knows(pool) })
    }
}

private struct Broken: Error {}
