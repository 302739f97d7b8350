import FlowrunTestSupport
import Processes
import RunLog
import Running
import Testing

@testable import Planning

/// A run that cannot go on, which no plan leads to: here the plan is spoiled after it was made.
@Suite(.timeLimit(.minutes(20))) struct StuckRunTests {
    init() { EventLoopThread.ensureRunning() }

    /// Lets the only need of one row be another row.
    private static func need(_ row: String, _ other: String) -> (inout Plan) -> Void {
        { plan in
            guard let from = plan.rows.first(where: { plan.nodes[$0].id == row }),
                let to = plan.rows.first(where: { plan.nodes[$0].id == other })
            else { return }
            let edge = plan.edges[Int(plan.nodes[from].edgeStart)]
            plan.edges[Int(plan.nodes[from].edgeStart)] = PlanEdge(
                target: to, kind: edge.kind, isSequence: edge.isSequence)
        }
    }

    @Test @EventLoopActor func `a stuck run ends as lost and names every hop`() throws {
        let run = try VirtualRun(
            """
            timeout: 1h
            steps:
              first: { run: "true" }
              a: { run: "true", needs: [first] }
              g: { needs: [a], timeout: 1m, steps: { b: { run: "true" } } }
              after: { run: "true", needs: [g] }
            """, spoil: Self.need("a", "g"))
        let result = try run.run()
        let message = "nothing can go on: the run waits for its member `a`, `a` needs `g`, `g` needs `a`"
        #expect(result.stall == message)
        let end = try #require(run.end)
        #expect(end.outcome == .cancelled)
        let error = try #require(end.errors.first)
        #expect(end.errors.count == 1)
        #expect(error.cause.kind == .lost)
        #expect(error.cause.message == message)
        #expect(error.step == nil && error.group == nil)
        #expect(
            ["first", "a", "g.b", "after"].map { run.outcome(of: $0) } == [
                .success, .cancelled, .cancelled, .cancelled,
            ])
        #expect(run.finish(of: "after")?.cause?.root.kind == .lost)
    }

    @Test @EventLoopActor func `a lock that is waited for is told with who holds it`() throws {
        let run = try VirtualRun(
            """
            steps:
              first: { run: "true" }
              a: { run: "true", mutex: m, needs: [first] }
              g: { mutex: m, steps: { b: { run: "true" }, c: { run: "true", needs: [b] } } }
            """, spoil: Self.need("g.c", "g.c"))
        #expect(
            try run.run().stall
                == "nothing can go on: the run waits for its member `a`, "
                + "`a` waits for the lock `m`, which `g` holds, `g` waits for its member `g.c`, `g.c` needs `g.c`")
    }
}
