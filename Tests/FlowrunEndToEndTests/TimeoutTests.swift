import FlowrunTestSupport
import Testing

/// Limits of time, and what happens to the processes of a step that has used up its own.
struct TimeoutTests {
    // K9
    @Test func `a step that ignores TERM is killed after its grace, and nothing of it is left`() async throws {
        try await withLongEnoughLimit { limit, seconds in
            let test = try FlowrunTest(
                """
                version: 1
                steps:
                  deaf: { timeout: \(limit), grace: 300ms, run: 'trap "" TERM; echo > up; sleep 9999' }
                  after: { needs: [deaf], run: "true" }
                """)
            let result = try await test.runLogged()
            #expect(test.survivors() == [])
            guard test.exists("up") else { return false }
            result.expect(exit: 1)
            let log = try result.log()
            let end = try #require(log.finished("deaf"))
            #expect(end.outcome == "timeout")
            #expect(end.cause?.kind == "timeout")
            #expect(end["signal"]?.string == "SIGKILL")
            #expect(try #require(end["duration"]?.double) >= seconds + 0.3)
            let signals = log.all("step.signal", step: "deaf").compactMap { $0["signal"]?.string }
            #expect(signals.first == "SIGTERM")
            #expect(signals.last == "SIGKILL")
            #expect(log.errors == ["deaf"])
            #expect(log.finished("after")?.outcome == "not-run")
            LogInvariants.check(log, needs: DependencyTable(["after": ["deaf"]]))
            return true
        }
    }

    // A7
    @Test func `a step that ends on TERM within its grace is a timeout all the same`() async throws {
        try await withLongEnoughLimit { limit, _ in
            let test = try FlowrunTest(
                """
                version: 1
                steps:
                  polite:
                    timeout: \(limit)
                    grace: 1000s
                    run: |
                      trap 'echo bye; exit 0' TERM
                          echo > up
                      sleep 9999 & wait
                """)
            let result = try await test.runLogged()
            #expect(test.survivors() == [])
            guard test.exists("up") else { return false }
            result.expect(exit: 1)
            let log = try result.log()
            #expect(log.finished("polite")?.outcome == "timeout")
            #expect(log.finished("polite")?["exit_code"]?.int == 0)
            #expect(log.output(of: "polite") == "bye\n")
            LogInvariants.check(log)
            return true
        }
    }

    @Test func `the first signal is the one the step asks for`() async throws {
        try await withLongEnoughLimit { limit, _ in
            let test = try FlowrunTest(
                """
                version: 1
                defaults: { kill-signal: USR1 }
                steps:
                  own: { kill-signal: INT, timeout: \(limit), run: [sh, -c, "trap 'echo INT; exit 1' INT; echo > int; sleep 9999 & wait"] }
                  given: { timeout: \(limit), run: "trap 'echo USR1; exit 1' USR1; echo > usr1; sleep 9999 & wait" }
                """)
            let result = try await test.runLogged()
            result.expect(exit: 1)
            guard test.exists("int"), test.exists("usr1") else { return false }
            let log = try result.log()
            #expect(log.output(of: "own") == "INT\n")
            #expect(log.output(of: "given") == "USR1\n")
            #expect(log.all("step.signal", step: "own").first?["signal"]?.string == "SIGINT")
            #expect(test.survivors() == [])
            LogInvariants.check(log)
            return true
        }
    }

    @Test func `a stopped step is timed out like any other`() async throws {
        try await withLongEnoughLimit { limit, _ in
            let test = try FlowrunTest(
                """
                version: 1
                steps:
                  stopped: { timeout: \(limit), grace: 1000s, run: echo > up; kill -STOP $$ }
                """)
            let result = try await test.runLogged()
            guard test.exists("up") else { return false }
            result.expect(exit: 1)
            #expect(try result.log().finished("stopped")?.outcome == "timeout")
            #expect(test.survivors() == [])
            return true
        }
    }

    // C9
    @Test func `a group's timeout cancels its members and is an error of its own`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              group:
                timeout: 300ms
                steps:
                  runs: { run: sleep 9999 }
                  waits: { needs: [runs], run: "true" }
              after: { needs: [group], run: "true" }
              beside: { run: "true" }
            """)
        let result = try await test.runLogged()
        result.expect(exit: 1)
        let log = try result.log()
        #expect(
            log.outcomes == [
                "group.runs": "cancelled", "group.waits": "cancelled", "after": "not-run", "beside": "success",
            ])
        #expect(log.first("group.finished", group: "group")?.outcome == "timeout")
        #expect(log.errors == ["group"])
        #expect(log.finished("group.runs")?.cause?.kind == "timeout")
        #expect(log.finished("group.runs")?.cause?.root["group"]?.string == "group")
        #expect(test.survivors() == [])
        LogInvariants.check(log)
    }

    @Test(arguments: [false, true])
    func `the run's own timeout ends everything with 124`(onCommandLine: Bool) async throws {
        try await withLongEnoughLimit { limit, _ in
            let test = try FlowrunTest(
                """
                version: 1
                \(onCommandLine ? "" : "timeout: \(limit)")
                steps:
                  runs: { run: sleep 9999 }
                  failed: { run: "false" }
                  waits: { needs: [runs], run: "true" }
                """)
            let options = onCommandLine ? ["--timeout", limit] : []
            let result = try await test.start(["run", "workflow.yml", "--log", "json"] + options).finish()
            result.expect(exit: 124)
            let log = try result.log()
            guard log.outcomes["failed"] == "failure" else { return false }
            #expect(log.outcomes == ["runs": "cancelled", "failed": "failure", "waits": "cancelled"])
            #expect(log.errors.contains("run"))
            #expect(log.finished("runs")?.cause?.kind == "timeout")
            #expect(test.survivors() == [])
            LogInvariants.check(log)
            return true
        }
    }

    @Test func `a step's limit ends with its first process, not with what that leaves behind`() async throws {
        try await withLongEnoughLimit(from: 1000) { limit, _ in
            let test = try FlowrunTest(
                """
                version: 1
                steps:
                  good: { timeout: \(limit), run: 'sleep 9999 & exit 0' }
                  bad: { timeout: \(limit), run: 'sleep 9999 & exit 3' }
                """)
            let result = try await test.runLogged()
            let log = try result.log()
            // The first process itself was stopped.
            guard ["good", "bad"].allSatisfy({ log.finished($0)?["signal"]?.string == nil }) else { return false }
            #expect(log.outcomes == ["good": "success", "bad": "failure"])
            #expect(log.finished("bad")?.cause?.kind == "exit")
            #expect(log.finished("good")?["left_behind"]?.int == 1)
            #expect(test.survivors() == [])
            LogInvariants.check(log)
            return true
        }
    }

    @Test func `what a step runs in other process groups of its session is stopped with it`() async throws {
        try await withLongEnoughLimit { limit, _ in
            let test = try FlowrunTest(
                """
                version: 1
                steps:
                  jobs:
                    timeout: \(limit)
                    grace: 300ms
                    run: |
                      set -m
                      (trap "" TERM; echo > up; sleep 9999; sleep 9999) > /dev/null 2>&1 &
                      sleep 9999
                """)
            let result = try await test.runLogged()
            guard test.exists("up") else { return false }
            #expect(try result.log().outcomes == ["jobs": "timeout"])
            #expect(test.survivors() == [])
            return true
        }
    }
}
