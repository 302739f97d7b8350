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
        let outcome = await GraphExecutor(graph, width: 4, clock: ContinuousClock()) { attempt in
            order.withLock { $0.append(attempt.id) }
            return (.success, false)
        }.run()
        #expect(outcome == .success)
        #expect(order.withLock { $0 } == [a, b, c])
    }

    @Test func `it ends only after its last operation, also when it is cancelled`() async {
        var graph = OperationGraph()
        for _ in 0..<3 { graph.addOperation() }
        let ended = Atomic(0)
        let stops = Stops()
        let executor = GraphExecutor(graph, width: 3, clock: ContinuousClock()) { attempt in
            await stops.wait(for: attempt.id)
            ended.add(1, ordering: .relaxed)
            return (.success, false)
        }
        let started = Atomic(0)
        let outcome = await executor.run { command in
            stops.hear(command)
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
            let stops = Stops()
            return await GraphExecutor(graph, width: 1, clock: ContinuousClock()) { attempt in
                await stops.wait(for: attempt.id)
                return (.success, false)
            }.run { stops.hear($0) }
        }
        task.cancel()
        #expect(await task.value == .cancelled)
    }

    @Test func `a deadline stops an operation through one sleeper on the given clock`() async {
        var graph = OperationGraph()
        let slow = graph.addOperation(.init(timeout: .milliseconds(20)))
        let quick = graph.addOperation(.init(timeout: .seconds(3600)))
        var finished: [OperationID: OperationOutcome] = [:]
        let stops = Stops()
        await GraphExecutor(graph, width: 2, clock: ContinuousClock()) { attempt in
            guard attempt.id == slow else { return (.success, false) }
            await stops.wait(for: attempt.id)
            return (.success, false)
        }.run { command in
            stops.hear(command)
            if case .finished(let id, let outcome, _) = command { finished[id] = outcome }
        }
        #expect(finished[slow] == .timeout)
        #expect(finished[quick] == .success)
        #expect(finished[.root] == .timeout)
    }

    // L1, L5
    @Test func `an attempt knows its number, and says whether another is worth it`() async {
        var graph = OperationGraph()
        let flaky = graph.addOperation(.init(retry: RetryPolicy(attempts: 5, backoff: .constant(.milliseconds(1)))))
        let hopeless = graph.addOperation(.init(retry: RetryPolicy(attempts: 5)))
        let attempts = Mutex<[OperationID: [Int]]>([:])
        let outcome = await GraphExecutor(graph, width: 4, clock: ContinuousClock()) { attempt in
            attempts.withLock { $0[attempt.id, default: []].append(attempt.number) }
            return (attempt.id == flaky && attempt.number == 3 ? .success : .failure, attempt.id == flaky)
        }.run()
        #expect(outcome == .failure)
        #expect(attempts.withLock { $0 } == [flaky: [1, 2, 3], hopeless: [1]])
    }

    @Test func `a question that an answer leads to is answered after those asked before`() async {
        var graph = OperationGraph()
        for isConditional in [true, false] {
            graph.beginGroup(.init(isConditional: isConditional), isExpandable: true)
            graph.endGroup()
        }
        // The group without a condition is asked for its members first, and so has the first rows.
        var rows = graph.count
        var questions = GraphExecutor<ContinuousClock>.Questions()
        questions.expand = { _ in
            var expansion = OperationGraph(joiningAt: rows)
            expansion.addOperation()
            rows = expansion.rows.upperBound
            return expansion
        }
        let outcome = await GraphExecutor(graph, width: 1, clock: ContinuousClock()) { _ in (.success, false) }
            .run(questions: questions)
        #expect(outcome == .success)
        #expect(rows == graph.count + 2)
    }

    @Test func `questions are answered on the spot, in their order`() async {
        var graph = OperationGraph(concludes: true)
        let unwanted = graph.addOperation(.init(isConditional: true))
        let fanOuts = (0..<2).map { _ in
            let id = graph.beginGroup(isExpandable: true)
            graph.endGroup()
            return id
        }
        var rows = graph.count
        var asked: [OperationID] = []
        let questions = GraphExecutor<ContinuousClock>.Questions(
            decide: { _ in .skip },
            expand: { id in
                asked.append(id)
                var expansion = OperationGraph(joiningAt: rows)
                expansion.addOperation()
                rows = expansion.rows.upperBound
                return expansion
            },
            conclude: { _, outcome in (outcome == .success ? .failure : .success, false) })
        let ran = Mutex<[OperationID]>([])
        var finished: [OperationID: OperationOutcome] = [:]
        let outcome = await GraphExecutor(graph, width: 1, clock: ContinuousClock()) { attempt in
            ran.withLock { $0.append(attempt.id) }
            return (.success, false)
        }.run(questions: questions) { if case .finished(let id, let outcome, _) = $0 { finished[id] = outcome } }
        #expect(outcome == .failure)
        #expect(finished[unwanted] == .skipped)
        #expect(asked == fanOuts)
        #expect(ran.withLock { $0 } == [OperationID(row: 4), OperationID(row: 5)])
    }

    // J1
    @Test func `one that was suspended before it ran starts nothing until it is resumed`() async {
        var graph = OperationGraph()
        graph.addOperation()
        let executor = GraphExecutor(graph, width: 1, clock: ContinuousClock()) { _ in (.success, false) }
        executor.suspend()
        var heard: [OperationScheduler.Command] = []
        await executor.run { command in
            heard.append(command)
            if command == .groupStarted(.root, round: 0) { executor.resume() }
        }
        let step = OperationID(row: 1)
        #expect(
            heard == [
                .suspended, .groupStarted(.root, round: 0), .resumed, .start(step, attempt: 1),
                .finished(step, .success, .itself), .finished(.root, .success, .itself),
            ])
    }

    // O1
    @Test func `an abort reaches hooks that a cancel spares`() async {
        var graph = OperationGraph()
        let body = graph.addOperation()
        graph.beginHook(.finally)
        let hook = graph.addOperation()
        graph.endGroup()
        let stops = Stops()
        let executor = GraphExecutor(graph, width: 1, clock: ContinuousClock()) { attempt in
            await stops.wait(for: attempt.id)
            return (.success, false)
        }
        var outcomes: [OperationID: OperationOutcome] = [:]
        await executor.run { command in
            stops.hear(command)
            switch command {
            case .start(body, _): executor.cancel()
            case .start(hook, _): executor.abort()
            case .finished(let id, let outcome, _): outcomes[id] = outcome
            default: break
            }
        }
        #expect(outcomes[body] == .cancelled)
        #expect(outcomes[hook] == .cancelled)
    }
}

/// Lets the work of an operation wait until the scheduler stops it.
private final class Stops: Sendable {
    private struct State {
        var stopped: Set<OperationID> = []
        var waiting: [OperationID: CheckedContinuation<Void, Never>] = [:]
    }

    private let state = Mutex(State())

    func wait(for id: OperationID) async {
        await withCheckedContinuation { continuation in
            let isStopped = state.withLock { state in
                if !state.stopped.contains(id) { state.waiting[id] = continuation }
                return state.stopped.contains(id)
            }
            if isStopped { continuation.resume() }
        }
    }

    func hear(_ command: OperationScheduler.Command) {
        guard case .stop(let id, _) = command else { return }
        state.withLock { state in
            state.stopped.insert(id)
            return state.waiting.removeValue(forKey: id)
        }?.resume()
    }
}
