import Testing

@testable import OperationScheduling

/// Cases G to P of <doc:ConformanceCases> that no other test of the scheduler has.
@Suite struct ConformanceGToPTests {
    typealias Behaviour = VirtualRun.Behaviour

    private func finishes(_ run: VirtualRun, _ id: OperationID) -> Int {
        run.count { if case .finished(id, _, _) = $0 { true } else { false } }
    }

    private func stops(_ run: VirtualRun, _ id: OperationID) -> Int {
        run.count { if case .stop(id, _) = $0 { true } else { false } }
    }

    /// A sequence group, as the file's `order: sequence` makes it: each member needs the one before.
    private func chain(_ graph: inout OperationGraph, of count: Int) -> (group: OperationID, members: [OperationID]) {
        let group = graph.beginGroup()
        let members = (0..<count).map { _ in graph.addOperation() }
        graph.endGroup()
        for (next, last) in zip(members.dropFirst(), members) { graph.addDependency(of: next, on: last) }
        return (group, members)
    }

    // K1, K9
    @Test func `a limit is one stop and one end, when the work has ended`() {
        var graph = OperationGraph()
        let step = graph.addOperation(.init(timeout: .seconds(1)))
        let run = VirtualRun(graph) { _ in Behaviour(duration: .seconds(99), stopDuration: .seconds(10)) }
        #expect(run.outcome(step) == .timeout)
        #expect(run.cause(step) == .deadline(step))
        #expect(run.time(of: run.finish(step)) == .seconds(11))
        #expect(finishes(run, step) == 1 && stops(run, step) == 1)
    }

    @Test func `the limit of an attempt that cannot begin yet starts with its work`() {
        var graph = OperationGraph()
        let step = graph.addOperation(.init(timeout: .seconds(5)))
        var scheduler = OperationScheduler(graph, width: 1)
        _ = scheduler.handle(.begin, at: .zero)
        _ = scheduler.handle(.delayed(step), at: .zero)
        #expect(scheduler.handle(.time, at: .seconds(20)).isEmpty)
        #expect(scheduler.handle(.launched(step), at: .seconds(20)) == [.wake(at: .seconds(25))])
        #expect(scheduler.handle(.time, at: .seconds(25)).first == .stop(step, .deadline(step)))
    }

    // K3
    @Test func `a limit that comes after a cancel changes nothing`() {
        var graph = OperationGraph()
        let step = graph.addOperation(.init(timeout: .seconds(2)))
        let run = VirtualRun(graph, events: [(.seconds(1), .cancel(step))]) { _ in
            Behaviour(duration: .seconds(99), stopDuration: .seconds(10))
        }
        #expect(run.outcome(step) == .cancelled)
        #expect(run.cause(step) == .request)
        #expect(finishes(run, step) == 1 && stops(run, step) == 1)
    }

    // K7
    @Test func `one limit over a set is told once, after the last of the set`() {
        var graph = OperationGraph()
        let set = graph.beginGroup(.init(timeout: .seconds(3)))
        let members = (0..<4).map { _ in graph.addOperation() }
        graph.endGroup()
        let run = VirtualRun(graph) { id in
            Behaviour(duration: .seconds(id == members[0] ? 1 : 99), stopDuration: .seconds(id.row))
        }
        #expect(run.outcome(set) == .timeout && finishes(run, set) == 1)
        #expect(run.count { if case .groupStopping(set, _) = $0 { true } else { false } } == 1)
        #expect(run.outcome(members[0]) == .success)
        #expect(members.allSatisfy { run.finish($0)! < run.finish(set)! })
    }

    // K10
    @Test(arguments: [false, true])
    func `a limit and a success at the same instant are one end, that of whichever was heard first`(
        isLimitFirst: Bool
    ) {
        var graph = OperationGraph()
        let step = graph.addOperation(.init(timeout: .seconds(2)))
        let run = VirtualRun(graph, events: isLimitFirst ? [(.seconds(2), .time)] : []) { _ in
            Behaviour(duration: .seconds(2))
        }
        #expect(run.outcome(step) == (isLimitFirst ? .timeout : .success))
        #expect(finishes(run, step) == 1)
        #expect(run.end == .seconds(2))
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

    // O2
    @Test func `a cancel of everything before anything could start leaves nothing but ends`() {
        var graph = OperationGraph()
        let (group, members) = chain(&graph, of: 2)
        let free = graph.addOperation()
        let run = VirtualRun(graph, events: [(.zero, .suspend), (.zero, .cancel(.root))])
        #expect(run.starts.isEmpty)
        for id in members + [group, free, .root] {
            #expect(run.outcome(id) == .cancelled && finishes(run, id) == 1)
        }
        #expect(run.end == .zero)
    }
}
