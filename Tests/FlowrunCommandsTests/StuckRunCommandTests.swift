import FlowrunTestSupport
import Glibc
import RunLog
import Testing
import Workflow

@testable import FlowrunCommands
@testable import Planning

/// What the command makes of a run that cannot go on. No plan leads there, so one is spoiled after it was made.
@Suite struct StuckRunCommandTests {
    private static let stall =
        "nothing can go on: the run waits for its member `a`, `a` needs `g`, `g` waits for its member `g.b`, "
        + "`g.b` needs `a`"

    /// Carries out `run` with everything that it writes in JSON. Its folder goes before the process can end.
    private static func runStuck() throws -> Int32 {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              first: { run: "true" }
              a: { run: "true", needs: [first] }
              g: { steps: { b: { run: "true", needs: [a] } } }
            """)
        var request = RunRequest(file: test.path("workflow.yml"))
        request.log = .json
        request.stateDirectory = test.path("state")
        let run = Run(request) { plan in
            guard let a = plan.rows.first(where: { plan.nodes[$0].id == "a" }),
                let g = plan.rows.first(where: { plan.nodes[$0].id == "g" })
            else { return }
            plan.edges[plan.nodes[a].edgeRange.lowerBound] = PlanEdge(target: g, kind: .ok, isSequence: false)
        }
        return try withExtendedLifetime(test) { try run().rawValue }
    }

    @Test func `a stuck run exits 125 and names every hop, in its log and on standard error`() async throws {
        let result = try #require(
            await #expect(
                processExitsWith: .exitCode(125), observing: [\.standardOutputContent, \.standardErrorContent]
            ) { exit(try StuckRunCommandTests.runStuck()) })
        let message = String(decoding: result.standardErrorContent, as: UTF8.self)
        #expect(message.contains("flowrun: \(Self.stall); this is a fault of flowrun, not of the workflow\n"))

        let lines = String(decoding: result.standardOutputContent, as: UTF8.self).split(separator: "\n")
        let log = try EventLog(jsonLines: lines.filter { $0.hasPrefix("{") }.joined(separator: "\n"))
        let end = try #require(log.records.last)
        #expect(end.event == "run.finished")
        #expect(end.outcome == "cancelled")
        let errors = try #require(end["errors"]?.array)
        #expect(errors.count == 1)
        #expect(errors.first?["cause"]?["kind"]?.string == "lost")
        #expect(errors.first?["cause"]?["message"]?.string == Self.stall)
        #expect(log.outcomes == ["first": "success", "a": "cancelled", "g.b": "cancelled"])
    }
}
