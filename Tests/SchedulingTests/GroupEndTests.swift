import Testing

@testable import Scheduling

/// When a group ends, and as what.
@Suite struct GroupEndTests {
    typealias Behaviour = VirtualRun.Behaviour

    private static let hour = Duration.seconds(3600)

    // D3, D6, D7
    @Test func `a serial group that is cancelled is marked first, starts no more, and ends last`() {
        var graph = OperationGraph()
        let group = graph.beginGroup(limit: .operations(1))
        let members = (0..<5).map { _ in graph.addOperation() }
        graph.endGroup()
        #expect(VirtualRun(graph).starts == members)
        #expect(VirtualRun(graph).peak == 1)

        let run = VirtualRun(graph, events: [(.seconds(1), .cancel(group))]) { _ in
            Behaviour(duration: Self.hour, stopDuration: .seconds(5))
        }
        #expect(run.starts == [members[0]])
        #expect(members.allSatisfy { run.outcome($0) == .cancelled })
        let mark = run.position { $0 == .groupStopping(group, .request) }!
        #expect(mark < run.position { $0 == .stop(members[0], .request) }!)
        #expect(members.allSatisfy { mark < run.finish($0)! && run.finish($0)! < run.finish(group)! })
        #expect(run.time(of: run.finish(group)) == .seconds(6))
    }

    // D11, D23
    @Test func `failing members count once, leave their siblings alone, and the first of them is the cause`() {
        var graph = OperationGraph()
        let group = graph.beginGroup()
        let failing = (0..<5).map { _ in graph.addOperation() }
        let held = graph.addOperation()
        let later = graph.addOperation()
        graph.endGroup()
        graph.addDependency(of: later, on: held)
        let run = VirtualRun(graph) { id in
            // The last of the file fails first.
            failing.firstIndex(of: id).map { Behaviour(duration: .seconds(5 - $0), outcome: .failure) }
                ?? Behaviour(duration: .seconds(10))
        }
        #expect(run.outcome(later) == .success)
        #expect(run.outcome(group) == .failure)
        #expect(run.cause(group) == .member(failing[4]))
        #expect(run.time(of: run.finish(group)) == .seconds(20))
    }

    // D14
    @Test func `a nested group is one cause outside`() {
        var graph = OperationGraph()
        let outer = graph.beginGroup()
        let inner = graph.beginGroup()
        let first = graph.addOperation()
        graph.addOperation()
        graph.endGroup()
        graph.endGroup()
        let run = VirtualRun(graph) { _ in Behaviour(outcome: .failure) }
        #expect(run.cause(.root) == .member(outer))
        #expect(run.cause(outer) == .member(inner))
        #expect(run.cause(inner) == .member(first))
    }

    // D17
    @Test(arguments: [
        ([OperationOutcome.success], OperationOutcome.success), ([.success, .skipped], .success),
        ([.cancelled, .success], .cancelled), ([.cancelled, .timeout], .timeout), ([.timeout, .success], .timeout),
        ([.timeout, .cancelled, .failure, .success], .failure), ([.failure, .cancelled], .failure),
    ])
    func `of its members' outcomes the worst is the group's`(members: [OperationOutcome], expected: OperationOutcome) {
        for tolerates in [false, true] {
            var graph = OperationGraph()
            let group = graph.beginGroup()
            let ids = members.map { outcome in
                graph.addOperation(
                    .init(timeout: outcome == .timeout ? .seconds(3) : nil, toleratesFailure: tolerates))
            }
            graph.endGroup()
            let outcomes = Dictionary(uniqueKeysWithValues: zip(ids, members))
            let events = ids.filter { outcomes[$0] == .cancelled }.map {
                (Duration.seconds(2), OperationScheduler.Event.cancel($0))
            }
            let run = VirtualRun(graph, events: events) { id in
                switch outcomes[id] {
                case .cancelled, .timeout: Behaviour(duration: Self.hour)
                case let outcome: Behaviour(outcome: outcome ?? .success)
                }
            }
            #expect(ids.map { run.outcome($0) } == members)
            // Only failures and timeouts can be tolerated.
            let tolerated: OperationOutcome = members.contains(.cancelled) ? .cancelled : .success
            #expect(run.outcome(group) == (tolerates ? tolerated : expected))
        }
    }

    // D20
    @Test(arguments: [false, true])
    func `of two groups in a row the second starts after the first one's last member`(isCancelled: Bool) {
        var graph = OperationGraph()
        let first = graph.beginGroup()
        let a = graph.addOperation()
        let b = graph.addOperation()
        graph.endGroup()
        let second = graph.beginGroup()
        let c = graph.addOperation()
        graph.endGroup()
        graph.addDependency(of: second, on: first, .done)
        let run = VirtualRun(graph, width: 1, events: isCancelled ? [(.milliseconds(500), .cancel(first))] : []) { _ in
            Behaviour(stopDuration: .seconds(4))
        }
        #expect(run.starts == (isCancelled ? [a, c] : [a, b, c]))
        #expect(run.finish(first)! < run.start(second)!)
        #expect(run.finish(b)! < run.finish(first)!)
        #expect(run.outcome(second) == .success)
    }
}
