import Testing

@testable import Scheduling

/// A run that cannot go on is told and ended, and a run that still can is left alone.
@Suite struct StallTests {
    private func stall(_ run: VirtualRun) -> [OperationScheduler.Wait]? {
        run.commands.lazy.compactMap { if case .stalled(let waits) = $0 { waits } else { nil } }.first
    }

    @Test func `a cycle is told hop by hop, and everything ends`() {
        var graph = OperationGraph()
        let group = graph.beginGroup()
        let a = graph.addOperation()
        let b = graph.addOperation()
        graph.beginHook(.finally)
        let cleanUp = graph.addOperation()
        graph.endGroup()
        graph.endGroup()
        let after = graph.addOperation()
        graph.addDependency(of: a, on: b)
        graph.addDependency(of: b, on: a)
        graph.addDependency(of: after, on: group)
        let run = VirtualRun(graph)
        #expect(
            stall(run) == [
                .init(waiter: .root, reason: .member(group)), .init(waiter: group, reason: .member(a)),
                .init(waiter: a, reason: .need(b)), .init(waiter: b, reason: .need(a)),
            ])
        #expect([a, b, cleanUp, after, .root].map { run.outcome($0) } == Array(repeating: .cancelled, count: 5))
        #expect(run.cause(.root) == .stall)
        #expect(run.commands.last == .finished(.root, .cancelled, .stall))
        #expect(run.scheduler.isFinished)
    }

    @Test func `what runs is waited for before anything is called stuck`() {
        var graph = OperationGraph()
        let long = graph.addOperation()
        let stuck = graph.addOperation()
        graph.addDependency(of: stuck, on: stuck)
        let run = VirtualRun(graph) { _ in .init(duration: .seconds(5)) }
        #expect(run.outcome(long) == .success)
        #expect(
            stall(run) == [.init(waiter: .root, reason: .member(stuck)), .init(waiter: stuck, reason: .need(stuck))])
        #expect(run.end == .seconds(5))
    }

    @Test func `a lock that nobody gives back is told with its name and without a holder`() {
        var graph = OperationGraph()
        let mutex = graph.addMutex()
        let waiter = graph.addOperation(.init(locks: [LockRequest(lock: mutex)]))
        var scheduler = OperationScheduler(graph, width: 1)
        // Taken by nobody, as a fault of the scheduler's own would leave it.
        scheduler.locks.take(waiter)
        let commands = scheduler.handle(.begin, at: .zero)
        #expect(
            commands.contains(
                .stalled([
                    .init(waiter: .root, reason: .member(waiter)),
                    .init(waiter: waiter, reason: .lock(mutex, heldBy: nil)),
                ])))
        #expect(scheduler.isFinished)
    }

    @Test func `a lock that a stuck group holds is told with its holder`() {
        var graph = OperationGraph()
        let mutex = graph.addMutex()
        let first = graph.addOperation(.init(priority: 1))
        let waiter = graph.addOperation(.init(locks: [LockRequest(lock: mutex)]))
        graph.addDependency(of: waiter, on: first)
        let holder = graph.beginGroup(.init(locks: [LockRequest(lock: mutex)]))
        let member = graph.addOperation()
        graph.endGroup()
        graph.addDependency(of: member, on: waiter)
        var scheduler = OperationScheduler(graph, width: 1, holderRule: .takesItsOwn)
        _ = scheduler.handle(.begin, at: .zero)
        let commands = scheduler.handle(.ended(first, .success, mayRetry: false), at: .zero)
        #expect(
            commands.contains(
                .stalled([
                    .init(waiter: .root, reason: .member(waiter)),
                    .init(waiter: waiter, reason: .lock(mutex, heldBy: holder)),
                    .init(waiter: holder, reason: .member(member)), .init(waiter: member, reason: .need(waiter)),
                ])))
    }

    @Test func `limits of groups and of the run do not count as a way on`() {
        var graph = OperationGraph(timeout: .seconds(100))
        graph.beginGroup(.init(timeout: .seconds(10)))
        let stuck = graph.addOperation()
        graph.endGroup()
        graph.addDependency(of: stuck, on: stuck)
        let run = VirtualRun(graph)
        #expect(stall(run) != nil)
        #expect(run.end == .zero)
    }

    @Test func `a back-off, a pause, an open group and a question are ways on`() {
        var graph = OperationGraph(isOpen: true)
        let open = graph.beginGroup(isOpen: true)
        graph.endGroup()
        let retried = graph.addOperation(.init(retry: RetryPolicy(attempts: 2, backoff: .constant(.seconds(5)))))
        let asked = graph.addOperation(.init(isConditional: true))
        let expanded = graph.beginGroup(isExpandable: true, concludes: true)
        graph.endGroup()
        var scheduler = OperationScheduler(graph, width: 4)
        func expectNoStall(_ event: OperationScheduler.Event) {
            let isTold = scheduler.handle(event, at: .zero).contains { if case .stalled = $0 { true } else { false } }
            #expect(!isTold)
        }
        expectNoStall(.suspend)
        expectNoStall(.begin)
        expectNoStall(.resume)
        expectNoStall(.ended(retried, .failure, mayRetry: true))
        expectNoStall(.decided(asked, .skip))
        expectNoStall(.expanded(expanded, OperationGraph(joiningAt: scheduler.count)))
        expectNoStall(.cancel(retried))
        expectNoStall(.ended(expanded, .success, mayRetry: false))
        expectNoStall(.close(open))
        expectNoStall(.close(.root))
        #expect(scheduler.isFinished)
    }
}
