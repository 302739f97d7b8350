import FlowrunTestSupport
import Testing

@testable import Scheduling

@Suite struct LockTests {
    typealias Behaviour = VirtualRun.Behaviour

    private func wanting(_ locks: LockID..., priority: UInt32 = 0) -> OperationGraph.Options {
        OperationGraph.Options(priority: priority, locks: locks.map { LockRequest(lock: $0) })
    }

    // H1, H7
    @Test func `a mutex has one holder at a time, and every kind of end frees it`() {
        var graph = OperationGraph()
        let mutex = graph.addMutex()
        let ids = (0..<4).map { index in
            graph.addOperation(
                .init(timeout: index == 2 ? .seconds(1) : nil, locks: [LockRequest(lock: mutex)]))
        }
        let run = VirtualRun(graph, tellsLocks: true, events: [(.seconds(5), .cancel(ids[1]))]) { id in
            let index = ids.firstIndex(of: id)!
            return Behaviour(
                duration: .seconds([3, 60, 60, 1][index]), outcome: index == 0 ? .failure : .success)
        }
        #expect(run.peak == 1)
        #expect(ids.map { run.outcome($0) } == [.failure, .cancelled, .timeout, .success])
        #expect(run.end == .seconds(7))
        let released = run.position { $0 == .released(mutex, by: ids[0]) }
        let acquired = run.position { $0 == .acquired(mutex, by: ids[1]) }
        #expect(released! < acquired!)
    }

    @Test func `units that others have outside are not had here, until they are given back`() {
        var graph = OperationGraph(isOpen: true)
        let pool = graph.addPool(of: 3)
        let large = graph.addOperation(.init(locks: [LockRequest(lock: pool, units: 3)]))
        let small = graph.addOperation(.init(locks: [LockRequest(lock: pool)]))
        var scheduler = OperationScheduler(graph, width: 8)
        scheduler.tellsLocks = true
        func starts(_ event: OperationScheduler.Event) -> [OperationID] {
            scheduler.handle(event, at: .zero).compactMap { if case .start(let id, _) = $0 { id } else { nil } }
        }
        func least() -> Int? { scheduler.leastAwaited(of: pool) }
        #expect(starts(.withheld(pool, 3, keepsReleases: false)) == [])
        #expect(starts(.begin) == [])
        #expect(least() == 1)
        #expect(starts(.withheld(pool, 2, keepsReleases: false)) == [small])
        #expect(least() == 3)
        #expect(starts(.withheld(pool, 0, keepsReleases: false)) == [])
        #expect(starts(.ended(small, .success, mayRetry: false)) == [large])
        #expect(least() == nil)
    }

    @Test func `units that are given back may be kept for others until told`() {
        var graph = OperationGraph(isOpen: true)
        let pool = graph.addPool(of: 2)
        let rows = (0..<4).map { _ in graph.addOperation(.init(locks: [LockRequest(lock: pool)])) }
        var scheduler = OperationScheduler(graph, width: 8)
        func starts(_ event: OperationScheduler.Event) -> [OperationID] {
            scheduler.handle(event, at: .zero).compactMap { if case .start(let id, _) = $0 { id } else { nil } }
        }
        #expect(starts(.withheld(pool, 1, keepsReleases: true)) == [])
        #expect(starts(.begin) == [rows[0]])
        #expect(starts(.ended(rows[0], .success, mayRetry: false)) == [])
        #expect(starts(.withheld(pool, 1, keepsReleases: true)) == [rows[1]])
        #expect(starts(.withheld(pool, 1, keepsReleases: false)) == [])
        #expect(starts(.ended(rows[1], .success, mayRetry: false)) == [rows[2]])
    }

    @Test func `a start that is taken back gives locks and place to others, keeps its turn and counts as none`() {
        var graph = OperationGraph(isOpen: true)
        let mutex = graph.addMutex()
        let policy = RetryPolicy(attempts: 2)
        let rows = (0..<3).map { _ in
            graph.addOperation(.init(timeout: .seconds(1), retry: policy, locks: [LockRequest(lock: mutex)]))
        }
        let plain = graph.addOperation(.init())
        var scheduler = OperationScheduler(graph, width: 1)
        func starts(_ event: OperationScheduler.Event, at time: Duration = .zero) -> [OperationScheduler.Command] {
            scheduler.handle(event, at: time).filter { if case .start = $0 { true } else { false } }
        }
        #expect(starts(.begin) == [.start(rows[0], attempt: 1)])
        #expect(starts(.suspend) == [])
        #expect(starts(.takenBack(rows[0])) == [])
        // No attempt has begun, so no limit of one passes.
        #expect(starts(.time, at: .seconds(5)) == [])
        #expect(starts(.resume, at: .seconds(5)) == [.start(rows[0], attempt: 1)])
        #expect(starts(.takenBack(rows[0]), at: .seconds(5)) == [.start(rows[0], attempt: 1)])
        #expect(starts(.ended(rows[0], .success, mayRetry: false), at: .seconds(5)) == [.start(rows[1], attempt: 1)])
        _ = scheduler.handle(.cancel(rows[1]), at: .seconds(5))
        #expect(starts(.takenBack(rows[1]), at: .seconds(5)) == [])
        #expect(starts(.ended(rows[1], .success, mayRetry: false), at: .seconds(5)) == [.start(rows[2], attempt: 1)])
        #expect(starts(.ended(rows[2], .success, mayRetry: false), at: .seconds(5)) == [.start(plain, attempt: 1)])
    }

    @Test func `a start that is taken back leaves the attempts before it counted`() {
        var graph = OperationGraph(isOpen: true)
        let mutex = graph.addMutex()
        let policy = RetryPolicy(attempts: 3, deadline: .seconds(9))
        let row = graph.addOperation(.init(retry: policy, locks: [LockRequest(lock: mutex)]))
        var scheduler = OperationScheduler(graph, width: 1)
        func handle(_ event: OperationScheduler.Event, at time: Duration = .zero) -> [OperationScheduler.Command] {
            scheduler.handle(event, at: time).filter { command in
                switch command {
                case .start, .finished: true
                default: false
                }
            }
        }
        let failure = OperationScheduler.Event.ended(row, .failure, mayRetry: true)
        #expect(handle(.begin) == [.start(row, attempt: 1)])
        #expect(handle(failure) == [.start(row, attempt: 2)])
        #expect(handle(.suspend) == [] && handle(.takenBack(row)) == [])
        #expect(handle(.resume) == [.start(row, attempt: 2)])
        #expect(handle(failure) == [.start(row, attempt: 3)])
        #expect(handle(.takenBack(row)) == [.start(row, attempt: 3)])
        #expect(handle(failure) == [.finished(row, .failure, .itself)])
    }

    @Test func `rows that join bring pools of their own, of which others may have some already`() {
        var scheduler = OperationScheduler(OperationGraph(isOpen: true), width: 8)
        _ = scheduler.handle(.begin, at: .zero)
        let pool = LockID(index: 0)
        _ = scheduler.handle(.withheld(pool, 1, keepsReleases: false), at: .zero)
        var rows = OperationGraph(joiningAt: 1)
        rows.declarePool(pool, of: 3)
        let joined = (0..<3).map { _ in rows.addOperation(.init(locks: [LockRequest(lock: pool)])) }
        let started = scheduler.handle(.added(.root, rows), at: .zero).compactMap { command in
            if case .start(let id, _) = command { id } else { nil }
        }
        #expect(started == Array(joined.prefix(2)))
    }

    // C5
    @Test func `a lock stays taken until the work has really stopped`() {
        var graph = OperationGraph()
        let mutex = graph.addMutex()
        let deaf = graph.addOperation(wanting(mutex))
        let next = graph.addOperation(wanting(mutex))
        let run = VirtualRun(graph, events: [(.seconds(1), .cancel(deaf))]) {
            $0 == deaf ? Behaviour(duration: .seconds(60), stopDuration: .seconds(10)) : Behaviour()
        }
        #expect(run.time(of: run.start(next)) == .seconds(11))
    }

    // H6, I10
    @Test func `a waiter takes no slot, and of waiters the first is served first`() {
        var graph = OperationGraph()
        let mutex = graph.addMutex()
        let holder = graph.addOperation(wanting(mutex, priority: 9))
        let first = graph.addOperation(wanting(mutex, priority: 5))
        let second = graph.addOperation(wanting(mutex, priority: 1))
        let free = graph.addOperation()
        let run = VirtualRun(graph, width: 2) { _ in Behaviour(duration: .seconds(5)) }
        #expect(run.starts == [holder, free, first, second])
        #expect(run.time(of: run.start(free)) == .zero)
    }

    // H5
    @Test func `two locks named in opposite order are taken together`() {
        var graph = OperationGraph()
        let (m, n) = (graph.addMutex(), graph.addMutex())
        for _ in 0..<10 {
            graph.addOperation(wanting(m, n))
            graph.addOperation(wanting(n, m))
        }
        let run = VirtualRun(graph, tellsLocks: true)
        #expect(run.peak == 1)
        #expect(run.outcome(.root) == .success)
    }

    @Test func `a free lock may be taken past an older waiter that lacks another`() {
        var graph = OperationGraph()
        let (m, n) = (graph.addMutex(), graph.addMutex())
        let long = graph.addOperation(wanting(m, priority: 9))
        let both = graph.addOperation(wanting(m, n, priority: 8))
        let one = graph.addOperation(wanting(n))
        let run = VirtualRun(graph) { Behaviour(duration: .seconds($0 == long ? 10 : 2)) }
        #expect(run.time(of: run.start(one)) == .zero)
        #expect(run.time(of: run.start(both)) == .seconds(10))
    }

    @Test func `a pool gives out its units, and a small request passes a large one that does not fit`() {
        var graph = OperationGraph()
        let pool = graph.addPool(of: 4)
        let ids = [(3, 9), (2, 8), (1, 7), (4, 0)].map { units, priority in
            graph.addOperation(.init(priority: UInt32(priority), locks: [LockRequest(lock: pool, units: units)]))
        }
        let run = VirtualRun(graph) { Behaviour(duration: .seconds($0 == ids[0] ? 10 : 5)) }
        #expect(ids.map { run.time(of: run.start($0)) } == [.zero, .seconds(10), .zero, .seconds(15)])
    }

    // H2, H3
    @Test func `a lock is asked for only when everything else is there`() {
        var graph = OperationGraph()
        let mutex = graph.addMutex()
        let late = graph.addOperation(wanting(mutex, priority: 9))
        let early = graph.addOperation(wanting(mutex))
        graph.addDependency(of: late, on: early)
        #expect(VirtualRun(graph).starts == [early, late])
    }

    @Test func `a group holds its locks from its start to the end of its hooks, and waits for them unstarted`() {
        var graph = OperationGraph()
        let mutex = graph.addMutex()
        let groups = (0..<2).map { _ in
            let group = graph.beginGroup(wanting(mutex))
            graph.addOperation()
            graph.beginHook(.finally)
            graph.addOperation()
            graph.endGroup()
            graph.endGroup()
            return group
        }
        let run = VirtualRun(graph, tellsLocks: true)
        #expect(run.finish(groups[0])! < run.start(groups[1])!)
        #expect(run.time(of: run.start(groups[1])) == .seconds(2))
        #expect(run.position { $0 == .waiting(groups[1], on: mutex) } != nil)
    }

    // C7
    @Test func `a cancel while waiting for a lock ends at once and lets the next one have it`() {
        var graph = OperationGraph()
        let mutex = graph.addMutex()
        let holder = graph.addOperation(wanting(mutex))
        let waiter = graph.addOperation(wanting(mutex))
        let next = graph.addOperation(wanting(mutex))
        let run = VirtualRun(graph, events: [(.seconds(1), .cancel(waiter))]) { _ in Behaviour(duration: .seconds(5)) }
        #expect(run.time(of: run.finish(waiter)) == .seconds(1))
        #expect(run.starts == [holder, next])
    }

    @Test func `an instance that waits for its lock leaves its slot to another`() {
        var graph = OperationGraph()
        let mutex = graph.addMutex()
        let holder = graph.beginGroup(wanting(mutex, priority: 9))
        let long = graph.addOperation()
        graph.endGroup()
        graph.beginGroup(limit: .members(1))
        let locked = graph.beginGroup(wanting(mutex, priority: 5))
        graph.addOperation()
        graph.endGroup()
        let free = graph.beginGroup()
        graph.addOperation()
        graph.endGroup()
        graph.endGroup()
        let run = VirtualRun(graph) { Behaviour(duration: .seconds($0 == long ? 10 : 1)) }
        #expect(run.time(of: run.start(free)) == .zero)
        #expect(run.time(of: run.start(locked)) == .seconds(10))
        #expect(run.finish(holder)! < run.start(locked)!)
    }

    @Test func `ten thousand waiters on one lock cost no more than ten times a thousand's`() {
        func cost(_ count: Int) -> Duration {
            var graph = OperationGraph(minimumCapacity: count)
            let (m, n) = (graph.addMutex(), graph.addMutex())
            for index in 0..<count { graph.addOperation(index % 2 == 0 ? wanting(m) : wanting(m, n)) }
            return processorTime {
                var scheduler = OperationScheduler(graph, width: 4)
                var next = scheduler.handle(.begin, at: .zero).compactMap(\.started)
                while let id = next.popLast() {
                    next += scheduler.handle(.ended(id, .success, mayRetry: true), at: .zero).compactMap(\.started)
                }
                #expect(scheduler.isFinished)
            }
        }
        let ratios = (0..<5).map { _ in cost(10_000) / cost(1000) }
        #expect(ratios.min()! < 20)
    }
}
