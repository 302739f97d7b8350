import FlowrunTestSupport
import Testing

@testable import Scheduling

/// When groups start: where they wait for their turn, and in groups that limit their members.
@Suite struct TurnTests {
    typealias Behaviour = VirtualRun.Behaviour

    private func isStalled(_ run: VirtualRun) -> Bool {
        run.commands.contains { if case .stalled = $0 { true } else { false } }
    }

    @Test(arguments: [ConcurrencyLimit.members(1), .operations(1)])
    func `in a serial group, a member that is a group comes between those listed before and after it`(
        limit: ConcurrencyLimit
    ) {
        var graph = OperationGraph(limit: limit)
        let (a, b) = (graph.addOperation(), graph.addOperation())
        let group = graph.beginGroup()
        let inside = graph.addOperation()
        graph.endGroup()
        let last = graph.addOperation()
        let run = VirtualRun(graph, groupsWaitForTheirTurn: true)
        #expect(run.starts == [a, b, inside, last])
        #expect(run.time(of: run.start(group)) == .seconds(2))
        #expect(run.peak == 1)
    }

    @Test func `a group behind others starts, and its time begins, when there is a slot for it`() {
        for (isWaiting, start) in [(true, 3), (false, 0)] {
            var graph = OperationGraph()
            let before = graph.addOperation()
            let group = graph.beginGroup(.init(timeout: .seconds(2)))
            let inside = graph.addOperation()
            graph.endGroup()
            let run = VirtualRun(graph, width: 1, groupsWaitForTheirTurn: isWaiting) {
                Behaviour(duration: .seconds($0 == before ? 3 : 1))
            }
            #expect(run.time(of: run.start(group)) == .seconds(start))
            #expect(run.outcome(inside) == (isWaiting ? .success : .cancelled))
            #expect(run.outcome(group) == (isWaiting ? .success : .timeout))
        }
    }

    @Test func `of what is ready the higher priority starts first, group or operation`() {
        var graph = OperationGraph()
        let first = graph.addOperation(.init(priority: 9))
        let low = graph.addOperation(.init(priority: 1))
        let lowest = graph.beginGroup()
        let c = graph.addOperation(.init(priority: 5))
        graph.endGroup()
        let high = graph.beginGroup(.init(priority: 2))
        let d = graph.addOperation()
        graph.endGroup()
        let run = VirtualRun(graph, width: 1, groupsWaitForTheirTurn: true)
        // A group that has started leaves its slot to whatever is best by then.
        #expect(run.starts == [first, low, c, d])
        #expect(run.time(of: run.start(high)) == .seconds(1))
        #expect(run.time(of: run.start(lowest)) == .seconds(2))
    }

    @Test func `groups take no slot though they wait for one, however deep, and empty ones end in their turn`() {
        var graph = OperationGraph()
        let first = graph.addOperation()
        for _ in 0..<3 { graph.beginGroup() }
        let inside = graph.addOperation()
        for _ in 0..<3 { graph.endGroup() }
        let empty = graph.beginGroup()
        graph.endGroup()
        let last = graph.addOperation()
        let run = VirtualRun(graph, width: 1, groupsWaitForTheirTurn: true)
        #expect(run.starts == [first, inside, last])
        #expect(run.time(of: run.finish(empty)) == .seconds(2))
        #expect(run.outcome(.root) == .success)
    }

    @Test func `a group with nothing to run lets those behind it go on`() {
        for limit in [ConcurrencyLimit.operations(1), .members(2)] {
            var graph = OperationGraph(limit: limit)
            let first = graph.addOperation()
            let group = graph.beginGroup(isOpen: true)
            graph.endGroup()
            let last = graph.addOperation()
            let run = VirtualRun(
                graph, width: 1, groupsWaitForTheirTurn: true, events: [(.seconds(9), .close(group))])
            #expect(run.starts == [first, last])
            #expect(run.time(of: run.finish(last)) == .seconds(2))
            #expect(run.time(of: run.finish(.root)) == .seconds(9))
        }
    }

    @Test func `a group that is tried again waits for its turn again`() {
        var graph = OperationGraph()
        let group = graph.beginGroup(.init(retry: RetryPolicy(attempts: 2)))
        let flaky = graph.addOperation()
        graph.endGroup()
        let other = graph.addOperation(.init(priority: 1))
        graph.addDependency(of: other, on: flaky, .done)
        let run = VirtualRun(graph, width: 1, groupsWaitForTheirTurn: true) { id, attempt in
            Behaviour(outcome: id == flaky && attempt == 1 ? .failure : .success)
        }
        #expect(run.starts == [flaky, other, flaky])
        #expect(run.time(of: run.start(group, attempt: 2)) == .seconds(2))
        #expect(run.outcome(.root) == .success)
    }

    // MARK: What a place is taken for

    @Test(arguments: [false, true]) func `a group takes no place while something inside needs what waits for one`(
        waitsForTurn: Bool
    ) {
        var graph = OperationGraph(limit: .members(1))
        let group = graph.beginGroup()
        let inner = graph.beginGroup()
        let needing = graph.addOperation()
        graph.endGroup()
        graph.endGroup()
        let needed = graph.addOperation()
        graph.addDependency(of: needing, on: needed)
        let run = VirtualRun(graph, groupsWaitForTheirTurn: waitsForTurn)
        #expect(run.starts == [needed, needing])
        #expect(run.finish(needed)! < run.start(group)!)
        #expect(run.start(group)! < run.start(inner)!)
        #expect(!isStalled(run))
    }

    @Test func `nor while that waits, outside, for something with a place`() {
        var graph = OperationGraph()
        graph.beginGroup(limit: .members(1))
        graph.beginGroup()
        let last = graph.addOperation()
        graph.endGroup()
        let first = graph.addOperation()
        graph.endGroup()
        let between = graph.addOperation()
        graph.addDependency(of: between, on: first)
        graph.addDependency(of: last, on: between)
        let run = VirtualRun(graph)
        #expect(run.starts == [first, between, last])
        #expect(!isStalled(run))
    }

    @Test func `a group starts before what needs something inside it, and others still wait for each other`() {
        var graph = OperationGraph(limit: .members(2))
        let group = graph.beginGroup()
        let first = graph.addOperation()
        let last = graph.addOperation()
        graph.endGroup()
        let between = graph.addOperation()
        let second = graph.beginGroup()
        let needing = graph.addOperation()
        graph.endGroup()
        let late = graph.addOperation()
        graph.addDependency(of: between, on: first)
        graph.addDependency(of: last, on: between)
        graph.addDependency(of: needing, on: late)
        let run = VirtualRun(graph)
        #expect(!isStalled(run))
        #expect(run.outcome(.root) == .success)
        #expect(run.start(group)! < run.start(between)! && run.start(between)! < run.start(last)!)
        #expect(run.finish(late)! < run.start(second)!)
    }

    @Test func `what is outside of the limited group is not waited for`() {
        var graph = OperationGraph()
        let outside = graph.addOperation()
        graph.beginGroup(limit: .members(1))
        let group = graph.beginGroup()
        let needing = graph.addOperation()
        let other = graph.addOperation()
        graph.endGroup()
        graph.endGroup()
        graph.addDependency(of: needing, on: outside)
        let run = VirtualRun(graph)
        #expect(run.time(of: run.start(group)) == .zero)
        #expect(run.starts == [outside, other, needing])
    }

    @Test func `a group that joins takes no place either before what it needs has ended`() {
        var graph = OperationGraph(limit: .members(1), isOpen: true)
        let first = graph.addOperation()
        var expansion = OperationGraph(joiningAt: graph.count)
        expansion.beginGroup()
        let needing = expansion.addOperation()
        expansion.endGroup()
        let needed = expansion.addOperation()
        expansion.addDependency(of: needing, on: needed)
        let run = VirtualRun(graph, events: [(.zero, .added(.root, expansion)), (.seconds(1), .close(.root))])
        #expect(run.starts == [first, needed, needing])
        #expect(!isStalled(run))
    }

    @Test(arguments: [false, true]) func `a group that waits takes no place before what a member that joins it needs`(
        isAlone: Bool
    ) {
        var graph = OperationGraph(limit: .members(1), isOpen: true)
        let first = graph.addOperation()
        let group = graph.beginGroup(isOpen: true)
        graph.endGroup()
        let needed = graph.addOperation()
        var scheduler = OperationScheduler(graph, width: 2, groupsWaitForTheirTurn: true)
        var commands: [OperationScheduler.Command] = []
        scheduler.handle(.begin, at: .zero, into: &commands)
        let joining = OperationID(row: scheduler.count)
        if isAlone {
            _ = scheduler.add(.init(), to: group, needs: [(needed, .ok)], at: .zero, into: &commands)
        } else {
            var expansion = OperationGraph(joiningAt: scheduler.count)
            expansion.addDependency(of: expansion.addOperation(), on: needed)
            scheduler.handle(.added(group, expansion), at: .zero, into: &commands)
        }
        for id in [first, needed, joining] {
            #expect(commands.contains(.start(id, attempt: 1)))
            guard commands.contains(.start(id, attempt: 1)) else { return }
            scheduler.handle(.ended(id, .success, mayRetry: false), at: .zero, into: &commands)
        }
        scheduler.handle(.close(group), at: .zero, into: &commands)
        scheduler.handle(.close(.root), at: .zero, into: &commands)
        #expect(scheduler.outcome(of: .root) == .success)
    }

    @Test func `a group that waits does not await, for a member that joins it, what needs something inside it`() {
        var graph = OperationGraph(limit: .members(2), isOpen: true)
        let first = graph.addOperation()
        let group = graph.beginGroup(isOpen: true)
        let inside = graph.addOperation()
        graph.endGroup()
        let between = graph.addOperation()
        graph.addDependency(of: group, on: first)
        graph.addDependency(of: between, on: inside)
        var expansion = OperationGraph(joiningAt: graph.count)
        let joining = expansion.addOperation()
        expansion.addDependency(of: joining, on: between)
        let run = VirtualRun(
            graph,
            events: [
                (.zero, .added(group, expansion)), (.seconds(9), .close(group)), (.seconds(9), .close(.root)),
            ])
        #expect(run.starts == [first, inside, between, joining])
        #expect(run.outcome(.root) == .success)
    }

    @Test func `rows that need something around them cost as much each, whether they are many or few`() {
        func cost(_ count: Int) -> Duration {
            var graph = OperationGraph(limit: .members(3), minimumCapacity: count)
            var before = graph.addOperation()
            for _ in 0..<count / 2 {
                graph.beginGroup()
                let id = graph.addOperation()
                graph.endGroup()
                graph.addDependency(of: id, on: before)
                before = id
            }
            return processorTime { _ = OperationScheduler(graph, width: 1) }
        }
        let ratios = (0..<5).map { _ in cost(40_000) / cost(4_000) }
        #expect(ratios.min()! < 20)
    }
}
