import FlowrunTestSupport
import Testing

/// Steps without a command, which join others.
struct MilestoneTests {
    @Test func `a milestone counts as a step that no process runs for`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            defaults: { timeout: 1h, retry: { attempts: 3 } }
            steps:
              a: { run: 'true' }
              b: { run: 'true' }
              all: { name: Everything, description: Both, needs: [a, b] }
              after: { needs: [all], run: [echo, "${{ steps.all.outcome }}"] }
            finally: { c: { run: 'true' }, end: { needs: [c] } }
            """)
        try await test.run("check", "--strict", "workflow.yml").expect(exit: 0)
        let result = try await test.runLogged("-j", "1")
        result.expect(exit: 0)
        let log = try result.log()
        #expect(log.first("run.started")?["steps"]?.int == 6)
        #expect(log.runFinished?["counts"]?["success"]?.int == 6)
        #expect(log.finished("all")?.outcome == "success")
        #expect(log.finished("all")?["attempt"]?.int == 0)
        #expect(log.first("step.started", step: "all") == nil)
        #expect(log.all("group.started").compactMap(\.group) == ["finally"])
        #expect(log.output(of: "after") == "success\n")
        LogInvariants.check(log, needs: DependencyTable(["all": ["a", "b"], "after": ["all"]]))
        try await test.run("plan", "workflow.yml").expect(
            stdout: "6 steps in 5 levels", "all", "after a, b", "bound: at most ")
        try await test.run("list", "workflow.yml").expect(stdout: "all", "Both", "finally.end", "(milestone)")
        try await test.run("workflow.yml", "all").expect(stdout: "success", "  all (Everything)\n", "5 success")
    }

    @Test func `it ends as its edges and its condition let it`() async throws {
        let log = try await FlowrunTest(
            """
            version: 1
            steps:
              bad: { run: 'false' }
              good: { run: 'true' }
              ok: { needs: [bad, good] }
              any: { needs: { bad: done, good: success } }
              failed: { needs: { bad: failure } }
              not: { needs: { good: failure } }
              off: { needs: [good], if: "'a' == 'b'" }
              always: { needs: [bad], if: always() }
              behind: { needs: [ok], run: 'true' }
              neutral: { needs: [off], run: 'true' }
            """
        ).runLogged().log()
        #expect(
            log.outcomes == [
                "bad": "failure", "good": "success", "ok": "not-run", "any": "success", "failed": "success",
                "not": "skipped", "off": "skipped", "always": "success", "behind": "not-run", "neutral": "success",
            ])
        #expect(log.finished("ok")?.cause?.rootStep == "bad")
        #expect(log.finished("off")?.cause?.links.first?["message"]?.string == "`if: 'a' == 'b'` is false")
    }

    @Test func `it waits for no place, and does not start while the run is paused`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              a: { run: 'true' }
              all: { needs: [a] }
              long: { needs: [a], run: 'echo up > up; read _ < go' }
              g: { retry: { attempts: 2 }, steps: { x: { run: 'true' }, y: { needs: [x] }, z: { needs: [y], run: '[ -e second ] || { touch second; exit 1; }' } } }
            """)
        let gate = try test.gate("go")
        let running = try await test.start("run", "workflow.yml", "-j", "1", "--log", "json", "--log-file", "log")
        try await running.waitForFile("up")
        gate.open()
        let result = try await running.finish()
        result.expect(exit: 0)
        let log = try result.log()
        let ends = log.all("step.finished").compactMap(\.step)
        #expect(try #require(ends.firstIndex(of: "all")) < #require(ends.firstIndex(of: "long")))
        #expect(ends.filter { $0 == "g.y" }.count == 2)
        #expect(log.runFinished?["counts"]?["success"]?.int == 6)
    }

    @Test func `what it has not cannot be read`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              a: { run: 'true' }
              all: { needs: [a] }
              b: { needs: [all], run: [echo, "${{ steps.all.exit_code }}", "${{ steps.all.stdout }}"] }
            """)
        let result = try await test.run("check", "workflow.yml")
        result.expect(exit: 2)
        result.expect(stdout: "`all` has no field `exit_code`", "`all` has no field `stdout`")
    }
}
