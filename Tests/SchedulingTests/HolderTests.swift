import FlowrunTestSupport
import Testing

@testable import Scheduling

/// Groups that name mutexes take everything that anything inside them wants before they start, and wait for nothing
/// outside while they hold it.
@Suite struct HolderTests {
    private typealias Behaviour = VirtualRun.Behaviour

    private func naming(_ locks: LockID...) -> OperationGraph.Options {
        OperationGraph.Options(locks: locks.map { LockRequest(lock: $0) })
    }

    @Test func `a holder starts when all are free that anything inside names, and gives all back at its end`() {
        var graph = OperationGraph()
        let (m, n) = (graph.addMutex(), graph.addMutex())
        let user = graph.addOperation(naming(n))
        let before = graph.addOperation()
        let holder = graph.beginGroup(naming(m))
        graph.addDependency(of: holder, on: before)
        graph.beginGroup()
        let inside = graph.addOperation(naming(n))
        graph.endGroup()
        graph.beginHook(.finally)
        let cleanUp = graph.addOperation()
        graph.endGroup()
        graph.endGroup()
        let later = graph.addOperation(naming(n))
        graph.addDependency(of: later, on: before)
        let run = VirtualRun(graph, tellsLocks: true) { Behaviour(duration: .seconds($0 == user ? 5 : 1)) }
        #expect(run.time(of: run.start(holder)) == .seconds(5))
        #expect(run.position { $0 == .waiting(holder, on: n) } != nil)
        #expect(run.position { $0 == .acquired(n, by: inside) } != nil)
        #expect(run.finish(cleanUp)! < run.position { $0 == .released(n, by: holder) }!)
        #expect(run.finish(holder)! < run.start(later)!)
    }

    @Test func `what a hook of a holder names is taken at the start`() {
        var graph = OperationGraph()
        let (m, n) = (graph.addMutex(), graph.addMutex())
        let user = graph.addOperation(naming(n))
        let before = graph.addOperation()
        let holder = graph.beginGroup(naming(m))
        graph.addDependency(of: holder, on: before)
        graph.addOperation()
        graph.beginHook(.finally)
        graph.addOperation(naming(n))
        graph.endGroup()
        graph.endGroup()
        let run = VirtualRun(graph) { Behaviour(duration: .seconds($0 == user ? 5 : 1)) }
        #expect(run.time(of: run.start(holder)) == .seconds(5))
    }

    @Test func `a holder waits for what something inside needs only as long as anything inside needs it`() {
        var graph = OperationGraph()
        let m = graph.addMutex()
        let external = graph.addExternal()
        let holder = graph.beginGroup(naming(m))
        let first = graph.addOperation()
        let second = graph.addOperation()
        graph.endGroup()
        graph.addDependency(of: first, on: external)
        graph.addDependency(of: second, on: external)
        let run = VirtualRun(
            graph,
            events: [
                (.seconds(1), .unlink(dependent: first, prerequisite: external)),
                (.seconds(2), .unlink(dependent: second, prerequisite: external)),
                (.seconds(9), .ended(external, .success, mayRetry: false)),
            ])
        #expect(run.time(of: run.start(holder)) == .seconds(2))
        #expect(run.starts == [first, second])
    }

    @Test func `a holder whose own dependency is removed still waits for what something inside needs`() {
        var graph = OperationGraph()
        let m = graph.addMutex()
        let external = graph.addExternal()
        let holder = graph.beginGroup(naming(m))
        let member = graph.addOperation()
        graph.endGroup()
        graph.addDependency(of: holder, on: external)
        graph.addDependency(of: member, on: external)
        let run = VirtualRun(
            graph,
            events: [
                (.seconds(1), .unlink(dependent: holder, prerequisite: external)),
                (.seconds(9), .ended(external, .success, mayRetry: false)),
            ])
        #expect(run.time(of: run.start(holder)) == .seconds(9))
    }

    @Test func `a group without a mutex of its own takes nothing for its members`() {
        var graph = OperationGraph()
        let m = graph.addMutex()
        let user = graph.addOperation(naming(m))
        let group = graph.beginGroup()
        let inside = graph.addOperation(naming(m))
        graph.endGroup()
        let run = VirtualRun(graph, tellsLocks: true) { Behaviour(duration: .seconds($0 == user ? 5 : 1)) }
        #expect(run.time(of: run.start(group)) == .zero)
        #expect(run.time(of: run.start(inside)) == .seconds(5))
        #expect(run.position { $0 == .acquired(m, by: group) } == nil)
    }

    @Test func `a holder starts when what anything inside needs from outside has ended, however it ended`() {
        var graph = OperationGraph()
        let m = graph.addMutex()
        let early = graph.addOperation()
        let late = graph.addOperation()
        let outer = graph.beginGroup()
        let holder = graph.beginGroup(naming(m))
        graph.beginGroup()
        let first = graph.addOperation()
        let needing = graph.addOperation()
        graph.endGroup()
        graph.endGroup()
        graph.endGroup()
        graph.addDependency(of: outer, on: early)
        graph.addDependency(of: needing, on: first)
        graph.addDependency(of: needing, on: late, .ok)
        let run = VirtualRun(graph, tellsLocks: true) {
            Behaviour(duration: .seconds($0 == late ? 5 : 1), outcome: $0 == late ? .failure : .success)
        }
        #expect(run.time(of: run.start(outer)) == .seconds(1))
        #expect(run.time(of: run.start(holder)) == .seconds(5))
        #expect(run.outcome(first) == .success)
        #expect(run.outcome(needing) == .notRun)
        #expect(run.cause(needing) == .dependency(late))
    }

    @Test func `members of a holder exclude each other by names that it does not name, and only by those`() {
        var graph = OperationGraph()
        let (m, n) = (graph.addMutex(), graph.addMutex())
        graph.beginGroup(naming(m))
        let local = (0..<3).map { _ in graph.addOperation(naming(n)) }
        let covered = (0..<3).map { _ in graph.addOperation(naming(m)) }
        graph.endGroup()
        let run = VirtualRun(graph, tellsLocks: true)
        #expect(local.compactMap { run.time(of: run.start($0)) } == [.zero, .seconds(1), .seconds(2)])
        #expect(covered.allSatisfy { run.time(of: run.start($0)) == .zero })
        #expect(run.count { if case .acquired(m, _) = $0 { true } else { false } } == 1)
    }

    @Test func `a holder inside a holder takes from it, not from the run`() {
        var graph = OperationGraph()
        let (m, n, o) = (graph.addMutex(), graph.addMutex(), graph.addMutex())
        graph.beginGroup(naming(m))
        let beside = graph.addOperation(naming(o))
        let inner = graph.beginGroup(naming(n, m))
        let pair = (0..<2).map { _ in graph.addOperation(naming(o)) }
        let named = graph.addOperation(naming(n))
        graph.endGroup()
        graph.endGroup()
        let outside = graph.addOperation(naming(o))
        let run = VirtualRun(graph, tellsLocks: true)
        #expect(run.time(of: run.start(inner)) == .zero)
        #expect(pair.compactMap { run.time(of: run.start($0)) } == [.zero, .seconds(1)])
        #expect(run.time(of: run.start(named)) == .zero)
        #expect(run.time(of: run.start(beside)) == .seconds(2))
        #expect(run.time(of: run.start(outside)) == .seconds(3))
    }

    @Test func `two holders of different names run side by side, and what they share keeps them apart`() {
        var graph = OperationGraph()
        let (m, n, o) = (graph.addMutex(), graph.addMutex(), graph.addMutex())
        let holders = [[m, o], [n], [n, o]].map { names in
            let holder = graph.beginGroup(naming(names[0]))
            for _ in 0..<2 { graph.addOperation(names.count > 1 ? naming(o) : naming()) }
            graph.endGroup()
            return holder
        }
        let run = VirtualRun(graph)
        #expect(holders.map { run.time(of: run.start($0)) } == [.zero, .zero, .seconds(2)])
    }

    @Test func `a pool is nobody's to hold but a step's, also in a holder and with one unit`() {
        var graph = OperationGraph()
        let m = graph.addMutex()
        let pool = graph.addPool(of: 1)
        let user = graph.addOperation(naming(pool))
        let holder = graph.beginGroup(naming(m))
        let inside = graph.addOperation(naming(pool))
        graph.endGroup()
        let run = VirtualRun(graph) { Behaviour(duration: .seconds($0 == user ? 5 : 1)) }
        #expect(run.time(of: run.start(holder)) == .zero)
        #expect(run.time(of: run.start(inside)) == .seconds(5))
    }

    @Test func `a holder lets everything go during its back-off and takes everything anew`() {
        var graph = OperationGraph()
        let (m, n) = (graph.addMutex(), graph.addMutex())
        let holder = graph.beginGroup(
            .init(
                retry: RetryPolicy(attempts: 2, backoff: .constant(.seconds(5))), locks: [LockRequest(lock: m)]))
        let flaky = graph.addOperation(naming(n))
        graph.endGroup()
        let between = graph.addOperation(naming(n))
        let run = VirtualRun(graph, tellsLocks: true) { id, attempt in
            Behaviour(
                duration: .seconds(id == between ? 10 : 1), outcome: id == flaky && attempt == 1 ? .failure : .success)
        }
        #expect(run.time(of: run.start(between)) == .seconds(1))
        #expect(run.time(of: run.start(holder, attempt: 2)) == .seconds(11))
        #expect(run.outcome(.root) == .success)
    }

    @Test func `what joins a holder later was foreseen, so that it is taken and awaited before`() {
        var graph = OperationGraph()
        let (m, n) = (graph.addMutex(), graph.addMutex())
        let user = graph.addOperation(naming(n))
        let awaited = graph.addOperation()
        let holder = graph.beginGroup(naming(m))
        let fanOut = graph.beginGroup(isExpandable: true)
        graph.endGroup()
        graph.endGroup()
        graph.foresee([n], needs: [awaited], in: fanOut)
        var answers = VirtualRun.Answers()
        answers.expand = { _, firstRow in
            var rows = OperationGraph(joiningAt: firstRow)
            for _ in 0..<2 {
                rows.addDependency(of: rows.addOperation(self.naming(n)), on: awaited)
            }
            return rows
        }
        let run = VirtualRun(graph, tellsLocks: true, answers: answers) {
            Behaviour(duration: .seconds($0 == user ? 3 : $0 == awaited ? 7 : 1))
        }
        #expect(run.time(of: run.start(holder)) == .seconds(7))
        let joined = OperationID(row: graph.count)
        #expect(run.time(of: run.start(joined)) == .seconds(7))
        #expect(run.time(of: run.start(OperationID(row: joined.row + 1))) == .seconds(8))
    }

    @Test func `a holder that something outside reaches into does not await what that keeps from ending`() {
        var graph = OperationGraph()
        let m = graph.addMutex()
        let holder = graph.beginGroup(naming(m))
        let first = graph.addOperation()
        let last = graph.addOperation()
        graph.endGroup()
        let between = graph.addOperation()
        graph.addDependency(of: between, on: first)
        graph.addDependency(of: last, on: between)
        let run = VirtualRun(graph)
        #expect(run.starts == [first, between, last])
        #expect(run.outcome(holder) == .success)
    }

    @Test func `rows in nested holders cost as much each whether they are many or few`() {
        func cost(_ count: Int) -> Duration {
            var graph = OperationGraph(minimumCapacity: count)
            let mutexes = (0..<16).map { _ in graph.addMutex() }
            let outside = (0..<16).map { _ in graph.addOperation() }
            for mutex in mutexes { graph.beginGroup(naming(mutex)) }
            for row in 0..<count {
                let id = graph.addOperation(naming(mutexes[row % 16]))
                graph.addDependency(of: id, on: outside[row % 16])
            }
            for _ in mutexes { graph.endGroup() }
            return processorTime { _ = OperationScheduler(graph, width: 1) }
        }
        let ratios = (0..<5).map { _ in cost(40_000) / cost(4_000) }
        #expect(ratios.min()! < 20)
    }
}
