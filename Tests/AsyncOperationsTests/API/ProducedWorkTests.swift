import AsyncOperations
import FlowrunTestSupport
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(20))) struct ProducedWorkTests {
    // P1, P2
    @Test func `produced work joins what is around its producer, which waits for it`() async throws {
        let go = Latch()
        let produced = holding("produced", until: go)
        let producer = AsyncOperation("producer") { context in
            do { try context.produce(produced) } catch { #expect(Bool(false), "\(error)") }
        }
        let compound = try CompoundOperation { producer }
        try compound.start()
        try await producer.value
        #expect(compound.state == .executing)
        #expect(compound.members.map(\.name) == ["producer", "produced"])
        go.open()
        #expect(try await compound.value.count == 2)
    }

    // P3
    @Test func `produced work is announced once, with its producer`() async throws {
        let queue = AsyncOperationQueue()
        let produced = nothing()
        let producer = AsyncOperation { context in
            do { try context.produce(produced) } catch { #expect(Bool(false), "\(error)") }
        }
        let events = queue.events()
        try queue.add(producer)
        try await queue.waitUntilIdle()
        #expect(
            await kinds(events, of: produced.id) == [
                .added(by: producer.id), .ready, .started(attempt: 1), .finished(.success),
            ])
    }

    // P4
    @Test func `nothing can be produced after the end`() async throws {
        let contexts = Record<AsyncOperationContext>()
        let operation = AsyncOperation { contexts.add($0) }
        try operation.start()
        try await operation.value
        let late = nothing()
        #expect(throws: UsageError.closed(operation.id)) { try contexts.entries[0].produce(late) }
        #expect(late.state == .pending)
    }

    @Test func `an operation that is over is suspended while what it produced waits for its resume`() async throws {
        let (up, go) = (Latch(), Latch())
        let produced = nothing()
        let operation = AsyncOperation { context in
            up.open()
            await go.wait()
            try context.produce(produced)
        }
        try operation.start()
        await up.wait()
        try operation.suspend()
        go.open()
        _ = await operation.result
        #expect(operation.isFinished && operation.isSuspended && !produced.isFinished)
        try operation.resume()
        try await produced.value
        #expect(!operation.isSuspended)
    }
}
