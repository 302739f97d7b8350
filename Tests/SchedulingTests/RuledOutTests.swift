import Testing

@testable import Scheduling

/// Groups with a member that is not run because of something outside.
@Suite struct RuledOutTests {
    typealias Behaviour = VirtualRun.Behaviour

    @Test func `a group whose member was ruled out from outside is not run, and so is what needs it`() {
        var graph = OperationGraph()
        let failed = graph.addOperation(.init(toleratesFailure: true))
        let outer = graph.beginGroup()
        let group = graph.beginGroup(concludes: true)
        let fine = graph.addOperation()
        let ruledOut = graph.addOperation()
        let behind = graph.addOperation()
        graph.endGroup()
        graph.endGroup()
        let dependent = graph.addOperation()
        graph.addDependency(of: ruledOut, on: failed, .success)
        graph.addDependency(of: behind, on: ruledOut)
        graph.addDependency(of: dependent, on: outer)
        let run = VirtualRun(graph) { Behaviour(outcome: $0 == failed ? .failure : .success) }
        #expect(run.outcome(fine) == .success)
        #expect(run.outcome(group) == .notRun)
        #expect(run.cause(group) == .member(ruledOut))
        #expect(run.outcome(outer) == .notRun)
        #expect(run.cause(outer) == .member(group))
        #expect(run.outcome(dependent) == .notRun)
        #expect(run.commands.contains(.conclude(group, .notRun)))
        // What ruled them out is inside everything, and tolerated.
        #expect(run.outcome(.root) == .success)
    }

    @Test func `what a tolerated failure inside rules out leaves the group a success`() {
        var graph = OperationGraph()
        let group = graph.beginGroup()
        let failed = graph.addOperation(.init(toleratesFailure: true))
        graph.beginGroup()
        let ruledOut = graph.addOperation()
        graph.endGroup()
        graph.endGroup()
        graph.addDependency(of: ruledOut, on: failed, .success)
        let run = VirtualRun(graph) { Behaviour(outcome: $0 == failed ? .failure : .success) }
        #expect(run.outcome(OperationID(row: 3)) == .notRun)
        #expect(run.outcome(group) == .success)
    }

    @Test func `a cancel inside a group that is skipped leaves no group around them a success`() {
        var graph = OperationGraph()
        let fine = graph.addOperation()
        let group = graph.beginGroup()
        let skipped = graph.beginGroup()
        let cancelled = graph.addOperation()
        graph.endGroup()
        let ruledOut = graph.addOperation()
        graph.endGroup()
        graph.addDependency(of: skipped, on: fine, .failure)
        graph.addDependency(of: ruledOut, on: cancelled)
        let run = VirtualRun(graph, events: [(.seconds(1), .cancel(cancelled))]) { _ in
            Behaviour(duration: .seconds(2))
        }
        #expect(run.outcome(skipped) == .skipped)
        #expect(run.outcome(ruledOut) == .notRun)
        #expect(run.outcome(group) == .notRun)
        #expect(run.cause(group) == .member(ruledOut))
    }

    @Test(arguments: [OperationOutcome.failure, .timeout, .cancelled])
    func `whatever else happened inside outranks it`(outcome: OperationOutcome) {
        var graph = OperationGraph()
        let failed = graph.addOperation()
        let group = graph.beginGroup()
        let ruledOut = graph.addOperation()
        let member = graph.addOperation(.init(timeout: .seconds(3)))
        graph.endGroup()
        graph.addDependency(of: ruledOut, on: failed)
        let run = VirtualRun(graph, events: outcome == .cancelled ? [(.seconds(2), .cancel(member))] : []) { id in
            if id == failed { return Behaviour(outcome: .failure) }
            return Behaviour(duration: .seconds(outcome == .failure ? 2 : 9), outcome: .failure)
        }
        #expect(run.outcome(ruledOut) == .notRun)
        #expect(run.outcome(group) == outcome)
        #expect(run.cause(group) == .member(member))
    }

    @Test func `what draining a group around it keeps from starting makes a group not run`() {
        var graph = OperationGraph(failFast: .drain)
        let failed = graph.addOperation()
        let group = graph.beginGroup()
        let first = graph.addOperation()
        let last = graph.addOperation()
        graph.endGroup()
        graph.addDependency(of: last, on: first)
        let run = VirtualRun(graph) {
            Behaviour(duration: .seconds($0 == first ? 3 : 1), outcome: $0 == failed ? .failure : .success)
        }
        #expect(run.outcome(first) == .success)
        #expect(run.outcome(last) == .notRun)
        #expect(run.outcome(group) == .notRun)
        #expect(run.outcome(.root) == .failure)
    }

    @Test func `what was not run elsewhere is outside of every group`() {
        var graph = OperationGraph()
        let group = graph.beginGroup()
        let external = graph.addExternal()
        graph.endGroup()
        let dependent = graph.addOperation()
        graph.addDependency(of: dependent, on: external)
        let run = VirtualRun(graph, events: [(.seconds(1), .ended(external, .notRun, mayRetry: false))])
        #expect(run.outcome(group) == .notRun)
        #expect(run.cause(group) == .member(external))
        #expect(run.outcome(.root) == .notRun)
    }

    @Test func `what ruled a row out is known though its row has gone`() {
        for isInside in [false, true] {
            var graph = OperationGraph(isOpen: true)
            var failed = graph.addOperation()
            let group = graph.beginGroup()
            if isInside { failed = graph.addOperation(.init(toleratesFailure: true)) }
            let running = graph.addOperation()
            let ruledOut = graph.addOperation()
            let behind = graph.addOperation()
            graph.endGroup()
            graph.addDependency(of: ruledOut, on: failed, .success)
            graph.addDependency(of: behind, on: ruledOut)
            graph.addDependency(of: behind, on: running)
            var scheduler = OperationScheduler(graph, width: 9)
            _ = scheduler.handle(.begin, at: .zero)
            _ = scheduler.handle(.ended(failed, .failure, mayRetry: false), at: .zero)
            let renumbering = scheduler.removeEnded()
            let commands = scheduler.handle(.ended(renumbering[running]!, .success, mayRetry: false), at: .zero)
            let end = commands.last { if case .finished(renumbering[group]!, _, _) = $0 { true } else { false } }
            let expected: OperationScheduler.Command =
                isInside
                ? .finished(renumbering[group]!, .success, .itself)
                : .finished(renumbering[group]!, .notRun, .member(renumbering[ruledOut]!))
            #expect(end == expected)
        }
    }
}
