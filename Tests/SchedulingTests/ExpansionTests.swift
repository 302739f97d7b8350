import Testing

@testable import Scheduling

@Suite struct ExpansionTests {
    typealias Behaviour = VirtualRun.Behaviour

    /// A fan-out, and something that needs it.
    private func fanOut(
        _ options: OperationGraph.Options = .init(), limit: ConcurrencyLimit = .unlimited
    ) -> (graph: OperationGraph, group: OperationID, after: OperationID) {
        var graph = OperationGraph()
        let group = graph.beginGroup(options, limit: limit, isExpandable: true)
        graph.endGroup()
        let after = graph.addOperation()
        graph.addDependency(of: after, on: group)
        return (graph, group, after)
    }

    private func instances(_ count: Int, of size: Int = 2) -> VirtualRun.Answers {
        var answers = VirtualRun.Answers()
        answers.expand = { _, firstRow in
            var expansion = OperationGraph(joiningAt: firstRow)
            for _ in 0..<count {
                expansion.beginGroup()
                let steps = (0..<size).map { _ in expansion.addOperation() }
                for (step, need) in zip(steps.dropFirst(), steps) { expansion.addDependency(of: step, on: need) }
                expansion.endGroup()
            }
            return expansion
        }
        return answers
    }

    // D9, P1
    @Test func `a fan-out waits for the instances it is expanded by, and its limit holds for them`() {
        let (graph, group, after) = fanOut(limit: .members(2))
        let run = VirtualRun(graph, answers: instances(5))
        #expect(run.outcome(group) == .success)
        #expect(run.starts.count == 11)
        #expect(run.starts.last == after)
        #expect(run.peak == 2)
        #expect(run.end == .seconds(7))
    }

    // D2
    @Test func `no instances are a success`() {
        let (graph, group, after) = fanOut()
        let run = VirtualRun(graph, answers: instances(0))
        #expect(run.outcome(group) == .success)
        #expect(run.outcome(after) == .success)
    }

    @Test func `one that cannot be expanded fails by itself`() {
        let (graph, group, after) = fanOut()
        var answers = VirtualRun.Answers()
        answers.expand = { _, _ in nil }
        let run = VirtualRun(graph, answers: answers)
        #expect(run.outcome(group) == .failure)
        #expect(run.cause(group) == .itself)
        #expect(run.outcome(after) == .notRun)
    }

    @Test func `a cancel, a timeout and a drain follow members to where they are`() {
        let (graph, group, _) = fanOut(.init(timeout: .seconds(10)))
        let run = VirtualRun(graph, answers: instances(2)) { _ in Behaviour(duration: .seconds(60)) }
        #expect(run.outcome(group) == .timeout)
        #expect((3..<9).allSatisfy { run.outcome(OperationID(row: $0)) == .cancelled })
        #expect(run.end == .seconds(10))

        var draining = OperationGraph(failFast: .drain)
        draining.beginGroup(isExpandable: true)
        draining.endGroup()
        let bad = draining.addOperation(.init(priority: 9))
        let drained = VirtualRun(draining, width: 2, answers: instances(2)) {
            Behaviour(duration: .seconds($0 == bad ? 1 : 5), outcome: $0 == bad ? .failure : .success)
        }
        let outcomes = (3..<9).map { drained.outcome(OperationID(row: $0)) }
        // An instance with a member that something outside ruled out is not run itself.
        #expect(outcomes == [.notRun, .success, .notRun, .notRun, .notRun, .notRun])
    }

    // D8
    @Test func `an expansion of a group that was stopped meanwhile is cancelled`() {
        let (graph, group, _) = fanOut()
        var scheduler = OperationScheduler(graph, width: 4)
        _ = scheduler.handle(.begin, at: .zero)
        _ = scheduler.handle(.cancel(group), at: .zero)
        #expect(scheduler.outcome(of: group) == nil)
        var expansion = OperationGraph(joiningAt: scheduler.count)
        let step = expansion.addOperation()
        let commands = scheduler.handle(.expanded(group, expansion), at: .zero)
        #expect(commands.first == .finished(step, .cancelled, .request))
        #expect(commands.dropFirst().first == .finished(group, .cancelled, .request))
    }

    @Test func `new rows may need rows of before, ended or not`() {
        var graph = OperationGraph()
        let quick = graph.addOperation()
        let slow = graph.addOperation()
        let group = graph.beginGroup(isExpandable: true)
        graph.endGroup()
        graph.addDependency(of: group, on: quick)
        var answers = VirtualRun.Answers()
        answers.expand = { _, firstRow in
            var expansion = OperationGraph(joiningAt: firstRow)
            let step = expansion.addOperation()
            expansion.addDependency(of: step, on: quick)
            expansion.addDependency(of: step, on: slow)
            return expansion
        }
        let run = VirtualRun(graph, answers: answers) { Behaviour(duration: .seconds($0 == slow ? 30 : 1)) }
        #expect(run.time(of: run.start(OperationID(row: 4))) == .seconds(30))
        #expect(run.outcome(group) == .success)
    }

    @Test func `expansions may hold groups that expand, in every round anew`() {
        var graph = OperationGraph()
        let outer = graph.beginGroup(.init(retry: RetryPolicy(attempts: 2)), isExpandable: true)
        graph.endGroup()
        var answers = VirtualRun.Answers()
        answers.expand = { id, firstRow in
            var expansion = OperationGraph(joiningAt: firstRow)
            if id == outer {
                expansion.beginGroup(isExpandable: true)
                expansion.endGroup()
            } else {
                expansion.addOperation()
            }
            return expansion
        }
        let run = VirtualRun(graph, answers: answers) { id, _ in
            Behaviour(outcome: id == OperationID(row: 3) ? .failure : .success)
        }
        #expect(run.outcome(outer) == .success)
        #expect(run.starts == [OperationID(row: 3), OperationID(row: 5)])
        #expect(run.position { $0 == .retrying(outer, ended: 0, delay: .zero) } != nil)
    }

    // D9, P1, P2
    @Test func `an open group takes members until it is closed`() {
        var graph = OperationGraph()
        let group = graph.beginGroup(isOpen: true)
        let first = graph.addOperation()
        graph.endGroup()
        var expansion = OperationGraph(joiningAt: graph.count)
        let second = expansion.addOperation()
        expansion.addDependency(of: second, on: first)
        let run = VirtualRun(
            graph, events: [(.seconds(5), .added(group, expansion)), (.seconds(20), .close(group))])
        #expect(run.time(of: run.start(second)) == .seconds(5))
        #expect(run.time(of: run.finish(group)) == .seconds(20))
    }

    // D8, D9, P4
    @Test func `what joins too late is cancelled, and a stop closes an open group`() {
        var graph = OperationGraph()
        let group = graph.beginGroup(isOpen: true)
        graph.endGroup()
        let other = graph.addOperation()
        var expansion = OperationGraph(joiningAt: graph.count)
        let late = expansion.addOperation()
        let run = VirtualRun(graph, events: [(.seconds(2), .cancel(group)), (.seconds(5), .added(group, expansion))]) {
            _ in Behaviour(duration: .seconds(10))
        }
        #expect(run.time(of: run.finish(group)) == .seconds(2))
        #expect(run.outcome(late) == .cancelled)
        #expect(run.outcome(other) == .success)
    }

    @Test func `a group that has not started keeps what is added for its start`() {
        var graph = OperationGraph()
        let first = graph.addOperation()
        let group = graph.beginGroup()
        graph.addOperation()
        graph.endGroup()
        graph.addDependency(of: group, on: first)
        var expansion = OperationGraph(joiningAt: graph.count)
        let added = expansion.addOperation()
        let run = VirtualRun(graph, events: [(.milliseconds(1), .added(group, expansion))])
        #expect(run.time(of: run.start(added)) == .seconds(1))
        #expect(run.finish(added)! < run.finish(group)!)
    }

    // F5
    @Test func `a dependency that is taken away lets its dependent start`() {
        var graph = OperationGraph()
        let first = graph.addOperation()
        let second = graph.addOperation()
        graph.addDependency(of: second, on: first)
        graph.addDependency(of: second, on: first, .success)
        let run = VirtualRun(graph, events: [(.seconds(1), .unlink(dependent: second, prerequisite: first))]) {
            Behaviour(duration: .seconds($0 == first ? 60 : 1), outcome: $0 == first ? .failure : .success)
        }
        #expect(run.time(of: run.start(second)) == .seconds(1))
        #expect(run.outcome(second) == .success)
    }
}
