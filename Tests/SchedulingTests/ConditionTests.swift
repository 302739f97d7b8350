import Testing

@testable import Scheduling

@Suite struct ConditionTests {
    typealias Behaviour = VirtualRun.Behaviour

    private func run(
        _ graph: OperationGraph, deciding: [OperationID: OperationScheduler.Decision],
        failing: Set<OperationID> = [], events: [(Duration, OperationScheduler.Event)] = []
    ) -> VirtualRun {
        var answers = VirtualRun.Answers()
        answers.decide = { deciding[$0] ?? .run }
        return VirtualRun(graph, events: events, answers: answers) {
            Behaviour(outcome: failing.contains($0) ? .failure : .success)
        }
    }

    // G1, G2
    @Test(arguments: [
        (OperationScheduler.Decision.run, OperationOutcome.success, OperationOutcome.success),
        (.skip, .skipped, .success), (.fail, .failure, .notRun),
    ])
    func `a condition decides, and a skip by it harms nobody`(
        decision: OperationScheduler.Decision, expected: OperationOutcome, dependent: OperationOutcome
    ) {
        var graph = OperationGraph()
        let step = graph.addOperation(.init(isConditional: true))
        let after = graph.addOperation()
        graph.addDependency(of: after, on: step)
        let run = run(graph, deciding: [step: decision])
        #expect(run.outcome(step) == expected)
        #expect(run.cause(step) == (decision == .run ? .itself : .condition))
        #expect(run.outcome(after) == dependent)
    }

    // G3
    @Test func `it is asked once, after all needs and only if they let it`() {
        var graph = OperationGraph()
        let need = graph.addOperation()
        let step = graph.addOperation(.init(retry: RetryPolicy(attempts: 3), isConditional: true))
        graph.addDependency(of: step, on: need)
        let asked = run(graph, deciding: [:], failing: [step])
        #expect(asked.starts == [need, step, step, step])
        #expect(asked.count { $0 == .decide(step) } == 1)
        #expect(asked.finish(need)! < asked.position { $0 == .decide(step) }!)
        let ruledOut = run(graph, deciding: [:], failing: [need])
        #expect(ruledOut.count { $0 == .decide(step) } == 0)
        #expect(ruledOut.outcome(step) == .notRun)
    }

    @Test func `where the condition asks for it, plain edges only say when`() {
        var graph = OperationGraph()
        let need = graph.addOperation()
        let step = graph.addOperation(.init(isConditional: true, waitsForAll: true))
        let after = graph.addOperation()
        graph.addDependency(of: step, on: need)
        graph.addDependency(of: after, on: step)
        #expect(run(graph, deciding: [:], failing: [need]).outcome(step) == .success)
        #expect(run(graph, deciding: [step: .skip]).outcome(step) == .skipped)
        // A false condition above a failure lets nothing run behind it.
        let ruledOut = run(graph, deciding: [step: .skip], failing: [need])
        #expect(ruledOut.outcome(step) == .notRun)
        #expect(ruledOut.cause(step) == .dependency(need))
        #expect(ruledOut.outcome(after) == .notRun)
    }

    @Test func `where the condition asks for it, edges that say which end they want still rule`() {
        for (kind, isFailing, expected) in [
            (DependencyKind.success, true, OperationOutcome.notRun), (.success, false, .success),
            (.failure, true, .success), (.failure, false, .skipped), (.done, true, .success),
        ] {
            var graph = OperationGraph()
            let need = graph.addOperation()
            let step = graph.addOperation(.init(isConditional: true, waitsForAll: true))
            graph.addDependency(of: step, on: need, kind)
            let run = run(graph, deciding: [:], failing: isFailing ? [need] : [])
            #expect(run.outcome(step) == expected)
        }
    }

    @Test func `a false condition above a failure that is tolerated, or wanted, is only a skip`() {
        for (kind, isTolerated) in [(DependencyKind.ok, true), (.failure, false), (.done, false)] {
            var graph = OperationGraph()
            let need = graph.addOperation(.init(toleratesFailure: isTolerated))
            let step = graph.addOperation(.init(isConditional: true, waitsForAll: true))
            graph.addDependency(of: step, on: need, kind)
            #expect(run(graph, deciding: [step: .skip], failing: [need]).outcome(step) == .skipped)
        }
    }

    @Test func `a false condition is known to be harmless only once a fan-out has all its copies`() {
        for hasFailed in [false, true] {
            var graph = OperationGraph()
            let group = graph.beginGroup(isExpandable: true, judgesMembers: true)
            let step = graph.addOperation(.init(isConditional: true))
            graph.endGroup()
            var scheduler = OperationScheduler(graph, width: 1)
            _ = scheduler.handle(.begin, at: .zero)
            #expect(scheduler.handle(.decided(step, .skip), at: .zero) == [])
            let answer: OperationScheduler.Event =
                hasFailed
                ? .ended(group, .failure, mayRetry: true)
                : .expanded(group, OperationGraph(joiningAt: graph.table.rows.count))
            let commands = scheduler.handle(answer, at: .zero)
            #expect(commands.first == .finished(step, .skipped, .condition))
            let (outcome, cause): (OperationOutcome, OperationCause) =
                hasFailed ? (.failure, .itself) : (.skipped, .condition)
            #expect(commands.contains(.finished(group, outcome, cause)))
            #expect(scheduler.isFinished)
        }
    }

    @Test func `a written kind that skips it leaves what failed beside it in force`() {
        var graph = OperationGraph()
        let failed = graph.addOperation()
        let passed = graph.addOperation()
        let step = graph.addOperation(.init(isConditional: true, waitsForAll: true))
        let after = graph.addOperation()
        graph.addDependency(of: step, on: failed)
        graph.addDependency(of: step, on: passed, .failure)
        graph.addDependency(of: after, on: step)
        let run = run(graph, deciding: [:], failing: [failed])
        #expect(run.outcome(step) == .notRun && run.cause(step) == .dependency(failed))
        #expect(run.outcome(after) == .notRun)
    }

    // G4, J2
    @Test func `it is not asked while suspended, nor before its group runs`() {
        var graph = OperationGraph()
        let need = graph.addOperation()
        let group = graph.beginGroup()
        let step = graph.addOperation(.init(isConditional: true))
        graph.endGroup()
        graph.addDependency(of: group, on: need)
        let run = run(graph, deciding: [:], events: [(.milliseconds(500), .suspend), (.seconds(60), .resume)])
        #expect(run.time(of: run.position { $0 == .decide(step) }) == .seconds(60))
        #expect(run.start(group)! < run.position { $0 == .decide(step) }!)
    }

    @Test func `members of a group share its skip, and are not run where it cannot be decided`() {
        for (decision, member) in [(OperationScheduler.Decision.skip, OperationOutcome.skipped), (.fail, .notRun)] {
            var graph = OperationGraph()
            let group = graph.beginGroup(.init(isConditional: true))
            let step = graph.addOperation()
            graph.endGroup()
            let run = run(graph, deciding: [group: decision])
            #expect(run.outcome(group) == (decision == .skip ? .skipped : .failure))
            #expect(run.outcome(step) == member)
            #expect(run.cause(step) == .condition)
            #expect(run.start(group) == nil)
        }
    }

    @Test(arguments: [
        (OperationScheduler.Decision.run, OperationOutcome.success, OperationOutcome.success),
        (.fail, .failure, .notRun),
    ])
    func `the run itself starts once its condition is known`(
        decision: OperationScheduler.Decision, expected: OperationOutcome, member: OperationOutcome
    ) {
        var graph = OperationGraph(timeout: .seconds(100), isConditional: true)
        let step = graph.addOperation()
        graph.beginHook(.finally)
        let cleanUp = graph.addOperation()
        graph.endGroup()
        let run = run(graph, deciding: [.root: decision], events: [(.zero, .suspend), (.seconds(5), .resume)])
        #expect(run.outcome(.root) == expected)
        #expect(run.outcome(step) == member && run.outcome(cleanUp) == member)
        #expect(run.cause(.root) == (decision == .run ? .itself : .condition))
        #expect(run.starts == (decision == .run ? [step, cleanUp] : []))
        #expect(run.scheduler.isFinished)
    }

    @Test func `the limit of the run holds for its condition, and begins with it`() {
        var graph = OperationGraph(timeout: .seconds(100), isConditional: true)
        let step = graph.addOperation()
        var scheduler = OperationScheduler(graph, width: 1)
        #expect(scheduler.handle(.begin, at: .zero) == [.decide(.root), .wake(at: .seconds(100))])
        var other = scheduler
        let ends = scheduler.handle(.time, at: .seconds(100))
        #expect(ends.contains(.finished(step, .cancelled, .deadline(.root))))
        #expect(ends.last == .finished(.root, .timeout, .deadline(.root)))
        #expect(other.handle(.decided(.root, .run), at: .seconds(60)).contains(.start(step, attempt: 1)))
        #expect(other.handle(.time, at: .seconds(100)).contains(.stop(step, .deadline(.root))))
    }

    @Test func `the run itself can be cancelled while its condition is being decided`() {
        var graph = OperationGraph(isConditional: true)
        let step = graph.addOperation()
        var scheduler = OperationScheduler(graph, width: 1)
        #expect(scheduler.handle(.begin, at: .zero) == [.decide(.root)])
        #expect(scheduler.handle(.cancel(.root), at: .zero).contains(.finished(step, .cancelled, .request)))
        #expect(scheduler.isFinished)
        #expect(scheduler.handle(.decided(.root, .run), at: .zero).isEmpty)
    }

    // C7
    @Test func `a cancel while it is being decided ends it, and the answer comes too late`() {
        var graph = OperationGraph()
        let step = graph.addOperation(.init(isConditional: true))
        var scheduler = OperationScheduler(graph, width: 1)
        #expect(scheduler.handle(.begin, at: .zero).contains(.decide(step)))
        #expect(scheduler.handle(.cancel(step), at: .zero).contains(.finished(step, .cancelled, .request)))
        #expect(scheduler.handle(.decided(step, .run), at: .zero).isEmpty)
        #expect(scheduler.isFinished)
    }

    // H3
    @Test func `a condition holds no lock while it is decided, and a false one takes none`() {
        var graph = OperationGraph()
        let mutex = graph.addMutex()
        let step = graph.addOperation(.init(locks: [LockRequest(lock: mutex)], isConditional: true))
        let other = graph.addOperation(.init(locks: [LockRequest(lock: mutex)]))
        var scheduler = OperationScheduler(graph, width: 4)
        #expect(scheduler.handle(.begin, at: .zero).contains(.start(other, attempt: 1)))
        #expect(scheduler.handle(.decided(step, .skip), at: .zero) == [.finished(step, .skipped, .condition)])
    }
}
