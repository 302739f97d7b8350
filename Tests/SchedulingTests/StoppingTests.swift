import Testing

@testable import Scheduling

/// What a cancel does, and what it leaves alone.
@Suite struct StoppingTests {
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
}
