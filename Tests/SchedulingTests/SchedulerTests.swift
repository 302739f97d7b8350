import Testing

@testable import Scheduling

@Suite struct SchedulerTests {
    typealias Behaviour = VirtualRun.Behaviour

    // D2
    @Test func `an empty graph succeeds at once`() {
        let run = VirtualRun(OperationGraph())
        #expect(run.outcome(.root) == .success)
        #expect(run.end == .zero)
    }

    // A3, F1, F2
    @Test func `a dependent starts only after the end of all it needs`() {
        var graph = OperationGraph()
        let (c, a, b) = (graph.addOperation(), graph.addOperation(), graph.addOperation())
        graph.addDependency(of: c, on: a)
        graph.addDependency(of: c, on: b)
        let run = VirtualRun(graph) { $0 == b ? Behaviour(duration: .seconds(5)) : Behaviour() }
        #expect(run.starts == [a, b, c])
        #expect(run.time(of: run.start(c)) == .seconds(5))
        #expect(run.end == .seconds(6))
    }

    // Q1, Q2
    @Test func `ready operations start by priority, then in order`() {
        var graph = OperationGraph()
        let ids = [1, 3, 2, 3].map { graph.addOperation(.init(priority: $0)) }
        #expect(VirtualRun(graph, width: 1).starts == [ids[1], ids[3], ids[2], ids[0]])
    }

    // Q3
    @Test(arguments: [1, 2, 3]) func `no more than the width runs at once, and the width is reached`(width: Int) {
        var graph = OperationGraph()
        for _ in 0..<10 { graph.addOperation() }
        #expect(VirtualRun(graph, width: width).peak == width)
    }

    // D19
    @Test func `a group takes no slot, so width 1 is enough for any nesting`() {
        var graph = OperationGraph()
        graph.beginGroup()
        graph.beginGroup()
        graph.beginGroup()
        let deep = graph.addOperation()
        graph.endGroup()
        graph.endGroup()
        let after = graph.addOperation()
        graph.endGroup()
        graph.addDependency(of: after, on: OperationID(row: 2))
        let run = VirtualRun(graph, width: 1)
        #expect(run.starts == [deep, after])
        #expect(run.outcome(.root) == .success)
    }

    // B2, D1
    @Test func `a group ends after its last member and before what needs it`() {
        var graph = OperationGraph()
        let group = graph.beginGroup()
        let short = graph.addOperation()
        let long = graph.addOperation()
        graph.endGroup()
        let after = graph.addOperation()
        graph.addDependency(of: after, on: group)
        let run = VirtualRun(graph) { $0 == long ? Behaviour(duration: .seconds(9)) : Behaviour() }
        #expect(run.finish(short)! < run.finish(long)!)
        #expect(run.finish(long)! < run.finish(group)!)
        #expect(run.finish(group)! < run.start(after)!)
    }

    // F10, F13
    @Test func `a failure rules out its dependents with the failed one as the cause, and leaves others alone`() {
        var graph = OperationGraph()
        let bad = graph.addOperation()
        let victim = graph.addOperation()
        let second = graph.addOperation()
        let free = graph.addOperation()
        graph.addDependency(of: victim, on: bad)
        graph.addDependency(of: second, on: victim)
        let run = VirtualRun(graph) { $0 == bad ? Behaviour(outcome: .failure) : Behaviour() }
        #expect(run.outcome(victim) == .notRun)
        #expect(run.cause(victim) == .dependency(bad))
        #expect(run.cause(second) == .dependency(victim))
        #expect(run.outcome(free) == .success)
        #expect(run.outcome(.root) == .failure)
        #expect(run.cause(.root) == .member(bad))
    }

    @Test func `not-run is settled only when all needs have ended`() {
        var graph = OperationGraph()
        let bad = graph.addOperation()
        let slow = graph.addOperation()
        let victim = graph.addOperation()
        graph.addDependency(of: victim, on: bad)
        graph.addDependency(of: victim, on: slow)
        let run = VirtualRun(graph) {
            $0 == bad ? Behaviour(outcome: .failure) : Behaviour(duration: .seconds(7))
        }
        #expect(run.time(of: run.finish(victim)) == .seconds(7))
    }

    // F10
    @Test(arguments: [
        (DependencyKind.ok, OperationOutcome.success, false, OperationOutcome.success),
        (.ok, .failure, false, .notRun), (.ok, .failure, true, .success), (.ok, .skipped, false, .success),
        (.success, .success, false, .success), (.success, .failure, true, .notRun),
        (.success, .skipped, false, .skipped),
        (.failure, .success, false, .skipped), (.failure, .failure, false, .success),
        (.failure, .skipped, false, .skipped),
        (.done, .success, false, .success), (.done, .failure, false, .success), (.done, .skipped, false, .success),
    ])
    func `the kind of an edge decides what its dependent becomes`(
        kind: DependencyKind, ended: OperationOutcome, isTolerated: Bool, expected: OperationOutcome
    ) {
        var graph = OperationGraph()
        let first = graph.addOperation(.init(toleratesFailure: isTolerated))
        let second = graph.addOperation()
        graph.addDependency(of: second, on: first, kind)
        let run = VirtualRun(graph) { $0 == first ? Behaviour(outcome: ended) : Behaviour() }
        #expect(run.outcome(second) == expected)
    }

    @Test func `a timed-out prerequisite satisfies an edge that asks for failure`() {
        var graph = OperationGraph()
        let first = graph.addOperation(.init(timeout: .seconds(1)))
        let second = graph.addOperation()
        graph.addDependency(of: second, on: first, .failure)
        let run = VirtualRun(graph) { $0 == first ? Behaviour(duration: .seconds(60)) : Behaviour() }
        #expect(run.outcome(first) == .timeout)
        #expect(run.outcome(second) == .success)
    }

    // K6
    @Test func `a timeout counts from the start, not from the wait for a slot`() {
        var graph = OperationGraph()
        graph.addOperation()
        let queued = graph.addOperation(.init(timeout: .seconds(2)))
        let run = VirtualRun(graph, width: 1) {
            Behaviour(duration: $0 == queued ? .seconds(1) : .seconds(3600))
        }
        #expect(run.outcome(queued) == .success)
    }

    // A7, C5
    @Test func `a timed-out operation keeps its slot until it has really ended, whatever it answers then`() {
        var graph = OperationGraph()
        let deaf = graph.addOperation(.init(timeout: .seconds(1)))
        let next = graph.addOperation()
        let run = VirtualRun(graph, width: 1) {
            $0 == deaf ? Behaviour(duration: .seconds(3), outcome: .success, stopDuration: .seconds(99)) : Behaviour()
        }
        #expect(run.outcome(deaf) == .timeout)
        #expect(run.time(of: run.start(next)) == .seconds(3))
    }

    @Test func `a limit ends with the work, not with the clean-up after it`() {
        var graph = OperationGraph()
        let step = graph.addOperation(.init(timeout: .seconds(2)))
        let run = VirtualRun(graph, events: [(.seconds(1), .lingering(step))]) { _ in
            Behaviour(duration: .seconds(5))
        }
        #expect(run.outcome(step) == .success)
        #expect(run.end == .seconds(5))
    }

    // C9, D7, D15
    @Test func `a group's timeout cancels its members and is the group's outcome`() {
        var graph = OperationGraph()
        let group = graph.beginGroup(.init(timeout: .seconds(3)))
        let running = graph.addOperation()
        let waiting = graph.addOperation()
        graph.endGroup()
        graph.addDependency(of: waiting, on: running)
        let run = VirtualRun(graph) { _ in Behaviour(duration: .seconds(60)) }
        #expect(run.outcome(group) == .timeout)
        #expect(run.outcome(running) == .cancelled)
        #expect(run.outcome(waiting) == .cancelled)
        #expect(run.cause(waiting) == .deadline(group))
        #expect(run.end == .seconds(3))
        let stopping = run.position { $0 == .groupStopping(group, .deadline(group)) }
        #expect(stopping! < run.position { $0 == .stop(running, .deadline(group)) }!)
    }

    // K5
    @Test func `of several limits the earliest wins and is named, once`() {
        var graph = OperationGraph()
        let group = graph.beginGroup(.init(timeout: .seconds(1)))
        let step = graph.addOperation(.init(timeout: .seconds(3)))
        graph.endGroup()
        let run = VirtualRun(graph) { _ in Behaviour(duration: .seconds(60), stopDuration: .seconds(10)) }
        #expect(run.outcome(step) == .cancelled)
        #expect(run.cause(step) == .deadline(group))
        #expect(run.log.count { if case .stop = $0.command { true } else { false } } == 1)
    }

    // C9, D12
    @Test func `fail-fast cancels running and waiting members of the nearest group that has a policy`() {
        var graph = OperationGraph()
        let outer = graph.beginGroup(failFast: .off)
        let inner = graph.beginGroup(failFast: .cancel)
        let bad = graph.addOperation()
        let running = graph.addOperation()
        let waiting = graph.addOperation()
        graph.endGroup()
        let outside = graph.addOperation()
        graph.endGroup()
        graph.addDependency(of: waiting, on: running)
        let run = VirtualRun(graph) {
            $0 == bad ? Behaviour(outcome: .failure) : Behaviour(duration: .seconds(10))
        }
        #expect(run.outcome(running) == .cancelled)
        #expect(run.cause(running) == .failFast(bad))
        #expect(run.outcome(waiting) == .cancelled)
        #expect(run.outcome(outside) == .success)
        #expect(run.outcome(inner) == .failure)
        #expect(run.outcome(outer) == .failure)
    }

    // D13
    @Test func `draining lets running members end and starts nothing new`() {
        var graph = OperationGraph(failFast: .drain)
        let bad = graph.addOperation()
        let running = graph.addOperation()
        let queued = graph.addOperation()
        let blocked = graph.addOperation()
        graph.addDependency(of: blocked, on: running)
        let run = VirtualRun(graph, width: 2) {
            $0 == bad ? Behaviour(outcome: .failure) : Behaviour(duration: .seconds(10))
        }
        #expect(run.outcome(running) == .success)
        #expect(run.outcome(queued) == .notRun)
        #expect(run.cause(queued) == .failFast(bad))
        #expect(run.outcome(blocked) == .notRun)
        #expect(run.time(of: run.finish(blocked)) == .seconds(10))
    }

    // D22
    @Test func `a tolerated failure harms neither its group nor list-form dependents, nor does it fail fast`() {
        var graph = OperationGraph(failFast: .cancel)
        let group = graph.beginGroup(.init(toleratesFailure: true))
        let bad = graph.addOperation()
        graph.endGroup()
        let after = graph.addOperation()
        graph.addDependency(of: after, on: group)
        let run = VirtualRun(graph) { $0 == bad ? Behaviour(outcome: .failure) : Behaviour() }
        #expect(run.outcome(group) == .failure)
        #expect(run.outcome(after) == .success)
        #expect(run.outcome(.root) == .success)
    }

    // F13
    @Test func `members of a group that is not run share its outcome and cause`() {
        var graph = OperationGraph()
        let bad = graph.addOperation()
        let group = graph.beginGroup()
        let nested = graph.beginGroup()
        let member = graph.addOperation()
        graph.endGroup()
        graph.endGroup()
        graph.addDependency(of: group, on: bad)
        let run = VirtualRun(graph) { _ in Behaviour(outcome: .failure) }
        for id in [group, nested, member] {
            #expect(run.outcome(id) == .notRun)
            #expect(run.cause(id) == .dependency(bad))
        }
        #expect(run.finish(member)! < run.finish(nested)!)
        #expect(run.finish(nested)! < run.finish(group)!)
    }

    // D4
    @Test func `a limit on operations counts all of a group, a limit on members counts instances in progress`() {
        var graph = OperationGraph()
        graph.beginGroup(limit: .operations(2))
        for _ in 0..<6 { graph.addOperation() }
        graph.endGroup()
        #expect(VirtualRun(graph).peak == 2)

        var fanOut = OperationGraph()
        fanOut.beginGroup(limit: .members(2))
        for _ in 0..<4 {
            fanOut.beginGroup()
            fanOut.addOperation()
            fanOut.addOperation()
            fanOut.endGroup()
        }
        fanOut.endGroup()
        #expect(VirtualRun(fanOut).peak == 4)
    }

    @Test func `a limit that is reached does not hold up others`() {
        var graph = OperationGraph()
        graph.beginGroup(limit: .operations(1))
        for _ in 0..<3 { graph.addOperation(.init(priority: 9)) }
        graph.endGroup()
        let free = graph.addOperation()
        let run = VirtualRun(graph, width: 2)
        #expect(run.time(of: run.start(free)) == .zero)
    }

    // C2, C11
    @Test func `cancelling one operation leaves its siblings and its prerequisites alone`() {
        var graph = OperationGraph()
        let first = graph.addOperation()
        let second = graph.addOperation()
        graph.addDependency(of: second, on: first)
        let run = VirtualRun(graph, events: [(.milliseconds(500), .cancel(second))])
        #expect(run.time(of: run.finish(second)) == .milliseconds(500))
        #expect(run.outcome(second) == .cancelled)
        #expect(run.outcome(first) == .success)
        #expect(run.outcome(.root) == .cancelled)
    }

    // C5, C6, D6
    @Test func `cancelling everything ends what waits at once and waits for what runs`() {
        var graph = OperationGraph()
        let running = graph.addOperation()
        let queued = graph.addOperation()
        let run = VirtualRun(graph, width: 1, events: [(.seconds(1), .cancel(.root)), (.seconds(2), .cancel(.root))]) {
            _ in Behaviour(duration: .seconds(60), stopDuration: .seconds(5))
        }
        #expect(run.time(of: run.finish(queued)) == .seconds(1))
        #expect(run.time(of: run.finish(running)) == .seconds(6))
        #expect(run.outcome(.root) == .cancelled)
        #expect(run.log.count { if case .groupStopping = $0.command { true } else { false } } == 1)
    }

    // D16
    @Test func `a failure from before a cancel is kept`() {
        var graph = OperationGraph()
        let bad = graph.addOperation()
        graph.addOperation()
        let run = VirtualRun(graph, events: [(.seconds(2), .cancel(.root))]) {
            $0 == bad ? Behaviour(outcome: .failure) : Behaviour(duration: .seconds(60))
        }
        #expect(run.outcome(.root) == .failure)
        #expect(run.cause(.root) == .member(bad))
    }

    // Q4
    @Test func `raising the width starts more at once, lowering it stops nothing`() {
        var graph = OperationGraph()
        for _ in 0..<6 { graph.addOperation() }
        let run = VirtualRun(
            graph, width: 1, events: [(.milliseconds(100), .width(4)), (.milliseconds(200), .width(1))])
        #expect(run.peak == 4)
        #expect(run.log.allSatisfy { if case .stop = $0.command { false } else { true } })
        #expect(run.outcome(.root) == .success)
    }

    // K2
    @Test func `deadlines of operations that end in time leave nothing behind`() {
        var deadlines = DeadlineQueue()
        for row in 0..<100_000 {
            deadlines.add(OperationID(row: row), .timeout, at: .seconds(3600))
            deadlines.cancel(OperationID(row: row), .timeout)
        }
        #expect(deadlines.entryCount < 200)
        #expect(deadlines.earliest() == nil)
    }
}

extension OperationScheduler.Command {
    var started: OperationID? { if case .start(let id, _) = self { id } else { nil } }
}
