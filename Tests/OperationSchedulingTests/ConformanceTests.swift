import Testing

@testable import OperationScheduling

/// Cases of the library's table of conformance that no other test of the scheduler is about.
@Suite struct ConformanceTests {
    typealias Behaviour = VirtualRun.Behaviour

    private static let hour = Duration.seconds(3600)

    private func commands(of id: OperationID, in run: VirtualRun) -> [OperationScheduler.Command] {
        run.commands.filter {
            switch $0 {
            case .ready(id), .start(id, _), .stop(id, _), .finished(id, _, _): true
            default: false
            }
        }
    }

    // A2, A4, B6, C4
    @Test func `each step of an operation's life is told once, also when it is cancelled in flight`() {
        var graph = OperationGraph()
        let quick = graph.addOperation()
        let endless = graph.addOperation()
        let run = VirtualRun(graph, tellsLocks: true, events: [(.seconds(5), .cancel(endless))]) {
            $0 == endless ? Behaviour(duration: Self.hour, stopDuration: .seconds(2)) : Behaviour()
        }
        #expect(
            commands(of: quick, in: run) == [
                .ready(quick), .start(quick, attempt: 1), .finished(quick, .success, .itself),
            ])
        #expect(
            commands(of: endless, in: run) == [
                .ready(endless), .start(endless, attempt: 1), .stop(endless, .request),
                .finished(endless, .cancelled, .request),
            ])
        #expect(run.end == .seconds(7))
    }

    // A4
    @Test func `work without an end goes on until its limit`() {
        var graph = OperationGraph()
        let endless = graph.addOperation(.init(timeout: .seconds(9)))
        let run = VirtualRun(graph) { _ in Behaviour(duration: Self.hour) }
        #expect(run.outcome(endless) == .timeout)
        #expect(run.cause(endless) == .deadline(endless))
        #expect(run.end == .seconds(9))
    }

    // C3
    @Test func `one of several that wait for their turn is cancelled, and the others keep their order`() {
        var graph = OperationGraph()
        let ids = (0..<5).map { _ in graph.addOperation() }
        let run = VirtualRun(graph, width: 1, events: [(.milliseconds(500), .cancel(ids[2]))])
        #expect(run.starts == [ids[0], ids[1], ids[3], ids[4]])
        #expect(run.time(of: run.finish(ids[2])) == .milliseconds(500))
    }

    // C6
    @Test func `a second cancel, and one after the end, change nothing`() {
        var graph = OperationGraph()
        let group = graph.beginGroup(.init(timeout: .seconds(20)))
        let deaf = graph.addOperation(.init(timeout: .seconds(5)))
        let quick = graph.addOperation()
        graph.endGroup()
        let run = VirtualRun(
            graph,
            events: [
                (.seconds(3), .cancel(quick)), (.seconds(4), .cancel(deaf)), (.seconds(6), .cancel(deaf)),
                (.seconds(7), .cancel(group)),
            ]
        ) { $0 == deaf ? Behaviour(duration: Self.hour, stopDuration: .seconds(60)) : Behaviour() }
        #expect(run.outcome(quick) == .success)
        #expect(run.count { if case .stop = $0 { true } else { false } } == 1)
        #expect(run.cause(deaf) == .request)
        #expect(run.outcome(deaf) == .cancelled)
    }

    // C9
    @Test func `each source of a cancel is told apart`() {
        var graph = OperationGraph()
        let limited = graph.beginGroup(.init(timeout: .seconds(2)))
        let late = graph.addOperation()
        graph.endGroup()
        let strict = graph.beginGroup(failFast: .cancel)
        let bad = graph.addOperation()
        let sibling = graph.addOperation()
        graph.endGroup()
        let asked = graph.addOperation()
        let run = VirtualRun(graph, events: [(.seconds(3), .cancel(asked))]) {
            $0 == bad ? Behaviour(outcome: .failure) : Behaviour(duration: Self.hour)
        }
        #expect([late, sibling, asked].allSatisfy { run.outcome($0) == .cancelled })
        #expect(run.cause(late) == .deadline(limited))
        #expect(run.cause(sibling) == .failFast(bad))
        #expect(run.cause(asked) == .request)
        #expect(run.outcome(strict) == .failure)
    }

    // C10, D15
    @Test(arguments: [OperationOutcome.success, .failure])
    func `whatever a cancelled operation answers, it stays cancelled and harms nobody`(answer: OperationOutcome) {
        var graph = OperationGraph()
        let group = graph.beginGroup()
        let members = [graph.addOperation(), graph.addOperation()]
        graph.endGroup()
        // It answers by itself, after the request and before the stop has worked.
        let run = VirtualRun(graph, events: [(.seconds(1), .cancel(group))]) { _ in
            Behaviour(duration: .seconds(2), outcome: answer, stopDuration: .seconds(60))
        }
        #expect(members.allSatisfy { run.outcome($0) == .cancelled && run.cause($0) == .request })
        #expect(run.outcome(group) == .cancelled)
        #expect(run.cause(group) == .request)
        #expect(run.end == .seconds(2))
    }

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

    // D10
    @Test func `one member cancelled alone leaves its siblings, and the group still ends`() {
        var graph = OperationGraph()
        let group = graph.beginGroup()
        let endless = graph.addOperation()
        let other = graph.addOperation()
        graph.endGroup()
        let run = VirtualRun(graph, events: [(.seconds(1), .cancel(endless))]) {
            Behaviour(duration: $0 == endless ? Self.hour : .seconds(5))
        }
        #expect(run.outcome(other) == .success)
        #expect(run.outcome(group) == .cancelled)
        #expect(run.cause(group) == .member(endless))
        #expect(run.end == .seconds(5))
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
}
