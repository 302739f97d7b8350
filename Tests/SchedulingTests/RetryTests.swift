import Testing

@testable import Scheduling

@Suite struct RetryTests {
    typealias Behaviour = VirtualRun.Behaviour

    private func options(_ policy: RetryPolicy, timeout: Duration? = nil) -> OperationGraph.Options {
        OperationGraph.Options(timeout: timeout, retry: policy)
    }

    // L1, L4
    @Test func `two failures and a success are three attempts and a success`() {
        var graph = OperationGraph()
        let flaky = graph.addOperation(options(RetryPolicy(attempts: 5, backoff: .constant(.seconds(10)))))
        let run = VirtualRun(graph) { _, attempt in Behaviour(outcome: attempt < 3 ? .failure : .success) }
        #expect(
            run.commands.filter { if case .wake = $0 { false } else { true } } == [
                .groupStarted(.root, round: 0), .start(flaky, attempt: 1),
                .retrying(flaky, ended: 1, delay: .seconds(10)), .start(flaky, attempt: 2),
                .retrying(flaky, ended: 2, delay: .seconds(10)), .start(flaky, attempt: 3),
                .finished(flaky, .success, .itself), .finished(.root, .success, .itself),
            ])
        #expect(run.end == .seconds(23))
    }

    // L1, L6
    @Test func `attempts are counted altogether, and the last one is waited for by nobody`() {
        var graph = OperationGraph()
        let bad = graph.addOperation(options(RetryPolicy(attempts: 2, backoff: .constant(.seconds(3600)))))
        let run = VirtualRun(graph) { _ in Behaviour(outcome: .failure) }
        #expect(run.starts == [bad, bad])
        #expect(run.end == .seconds(3602))
        #expect(run.cause(.root) == .member(bad))
    }

    // L3
    @Test(arguments: [OperationOutcome.success, .skipped, .failure])
    func `only a failure that is worth it is tried again`(outcome: OperationOutcome) {
        var graph = OperationGraph()
        let step = graph.addOperation(options(RetryPolicy(attempts: 3)))
        let run = VirtualRun(graph) { _ in Behaviour(outcome: outcome, mayRetry: outcome != .failure) }
        #expect(run.starts == [step])
        #expect(run.outcome(step) == outcome)
    }

    // C8
    @Test func `a cancel during the back-off ends it at once`() {
        var graph = OperationGraph()
        let bad = graph.addOperation(options(RetryPolicy(attempts: 3, backoff: .constant(.seconds(3600)))))
        let run = VirtualRun(graph, events: [(.seconds(60), .cancel(bad))]) { _ in Behaviour(outcome: .failure) }
        #expect(run.starts == [bad])
        #expect(run.outcome(bad) == .cancelled)
        #expect(run.end == .seconds(60))
    }

    @Test func `a timeout is per attempt and tried again only where the policy says so`() {
        for retriesTimeout in [true, false] {
            var graph = OperationGraph()
            let policy = RetryPolicy(attempts: 2, retriesTimeout: retriesTimeout)
            let slow = graph.addOperation(options(policy, timeout: .seconds(5)))
            let run = VirtualRun(graph) { _, attempt in Behaviour(duration: .seconds(attempt == 1 ? 60 : 4)) }
            #expect(run.outcome(slow) == (retriesTimeout ? .success : .timeout))
            #expect(run.end == .seconds(retriesTimeout ? 9 : 5))
        }
    }

    @Test func `the deadline stops an attempt and allows no other`() {
        var graph = OperationGraph()
        let policy = RetryPolicy(attempts: 9, backoff: .constant(.seconds(1)), deadline: .seconds(10))
        let step = graph.addOperation(options(policy))
        let run = VirtualRun(graph) { _, attempt in
            Behaviour(duration: .seconds(attempt == 1 ? 4 : 60), outcome: .failure)
        }
        #expect(run.starts.count == 2)
        #expect(run.outcome(step) == .timeout)
        #expect(run.cause(step) == .retryDeadline(step))
        #expect(run.end == .seconds(10))
    }

    @Test func `a start beyond the deadline is not waited for`() {
        var graph = OperationGraph()
        let policy = RetryPolicy(attempts: 9, backoff: .constant(.seconds(20)), deadline: .seconds(10))
        let step = graph.addOperation(options(policy))
        let run = VirtualRun(graph) { _ in Behaviour(outcome: .failure) }
        #expect(run.outcome(step) == .failure)
        #expect(run.end == .seconds(1))
    }

    @Test func `one that waits for a slot when its deadline comes keeps what the last attempt came to`() {
        var graph = OperationGraph()
        let policy = RetryPolicy(attempts: 9, backoff: .constant(.seconds(1)), deadline: .seconds(10))
        let step = graph.addOperation(.init(priority: 1, retry: policy))
        let long = graph.addOperation()
        let run = VirtualRun(graph, width: 1) { id, _ in
            Behaviour(duration: .seconds(id == long ? 60 : 2), outcome: id == long ? .success : .failure)
        }
        #expect(run.outcome(step) == .failure)
        #expect(run.time(of: run.finish(step)) == .seconds(10))
    }

    // H7
    @Test func `slot and locks are free during the back-off`() {
        var graph = OperationGraph()
        let mutex = graph.addMutex()
        let flaky = graph.addOperation(
            .init(
                priority: 9, retry: RetryPolicy(attempts: 2, backoff: .constant(.seconds(60))),
                locks: [LockRequest(lock: mutex)]))
        let other = graph.addOperation(.init(locks: [LockRequest(lock: mutex)]))
        let run = VirtualRun(graph, width: 1) { id, attempt in
            Behaviour(outcome: id == flaky && attempt == 1 ? .failure : .success)
        }
        #expect(run.starts == [flaky, other, flaky])
        #expect(run.time(of: run.start(other)) == .seconds(1))
    }

    @Test func `drain lets the last attempt stand, fail-fast cancels`() {
        for (policy, outcome) in [(FailFast.drain, OperationOutcome.failure), (.cancel, .cancelled)] {
            var graph = OperationGraph(failFast: policy)
            let flaky = graph.addOperation(options(RetryPolicy(attempts: 2, backoff: .constant(.seconds(60)))))
            let bad = graph.addOperation()
            let run = VirtualRun(graph) { id, _ in
                Behaviour(duration: .seconds(id == bad ? 5 : 1), outcome: .failure)
            }
            #expect(run.outcome(flaky) == outcome)
            #expect(run.end == .seconds(5))
        }
    }

    @Test func `a group is tried again as a whole, its members afresh and its end told once`() {
        var graph = OperationGraph()
        let group = graph.beginGroup(options(RetryPolicy(attempts: 3, backoff: .constant(.seconds(10)))))
        let first = graph.addOperation()
        let second = graph.addOperation()
        graph.endGroup()
        let after = graph.addOperation()
        graph.addDependency(of: second, on: first)
        graph.addDependency(of: after, on: group)
        let run = VirtualRun(graph) { id, attempt in
            Behaviour(outcome: id == second && attempt == 1 ? .failure : .success)
        }
        #expect(run.starts == [first, second, first, second, after])
        #expect(run.outcome(group) == .success)
        #expect(run.count { $0 == .groupStarted(group, round: 1) } == 1)
        #expect(run.position { $0 == .retrying(group, ended: 0, delay: .seconds(10)) } != nil)
        #expect(run.count { if case .finished(second, _, _) = $0 { true } else { false } } == 2)
        #expect(run.count { if case .finished(group, _, _) = $0 { true } else { false } } == 1)
        #expect(run.end == .seconds(15))
    }

    @Test func `a new round counts anew what its members still wait for`() {
        var graph = OperationGraph()
        let slow = graph.addOperation()
        let group = graph.beginGroup(options(RetryPolicy(attempts: 2)))
        let bad = graph.addOperation()
        let patient = graph.addOperation()
        graph.endGroup()
        graph.addDependency(of: patient, on: slow, .done)
        let run = VirtualRun(graph) { id, attempt in
            Behaviour(
                duration: .seconds(id == slow ? 100 : 1), outcome: id == bad && attempt == 1 ? .failure : .success)
        }
        #expect(run.outcome(group) == .success)
        #expect(run.starts == [slow, bad, patient, bad, patient])
        #expect(run.time(of: run.start(patient)) == .seconds(100))
    }

    @Test func `an outsider that needs a member goes on at an end of it, or waits for the next`() {
        var graph = OperationGraph()
        let slow = graph.addOperation()
        graph.beginGroup(options(RetryPolicy(attempts: 2)))
        let bad = graph.addOperation()
        graph.endGroup()
        let early = graph.addOperation()
        let late = graph.addOperation()
        graph.addDependency(of: early, on: bad, .done)
        graph.addDependency(of: late, on: bad)
        graph.addDependency(of: late, on: slow)
        let run = VirtualRun(graph) { id, attempt in
            Behaviour(
                duration: .milliseconds(id == slow ? 1500 : 1000),
                outcome: id == bad && attempt == 1 ? .failure : .success)
        }
        #expect(run.time(of: run.start(early)) == .seconds(1))
        #expect(run.time(of: run.start(late)) == .seconds(2))
        #expect(run.outcome(late) == .success)
    }

    @Test func `a group's deadline covers its rounds, its timeout one of them`() {
        var graph = OperationGraph()
        let policy = RetryPolicy(attempts: 9, deadline: .seconds(25))
        let group = graph.beginGroup(options(policy, timeout: .seconds(10)))
        graph.addOperation()
        graph.endGroup()
        let run = VirtualRun(graph) { _ in Behaviour(duration: .seconds(60)) }
        #expect(run.outcome(group) == .timeout)
        #expect(run.starts.count == 3)
        #expect(run.end == .seconds(25))
    }

    @Test func `a cancelled group is not tried again, not even after a failure inside`() {
        var graph = OperationGraph()
        let group = graph.beginGroup(options(RetryPolicy(attempts: 3)))
        graph.addOperation()
        let long = graph.addOperation()
        graph.endGroup()
        let run = VirtualRun(graph, events: [(.seconds(5), .cancel(group))]) { id, _ in
            Behaviour(duration: .seconds(id == long ? 60 : 1), outcome: .failure)
        }
        #expect(run.outcome(group) == .failure)
        #expect(run.starts.count == 2)
    }

    @Test func `a group ended by its own fail-fast is tried again`() {
        var graph = OperationGraph()
        let group = graph.beginGroup(options(RetryPolicy(attempts: 2)), failFast: .cancel)
        let bad = graph.addOperation()
        let long = graph.addOperation()
        graph.endGroup()
        let run = VirtualRun(graph) { id, attempt in
            Behaviour(
                duration: .seconds(id == long ? 60 : 1), outcome: id == bad && attempt == 1 ? .failure : .success)
        }
        #expect(run.outcome(group) == .success)
        #expect(run.end == .seconds(61))
    }

    // C8
    @Test func `a group that waits for its next round ends at once as the last one did when it is cancelled`() {
        for target in ["group", "all"] {
            var graph = OperationGraph()
            let policy = RetryPolicy(attempts: 3, backoff: .constant(.seconds(3600)))
            let group = graph.beginGroup(.init(retry: policy))
            let bad = graph.addOperation()
            let next = graph.addOperation()
            graph.addDependency(of: next, on: bad, .ok)
            graph.endGroup()
            let after = graph.addOperation()
            graph.addDependency(of: after, on: group, .done)
            let run = VirtualRun(
                graph, events: [(.seconds(10), .cancel(target == "group" ? group : .root))]
            ) { _, _ in Behaviour(outcome: .failure) }
            #expect(run.end < .seconds(20))
            #expect(run.starts == (target == "group" ? [bad, after] : [bad]))
            #expect(run.outcome(group) == .failure)
            #expect([bad, next].map(run.outcome) == [.failure, .notRun])
        }
    }

    @Test func `what was cancelled by its id does not run in a later round, and counts in each`() {
        for isAsleep in [true, false] {
            var graph = OperationGraph()
            let group = graph.beginGroup(options(RetryPolicy(attempts: 3)))
            let bad = graph.addOperation()
            let inner = graph.beginGroup()
            let member = graph.addOperation()
            graph.endGroup()
            let victim = graph.addOperation()
            graph.endGroup()
            // It would be skipped in the last round.
            graph.addDependency(of: victim, on: bad, isAsleep ? .done : .failure)
            let time = Duration.seconds(isAsleep ? 0 : 1.5)
            let run = VirtualRun(graph, width: 9, events: [(time, .cancel(victim)), (time, .cancel(inner))]) {
                id, attempt in
                Behaviour(
                    duration: .seconds(id == bad ? 1 : 3), outcome: id == bad && attempt < 3 ? .failure : .success)
            }
            #expect(run.starts.filter { $0 == bad }.count == 3)
            #expect(run.starts.filter { $0 == victim }.count == (isAsleep ? 0 : 1))
            #expect(run.starts.filter { $0 == member }.count <= 1)
            #expect([bad, inner, member, victim].map(run.outcome) == [.success, .cancelled, .cancelled, .cancelled])
            #expect(run.outcome(group) == .cancelled)
        }
    }

    @Test func `fail-fast around a group hears of its last round only`() {
        for attempts in [1, 2] {
            var graph = OperationGraph(failFast: .cancel)
            graph.beginGroup(.init(retry: RetryPolicy(attempts: attempts)))
            let bad = graph.addOperation()
            let good = graph.addOperation()
            graph.endGroup()
            let other = graph.addOperation()
            let run = VirtualRun(graph, width: 3) { id, attempt in
                Behaviour(
                    duration: .seconds(id == bad ? 1 : 5),
                    outcome: id == bad && attempt < 2 ? .failure : .success)
            }
            let outcome: OperationOutcome = attempts == 1 ? .cancelled : .success
            #expect([good, other].map(run.outcome) == [outcome, outcome])
        }
    }

    @Test func `a six-hour ladder costs nothing in virtual time`() {
        var graph = OperationGraph()
        let backoff = RetryPolicy.Backoff.exponential(factor: 2, initial: .seconds(1), max: .seconds(600))
        let step = graph.addOperation(options(RetryPolicy(attempts: 1000, backoff: backoff, deadline: .seconds(21600))))
        let run = VirtualRun(graph) { _ in Behaviour(outcome: .failure) }
        #expect(run.outcome(step) == .failure)
        #expect(run.end > .seconds(21000) && run.end <= .seconds(21600))
        // Ten steps up to the cap, then one attempt each 601 seconds.
        #expect(run.starts.count == 10 + (21600 - 1023 - 10) / 601 + 1)
    }
}
