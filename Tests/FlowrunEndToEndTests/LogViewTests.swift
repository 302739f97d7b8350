import FlowrunTestSupport
import Testing

/// `log` in the file, and `platforms`.
struct LogViewTests {
    private let workflow = """
        version: 1
        log: quiet
        steps:
          plain: { run: echo from plain }
          bad: { run: echo from bad; exit 1, continue-on-error: true }
          block: { needs: [plain], log: grouped, run: echo from block }
          lines: { needs: [block], log: live, run: echo from lines }
        """

    @Test func `the file says what is shown of a step's output`() async throws {
        let result = try await FlowrunTest(workflow).run("workflow.yml", "-j", "1")
        result.expect(exit: 0)
        #expect(!result.stdout.contains("from plain"))
        result.expect(stdout: "| from block", "[lines] from lines")
        #expect(result.stdout.contains("| from bad"))
    }

    @Test func `the option --output stands over the file`() async throws {
        let result = try await FlowrunTest(workflow).run("workflow.yml", "-j", "1", "--output", "grouped")
        result.expect(exit: 0)
        result.expect(stdout: "| from plain", "| from block", "| from lines")
    }

    @Test func `a step for another platform is skipped and says which`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              here: { platforms: [linux], run: "true" }
              there: { platforms: [macos, windows], run: touch ran }
              after: { needs: [there], run: "true" }
            """)
        let result = try await test.runLogged()
        result.expect(exit: 0)
        let log = try result.log()
        #expect(log.outcomes == ["here": "success", "there": "skipped", "after": "success"])
        #expect(log.finished("there")?.cause?.message?.contains("macos, windows") == true)
        #expect(!test.exists("ran"))
    }
}
