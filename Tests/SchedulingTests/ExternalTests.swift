import Testing

@testable import Scheduling

/// Operations that run elsewhere, of which only the end is told.
@Suite struct ExternalTests {
    typealias Behaviour = VirtualRun.Behaviour
    private typealias Event = OperationScheduler.Event

    private func ended(_ id: OperationID, _ outcome: OperationOutcome) -> OperationScheduler.Event {
        .ended(id, outcome, mayRetry: false)
    }

    @Test(arguments: OperationOutcome.allCases)
    func `an external operation never starts, and ends as it is told`(outcome: OperationOutcome) {
        var graph = OperationGraph()
        let external = graph.addExternal()
        let other = graph.addOperation()
        let run = VirtualRun(graph, width: 1, events: [(.seconds(5), ended(external, outcome))]) { _ in
            Behaviour(duration: .seconds(2))
        }
        #expect(run.starts == [other])
        #expect(run.outcome(external) == outcome)
        #expect(run.cause(external) == .itself)
        #expect(run.time(of: run.finish(.root)) == .seconds(5))
        #expect(run.count { if case .stalled = $0 { true } else { false } } == 0)
    }

    @Test(arguments: [DependencyKind.ok, .success, .failure, .done], OperationOutcome.allCases)
    func `an edge to an external operation means what any edge means`(kind: DependencyKind, outcome: OperationOutcome) {
        for tolerates in [false, true] {
            var graph = OperationGraph()
            let external = graph.addExternal(toleratesFailure: tolerates)
            let dependent = graph.addOperation()
            graph.addDependency(of: dependent, on: external, kind)
            let run = VirtualRun(graph, events: [(.seconds(5), ended(external, outcome))])
            let hasFailed = outcome == .failure || outcome == .timeout
            let expected: OperationOutcome =
                switch kind {
                case .done: .success
                case .ok where outcome == .success || outcome == .skipped || hasFailed && tolerates: .success
                case .ok: .notRun
                case .success: outcome == .success ? .success : outcome == .skipped ? .skipped : .notRun
                case .failure:
                    hasFailed ? .success : outcome == .success || outcome == .skipped ? .skipped : .notRun
                }
            #expect(run.outcome(dependent) == expected, "\(kind) \(outcome) \(tolerates)")
            if expected == .success { #expect(run.time(of: run.start(dependent)) == .seconds(5)) }
        }
    }

    @Test func `a stop of the group waits for an external operation that outlasts stops`() {
        var graph = OperationGraph()
        let group = graph.beginGroup()
        let external = graph.addExternal(outlastsStops: true)
        graph.endGroup()
        graph.addOperation()
        let run = VirtualRun(
            graph, events: [(.seconds(1), .cancel(group)), (.seconds(2), ended(external, .failure))]
        ) { _ in Behaviour(duration: .seconds(3)) }
        #expect(run.outcome(external) == .failure)
        #expect(run.time(of: run.finish(group)) == .seconds(2))
    }

    @Test func `a stop of the group ends an external operation, and what is told later is ignored`() {
        var graph = OperationGraph()
        let group = graph.beginGroup()
        let external = graph.addExternal()
        graph.endGroup()
        graph.addOperation()
        let run = VirtualRun(
            graph, events: [(.seconds(1), .cancel(group)), (.seconds(2), ended(external, .failure))]
        ) { _ in Behaviour(duration: .seconds(3)) }
        #expect(run.outcome(external) == .cancelled)
        #expect(run.cause(external) == .request)
        #expect(run.time(of: run.finish(group)) == .seconds(1))
        #expect(run.outcome(.root) == .cancelled)
    }

    @Test func `one that ends before its group starts stands there as it ended`() {
        for (outcome, expected) in [(OperationOutcome.success, OperationOutcome.success), (.failure, .failure)] {
            var graph = OperationGraph()
            let first = graph.addOperation()
            let group = graph.beginGroup(limit: .members(1))
            let external = graph.addExternal()
            let member = graph.addOperation()
            graph.endGroup()
            graph.addDependency(of: group, on: first)
            let run = VirtualRun(graph, events: [(.milliseconds(1), ended(external, outcome))])
            #expect(run.time(of: run.finish(external)) == .milliseconds(1))
            #expect(run.time(of: run.start(group)) == .seconds(1))
            #expect(run.outcome(member) == .success)
            #expect(run.outcome(group) == expected)
        }
    }

    @Test(arguments: [FailFast.cancel, .drain])
    func `one that failed before its group started stops the rest when the group starts`(policy: FailFast) {
        var graph = OperationGraph()
        let first = graph.addOperation()
        let group = graph.beginGroup(failFast: policy, concludes: true)
        let external = graph.addExternal()
        let member = graph.addOperation()
        graph.endGroup()
        graph.addDependency(of: group, on: first)
        let run = VirtualRun(graph, events: [(.milliseconds(1), ended(external, .failure))])
        #expect(run.starts == [first])
        #expect(run.outcome(member) == (policy == .cancel ? .cancelled : .notRun))
        #expect(run.cause(member) == .failFast(external))
        #expect(run.outcome(group) == .failure)
        #expect(run.cause(group) == .member(external))
        #expect(run.count { if case .conclude = $0 { true } else { false } } == 1)
    }

    @Test func `a group that is tried again does not wait a second time for what runs elsewhere`() {
        var graph = OperationGraph()
        let group = graph.beginGroup(.init(retry: RetryPolicy(attempts: 2)))
        let external = graph.addExternal()
        let member = graph.addOperation()
        graph.endGroup()
        graph.addDependency(of: member, on: external)
        let run = VirtualRun(graph, events: [(.seconds(4), ended(external, .success))]) { _, attempt in
            Behaviour(outcome: attempt == 1 ? .failure : .success)
        }
        #expect(run.outcome(group) == .success)
        #expect(run.time(of: run.finish(group)) == .seconds(6))
        #expect(run.count { if case .finished(external, _, _) = $0 { true } else { false } } == 1)
    }

    @Test func `external operations can join a group that runs`() {
        var graph = OperationGraph()
        let group = graph.beginGroup(isOpen: true)
        graph.endGroup()
        var expansion = OperationGraph(joiningAt: graph.count)
        let external = expansion.addExternal()
        expansion.addDependency(of: expansion.addOperation(), on: external)
        let run = VirtualRun(
            graph,
            events: [
                (.seconds(1), .added(group, expansion)), (.seconds(1), .close(group)),
                (.seconds(3), ended(external, .success)),
            ])
        #expect(run.time(of: run.finish(.root)) == .seconds(4))
        #expect(run.outcome(.root) == .success)
    }
}

/// Ends that the work of an operation tells of itself.
@Suite struct OwnEndTests {
    typealias Behaviour = VirtualRun.Behaviour

    @Test(arguments: [false, true]) func `work that tells of a timeout is tried again if its policy says so`(
        retriesTimeout: Bool
    ) {
        var graph = OperationGraph()
        let id = graph.addOperation(.init(retry: RetryPolicy(attempts: 2, retriesTimeout: retriesTimeout)))
        let run = VirtualRun(graph) { _, _ in Behaviour(outcome: .timeout) }
        #expect(run.starts.count == (retriesTimeout ? 2 : 1))
        #expect(run.outcome(id) == .timeout)
        #expect(run.cause(id) == .itself)
        #expect(run.outcome(.root) == .timeout)
    }

    @Test func `work that tells of a timeout that is not worth another attempt ends with it`() {
        var graph = OperationGraph()
        let id = graph.addOperation(.init(retry: RetryPolicy(attempts: 2)))
        let run = VirtualRun(graph) { _, _ in Behaviour(outcome: .timeout, mayRetry: false) }
        #expect(run.starts == [id])
        #expect(run.outcome(id) == .timeout)
    }

    @Test func `work that tells of its cancel is cancelled by request and is not tried again`() {
        var graph = OperationGraph()
        let id = graph.addOperation(.init(retry: RetryPolicy(attempts: 2)))
        let run = VirtualRun(graph) { _, _ in Behaviour(outcome: .cancelled) }
        #expect(run.starts == [id])
        #expect(run.outcome(id) == .cancelled)
        #expect(run.cause(id) == .request)
        #expect(run.outcome(.root) == .cancelled)
    }
}
