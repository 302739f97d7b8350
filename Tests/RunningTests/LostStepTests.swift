import FlowrunTestSupport
import RunLog
import Testing

@testable import Processes
@testable import Running

/// Steps of which something is left that not even KILL ends, in virtual time.
struct LostStepTests {
    init() { EventLoopThread.ensureRunning() }

    @EventLoopActor
    private func run(_ steps: String, lost: Set<String> = ["lost"]) throws -> VirtualRun {
        let run = try VirtualRun(steps) { step, _ in
            let isLost = lost.contains(step)
            return FakeSpawner.Behaviour(
                duration: .seconds(isLost ? 100 : 1), status: .exited(step == "fails" ? 1 : 0),
                remaining: isLost ? [77] : nil)
        }
        try run.run()
        return run
    }

    private static let message = "still there 10s after SIGKILL: process 77"

    @Test @EventLoopActor func `a step is lost whatever its first process has said`() throws {
        let run = try run("steps: { lost: { run: x }, after: { needs: [lost], run: x } }")
        #expect(run.outcome(of: "lost") == .failure)
        #expect(run.finish(of: "lost")?.cause?.kind == .lost)
        #expect(run.causes(of: "lost") == [Self.message])
        #expect(run.outcome(of: "after") == .notRun)
        #expect(run.events.contains { if case .warning("lost", _) = $0.kind { true } else { false } })
    }

    @Test @EventLoopActor func `a lost step that had timed out stays timed out, and says both`() throws {
        let run = try run("steps: { lost: { run: x, timeout: 5s }, after: { needs: [lost], run: x } }")
        #expect(run.outcome(of: "lost") == .timeout)
        #expect(run.finish(of: "lost")?.cause?.kind == .lost)
        #expect(run.causes(of: "lost") == [Self.message, "timed out after 5s"])
        #expect(run.outcome(of: "after") == .notRun)
    }

    @Test @EventLoopActor func `a lost step that was cancelled stays cancelled, and says both`() throws {
        let run = try run("steps: { lost: { run: x }, fails: { run: x } }\nfail-fast: true")
        #expect(run.outcome(of: "lost") == .cancelled)
        #expect(run.finish(of: "lost")?.cause?.kind == .lost)
        #expect(run.causes(of: "lost").first == Self.message)
    }

    @Test(arguments: ["", "timeout: 5s, "])
    @EventLoopActor func `nothing is tried again beside what is left of it`(limit: String) throws {
        let retry = "retry: { attempts: 3 }"
        let run = try run(
            "steps: { outer: { \(retry), steps: { inner: { steps: { lost: { run: x, \(limit)\(retry) } } } } } }",
            lost: ["outer.inner.lost"])
        #expect(run.spawner.commands.count == 1)
        #expect(run.outcome(of: "outer.inner.lost") == (limit.isEmpty ? .failure : .timeout))
        #expect(!run.lines.contains { $0.contains("retry") })
    }
}
