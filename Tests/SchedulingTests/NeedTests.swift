import Testing

@testable import Scheduling

/// What waits for what, and what the end of the one means for the other.
@Suite struct NeedTests {
    typealias Behaviour = VirtualRun.Behaviour

    private func finishes(_ run: VirtualRun, _ id: OperationID) -> Int {
        run.count { if case .finished(id, _, _) = $0 { true } else { false } }
    }

    /// A sequence group, as the file's `order: sequence` makes it: each member needs the one before.
    private func chain(_ graph: inout OperationGraph, of count: Int) -> (group: OperationID, members: [OperationID]) {
        let group = graph.beginGroup()
        let members = (0..<count).map { _ in graph.addOperation() }
        graph.endGroup()
        for (next, last) in zip(members.dropFirst(), members) { graph.addDependency(of: next, on: last) }
        return (group, members)
    }

    // F3, F6
    @Test func `what several share runs once, and an edge given twice does no harm`() {
        var graph = OperationGraph()
        let root = graph.addOperation()
        let (left, right, top) = (graph.addOperation(), graph.addOperation(), graph.addOperation())
        for (dependent, prerequisite) in [(left, root), (right, root), (right, root), (top, left), (top, right)] {
            graph.addDependency(of: dependent, on: prerequisite)
        }
        let run = VirtualRun(graph) { Behaviour(duration: .seconds($0 == right ? 5 : 1)) }
        #expect(run.starts == [root, left, right, top])
        #expect(run.time(of: run.start(top)) == .seconds(6))
    }

    // F4
    @Test func `a member may need what stands outside its group`() {
        var graph = OperationGraph()
        graph.beginGroup()
        let needy = graph.addOperation()
        let free = graph.addOperation()
        graph.endGroup()
        let other = graph.beginGroup()
        graph.addOperation()
        graph.endGroup()
        graph.addDependency(of: needy, on: other)
        graph.addDependency(of: needy, on: free)
        let run = VirtualRun(graph)
        #expect(run.finish(other)! < run.start(needy)!)
        #expect(run.finish(free)! < run.start(needy)!)
    }

    // F11, F12
    @Test func `a cancelled prerequisite rules out, a failed one is blamed before it, and an edge may not care`() {
        var graph = OperationGraph()
        let cancelled = graph.addOperation()
        let failed = graph.addOperation()
        let behind = graph.addOperation()
        let both = graph.addOperation()
        let carefree = graph.addOperation()
        graph.addDependency(of: behind, on: cancelled)
        graph.addDependency(of: both, on: cancelled)
        graph.addDependency(of: both, on: failed)
        graph.addDependency(of: carefree, on: cancelled, .done)
        let run = VirtualRun(graph, events: [(.seconds(1), .cancel(cancelled))]) {
            Behaviour(duration: .seconds(5), outcome: $0 == failed ? .failure : .success)
        }
        #expect(run.outcome(behind) == .notRun)
        #expect(run.cause(behind) == .dependency(cancelled))
        #expect(run.outcome(both) == .notRun)
        #expect(run.cause(both) == .dependency(failed))
        #expect(run.outcome(carefree) == .success)
    }
    // M1, M8
    @Test func `members of a sequence come one after the other, also where one is a sequence itself`() {
        var graph = OperationGraph()
        let outer = graph.beginGroup()
        let first = graph.addOperation()
        let (inner, members) = chain(&graph, of: 3)
        let last = graph.addOperation()
        graph.endGroup()
        graph.addDependency(of: inner, on: first)
        graph.addDependency(of: last, on: inner)
        let run = VirtualRun(graph)
        #expect(run.starts == [first] + members + [last])
        #expect(run.peak == 1)
        #expect(run.finish(members[2])! < run.finish(inner)! && run.finish(inner)! < run.start(last)!)
        #expect(run.outcome(outer) == .success)
    }

    // M3
    @Test func `a failure ends a sequence at once`() {
        var graph = OperationGraph()
        let (group, members) = chain(&graph, of: 4)
        let run = VirtualRun(graph) { Behaviour(outcome: $0 == members[1] ? .failure : .success) }
        #expect(members.map { run.outcome($0) } == [.success, .failure, .notRun, .notRun])
        #expect(run.time(of: run.finish(group)) == .seconds(2))
        #expect(run.outcome(group) == .failure)
    }

    // M5
    @Test func `a cancelled member rules out the rest of its sequence, a cancelled sequence takes it along`() {
        for isWhole in [false, true] {
            var graph = OperationGraph()
            let (group, members) = chain(&graph, of: 3)
            let target = isWhole ? group : members[1]
            let run = VirtualRun(graph, events: [(.milliseconds(1500), .cancel(target))])
            #expect(members.map { run.outcome($0) } == [.success, .cancelled, isWhole ? .cancelled : .notRun])
            #expect(run.outcome(group) == .cancelled && finishes(run, group) == 1)
            #expect(run.starts == Array(members.prefix(2)))
        }
    }
}
