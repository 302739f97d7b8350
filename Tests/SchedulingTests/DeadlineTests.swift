import Testing

@testable import Scheduling

/// Limits of operations and groups.
@Suite struct DeadlineTests {
    typealias Behaviour = VirtualRun.Behaviour

    private static let hour = Duration.seconds(3600)

    private func finishes(_ run: VirtualRun, _ id: OperationID) -> Int {
        run.count { if case .finished(id, _, _) = $0 { true } else { false } }
    }

    private func stops(_ run: VirtualRun, _ id: OperationID) -> Int {
        run.count { if case .stop(id, _) = $0 { true } else { false } }
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
}
