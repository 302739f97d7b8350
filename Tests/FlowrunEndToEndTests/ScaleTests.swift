import FlowrunTestSupport
import Foundation
import Glibc
import Testing

/// Thousands of steps.
struct ScaleTests {
    /// Runs `workflow.yml` with its log in a file, which is read at the end and at once.
    private func runLogged(_ test: FlowrunTest, exit code: Int32) async throws -> EventLog {
        try await test.run("run", "workflow.yml", "--log", "quiet", "--log-file", "log", "-j", "4").expect(exit: code)
        return try EventLog(jsonLines: try test.contents(of: "log"))
    }

    // Q9
    @Test func `ten thousand that wait, each with a limit, take no thread`() async throws {
        let waiting = (1...10_000).map { "  w\($0): { needs: [hold], timeout: 1h, run: ['true'] }" }
        let test = try FlowrunTest(
            "version: 1\nsteps:\n  hold: { timeout: 1h, run: \"echo $PPID > up; read _ < go\" }\n"
                + waiting.joined(separator: "\n") + "\n")
        let gate = try test.gate("go")
        // Into a file, since an interrupted flowrun does not wait long for who reads a pipe.
        let running = try await test.start("run", "workflow.yml", "--log", "quiet", "--log-file", "log")
        let runner = try await running.waitForLines(in: "up")[0]
        let threads = try FileManager.default.contentsOfDirectory(atPath: "/proc/\(runner)/task").count
        #expect(threads <= ProcessInfo.processInfo.activeProcessorCount + 4)
        running.signal(SIGINT)
        let result = try await running.finish()
        withExtendedLifetime(gate) {}
        result.expect(.signalled(SIGINT))
        let log = try EventLog(jsonLines: try test.contents(of: "log"))
        #expect(log.all("step.finished").allSatisfy { $0.outcome == "cancelled" })
        #expect(log.runFinished?["counts"]?["cancelled"]?.int == 10_001)
        LogInvariants.check(log)
    }

    // Q10
    @Test func `five thousand in sequence, each with a condition`() async throws {
        let members = (1...5000).map { "      s\($0): { if: params.on, run: ['true'] }" }
        let test = try FlowrunTest(
            """
            version: 1
            params: { on: { type: bool, default: false } }
            steps:
              chain:
                order: sequence
                steps:
                  first: { run: "true" }
            \(members.joined(separator: "\n"))
                  last: { run: "true" }
            """)
        let log = try await runLogged(test, exit: 0)
        #expect(log.startOrder == ["chain.first", "chain.last"])
        #expect(log.runFinished?["counts"]?["skipped"]?.int == 5000)
        let order = log.all("step.finished").compactMap(\.step)
        #expect(order == ["chain.first"] + (1...5000).map { "chain.s\($0)" } + ["chain.last"])
        LogInvariants.check(log)
    }

    // Q10
    @Test func `ten thousand members that fail are ten thousand errors`() async throws {
        // Each fails by its condition, which takes no process.
        let condition = "fromJSON(steps.first.outputs.text) == 1"
        let members = (1...10_000).map { "      s\($0): { if: '\(condition)', run: touch ran }" }
        let test = try FlowrunTest(
            #"""
            version: 1
            steps:
              first: { run: 'echo text=nonsense >> "$FLOWRUN_OUTPUT"', outputs: { text: string } }
              after: { needs: [g], run: touch ran }
              g:
                needs: [first]
                steps:
            \#(members.joined(separator: "\n"))
            """#)
        let log = try await runLogged(test, exit: 1)
        #expect(log.errors.count == 10_000)
        #expect(log.first("group.finished", group: "g")?["errors"]?.array?.count == 10_000)
        #expect(log.outcomes["after"] == "not-run")
        #expect(!test.exists("ran"))
        LogInvariants.check(log, needs: DependencyTable(["g": ["first"], "after": ["g"]]))
    }
}
