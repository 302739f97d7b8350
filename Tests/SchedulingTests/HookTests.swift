import Testing

@testable import Scheduling

@Suite struct HookTests {
    typealias Behaviour = VirtualRun.Behaviour

    /// A group with a body, both hooks, and something that needs it.
    private struct Fixture {
        var graph: OperationGraph
        let group: OperationID
        let first: OperationID
        let second: OperationID
        let onFailure: OperationID
        let notify: OperationID
        let finally: OperationID
        let clean: OperationID
        let after: OperationID

        init(_ options: OperationGraph.Options = .init(), failFast: FailFast = .off) {
            graph = OperationGraph(failFast: failFast)
            group = graph.beginGroup(options)
            first = graph.addOperation()
            second = graph.addOperation()
            graph.addDependency(of: second, on: first, .done)
            onFailure = graph.beginHook(.onFailure)
            notify = graph.addOperation()
            graph.endGroup()
            finally = graph.beginHook(.finally)
            clean = graph.addOperation()
            graph.endGroup()
            graph.endGroup()
            after = graph.addOperation()
            graph.addDependency(of: after, on: group, .done)
        }

        func run(
            failing: [OperationID] = [], slow: [OperationID] = [],
            events: [(Duration, OperationScheduler.Event)] = []
        ) -> VirtualRun {
            VirtualRun(graph, events: events) {
                Behaviour(
                    duration: .seconds(slow.contains($0) ? 60 : 1), outcome: failing.contains($0) ? .failure : .success)
            }
        }
    }

    @Test func `after a success only the one that always runs does, before what needs the group`() {
        let it = Fixture()
        let run = it.run()
        #expect(run.starts == [it.first, it.second, it.clean, it.after])
        #expect(run.outcome(it.notify) == .skipped)
        #expect(run.cause(it.notify) == .condition)
        #expect(run.outcome(it.onFailure) == .skipped)
        #expect(run.outcome(it.group) == .success)
    }

    @Test func `after a failure both run, the one for failures first`() {
        let it = Fixture()
        let run = it.run(failing: [it.first])
        #expect(run.starts == [it.first, it.second, it.notify, it.clean, it.after])
        #expect(run.outcome(it.group) == .failure)
        #expect(run.cause(it.group) == .member(it.first))
    }

    @Test func `a timeout ends the body only, and counts as a failure for the hooks`() {
        let it = Fixture(.init(timeout: .seconds(10)))
        let run = it.run(slow: [it.first, it.notify, it.clean])
        #expect(run.outcome(it.first) == .cancelled)
        #expect(run.outcome(it.notify) == .success)
        #expect(run.outcome(it.clean) == .success)
        #expect(run.outcome(it.group) == .timeout)
        #expect(run.time(of: run.finish(it.group)) == .seconds(130))
    }

    // O3
    @Test func `a failing hook fails its group but hides nothing`() {
        let it = Fixture()
        let alone = it.run(failing: [it.clean])
        #expect(alone.outcome(it.group) == .failure)
        #expect(alone.cause(it.group) == .member(it.finally))
        let both = it.run(failing: [it.first, it.notify, it.clean])
        #expect(both.cause(it.group) == .member(it.first))
    }

    @Test func `a cancel reaches the body, not the hooks, begun or to come`() {
        for time in [0, 2, 61] {
            let it = Fixture()
            let run = it.run(
                slow: [it.first, it.clean],
                events: [(.seconds(time), .cancel(it.group)), (.seconds(time + 1), .cancel(.root))])
            #expect(run.outcome(it.clean) == .success)
            #expect(run.outcome(it.notify) == .skipped)
            #expect(run.outcome(it.group) == .cancelled)
            #expect(run.outcome(it.after) == .cancelled)
        }
    }

    @Test func `a cancel while hooks run changes nothing any more`() {
        let it = Fixture()
        let run = it.run(slow: [it.clean], events: [(.seconds(5), .cancel(it.group))])
        #expect(run.outcome(it.group) == .success)
        #expect(run.outcome(it.after) == .success)
    }

    @Test func `a step of a hook can be cancelled by itself`() {
        let it = Fixture()
        let run = it.run(slow: [it.clean], events: [(.seconds(5), .cancel(it.clean))])
        #expect(run.outcome(it.clean) == .cancelled)
        #expect(run.outcome(it.group) == .cancelled)
        #expect(run.end == .seconds(6))
    }

    @Test func `an abort stops hooks that run and cancels those to come`() {
        let running = Fixture()
        let run = running.run(slow: [running.clean], events: [(.seconds(5), .abort)])
        #expect(run.outcome(running.clean) == .cancelled)
        #expect(run.end == .seconds(5))
        let before = Fixture()
        let early = before.run(slow: [before.first], events: [(.seconds(5), .abort)])
        #expect(early.starts == [before.first])
        #expect(early.outcome(before.notify) == .cancelled)
        #expect(early.outcome(before.clean) == .cancelled)
        #expect(early.outcome(.root) == .cancelled)
    }

    // O1
    @Test func `an abort after a cancel stops the hooks that the cancel left alone`() {
        let it = Fixture()
        let run = it.run(
            slow: [it.first, it.clean], events: [(.seconds(5), .cancel(.root)), (.seconds(9), .abort)])
        #expect(run.time(of: run.start(it.clean)) == .seconds(5))
        #expect(run.outcome(it.clean) == .cancelled)
        #expect(run.end == .seconds(9))
    }

    @Test func `fail-fast and drain around a group leave its hooks alone`() {
        for policy in [FailFast.cancel, .drain] {
            var it = Fixture(failFast: policy)
            let bad = it.graph.addOperation()
            let run = it.run(failing: [bad], slow: [it.first])
            #expect(run.outcome(it.first) == (policy == .cancel ? .cancelled : .success))
            #expect(run.outcome(it.second) == (policy == .cancel ? .cancelled : .notRun))
            #expect(run.outcome(it.clean) == .success)
        }
    }

    @Test func `a group that never starts takes its hooks along with its verdict`() {
        var it = Fixture()
        let bad = it.graph.addOperation()
        it.graph.addDependency(of: it.group, on: bad)
        let run = it.run(failing: [bad])
        for id in [it.first, it.onFailure, it.notify, it.finally, it.clean, it.group] {
            #expect(run.outcome(id) == .notRun)
            #expect(run.cause(id) == .dependency(bad))
        }
    }

    @Test func `the outermost group has hooks too, which run last and also after a cancel`() {
        var graph = OperationGraph(timeout: .seconds(30))
        let long = graph.addOperation()
        graph.beginHook(.finally)
        let report = graph.addOperation()
        graph.endGroup()
        for events in [[], [(Duration.seconds(5), OperationScheduler.Event.cancel(.root))]] {
            let run = VirtualRun(graph, events: events) { Behaviour(duration: .seconds($0 == long ? 60 : 50)) }
            #expect(run.outcome(report) == .success)
            #expect(run.outcome(.root) == (events.isEmpty ? .timeout : .cancelled))
            #expect(run.end == .seconds(events.isEmpty ? 80 : 55))
        }
    }

    @Test func `finally runs in every round, the hook for failures after the last`() {
        let it = Fixture(.init(retry: RetryPolicy(attempts: 2)))
        let run = it.run(failing: [it.first])
        #expect(run.count { $0 == .start(it.clean, attempt: 1) } == 2)
        #expect(run.count { $0 == .start(it.notify, attempt: 1) } == 1)
        #expect(run.count { if case .finished(it.group, _, _) = $0 { true } else { false } } == 1)
    }

    @Test func `a group that concludes is asked after its hooks, and may turn a success into a failure only`() {
        for (member, answer, expected) in [
            (OperationOutcome.success, OperationOutcome.failure, OperationOutcome.failure),
            (.failure, .success, .failure), (.success, .success, .success),
        ] {
            var graph = OperationGraph()
            let group = graph.beginGroup(concludes: true)
            let step = graph.addOperation()
            graph.beginHook(.finally)
            let clean = graph.addOperation()
            graph.endGroup()
            graph.endGroup()
            var answers = VirtualRun.Answers()
            answers.conclude = { _, _ in (answer, false) }
            let run = VirtualRun(graph, answers: answers) { Behaviour(outcome: $0 == step ? member : .success) }
            #expect(run.outcome(group) == expected)
            #expect(run.cause(group) == (member == .failure ? .member(step) : .itself))
            #expect(run.finish(clean)! < run.position { $0 == .conclude(group, member) }!)
        }
    }

    @Test func `the conclusion says whether a failed round is worth another`() {
        for mayRetry in [true, false] {
            var graph = OperationGraph()
            graph.beginGroup(.init(retry: RetryPolicy(attempts: 2)), concludes: true)
            let step = graph.addOperation()
            graph.endGroup()
            var answers = VirtualRun.Answers()
            answers.conclude = { ($1, mayRetry) }
            let run = VirtualRun(graph, answers: answers) { _ in Behaviour(outcome: .failure) }
            #expect(run.starts == (mayRetry ? [step, step] : [step]))
        }
    }

    @Test func `hooks of a group in which nothing had begun when it was stopped do not run`() {
        var graph = OperationGraph()
        let hold = graph.addOperation(.init(priority: 1))
        let group = graph.beginGroup()
        let member = graph.addOperation()
        let finally = graph.beginHook(.finally)
        let clean = graph.addOperation()
        graph.endGroup()
        graph.endGroup()
        let stopped = VirtualRun(graph, width: 1, events: [(.seconds(1), .cancel(group))]) { id, _ in
            Behaviour(duration: .seconds(id == hold ? 10 : 1))
        }
        #expect(stopped.starts == [hold])
        #expect([member, clean, finally, group].map(stopped.outcome) == Array(repeating: .cancelled, count: 4))
    }

    @Test func `a late hook for failures does not run if no round had begun`() {
        var graph = OperationGraph()
        let hold = graph.addOperation(.init(priority: 1))
        let policy = RetryPolicy(attempts: 2, backoff: .constant(.seconds(3600)), retriesTimeout: true)
        let group = graph.beginGroup(.init(timeout: .seconds(5), retry: policy))
        graph.addOperation()
        let onFailure = graph.beginHook(.onFailure)
        let notify = graph.addOperation()
        graph.endGroup()
        graph.endGroup()
        let run = VirtualRun(graph, width: 1, events: [(.seconds(10), .cancel(group))]) { _, _ in
            Behaviour(duration: .seconds(60))
        }
        #expect(run.starts == [hold])
        #expect([notify, onFailure].map(run.outcome) == [.cancelled, .cancelled])
        #expect(run.outcome(group) == .timeout)
    }

    @Test func `the hook for failures runs if something had begun in any round`() {
        var graph = OperationGraph()
        let policy = RetryPolicy(attempts: 2, backoff: .constant(.seconds(1)), retriesTimeout: true)
        let group = graph.beginGroup(.init(timeout: .seconds(5), retry: policy))
        let work = graph.addOperation()
        graph.beginHook(.onFailure)
        let rollback = graph.addOperation()
        graph.endGroup()
        graph.endGroup()
        // Takes the only slot before the second round.
        let hold = graph.addOperation()
        graph.addDependency(of: hold, on: work, .done)
        let run = VirtualRun(graph, width: 1) { id, _ in
            Behaviour(duration: .seconds(id == hold ? 60 : 1), outcome: id == work ? .failure : .success)
        }
        #expect(run.starts == [work, hold, rollback])
        #expect(run.outcome(group) == .timeout)
    }

    @Test func `a fan-out that cannot be expanded has failed, and its hooks run even after its limit`() {
        var graph = OperationGraph()
        let hold = graph.addOperation(.init(priority: 1))
        let group = graph.beginGroup(.init(timeout: .seconds(5)), isExpandable: true)
        graph.addOperation()
        graph.beginHook(.onFailure)
        let notify = graph.addOperation()
        graph.endGroup()
        graph.endGroup()
        var answers = VirtualRun.Answers()
        answers.expand = { _, _ in nil }
        let run = VirtualRun(graph, width: 1, answers: answers) { _, _ in Behaviour(duration: .seconds(60)) }
        #expect(run.starts == [hold, notify])
        #expect(run.outcome(group) == .failure)
    }

    /// Whose second round waits for a lock that something else has.
    @Test(arguments: ["cancel", "cancel all", "drain", "limit"])
    func `a group stopped before its next round begins ends as the last one did, after its hook for failures`(
        end: String
    ) {
        var graph = OperationGraph(failFast: end == "drain" ? .drain : .off)
        let lock = LockRequest(lock: graph.addMutex())
        let outer = graph.beginGroup(.init(timeout: end == "limit" ? .seconds(10) : nil))
        let group = graph.beginGroup(.init(retry: RetryPolicy(attempts: 3, backoff: .constant(.seconds(1)))))
        let deploy = graph.addOperation(.init(locks: [lock]))
        graph.beginHook(.onFailure)
        let rollback = graph.addOperation()
        graph.endGroup()
        graph.beginHook(.finally)
        let clean = graph.addOperation()
        graph.endGroup()
        graph.endGroup()
        graph.endGroup()
        let hold = graph.addOperation(.init(locks: [lock]))
        graph.addDependency(of: hold, on: deploy, .done)
        let bad = graph.addOperation()
        let events: [(Duration, OperationScheduler.Event)] =
            switch end {
            case "cancel": [(.seconds(10), .cancel(group))]
            case "cancel all": [(.seconds(10), .cancel(.root))]
            default: []
            }
        let run = VirtualRun(graph, events: events) { id, _ in
            let isBad = id == deploy || id == bad && end == "drain"
            return Behaviour(
                duration: .seconds(id == hold ? 60 : id == bad ? 10 : 1), outcome: isBad ? .failure : .success)
        }
        #expect(run.starts.filter { $0 == deploy } == [deploy])
        #expect(run.count { $0 == .start(rollback, attempt: 1) } == 1)
        #expect(run.count { $0 == .start(clean, attempt: 1) } == 1)
        #expect(run.outcome(group) == .failure)
        #expect(run.cause(group) == .member(deploy))
        #expect(run.outcome(outer) == .failure)
    }
}
