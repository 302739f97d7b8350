import Testing

@testable import Scheduling

/// Operations that join one by one, and what the owner of a scheduler needs for that to be cheap.
@Suite struct AddingTests {
    private typealias Command = OperationScheduler.Command

    /// A scheduler that has begun, with one open group around everything.
    private func open(width: Int = 2, _ build: (inout OperationGraph) -> Void = { _ in }) -> OperationScheduler {
        var graph = OperationGraph(isOpen: true)
        build(&graph)
        var scheduler = OperationScheduler(graph, width: width)
        _ = scheduler.handle(.begin, at: .zero)
        return scheduler
    }

    @Test func `what joins a group that has ended is cancelled, and a member of the next round around it`() {
        var graph = OperationGraph(isOpen: true)
        let wait = RetryPolicy.Backoff.constant(.seconds(9))
        _ = graph.beginGroup(.init(timeout: .seconds(6), retry: RetryPolicy(attempts: 2, backoff: wait)))
        let inner = graph.beginGroup(.init(retry: RetryPolicy(attempts: 2, backoff: wait)), isOpen: true)
        let first = graph.addOperation(.init())
        graph.endGroup()
        graph.endGroup()
        var scheduler = OperationScheduler(graph, width: 2)
        func handle(_ event: OperationScheduler.Event, at seconds: Int) -> [OperationScheduler.Command] {
            scheduler.handle(event, at: .seconds(seconds))
        }
        _ = handle(.begin, at: 0)
        _ = handle(.ended(first, .failure, mayRetry: true), at: 0)
        _ = handle(.close(inner), at: 0)
        // While the inner group waits for its next round, the limit of the outer one passes.
        _ = handle(.time, at: 6)
        var commands: [OperationScheduler.Command] = []
        let late = scheduler.add(.init(), to: inner, needs: [], at: .seconds(7), into: &commands)
        #expect(commands == [.finished(late, .cancelled, .request)])
        let starts = handle(.time, at: 15).filter { if case .start = $0 { true } else { false } }
        #expect(starts == [.start(first, attempt: 1), .start(late, attempt: 1)])
        #expect(handle(.ended(late, .success, mayRetry: false), at: 16) == [.finished(late, .success, .itself)])
        #expect(handle(.ended(first, .success, mayRetry: false), at: 17).contains(.finished(inner, .success, .itself)))
    }

    /// Adds random operations to random groups in both ways while others end; tells where the commands differ.
    @Test(arguments: 0..<200) func `an operation that is added alone does what a graph of one does`(seed: UInt64) {
        var random = SplitMix(seed: seed)
        var mutex: LockID?
        var groups = [OperationID.root]
        var alone = open { graph in
            mutex = graph.addMutex()
            groups.append(graph.beginGroup(.init(retry: RetryPolicy(attempts: 2)), failFast: .cancel, isOpen: true))
            graph.endGroup()
            groups.append(graph.beginGroup(.init(locks: [LockRequest(lock: mutex!)]), isOpen: true))
            graph.endGroup()
        }
        var inGraph = alone
        var running: [OperationID] = []
        var (buffer, expected): ([Command], [Command]) = ([], [])
        for _ in 0..<60 where !alone.isFinished {
            let seen = buffer.count
            switch Int.random(in: 0..<8, using: &random) {
            case 0..<4:
                let isNaming = random.chance(3)
                let options = OperationGraph.Options(
                    priority: UInt32.random(in: 0...2, using: &random),
                    timeout: random.chance(4) ? .seconds(2) : nil, toleratesFailure: random.chance(3),
                    retry: random.chance(4) ? RetryPolicy(attempts: 2) : nil,
                    locks: isNaming ? [LockRequest(lock: mutex!)] : [], isConditional: random.chance(9))
                let needs = (0..<Int.random(in: 0...2, using: &random)).compactMap { _ in
                    let row = Int.random(in: 0..<alone.count, using: &random)
                    return row < 3 ? nil : (OperationID(row: row), DependencyKind.ok)
                }
                let group = groups.randomElement(using: &random)!
                var graph = OperationGraph(joiningAt: inGraph.count)
                let member = graph.addOperation(options)
                for (need, kind) in needs { graph.addDependency(of: member, on: need, kind) }
                expected += inGraph.handle(.added(group, graph), at: .zero)
                #expect(alone.add(options, to: group, needs: needs, at: .zero, into: &buffer) == member)
            case 4:
                let row = Int.random(in: 1..<alone.count, using: &random)
                let event = OperationScheduler.Event.cancel(OperationID(row: row))
                expected += inGraph.handle(event, at: .zero)
                alone.handle(event, at: .zero, into: &buffer)
            default:
                guard let index = running.indices.randomElement(using: &random) else { continue }
                let outcome: OperationOutcome = random.chance(3) ? .failure : .success
                let event = OperationScheduler.Event.ended(running.remove(at: index), outcome, mayRetry: true)
                expected += inGraph.handle(event, at: .zero)
                alone.handle(event, at: .zero, into: &buffer)
            }
            for case .start(let id, _) in buffer[seen...] { running.append(id) }
        }
        #expect(buffer == expected)
        #expect(alone.states.map(\.phase) == inGraph.states.map(\.phase))
    }

    @Test func `commands are appended to what the buffer holds`() {
        var scheduler = open()
        var buffer: [Command] = [.suspended]
        let id = scheduler.add(.init(), to: .root, at: .zero, into: &buffer)
        scheduler.handle(.ended(id, .success, mayRetry: false), at: .zero, into: &buffer)
        #expect(buffer == [.suspended, .start(id, attempt: 1), .finished(id, .success, .itself)])
    }

    @Test func `members that join one after the other are one addition`() {
        var scheduler = open()
        var buffer: [Command] = []
        for _ in 0..<1000 { _ = scheduler.add(.init(), to: .root, at: .zero, into: &buffer) }
        #expect(scheduler.groups[0].additions.map(\.rows) == [1..<1001])
        scheduler.handle(.cancel(.root), at: .zero, into: &buffer)
        #expect(buffer.count { if case .finished(_, .cancelled, _) = $0 { true } else { false } } == 998)
    }

    @Test func `the next deadline is the earliest that still counts`() {
        var scheduler = open { graph in
            graph.beginGroup(.init(timeout: .seconds(20)), isOpen: true)
            graph.endGroup()
        }
        let group = OperationID(row: 1)
        var buffer: [Command] = []
        #expect(scheduler.nextDeadline == .seconds(20))
        let first = scheduler.add(.init(timeout: .seconds(5)), to: .root, at: .seconds(1), into: &buffer)
        #expect(scheduler.nextDeadline == .seconds(6))
        scheduler.handle(.ended(first, .success, mayRetry: false), at: .seconds(2), into: &buffer)
        #expect(scheduler.nextDeadline == .seconds(20))
        scheduler.handle(.suspend, at: .seconds(3), into: &buffer)
        #expect(scheduler.nextDeadline == nil)
        scheduler.handle(.resume, at: .seconds(4), into: &buffer)
        #expect(scheduler.nextDeadline == .seconds(21))
        scheduler.handle(.cancel(group), at: .seconds(5), into: &buffer)
        #expect(scheduler.nextDeadline == nil)
    }

    @Test(arguments: 0..<100) func `the ready queue gives what it holds by priority and row, in whatever order it came`(
        seed: UInt64
    ) {
        var random = SplitMix(seed: seed)
        var queue = ReadyQueue()
        var held: [(priority: UInt32, row: Int)] = []
        for row in 0..<3000 {
            let priority = seed % 2 == 0 ? 0 : UInt32.random(in: 0...2, using: &random)
            let row = seed % 3 == 0 ? Int.random(in: 0..<1000, using: &random) : row
            queue.insert(OperationID(row: row), priority: priority)
            held.append((priority, row))
            while !held.isEmpty, random.chance(2) {
                let best = held.indices.min { (~held[$0].priority, held[$0].row) < (~held[$1].priority, held[$1].row) }!
                #expect(queue.pop() == OperationID(row: held.remove(at: best).row))
            }
        }
        held.sort { (~$0.priority, $0.row) < (~$1.priority, $1.row) }
        for entry in held { #expect(queue.pop() == OperationID(row: entry.row)) }
        #expect(queue.isEmpty && queue.pop() == nil)
    }
}
