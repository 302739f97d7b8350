import FlowrunTestSupport
import Glibc
import Testing

/// Signals that end a run.
struct ShutdownTests {
    // O1, K9
    @Test func `the first signal stops gently, the end of the grace does not`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            defaults: { grace: 300ms }
            steps:
              deaf: { run: "trap '' TERM; echo > up; read _ < go" }
              polite: { run: "trap 'echo bye; exit 0' TERM; echo > polite.up; sleep 9999 & wait" }
            """)
        let gate = try test.gate("go")
        let running = try await test.start("run", "workflow.yml", "--log", "json", "-j", "2")
        try await running.waitForFile("up")
        try await running.waitForFile("polite.up")
        running.signal(SIGINT)
        let result = try await running.finish()
        withExtendedLifetime(gate) {}
        result.expect(.signalled(SIGINT))
        let log = try result.log()
        let signals = { step in log.all("step.signal", step: step).compactMap { $0["signal"]?.string } }
        #expect(signals("deaf").first == "SIGTERM" && signals("deaf").last == "SIGKILL")
        #expect(log.finished("deaf")?["signal"]?.string == "SIGKILL")
        #expect(log.finished("polite")?["exit_code"]?.int == 0)
        #expect(log.output(of: "polite") == "bye\n")
        #expect(log.outcomes == ["deaf": "cancelled", "polite": "cancelled"])
        LogInvariants.check(log)
        #expect(test.survivors() == [])
    }

    // O2
    @Test(arguments: [("TERM", SIGTERM), ("INT", SIGINT)])
    func `a signal before anything runs ends the run without a start`(signal: String, number: Int32) async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              a: { run: touch ran }
              g: { steps: { b: { run: touch ran } } }
            """)
        // Blocked, it is already there when flowrun begins.
        let running = try await test.start(
            ["run", "workflow.yml", "--log", "json"],
            launcher: [
                "env", "--block-signal=\(signal)", "sh", "-c", #"kill -\#(signal) $$; exec "$0" "$@""#,
            ])
        let result = try await running.finish()
        result.expect(.signalled(number))
        let log = try result.log()
        #expect(log.startOrder.isEmpty)
        #expect(log.outcomes == ["a": "cancelled", "g.b": "cancelled"])
        #expect(log.runFinished?.outcome == "cancelled")
        #expect(!test.exists("ran"))
        LogInvariants.check(log, steps: ["a", "g.b"])
    }

    // O3, D16
    @Test func `an error while stopping does not replace the first`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              first: { run: exit 3 }
              runs: { needs: { first: done }, run: echo > up; sleep 9999 }
            finally:
              clean: { run: exit 4 }
            """)
        let running = try await test.start("run", "workflow.yml", "--log", "json")
        try await running.waitForFile("up")
        running.signal(SIGINT)
        let result = try await running.finish()
        result.expect(.signalled(SIGINT))
        let log = try result.log()
        #expect(log.errors == ["first", "finally.clean"])
        #expect(log.outcomes == ["first": "failure", "runs": "cancelled", "finally.clean": "failure"])
        #expect(log.runFinished?.outcome == "failure")
        LogInvariants.check(log)
    }

    @Test func `hashing a file without an end holds up neither other steps nor a signal`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              condition: { if: hashFiles('endless') != '', run: "true" }
              list: { for-each: "${{ fromJSON(hashFiles('endless')) }}", run: "true" }
              argument: { run: [echo, "${{ hashFiles('endless') }}"] }
              group: { outputs: { hash: "${{ hashFiles('endless') }}" }, steps: { inside: { run: "true" } } }
              first: { run: "true" }
              second: { needs: [first], run: "true" }
            """, files: ["endless": ""])
        // Of holes, as many as the file system takes: hours of reading.
        let isEndless = (40...62).reversed().contains { truncate(test.path("endless"), 1 << $0) == 0 }
        #expect(isEndless)
        let running = try await test.start("run", "workflow.yml", "--log", "json", "-j", "4")
        try await running.waitForEvent("step.finished", step: "second")
        try await running.waitForEvent("step.finished", step: "group.inside")
        running.signal(SIGTERM)
        let result = try await running.finish()
        result.expect(.signalled(SIGTERM))
        let log = try result.log()
        #expect(
            log.outcomes == [
                "condition": "cancelled", "argument": "cancelled", "group.inside": "success", "first": "success",
                "second": "success",
            ])
        #expect(log.finished("argument")?["attempt"]?.int == 0)
        LogInvariants.check(log)
    }
}
