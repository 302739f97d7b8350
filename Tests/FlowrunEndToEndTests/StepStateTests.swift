import FlowrunTestSupport
import Testing

/// The states of a step and its one end.
struct StepStateTests {
    // A2
    @Test func `a step is ready, starts, ends its attempt and finishes, each once and in this order`() async throws {
        let test = try FlowrunTest("version: 1\nsteps: { a: { run: 'true' } }\n")
        let result = try await test.runLogged("--verbose")
        result.expect(exit: 0)
        let log = try result.log()
        let events = log.records.filter { $0.step == "a" }.map(\.event)
        #expect(events == ["step.ready", "step.started", "step.attempt", "step.finished"])
        LogInvariants.check(log, steps: ["a"])
    }

    // A3
    @Test func `a step runs until its work is over, and what needs it waits as long`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              a: { run: "echo up > a.up; read _ < a.go; echo over > a.over" }
              b: { needs: [a], run: "test -e a.over" }
              beside: { run: "true" }
            """)
        let gate = try test.gate("a.go")
        let running = try await test.start("run", "workflow.yml", "--log", "json", "-j", "4")
        try await running.waitForFile("a.up")
        try await running.waitForEvent("step.finished", step: "beside")
        gate.open()
        let result = try await running.finish()
        result.expect(exit: 0)
        let log = try result.log()
        LogInvariants.check(log, needs: ["b": ["a": .ok]], steps: ["a", "b", "beside"])
    }

    // A4
    @Test func `work without an end runs until its limit`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps: { a: { timeout: 1s, run: "read _ < a.go" } }
            """)
        let gate = try test.gate("a.go")
        let result = try await test.runLogged()
        withExtendedLifetime(gate) {}
        result.expect(exit: 1)
        #expect(result.duration >= .seconds(1))
        let log = try result.log()
        let events = log.records.filter { $0.step == "a" && $0.event != "step.signal" }.map(\.event)
        #expect(events == ["step.started", "step.cancel_requested", "step.attempt", "step.finished"])
        #expect(log.outcomes == ["a": "timeout"])
        #expect(test.survivors() == [])
        LogInvariants.check(log)
    }
}
