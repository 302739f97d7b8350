import FlowrunTestSupport
import Testing

/// `finally` and `on-failure`.
struct HookTests {
    @Test func `finally runs after a success and on-failure does not`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps: { a: { run: echo body >> order } }
            on-failure: { mend: { run: echo mend >> order } }
            finally: { report: { run: 'echo "report $OUTCOME" >> order', env: { OUTCOME: "${{ run.outcome }}" } } }
            """)
        let result = try await test.runLogged()
        result.expect(exit: 0)
        let log = try result.log()
        #expect(
            log.outcomes == ["a": "success", "on-failure.mend": "skipped", "finally.report": "success"])
        #expect(try test.contents(of: "order") == "body\nreport success\n")
        LogInvariants.check(log)
    }

    // O3
    @Test func `on-failure runs before finally, and neither hides the first error`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              a: { run: echo body >> order; exit 3 }
              g:
                needs: { a: failure }
                steps: { in: { run: exit 4 } }
                finally: { clean: { run: echo clean >> order; exit 5 } }
            on-failure: { mend: { run: echo mend >> order } }
            finally: { report: { run: 'echo "report $OUTCOME" >> order; exit 6', env: { OUTCOME: "${{ run.outcome }}" } } }
            """)
        let result = try await test.runLogged()
        result.expect(exit: 1)
        let log = try result.log()
        #expect(try test.contents(of: "order") == "body\nclean\nmend\nreport failure\n")
        #expect(log.errors == ["a", "g.in", "g.finally.clean", "finally.report"])
        LogInvariants.check(log)
    }

    @Test func `finally runs on a timeout of the run, within a limit of its own`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            timeout: 300ms
            defaults: { grace: 0s }
            steps: { a: { run: sleep 9999 }, b: { needs: [a], run: "true" } }
            finally: { report: { timeout: 1m, run: 'echo "$OUTCOME" > outcome', env: { OUTCOME: "${{ run.outcome }}" } } }
            """)
        let result = try await test.runLogged()
        result.expect(exit: 124)
        let log = try result.log()
        #expect(log.outcomes == ["a": "cancelled", "b": "cancelled", "finally.report": "success"])
        #expect(try test.contents(of: "outcome") == "timeout\n")
        LogInvariants.check(log)
    }

    @Test func `the first Ctrl-C lets finally run, the second one does not`() async throws {
        let text = """
            version: 1
            steps: { a: { run: touch a.up; sleep 9999 } }
            finally: { report: { run: 'echo "$OUTCOME" > outcome; touch f.up; read _ < gate', env: { OUTCOME: "${{ run.outcome }}" } } }
            """
        let first = try FlowrunTest(text)
        let gate = try first.gate("gate")
        let running = try await first.start("workflow.yml", "--log", "json")
        try await running.waitForFile("a.up")
        running.signal(2)
        try await running.waitForFile("f.up")
        gate.open()
        let result = try await running.finish()
        result.expect(.signalled(2))
        #expect(try first.contents(of: "outcome") == "cancelled\n")
        #expect(try result.log().outcomes == ["a": "cancelled", "finally.report": "success"])
        LogInvariants.check(try result.log())

        let second = try FlowrunTest(text)
        let held = try second.gate("gate")
        let again = try await second.start("workflow.yml", "--log", "json")
        try await again.waitForFile("a.up")
        again.signal(2)
        try await again.waitForFile("f.up")
        again.signal(2)
        let ended = try await again.finish()
        withExtendedLifetime(held) {}
        ended.expect(.signalled(2))
        #expect(try ended.log().outcomes == ["a": "cancelled", "finally.report": "cancelled"])
        LogInvariants.check(try ended.log())
        #expect(second.survivors().isEmpty)
    }

    @Test func `hooks see the results of the body`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              a: { run: 'echo v=7 >> "$FLOWRUN_OUTPUT"', outputs: { v: int } }
              b: { run: exit 1 }
            finally:
              show: { run: [printf, "%s|", "${{ steps.a.outputs.v ?? 0 }}", "${{ steps.b.outcome }}"] }
              failed: { if: failure(), run: "true" }
              fine: { if: success(), run: "true" }
              last: { needs: [show], run: "true" }
            """)
        let result = try await test.runLogged()
        result.expect(exit: 1)
        let log = try result.log()
        #expect(log.output(of: "finally.show") == "7|failure|")
        #expect(log.outcomes["finally.failed"] == "success" && log.outcomes["finally.fine"] == "skipped")
        LogInvariants.check(log, needs: DependencyTable(["finally.last": ["finally.show"]]))
    }

    @Test func `finally knows that something outside ruled a member out`() async throws {
        let log = try await FlowrunTest(
            """
            version: 1
            steps:
              x: { run: exit 1 }
              g:
                steps:
                  a: { needs: [x], run: 'true' }
                  b: { run: 'true' }
                finally:
                  all-ran: { if: success(), run: 'true' }
                  failed: { if: failure(), run: 'true' }
                  not-all-ran: { if: "!success()", run: 'true' }
            """
        ).runLogged().log()
        #expect(log.outcomes["g.a"] == "not-run" && log.outcomes["g.b"] == "success")
        #expect(log.outcomes["g.finally.all-ran"] == "skipped" && log.outcomes["g.finally.failed"] == "skipped")
        #expect(log.outcomes["g.finally.not-all-ran"] == "success")
    }

    // O2
    @Test func `an interrupt before anything has started runs nothing, not even finally`() async throws {
        let test = try FlowrunTest(
            "version: 1\nsteps: { a: { run: 'true' } }\nfinally: { clean: { run: 'true' } }\n")
        let running = try await test.start("workflow.yml", "--log", "json", "--paused")
        try await running.waitForEvent("run.paused")
        running.signal(2)
        let result = try await running.finish()
        result.expect(.signalled(2))
        let log = try result.log()
        #expect(log.outcomes == ["a": "cancelled", "finally.clean": "cancelled"])
        #expect(log.all("step.started").isEmpty)
        LogInvariants.check(log)
    }

    @Test func `what a cancelled group does at its end can be cancelled too`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              g:
                steps: { a: { run: sleep 9999 } }
                finally: { clean: { run: sleep 9999 } }
            """)
        let running = try await test.start("workflow.yml", "--log", "json")
        try await running.waitForEvent("step.started", step: "g.a")
        try await test.ask("ctl", "cancel", "g").expect(exit: 0, stdout: "cancelling `g`\n")
        try await running.waitForEvent("step.started", step: "g.finally.clean")
        try await test.ask("ctl", "cancel", "g.finally").expect(exit: 0, stdout: "cancelling `g.finally`\n")
        let log = try await running.finish().log()
        #expect(log.outcomes == ["g.a": "cancelled", "g.finally.clean": "cancelled"])
        LogInvariants.check(log)
    }

    @Test func `a second interrupt is told of before it is carried out`() async throws {
        let test = try FlowrunTest(
            "version: 1\nsteps: { a: { run: sleep 9999 } }\nfinally: { clean: { run: sleep 9999 } }\n")
        let running = try await test.start("workflow.yml", "--log", "json")
        try await running.waitForEvent("step.started", step: "a")
        running.signal(2)
        try await running.waitForEvent("step.started", step: "finally.clean")
        running.signal(2)
        let result = try await running.finish()
        result.expect(.signalled(2))
        let events = try result.log().records.filter { $0.step == "finally.clean" }.map(\.event)
        #expect(
            events == [
                "step.undoes", "step.started", "step.cancel_requested", "step.signal", "step.attempt", "step.finished",
            ])
    }
}
