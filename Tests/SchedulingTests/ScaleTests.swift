import FlowrunTestSupport
import Testing

@testable import Scheduling

/// Hundreds of thousands of rows: linear, without recursion.
@Suite(.serialized) struct ScaleTests {
    /// Runs everything that starts at once, `width` at a time; returns how many operations ended.
    @discardableResult
    private func exhaust(
        _ graph: OperationGraph, width: Int = 4, expand: (Int) -> OperationGraph? = { _ in nil }
    ) -> Int {
        var scheduler = OperationScheduler(graph, width: width)
        var events: [OperationScheduler.Event] = [.begin]
        var ended = 0
        while let event = events.popLast() {
            for command in scheduler.handle(event, at: .zero) {
                switch command {
                case .start(let id, _):
                    events.append(.ended(id, .success, mayRetry: true))
                    ended += 1
                case .expand(let id):
                    if let expansion = expand(scheduler.count) { events.append(.expanded(id, expansion)) }
                default: break
                }
            }
        }
        #expect(scheduler.isFinished)
        #expect(scheduler.outcome(of: .root) == .success)
        return ended
    }

    private func flat(_ count: Int) -> OperationGraph {
        var graph = OperationGraph(minimumCapacity: count)
        for _ in 0..<count { graph.addOperation() }
        return graph
    }

    private func reversedChain(_ count: Int) -> OperationGraph {
        var graph = flat(count)
        for row in 1..<count {
            graph.addDependency(of: OperationID(row: row), on: OperationID(row: row + 1))
        }
        return graph
    }

    private func instances(_ count: Int, at firstRow: Int) -> OperationGraph {
        var expansion = OperationGraph(joiningAt: firstRow)
        for _ in 0..<count {
            expansion.beginGroup()
            let first = expansion.addOperation()
            let second = expansion.addOperation()
            expansion.addDependency(of: second, on: first)
            expansion.endGroup()
        }
        return expansion
    }

    /// How many times as much processor time a hundred thousand take as ten thousand. The best of several, because
    /// others use the caches too; the first that is good enough will do.
    private func ratio(upTo enough: Double = 12, _ work: (Int) -> Void) -> Double {
        var best = Double.infinity
        for _ in 0..<5 where best > enough {
            best = min(best, processorTime { work(100_000) } / processorTime { work(10_000) })
        }
        return best
    }

    // F9, Q10
    @Test func `a hundred thousand operations in one compound cost ten times ten thousand's`() {
        let cost = ratio { count in #expect(exhaust(flat(count)) == count) }
        #expect(cost <= 12)
    }

    // F2, F9
    @Test func `a chain declared in reverse costs as much for each link, however long`() {
        let cost = ratio { count in #expect(exhaust(reversedChain(count)) == count) }
        #expect(cost <= 12)
    }

    // D9, F9
    @Test func `an expansion costs as much for each instance, however many`() {
        var graph = OperationGraph()
        graph.beginGroup(limit: .members(3), isExpandable: true)
        graph.endGroup()
        let cost = ratio { count in
            #expect(exhaust(graph) { self.instances(count / 4, at: $0) } == count / 2)
        }
        #expect(cost <= 12)
    }

    // D6, F9
    @Test func `a hundred thousand that wait are cancelled in one go`() {
        var scheduler = OperationScheduler(reversedChain(100_000), width: 2)
        _ = scheduler.handle(.begin, at: .zero)
        let commands = scheduler.handle(.cancel(.root), at: .zero)
        #expect(commands.count { if case .finished = $0 { true } else { false } } == 99_999)
    }

    // F13, F9
    @Test func `a failure rules out a hundred thousand in a chain without recursion`() {
        let count = 100_000
        var scheduler = OperationScheduler(reversedChain(count), width: 2)
        let first = OperationID(row: count)
        _ = scheduler.handle(.begin, at: .zero)
        _ = scheduler.handle(.ended(first, .failure, mayRetry: false), at: .zero)
        #expect(scheduler.isFinished)
        #expect(scheduler.outcome(of: OperationID(row: 1)) == .notRun)
    }

    @Test(arguments: [ConcurrencyLimit.unlimited, .members(1)])
    func `groups around each other cost as much for each, however many`(limit: ConcurrencyLimit) {
        let cost = ratio(upTo: 20) { count in
            var graph = OperationGraph()
            for _ in 0..<count / 10 { graph.beginGroup(limit: limit, failFast: .off) }
            graph.addOperation()
            for _ in 0..<count / 10 { graph.endGroup() }
            #expect(exhaust(graph) == 1)
        }
        #expect(cost <= 20)
    }

    @Test func `a dependency that comes and goes costs as much each time, whoever else has it`() {
        let cost = ratio(upTo: 20) { count in
            var graph = OperationGraph(isOpen: true)
            let (needed, running) = (graph.addOperation(), graph.addOperation())
            let dependents = (0..<count).map { _ in graph.addOperation() }
            for dependent in dependents { graph.addDependency(of: dependent, on: running) }
            var scheduler = OperationScheduler(graph, width: 2)
            _ = scheduler.handle(.begin, at: .zero)
            for _ in 0..<2 {
                for dependent in dependents {
                    _ = scheduler.handle(.link(dependent: dependent, on: needed, .ok), at: .zero)
                }
                for dependent in dependents {
                    _ = scheduler.handle(.unlink(dependent: dependent, prerequisite: needed), at: .zero)
                }
            }
            #expect(scheduler.dependents.lateEntries(of: needed).count == count)
            _ = scheduler.handle(.ended(needed, .failure, mayRetry: false), at: .zero)
            _ = scheduler.handle(.ended(running, .success, mayRetry: false), at: .zero)
            #expect(scheduler.running == 2)
        }
        #expect(cost <= 20)
    }

    // A waiting step costs memory and nothing else, and little of that
    @Test func `a plain row stays small`() {
        #expect(MemoryLayout<RowTable.Row>.stride <= 16)
        #expect(MemoryLayout<OperationScheduler.State>.stride <= 16)
        #expect(MemoryLayout<Adjacency.Entry>.stride <= 8)
    }
}
