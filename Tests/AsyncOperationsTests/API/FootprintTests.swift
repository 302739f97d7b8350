import Testing

@testable import AsyncOperations
@testable import Scheduling

/// What is kept of what waits, and of what has gone, by what stays: nothing, or what goes with the next rows that have
/// ended.
@Suite(.timeLimit(.minutes(20))) struct FootprintTests {
    /// A queue with one operation that runs until it is told to stop, so that the queue is never idle.
    private func busyQueue() async throws -> (queue: AsyncOperationQueue, keep: AsyncOperation<Void, Never>) {
        let up = Latch()
        let (queue, keep) = (try AsyncOperationQueue(maxConcurrentOperationCount: 2), hanging(up: up))
        try queue.add(keep)
        await up.wait()
        return (queue, keep)
    }

    private func followers(of operation: AsyncOperation<Void, Never>) -> Int {
        operation.core.state.withLock { $0.rare?.followers.count ?? 0 }
    }

    private func rows(of queue: AsyncOperationQueue) -> Int { queue.core.state.withLock { $0.entries.count } }

    private func standIns(of queue: AsyncOperationQueue) -> Int { queue.core.state.withLock { $0.standIns.count } }

    /// The edges that came late, in the one direction and in the other.
    private func lateEdges(of operation: AsyncOperation<Void, Never>, in queue: AsyncOperationQueue) -> Int {
        queue.core.state.withLock { state in
            guard let row = operation.core.lifecycle.row, let scheduler = state.scheduler else { return 0 }
            let others = scheduler.needs.all(of: row).map(\.other)
            return scheduler.needs.lateEntries(of: row).count
                + others.reduce(0) { $0 + scheduler.dependents.lateEntries(of: $1).count }
        }
    }

    /// With its body and the headers, an operation fits into 120 bytes; the next size that allocators give out is 16
    /// bytes more.
    @Test func `an operation that waits stays small`() {
        #expect(MemoryLayout<Lifecycle>.size <= 13)
        #expect(MemoryLayout<OperationCore.State>.size <= 48)
        #expect(MemoryLayout<RowEntry>.stride <= 8)
    }

    @Test func `a long operation keeps nothing of dependents that have gone`() async throws {
        let up = Latch()
        let long = hanging(up: up)
        try long.start()
        await up.wait()
        let (busy, keep) = try await busyQueue()
        let idle = AsyncOperationQueue()
        let stays = nothing("stays")
        try stays.addDependency(on: long)
        try stays.start()
        for number in 0..<6000 {
            let operation = nothing()
            try operation.addDependency(on: long)
            switch number % 3 {
            case 0: try operation.start()
            case 1: try idle.add(operation)
            default: try busy.add(operation)
            }
            operation.cancel()
        }
        #expect(followers(of: long) == 1)
        #expect(standIns(of: busy) == 0)
        #expect(rows(of: busy) < 4096)
        long.cancel()
        #expect(await stays.result == .failure(.notRun(rootCause: long.id)))
        keep.cancel()
        try await busy.waitUntilIdle()
    }

    @Test func `what several need elsewhere is waited for until the last of them is gone`() async throws {
        let (up, go) = (Latch(), Latch())
        let long = holding(up: up, until: go)
        try long.start()
        await up.wait()
        let (queue, keep) = try await busyQueue()
        let operations = (0..<3).map { nothing("\($0)") }
        for operation in operations { try operation.addDependency(on: long) }
        try queue.add(contentsOf: operations)
        #expect(followers(of: long) == 1)
        operations[0].cancel()
        try operations[1].removeDependency(on: long)
        #expect(await operations[1].outcome == .success)
        #expect(followers(of: long) == 1)
        #expect(operations[2].state == .pending)
        go.open()
        #expect(await operations[2].outcome == .success)
        // It has gone; what comes now stands for it anew.
        #expect(standIns(of: queue) == 0)
        let late = nothing("late")
        try late.addDependency(on: long)
        try queue.add(late)
        #expect(await late.outcome == .success)
        keep.cancel()
    }

    @Test func `a dependency that comes and goes for ever leaves nothing`() async throws {
        let (queue, here) = try await busyQueue()
        let up = Latch()
        let elsewhere = hanging(up: up)
        try elsewhere.start()
        await up.wait()
        let (early, waiting) = (nothing(), nothing())
        try waiting.addDependency(on: here)
        try waiting.addDependency(on: early)
        try queue.add(waiting)
        for round in 0..<3000 {
            for other in [here, elsewhere] {
                // The first is there before, and comes back as what it was.
                if other === elsewhere { try waiting.addDependency(on: other) }
                #expect(try waiting.removeDependency(on: other))
                if other === here { try waiting.addDependency(on: other, round % 2 == 0 ? .done : .ok) }
            }
        }
        #expect(followers(of: elsewhere) == 0)
        #expect(standIns(of: queue) == 1)
        #expect(rows(of: queue) < 4096)
        #expect(lateEdges(of: waiting, in: queue) < 4)
        early.cancel()
        #expect(waiting.state == .pending)
        here.cancel()
        #expect(await waiting.outcome == .notRun)
        elsewhere.cancel()
    }

    @Test func `a dependency may change its kind for ever`() async throws {
        let (queue, here) = try await busyQueue()
        let up = Latch()
        let elsewhere = hanging(up: up)
        try elsewhere.start()
        await up.wait()
        let waiting = nothing()
        try waiting.addDependency(on: here)
        try waiting.addDependency(on: elsewhere)
        try queue.add(waiting)
        let before = rows(of: queue)
        for round in 0..<2000 {
            for other in [here, elsewhere] { try waiting.addDependency(on: other, round % 2 == 0 ? .failure : .done) }
        }
        #expect(rows(of: queue) == before)
        #expect(lateEdges(of: waiting, in: queue) < 4)
        #expect(followers(of: elsewhere) == 1)
        here.cancel()
        elsewhere.cancel()
        // The last kind counts.
        #expect(await waiting.outcome == .success)
    }

    @Test func `names of mutexes that nobody asks for any more go, and those that are held stay`() async throws {
        let (queue, keep) = try await busyQueue()
        try queue.setMaxConcurrentOperationCount(4)
        let (up, go) = (Latch(), Latch())
        let held = AsyncOperation(options: .init(mutexes: ["held"])) { _ in
            up.open()
            await go.wait()
        }
        let second = nothing(options: .init(mutexes: ["held"]))
        try queue.add(held, second)
        await up.wait()
        var most = 0
        for number in 0..<3000 {
            let operation = nothing(options: .init(mutexes: ["user \(number)"]))
            try queue.add(operation)
            _ = await operation.outcome
            most = max(most, queue.core.state.withLock { $0.locks.count })
        }
        #expect(most < 2048)
        let third = nothing(options: .init(mutexes: ["held"]))
        try queue.add(third)
        #expect(second.state == .ready && third.state == .ready)
        go.open()
        #expect(await second.outcome == .success)
        #expect(await third.outcome == .success)
        keep.cancel()
        try await queue.waitUntilIdle()
    }
}
