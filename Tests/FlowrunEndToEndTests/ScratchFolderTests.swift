import FlowrunTestSupport
import Foundation
import Glibc
import Testing

/// `$FLOWRUN_TEMP`: a folder that lives as long as the run.
struct ScratchFolderTests {
    /// The folders that runs have made in the test's own `TMPDIR` and not removed.
    private func leftovers(_ test: FlowrunTest) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: test.path("tmp"))
    }

    private func make(_ workflow: String) throws -> FlowrunTest {
        try FlowrunTest(workflow, files: ["tmp/.keep": ""])
    }

    private func environment(_ test: FlowrunTest) -> [String: String?] { ["TMPDIR": test.path("tmp")] }

    @Test func `a file that is used may be the only one that names it`() async throws {
        let used = """
            version: 1
            steps:
              write: { run: echo x > "$FLOWRUN_TEMP/a" }
              read: { needs: [write], run: cat "$FLOWRUN_TEMP/a" }
            """
        let test = try FlowrunTest(
            "version: 1\nsteps: { a: { uses: ./used.yml } }", files: ["tmp/.keep": "", "used.yml": used])
        let result = try await test.runLogged(environment: environment(test))
        result.expect(exit: 0)
        #expect(try result.log().output(of: "a.read") == "x\n")
        #expect(try leftovers(test) == [".keep"])
    }

    @Test func `steps share a folder of their own that is gone after the run`() async throws {
        let test = try make(
            """
            version: 1
            env: { LIST: "${{ env.FLOWRUN_TEMP }}/list" }
            steps:
              write: { run: 'stat -c %a "$FLOWRUN_TEMP"; ls -A "$FLOWRUN_TEMP"; mkdir "$FLOWRUN_TEMP/d"; echo x > "$LIST"' }
              read: { needs: [write], run: [cat, "${{ env.FLOWRUN_TEMP }}/list"] }
              clean: { needs: [write], env-policy: clean, working-directory: "${{ env.FLOWRUN_TEMP }}", run: ls; pwd }
            finally:
              last: { run: 'cat "$FLOWRUN_TEMP/list" && chmod 500 "$FLOWRUN_TEMP/d" "$FLOWRUN_TEMP"' }
            """)
        let result = try await test.runLogged(environment: environment(test))
        result.expect(exit: 0)
        let log = try result.log()
        #expect(log.output(of: "write") == "700\n")
        #expect(log.output(of: "read") == "x\n")
        let lines = log.output(of: "clean").split(separator: "\n")
        #expect(lines.prefix(2) == ["d", "list"])
        #expect(lines.last?.hasPrefix(test.path("tmp/flowrun-")) == true)
        #expect(log.output(of: "finally.last") == "x\n")
        #expect(try leftovers(test) == [".keep"])
        #expect(log.all("warning").isEmpty)
    }

    @Test func `it goes after a failure, too`() async throws {
        let test = try make("version: 1\nsteps: { a: { run: 'touch $FLOWRUN_TEMP/x; exit 3' } }")
        try await test.run("workflow.yml", environment: environment(test)).expect(exit: 1)
        #expect(try leftovers(test) == [".keep"])
    }

    @Test func `it goes after a signal, too`() async throws {
        let test = try make(
            """
            version: 1
            steps: { a: { run: "touch $FLOWRUN_TEMP/x; touch up; sleep 9999" } }
            """)
        let running = try await test.start("workflow.yml", environment: environment(test))
        try await running.waitForFile("up")
        #expect(try leftovers(test).count == 2)
        running.signal(SIGINT)
        try await running.finish().expect(.signalled(SIGINT))
        #expect(try leftovers(test) == [".keep"])
    }

    @Test func `what does not name it has none, not even that of a run around it`() async throws {
        let test = try make(
            """
            version: 1
            steps: { a: { run: 'echo "<$(env | grep -c ^FLOWRUN_T)> $FLOWRUN_TEMPO"; ls -A "$TMPDIR"' } }
            """)
        var environment = environment(test)
        environment["FLOWRUN_TEMP"] = "/outer"
        let log = try await test.runLogged(environment: environment).log()
        #expect(log.output(of: "a") == "<0> \n.keep\n")
    }

    @Test func `a plan makes none`() async throws {
        let test = try make("version: 1\nsteps: { a: { run: 'echo $FLOWRUN_TEMP' } }")
        try await test.run("-n", "workflow.yml", environment: environment(test)).expect(exit: 0)
        #expect(try leftovers(test) == [".keep"])
    }

    @Test func `steps fail where there can be none`() async throws {
        let test = try FlowrunTest("version: 1\nsteps: { a: { run: 'echo $FLOWRUN_TEMP' } }")
        let result = try await test.runLogged(environment: ["TMPDIR": test.path("missing")])
        result.expect(exit: 1)
        let cause = try result.log().finished("a")?.cause
        #expect(cause?.kind == "spawn")
        #expect(cause?.message == "cannot use the folder `\(test.path("missing"))`: no such file or directory")
    }
}
