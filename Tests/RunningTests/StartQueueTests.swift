import FlowrunTestSupport
import Glibc
import RunLog
import Testing

@testable import Processes
@testable import Running

/// A machine that has no process left, in virtual time.
struct StartQueueTests {
    init() { EventLoopThread.ensureRunning() }

    private static let six =
        "steps: { " + (1...6).map { "s\($0): { run: x, timeout: 5s }" }.joined(separator: ", ") + " }"

    @Test @EventLoopActor func `thirty seconds without any process are thirty seconds for the whole run`() throws {
        let run = try VirtualRun(Self.six, jobs: 2)
        run.spawner.errors = [Int32](repeating: EAGAIN, count: 10_000)
        let result = try run.run()
        #expect(result.isOutOfProcesses)
        #expect(run.clock.elapsed >= .seconds(30) && run.clock.elapsed < .seconds(31))
        for step in (1...6).map({ "s\($0)" }) {
            #expect(run.outcome(of: step) == .failure)
            #expect(run.finish(of: step)?.cause?.kind == .spawn)
        }
    }

    @Test @EventLoopActor func `while a step runs the others wait as long as it takes, and one warning says so`()
        throws
    {
        let run = try VirtualRun(
            "steps: { long: { run: x }, first: { run: x }, a: { run: x, needs: [first], timeout: 5s }, b: { run: x } }",
            jobs: 3
        ) { step, _ in FakeSpawner.Behaviour(duration: .seconds(step == "long" ? 1000 : 2)) }
        // 600 refusals, 200 ms apart, are two minutes.
        run.at(.seconds(1)) { run.spawner.errors = [Int32](repeating: EMFILE, count: 600) }
        #expect(try run.run().outcome == .success)
        let start = try #require(
            run.events.first { if case .stepStarted(let start) = $0.kind { start.step == "a" } else { false } })
        #expect(start.elapsed > .seconds(100) && start.elapsed < .seconds(200))
        let warnings = run.events.count { if case .warning("processes", _) = $0.kind { true } else { false } }
        #expect(warnings == 1)
    }

    @Test @EventLoopActor func `a resumed step that has to wait for descriptors says once why it runs again`() throws {
        let text = "steps: { long: { run: x }, first: { run: x }, a: { run: x, needs: [first] } }"
        let before = try VirtualRun(text) { step, _ in FakeSpawner.Behaviour(status: .exited(step == "a" ? 1 : 0)) }
        try before.run()
        let run = try VirtualRun(text, past: before.results) { _, _ in
            FakeSpawner.Behaviour(duration: .seconds(1000))
        }
        run.at(.seconds(1)) { run.spawner.errors = [Int32](repeating: EMFILE, count: 5) }
        #expect(try run.run().outcome == .success)
        #expect(run.lines(of: "a").filter { $0.contains("rerun") }.count == 1)
    }

    @Test @EventLoopActor func `whoever waits longest is next when a process ends`() throws {
        let run = try VirtualRun(Self.six, jobs: 6) { _, _ in FakeSpawner.Behaviour(duration: .seconds(1)) }
        run.spawner.errors = [EAGAIN, EAGAIN]
        #expect(try run.run().outcome == .success)
        let starts = run.events.compactMap { if case .stepStarted(let start) = $0.kind { start.step } else { nil } }
        #expect(starts == (1...6).map { "s\($0)" })
    }
}
