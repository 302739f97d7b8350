import AsyncOperations
import FlowrunTestSupport
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(20))) struct CompletionTests {
    // B1
    @Test func `completions are called in the order of registration, before a dependent is ready`() async throws {
        let order = Record<Int>()
        let first = nothing()
        for number in 0..<10 { first.addCompletion { _ in order.add(number) } }
        let second = AsyncOperation { _ in order.add(10) }
        try second.addDependency(on: first)
        first.addCompletion { _ in
            order.add(-1)
            #expect(second.state == .pending)
        }
        let queue = AsyncOperationQueue()
        try queue.add(second, first)
        try await queue.waitUntilIdle()
        #expect(order.entries == [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, -1, 10])
    }

    // B2
    @Test func `a member's completion precedes that of what is around it`() async throws {
        for _ in 0..<1000 {
            let order = Record<String>()
            let members = (0..<3).map { _ in nothing() }
            for member in members { member.addCompletion { _ in order.add("member") } }
            let compound = try CompoundOperation { members }
            compound.addCompletion { _ in order.add("compound") }
            try compound.start()
            _ = await compound.result
            #expect(order.entries == ["member", "member", "member", "compound"])
        }
    }

    // B3
    @Test func `completions of a queue never run at the same time`() async throws {
        let queue = try AsyncOperationQueue(maxConcurrentOperationCount: 16)
        let crowd = Crowd()
        for _ in 0..<2000 {
            let operation = nothing()
            operation.addCompletion { _ in
                crowd.enter()
                crowd.leave()
            }
            try queue.add(operation)
        }
        try await queue.waitUntilIdle()
        #expect(crowd.most == 1)
    }

    // B7
    @Test func `a completion may cancel, add, start and complete`() async throws {
        let queue = AsyncOperationQueue()
        let up = Latch()
        let victim = hanging(up: up)
        let added = nothing()
        let started = nothing()
        let order = Record<String>()
        let operation = AsyncOperation { _ in await up.wait() }
        operation.addCompletion { [weak operation] _ in
            victim.cancel()
            queue.cancelAll()
            #expect(throws: Never.self) { try queue.add(added) }
            #expect(throws: Never.self) { try started.start() }
            queue.suspend()
            queue.resume()
            operation?.addCompletion { _ in order.add("inner") }
            order.add("outer")
        }
        try queue.add(victim, operation)
        try await queue.waitUntilIdle()
        try await started.value
        #expect(added.isFinished && victim.isCancelled)
        #expect(order.entries == ["outer", "inner"])
    }

    // B8
    @Test func `a completion that comes after the end is called at once, once`() async throws {
        let operation = AsyncOperation { _ in 4 }
        try operation.start()
        _ = await operation.result
        let results = Record<Result<Int, OperationFailure<Never>>>()
        operation.addCompletion { results.add($0) }
        #expect(results.entries == [.success(4)])
    }

    // M7
    @Test func `it goes on when its last handle is dropped, and is freed when it is over`() async throws {
        let go = Latch()
        let ended = Latch()
        weak var canary: Canary?
        do {
            let held = Canary()
            canary = held
            let operation = AsyncOperation { _ in
                await go.wait()
                _ = held
            }
            operation.addCompletion { _ in ended.open() }
            try operation.start()
        }
        #expect(canary != nil)
        go.open()
        await ended.wait()
        // The end is told before what it held is let go; the next thing that ends comes after.
        await Self.settled { canary == nil }
        #expect(canary == nil)
    }

    @Test func `completions of operations of any type are told how they ended`() async throws {
        let outcomes = Record<OperationOutcome>()
        let first = nothing()
        let operations: [any AsyncOperationProtocol] = [first, failing(), try CompoundOperation { nothing() }]
        for operation in operations {
            operation.addOutcomeCompletion { outcomes.add($0) }
            try operation.start()
            await #expect(operation.outcome == outcomes.entries.last)
        }
        #expect(outcomes.entries == [.success, .failure, .success])
        first.erased.addOutcomeCompletion { outcomes.add($0) }
        #expect(outcomes.entries.count == 4)
    }

    // D21
    @Test func `a compound operation that was never started leaves nothing behind`() async throws {
        weak var canary: Canary?
        weak var handle: CompoundOperation?
        do {
            let held = Canary()
            canary = held
            let inner = AsyncOperation { _ in _ = held }
            let compound = try CompoundOperation {
                inner
                try CompoundOperation { nothing() }
            }
            compound.addCompletion { [compound] _ in _ = compound.members }
            handle = compound
            compound.cancel()
        }
        await Self.settled { canary == nil && handle == nil }
    }

    /// Lets other tasks run until something is so; a bug shows as the suite's limit of time.
    private static func settled(_ condition: () -> Bool) async {
        while !condition() { await Task.yield() }
    }
}

private final class Canary: Sendable {}
