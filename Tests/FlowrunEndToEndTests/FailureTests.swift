import FlowrunTestSupport
import Foundation
import Testing

/// What one failure does to everything else, and how all of them are told at the end.
struct FailureTests {
    // D11, F13
    @Test func `five failures in parallel branches all stand in the summary, and rule out their dependents`()
        async throws
    {
        let branches = (1...5).map { branch in
            """
              fails\(branch): { run: "echo reason \(branch) >&2; exit \(branch)" }
              after\(branch): { needs: [fails\(branch)], run: "true" }
              later\(branch): { needs: [after\(branch)], run: "true" }
            """
        }
        let test = try FlowrunTest(
            "version: 1\nsteps:\n" + branches.joined(separator: "\n") + "\n  fine: { run: 'true' }\n")
        let result = try await test.runLogged("-j", "5")
        result.expect(exit: 1)
        let log = try result.log()
        LogInvariants.check(log)
        #expect(Set(log.errors) == ["fails1", "fails2", "fails3", "fails4", "fails5"])
        #expect(log.outcomes["fine"] == "success")
        for branch in 1...5 {
            let error = try #require(
                log.runFinished?["errors"]?.array?.first { $0["step"]?.string == "fails\(branch)" })
            #expect(error["exit_code"]?.int == branch)
            #expect(error["line"]?.int == 3 * branch)
            #expect(error["file"]?.string == "workflow.yml")
            #expect(error["output_tail"]?.string == "reason \(branch)\n")
            for victim in ["after\(branch)", "later\(branch)"] {
                let end = try #require(log.finished(victim))
                #expect(end.outcome == "not-run")
                #expect(end.cause?.kind == "dependency")
                #expect(end.cause?.rootStep == "fails\(branch)")
                #expect(end.cause?.root["kind"]?.string == "exit")
            }
        }

        let text = try await test.run("workflow.yml", "-j", "5", "--output", "none")
        text.expect(exit: 1)
        let summary = try #require(text.stdout.components(separatedBy: "5 errors:").last)
        for branch in 1...5 {
            #expect(summary.contains("fails\(branch)"))
            #expect(summary.contains("reason \(branch)"))
            #expect(summary.contains("after\(branch)"))
        }
        text.expect(stdout: "5 errors:", "not run: ", "5 failure, 10 not-run")
    }

    /// `a` fails while `b` runs and two others wait: `c` for `a`, `d` for a free slot.
    private func run(failFast: String, options: String...) async throws -> (FlowrunTest, Gate, RunningFlowrun) {
        let test = try FlowrunTest(
            """
            version: 1
            \(failFast)
            steps:
              a: { run: "echo up > a.up; read _ < a.go; exit 7" }
              b: { run: "echo up > b.up; read _ < b.go" }
              c: { needs: [a], run: "true" }
              d: { run: "true" }
            """)
        let gates = (a: try test.gate("a.go"), b: try test.gate("b.go"))
        let start = ["run", "workflow.yml", "--log", "json", "-j", "2"] + options
        let running = try await test.start(start)
        try await running.waitForFile("a.up")
        try await running.waitForFile("b.up")
        gates.a.open()
        try await running.waitForEvent("step.finished", step: "a")
        return (test, gates.b, running)
    }

    @Test func `without fail-fast, all that does not depend on the failure goes on`() async throws {
        let (_, gate, running) = try await run(failFast: "")
        try await running.waitForEvent("step.finished", step: "d")
        gate.open()
        let result = try await running.finish()
        result.expect(exit: 1)
        let log = try result.log()
        #expect(log.outcomes == ["a": "failure", "b": "success", "c": "not-run", "d": "success"])
        LogInvariants.check(log)
    }

    @Test func `fail-fast cancels what runs and what waits`() async throws {
        let (test, _, running) = try await run(failFast: "fail-fast: true")
        let result = try await running.finish()
        result.expect(exit: 1)
        let log = try result.log()
        #expect(log.outcomes["a"] == "failure")
        #expect(log.outcomes["b"] == "cancelled")
        #expect(log.outcomes["d"] == "cancelled")
        #expect(log.finished("b")?.cause?.kind == "fail-fast")
        #expect(log.finished("b")?.cause?.rootStep == "a")
        #expect(log.startOrder == ["a", "b"])
        #expect(log.errors == ["a"])
        LogInvariants.check(log)
        #expect(test.survivors() == [])
    }

    @Test func `the option asks for fail-fast where the file does not`() async throws {
        let (_, _, running) = try await run(failFast: "", options: "--fail-fast")
        let result = try await running.finish()
        result.expect(exit: 1)
        #expect(try result.log().outcomes["b"] == "cancelled")
    }

    // D13
    @Test func `drain lets what runs go on and starts nothing new`() async throws {
        let (_, gate, running) = try await run(failFast: "fail-fast: drain")
        gate.open()
        let result = try await running.finish()
        result.expect(exit: 1)
        let log = try result.log()
        #expect(log.outcomes == ["a": "failure", "b": "success", "c": "not-run", "d": "not-run"])
        LogInvariants.check(log)
    }

    @Test func `fail-fast of a group stays inside it`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              group:
                fail-fast: true
                steps:
                  bad: { run: "echo up > bad.up; read _ < bad.go; exit 1" }
                  sibling: { run: "echo up > sibling.up; read _ < sibling.go" }
              outside: { run: "echo up > outside.up; read _ < outside.go" }
              after: { needs: { group: done }, run: "true" }
            """)
        let bad = try test.gate("bad.go")
        _ = try test.gate("sibling.go")
        let outside = try test.gate("outside.go")
        let running = try await test.start("run", "workflow.yml", "--log", "json", "-j", "3")
        for name in ["bad.up", "sibling.up", "outside.up"] { try await running.waitForFile(name) }
        bad.open()
        try await running.waitForEvent("step.finished", step: "after")
        outside.open()
        let result = try await running.finish()
        result.expect(exit: 1)
        let log = try result.log()
        #expect(
            log.outcomes == [
                "group.bad": "failure", "group.sibling": "cancelled", "outside": "success", "after": "success",
            ])
        #expect(log.first("group.finished", group: "group")?.outcome == "failure")
        LogInvariants.check(log)
    }

    // D22
    @Test func `a tolerated failure is told, and does not fail the run`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              lint: { continue-on-error: true, run: exit 4 }
              group:
                continue-on-error: true
                steps:
                  inner: { run: exit 5 }
                  fine: { run: "true" }
              after: { needs: [lint, group], run: "true" }
            """)
        let result = try await test.runLogged()
        result.expect(exit: 0)
        let log = try result.log()
        #expect(log.outcomes["lint"] == "failure")
        #expect(log.outcomes["after"] == "success")
        #expect(log.errors == [])
        #expect(Set(log.runFinished?["tolerated"]?.strings ?? []) == ["lint", "group.inner"])
        LogInvariants.check(log)
    }

    @Test func `a step's death by signal is its own, and a program that is not there fails before it starts`()
        async throws
    {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              killed: { run: kill -9 $$ }
              absent: { run: [./not-there] }
              plain: { run: [./plain] }
              code: { run: exit 137 }
            """, files: ["plain": "#!/bin/sh\n"])
        let result = try await test.runLogged()
        result.expect(exit: 1)
        let log = try result.log()
        LogInvariants.check(log)
        #expect(Set(log.errors) == ["killed", "absent", "plain", "code"])
        let killed = try #require(log.finished("killed"))
        #expect(killed["signal"]?.string == "SIGKILL")
        #expect(killed["exit_code"]?.isNull ?? true)
        #expect(killed.cause?.kind == "signal")
        let code = try #require(log.finished("code"))
        #expect(code["exit_code"]?.int == 137)
        #expect(code["signal"]?.isNull ?? true)
        for (step, errno) in [("absent", 2), ("plain", 13)] {
            let end = try #require(log.finished(step))
            #expect(end.cause?.kind == "spawn")
            #expect(end["errno"]?.int == errno)
            #expect(log.first("step.started", step: step) == nil)
        }
    }

    @Test func `a program that exec refuses ends its attempt as a shell would say, and fails with the reason`()
        async throws
    {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              prepare: { run: chmod +x interpreted text }
              interpreted: { run: [./interpreted], needs: [prepare], continue-on-error: true }
              text: { run: [./text], needs: [prepare], continue-on-error: true }
            """, files: ["interpreted": "#!/nowhere/sh\n", "text": "echo\n"])
        let log = try await test.runLogged().log()
        LogInvariants.check(log)
        for (step, errno, code) in [("interpreted", 2, 127), ("text", 8, 126)] {
            let end = try #require(log.finished(step))
            #expect(end.cause?.kind == "spawn")
            #expect(end["errno"]?.int == errno)
            #expect(end["attempt"]?.int == 1)
            #expect(log.first("step.attempt", step: step)?["exit_code"]?.int == code)
        }
    }

    @Test func `a group that is tolerated beyond its limit is named with it`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              slow: { timeout: 100ms, continue-on-error: true, steps: { stuck: { run: sleep 600, grace: 0s } } }
            """)
        let result = try await test.run("workflow.yml")
        result.expect(exit: 0)
        result.expect(stdout: "tolerated: slow (timed out after 100ms)\n")
        // A member of that name is nearer than anything else.
        try await test.ask("why", "stuck").expect(stderr: "`stuck`; did you mean `slow.stuck`?")
    }

    @Test func `only what failed is tolerated`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              group:
                continue-on-error: true
                steps:
                  good: { run: "true" }
                  bad: { run: exit 1 }
                  after: { needs: [bad], run: "true" }
                  off: { if: "false", run: "true" }
            """)
        let log = try await test.runLogged().log()
        let tolerated = log.all("step.finished").filter { $0["tolerated"]?.bool == true }
        #expect(tolerated.compactMap(\.step) == ["group.bad"])
    }
}
