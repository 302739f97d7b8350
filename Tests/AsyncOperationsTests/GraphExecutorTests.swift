import AsyncOperations
import Synchronization
import Testing

@Suite struct GraphExecutorTests {
    @Test func `operations run as child tasks, in the order their needs allow`() async {
        var graph = OperationGraph()
        let (c, a, b) = (graph.addOperation(), graph.addOperation(), graph.addOperation())
        graph.addDependency(of: c, on: b)
        graph.addDependency(of: b, on: a)
        let order = Mutex<[OperationID]>([])
        let outcome = await GraphExecutor(graph, width: 4, clock: ContinuousClock()) { context in
            order.withLock { $0.append(context.id) }
            return (.success, false)
        }.run()
        #expect(outcome == .success)
        #expect(order.withLock { $0 } == [a, b, c])
    }

    @Test func `it ends only after its last operation, also when it is cancelled`() async {
        var graph = OperationGraph()
        for _ in 0..<3 { graph.addOperation() }
        let ended = Atomic(0)
        let executor = GraphExecutor(graph, width: 3, clock: ContinuousClock()) { context in
            await withCheckedContinuation { continuation in context.onStop { _ in continuation.resume() } }
            ended.add(1, ordering: .relaxed)
            return (.success, false)
        }
        let started = Atomic(0)
        let outcome = await executor.run { command in
            guard case .start = command, started.add(1, ordering: .relaxed).newValue == 3 else { return }
            executor.cancel()
        }
        #expect(outcome == .cancelled)
        #expect(ended.load(ordering: .relaxed) == 3)
    }

    @Test func `cancelling the task cancels the operations`() async {
        var graph = OperationGraph()
        graph.addOperation()
        let task = Task { [graph] in
            await GraphExecutor(graph, width: 1, clock: ContinuousClock()) { context in
                await withCheckedContinuation { continuation in context.onStop { _ in continuation.resume() } }
                return (.success, false)
            }.run()
        }
        task.cancel()
        #expect(await task.value == .cancelled)
    }

    @Test func `a deadline stops an operation through one sleeper on the given clock`() async {
        var graph = OperationGraph()
        let slow = graph.addOperation(.init(timeout: .milliseconds(20)))
        let quick = graph.addOperation(.init(timeout: .seconds(3600)))
        var finished: [OperationID: OperationOutcome] = [:]
        await GraphExecutor(graph, width: 2, clock: ContinuousClock()) { context in
            guard context.id == slow else { return (.success, false) }
            await withCheckedContinuation { continuation in context.onStop { _ in continuation.resume() } }
            return (.success, false)
        }.run { command in
            if case .finished(let id, let outcome, _) = command { finished[id] = outcome }
        }
        #expect(finished[slow] == .timeout)
        #expect(finished[quick] == .success)
        #expect(finished[.root] == .timeout)
    }

    @Test func `a handler set after the stop is called at once`() async {
        var graph = OperationGraph()
        graph.addOperation()
        let executor = GraphExecutor(graph, width: 1, clock: ContinuousClock()) { context in
            await withCheckedContinuation { continuation in context.onStop { _ in continuation.resume() } }
            await withCheckedContinuation { continuation in context.onStop { _ in continuation.resume() } }
            return (context.stopCause == .request ? .success : .failure, false)
        }
        let outcome = await executor.run { if case .start = $0 { executor.cancel() } }
        #expect(outcome == .cancelled)
    }
}
