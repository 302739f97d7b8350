import Testing

@testable import Scheduling

@Suite struct PauseTests {
    typealias Behaviour = VirtualRun.Behaviour

    // J1, D18
    @Test func `one that begins suspended starts nothing before it is resumed`() {
        var graph = OperationGraph()
        let group = graph.beginGroup()
        let step = graph.addOperation()
        graph.endGroup()
        let run = VirtualRun(graph, events: [(.zero, .suspend), (.seconds(60), .resume)])
        #expect(run.time(of: run.start(group)) == .seconds(60))
        #expect(run.time(of: run.start(step)) == .seconds(60))
        #expect(run.time(of: run.start(.root)) == .zero)
    }

    // J2, J6, D18
    @Test func `what runs goes on, nothing starts, and twice is the same as once`() {
        var graph = OperationGraph()
        let first = graph.addOperation()
        let second = graph.addOperation()
        graph.addDependency(of: second, on: first)
        let run = VirtualRun(
            graph,
            events: [
                (.milliseconds(100), .suspend), (.milliseconds(200), .suspend), (.seconds(9), .resume),
                (.seconds(10), .resume),
            ]
        ) { _ in Behaviour(duration: .seconds(5)) }
        #expect(run.time(of: run.finish(first)) == .seconds(5))
        #expect(run.time(of: run.start(second)) == .seconds(9))
        #expect(run.count { $0 == .suspended } == 1)
        #expect(run.count { $0 == .resumed } == 1)
    }

    // J7
    @Test func `a cancel of everything resumes, so that hooks run and the end comes`() {
        var graph = OperationGraph()
        let first = graph.addOperation()
        let second = graph.addOperation()
        graph.addDependency(of: second, on: first)
        graph.beginHook(.finally)
        let clean = graph.addOperation()
        graph.endGroup()
        let run = VirtualRun(
            graph, events: [(.milliseconds(500), .suspend), (.seconds(5), .cancel(.root)), (.seconds(5), .suspend)])
        #expect(run.outcome(second) == .cancelled)
        #expect(run.outcome(clean) == .success)
        #expect(run.end == .seconds(6))
    }

    // B5, D5
    @Test func `what is cancelled before it could start never starts`() {
        var graph = OperationGraph()
        let group = graph.beginGroup()
        let step = graph.addOperation()
        graph.endGroup()
        let run = VirtualRun(
            graph, events: [(.zero, .suspend), (.seconds(1), .cancel(group)), (.seconds(2), .resume)])
        #expect(run.outcome(step) == .cancelled)
        #expect(run.time(of: run.finish(group)) == .seconds(1))
        #expect(run.starts.isEmpty)
    }

    // J8
    @Test func `clocks of groups stand still, those of running operations do not`() {
        var graph = OperationGraph(timeout: .seconds(30))
        let group = graph.beginGroup(.init(timeout: .seconds(20)))
        let step = graph.addOperation(.init(timeout: .seconds(100)))
        graph.endGroup()
        let run = VirtualRun(graph, events: [(.seconds(5), .suspend), (.seconds(65), .resume)]) { _ in
            Behaviour(duration: .seconds(3600))
        }
        #expect(run.outcome(group) == .timeout)
        #expect(run.time(of: run.finish(step)) == .seconds(80))

        var alone = OperationGraph()
        let limited = alone.addOperation(.init(timeout: .seconds(10)))
        let other = VirtualRun(alone, events: [(.seconds(5), .suspend), (.seconds(65), .resume)]) { _ in
            Behaviour(duration: .seconds(3600))
        }
        #expect(other.time(of: other.finish(limited)) == .seconds(10))
    }

    @Test func `a back-off goes on, its attempt waits`() {
        var graph = OperationGraph()
        let step = graph.addOperation(.init(retry: RetryPolicy(attempts: 2, backoff: .constant(.seconds(10)))))
        let run = VirtualRun(graph, events: [(.seconds(5), .suspend), (.seconds(20), .resume)]) { _, attempt in
            Behaviour(outcome: attempt == 1 ? .failure : .success)
        }
        #expect(run.time(of: run.start(step, attempt: 2)) == .seconds(20))
    }

    @Test func `expansions and rounds wait too`() {
        var graph = OperationGraph()
        let flaky = graph.beginGroup(.init(retry: RetryPolicy(attempts: 2)))
        let bad = graph.addOperation()
        graph.endGroup()
        let fanOut = graph.beginGroup(isExpandable: true)
        graph.endGroup()
        graph.addDependency(of: fanOut, on: bad, .done)
        let run = VirtualRun(graph, events: [(.milliseconds(500), .suspend), (.seconds(30), .resume)]) { _, attempt in
            Behaviour(outcome: attempt == 1 ? .failure : .success)
        }
        #expect(run.time(of: run.position { $0 == .expand(fanOut) }) == .seconds(30))
        #expect(run.time(of: run.position { $0 == .groupStarted(flaky, round: 1) }) == .seconds(30))
    }
}
