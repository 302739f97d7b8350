import Testing

@testable import Scheduling

/// Rows that have ended go, and nothing else is different afterwards.
@Suite struct RemovalTests {
    private typealias Command = OperationScheduler.Command

    @Test(arguments: 0..<8) func `a run from which ended rows are removed at any moment does what it would do anyway`(
        batch: Int
    ) {
        var removed = 0
        for seed in UInt64(batch * 500)..<UInt64(batch * 500 + 500) {
            let scenario = Scenario(seed: seed)
            func run(_ removal: SplitMix?) -> VirtualRun {
                VirtualRun(
                    scenario.graph, width: scenario.width, groupsWaitForTheirTurn: scenario.groupsWaitForTheirTurn,
                    tellsLocks: true, events: scenario.events,
                    answers: scenario.answers, removal: removal, inspect: \.idleness
                ) { scenario.behaviour(of: $0, attempt: $1) }
            }
            let (plain, compacted) = (run(nil), run(SplitMix(seed: seed &+ 77)))
            removed += compacted.removedCount
            if let problem = compacted.problem {
                Issue.record("seed \(seed): \(problem)")
                return
            }
            guard plain.commands != compacted.commands else { continue }
            let first = zip(plain.commands, compacted.commands).enumerated().first { $1.0 != $1.1 }
            Issue.record("seed \(seed): \(first.map { "\($0) \($1)" } ?? "one of the logs ends early")")
            return
        }
        #expect(removed > 1000)
    }

    /// Operations come to the groups of a queue that is never closed, need what is alive, hold mutexes, are cancelled.
    @Test(arguments: 0..<120) func `a queue from which ended rows are removed does what it would do anyway`(
        seed: UInt64
    ) {
        var random = SplitMix(seed: seed)
        var graph = OperationGraph(failFast: .off, isOpen: true)
        let mutex = graph.addMutex()
        var groups = [OperationID.root, graph.beginGroup(limit: .members(2), isOpen: true)]
        graph.endGroup()
        groups.append(graph.beginGroup(.init(retry: RetryPolicy(attempts: 2)), isOpen: true))
        graph.endGroup()
        groups.append(graph.beginGroup(.init(locks: [LockRequest(lock: mutex)]), failFast: .drain, isOpen: true))
        graph.endGroup()
        var plain = OperationScheduler(graph, width: 3)
        var compacted = plain
        var removal = RandomRemoval(from: compacted, using: SplitMix(seed: seed))
        var (commands, expected): ([Command], [Command]) = ([], [])
        func tell(_ event: OperationScheduler.Event) {
            expected += plain.handle(event, at: .zero)
            commands += removal.handle(event, at: .zero, by: &compacted)
        }
        tell(.begin)
        var running: [OperationID] = []
        for _ in 0..<150 {
            let seen = commands.count
            switch Int.random(in: 0..<9, using: &random) {
            case 0..<4:
                let options = OperationGraph.Options(
                    priority: UInt32.random(in: 0...2, using: &random),
                    timeout: random.chance(4) ? .seconds(2) : nil,
                    locks: random.chance(3) ? [LockRequest(lock: mutex)] : [])
                // Also something that has ended and is still there.
                let there = (groups.count..<plain.count).map { OperationID(row: $0) }.filter { removal.isThere($0) }
                let needs = (0..<Int.random(in: 0...2, using: &random)).compactMap { _ in
                    there.randomElement(using: &random)
                }
                let group = groups.randomElement(using: &random)!
                guard removal.isThere(group) else { continue }
                _ = plain.add(options, to: group, needs: needs.map { ($0, .ok) }, at: .zero, into: &expected)
                commands += removal.add(options, to: group, needs: needs, by: &compacted)
            case 4:
                let row = Int.random(in: random.chance(4) ? 1..<plain.count : 4..<max(5, plain.count), using: &random)
                if row < plain.count { tell(.cancel(OperationID(row: row))) }
            default:
                guard let index = running.indices.randomElement(using: &random) else { continue }
                tell(.ended(running.remove(at: index), random.chance(3) ? .failure : .success, mayRetry: true))
            }
            for case .start(let id, _) in commands[seen...] { running.append(id) }
            guard commands == expected else {
                Issue.record("\(commands.last!) instead of \(expected.last!)")
                return
            }
        }
        #expect(removal.removedCount > 0)
    }

    @Test func `a scheduler that is never idle does not grow, though an early operation stays`() {
        var scheduler = OperationScheduler(OperationGraph(isOpen: true), width: 2)
        var commands: [Command] = []
        scheduler.handle(.begin, at: .zero, into: &commands)
        var early = scheduler.add(.init(), to: .root, at: .zero, into: &commands)
        var running = scheduler.add(.init(), to: .root, at: .zero, into: &commands)
        var largest = 0
        for _ in 0..<100_000 {
            commands.removeAll(keepingCapacity: true)
            _ = scheduler.add(
                .init(timeout: .seconds(1)), to: .root, needs: [(running, .done)], at: .zero, into: &commands)
            scheduler.handle(.ended(running, .failure, mayRetry: false), at: .zero, into: &commands)
            for case .start(let id, _) in commands { running = id }
            largest = max(largest, scheduler.count)
            guard scheduler.count >= 1024, scheduler.endedCount > scheduler.count / 2 else { continue }
            let renumbering = scheduler.removeEnded()
            running = renumbering[running]!
            early = renumbering[early]!
        }
        #expect(largest <= 2100)
        #expect(scheduler.groups[0].additions.count <= 2)
        #expect(scheduler.outcome(of: early) == nil)
        scheduler.handle(.ended(early, .success, mayRetry: false), at: .zero, into: &commands)
        #expect(scheduler.outcome(of: early) == .success)
    }

    @Test func `nothing goes that something waiting needs, that a group ends with, or that may run again`() {
        var graph = OperationGraph(isOpen: true)
        let (needed, failed, plain) = (graph.addOperation(), graph.addOperation(), graph.addOperation())
        let again = graph.beginGroup(.init(retry: RetryPolicy(attempts: 2)))
        let inside = graph.addOperation()
        let alive = graph.addOperation()
        graph.endGroup()
        let waiting = graph.addOperation()
        graph.addDependency(of: waiting, on: needed)
        graph.addDependency(of: waiting, on: alive)
        var scheduler = OperationScheduler(graph, width: 9)
        _ = scheduler.handle(.begin, at: .zero)
        for id in [needed, failed, plain, inside] {
            _ = scheduler.handle(.ended(id, id == failed ? .failure : .success, mayRetry: false), at: .zero)
        }
        #expect(scheduler.endedCount == 4)
        let renumbering = scheduler.removeEnded()
        #expect(renumbering[plain] == nil)
        #expect([needed, failed, again, inside, alive, waiting].map { renumbering[$0]?.row } == [1, 2, 3, 4, 5, 6])
        #expect(scheduler.count == 7 && scheduler.endedCount == 0)
        #expect(scheduler.outcome(of: renumbering[failed]!) == .failure)
    }
}
