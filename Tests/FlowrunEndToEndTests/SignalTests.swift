import FlowrunTestSupport
import Glibc
import Testing

/// Signals to flowrun while steps run.
struct SignalTests {
    private static let workflow = """
        version: 1
        steps:
          a: { run: "echo up > a.up; read _ < a.go" }
          group:
            steps:
              b: { run: "echo up > b.up; read _ < b.go" }
              c: { needs: [b], run: "true" }
          d: { needs: [group], run: "true" }
        """

    // C9
    @Test(arguments: [SIGINT, SIGTERM, SIGHUP])
    func `a signal ends every step and then flowrun itself`(signal: Int32) async throws {
        let test = try FlowrunTest(Self.workflow)
        let gates = try [test.gate("a.go"), test.gate("b.go")]
        defer { gates.forEach { $0.open() } }
        let running = try await test.start("run", "workflow.yml", "--log", "json", "-j", "4")
        try await running.waitForFile("a.up")
        try await running.waitForFile("b.up")
        running.signal(signal)
        let result = try await running.finish()
        #expect(test.survivors() == [])
        result.expect(.signalled(signal))
        let log = try result.log()
        LogInvariants.check(log, steps: ["a", "group.b", "group.c", "d"])
        #expect(log.outcomes == ["a": "cancelled", "group.b": "cancelled", "group.c": "cancelled", "d": "cancelled"])
        #expect(log.first("run.cancel_requested") != nil)
        #expect(log.finished("a")?.cause?.root["kind"]?.string == "interrupt")
        #expect(log.runFinished?.outcome == "cancelled")
        for step in ["a", "group.b"] {
            #expect(log.all("step.signal", step: step).first?["signal"]?.string == "SIGTERM")
        }
    }

    // O1
    @Test func `a second interrupt takes the grace away`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            defaults: { grace: 1000s }
            steps:
              deaf: { run: "trap '' TERM; echo up > up; read _ < go" }
            """)
        let gate = try test.gate("go")
        defer { gate.open() }
        let running = try await test.start("run", "workflow.yml", "--log", "json")
        try await running.waitForFile("up")
        running.signal(SIGINT)
        try await running.waitForEvent("step.signal", step: "deaf")
        running.signal(SIGINT)
        let result = try await running.finish()
        #expect(test.survivors() == [])
        result.expect(.signalled(SIGINT))
        let log = try result.log()
        #expect(log.finished("deaf")?["signal"]?.string == "SIGKILL")
        LogInvariants.check(log)
    }

    // D16
    @Test func `a step that fails of its own before the signal keeps its failure`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              failed: { run: exit 3 }
              runs: { needs: { failed: done }, run: "echo up > up; read _ < go" }
            """)
        let gate = try test.gate("go")
        defer { gate.open() }
        let running = try await test.start("run", "workflow.yml", "--log", "json")
        try await running.waitForFile("up")
        running.signal(SIGTERM)
        let result = try await running.finish()
        result.expect(.signalled(SIGTERM))
        let log = try result.log()
        #expect(log.outcomes == ["failed": "failure", "runs": "cancelled"])
        #expect(log.errors == ["failed"])
        LogInvariants.check(log)
    }

    @Test func `many signals do no harm`() async throws {
        let test = try FlowrunTest(Self.workflow)
        let gates = try [test.gate("a.go"), test.gate("b.go")]
        defer { gates.forEach { $0.open() } }
        let running = try await test.start("run", "workflow.yml", "--log", "json", "-j", "4")
        try await running.waitForFile("a.up")
        try await running.waitForFile("b.up")
        for _ in 1...20 {
            for signal in [SIGINT, SIGTERM, SIGHUP] { running.signal(signal) }
        }
        let result = try await running.finish()
        #expect(test.survivors() == [])
        guard case .signalled(let number) = result.status else {
            result.expect(.signalled(SIGINT))
            return
        }
        #expect([SIGINT, SIGTERM, SIGHUP].contains(number))
        LogInvariants.check(try result.log())
    }

    @Test(arguments: ["standard output", "standard output and standard error", "log file"])
    func `a signal is heard while a reader who does not read is waited for`(reader: String) async throws {
        let test = try FlowrunTest(
            "version: 1\nsteps: { loud: { run: seq 1 60000 }, after: { needs: [loud], run: 'echo up > up' } }\n")
        let unread = try test.gate("unread")
        defer { withExtendedLifetime(unread) {} }
        let isOutput = reader != "log file"
        let redirection = reader == "standard output" ? "> unread" : "> unread 2>&1"
        let running = try await test.start(
            ["run", "workflow.yml", "--log", "json"] + (isOutput ? [] : ["--log-file", "unread"]),
            launcher: isOutput ? ["sh", "-c", #"exec "$0" "$@" \#(redirection)"#] : [])
        try await running.waitForFile("up")
        running.signal(SIGTERM)
        try await running.finish().expect(.signalled(SIGTERM))
    }
}
