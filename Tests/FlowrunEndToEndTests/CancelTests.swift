import FlowrunTestSupport
import Testing

/// Cancels of one step or group of a live run.
struct CancelTests {
    // C5
    @Test func `a cancelled step keeps its lock until its processes are gone`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              a: { mutex: m, grace: 500ms, run: "trap '' TERM; echo up > a.up; read _ < a.go" }
              b: { mutex: m, run: "true" }
            """)
        let gate = try test.gate("a.go")
        let running = try await test.start("run", "workflow.yml", "--log", "json", "--verbose", "-j", "2")
        try await running.waitForFile("a.up")
        try await test.ask("ctl", "cancel", "a").expect(exit: 0)
        let result = try await running.finish()
        withExtendedLifetime(gate) {}
        result.expect(exit: 1)
        let log = try result.log()
        #expect(log.outcomes == ["a": "cancelled", "b": "success"])
        let signals = log.all("step.signal", step: "a").compactMap { $0["signal"]?.string }
        #expect(signals.first == "SIGTERM" && signals.last == "SIGKILL")
        let told = [
            try #require(log.all("step.signal", step: "a").first),
            try #require(log.all("step.signal", step: "a").last),
            try #require(log.first("step.attempt", step: "a")),
            try #require(log.first("lock.released", step: "a")),
            try #require(log.first("lock.acquired", step: "b")),
            try #require(log.first("step.started", step: "b")),
        ]
        #expect(told.map(\.seq) == told.map(\.seq).sorted())
        #expect(test.survivors() == [])
        LogInvariants.check(log)
    }

    // C7
    @Test func `what waits for a lock is cancelled while another holds it`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              a: { mutex: m, run: "echo up > a.up; read _ < a.go" }
              b: { mutex: m, run: touch ran }
              c: { mutex: m, run: "true" }
            """)
        let gate = try test.gate("a.go")
        let running = try await test.start("run", "workflow.yml", "--log", "json", "--verbose", "-j", "4")
        try await running.waitForFile("a.up")
        try await running.waitForEvent("step.waiting", step: "b")
        try await test.ask("ctl", "cancel", "b").expect(exit: 0)
        try await running.waitForEvent("step.finished", step: "b")
        gate.open()
        let log = try await running.finish().log()
        #expect(log.outcomes == ["a": "success", "b": "cancelled", "c": "success"])
        #expect(try #require(log.finished("b")).seq < #require(log.finished("a")).seq)
        #expect(!test.exists("ran"))
        LogInvariants.check(log)
    }

    // C8
    @Test func `what waits for another attempt is cancelled at once`() async throws {
        let test = try FlowrunTest(
            "version: 1\nsteps: { a: { run: exit 1, retry: { attempts: 3, delay: 1h } } }\n")
        let running = try await test.start("workflow.yml", "--log", "json")
        try await running.waitForEvent("step.retry", step: "a")
        try await test.ask("ctl", "cancel", "a").expect(exit: 0)
        let result = try await running.finish()
        result.expect(exit: 1)
        let log = try result.log()
        #expect(
            log.records.filter { $0.step == "a" && $0.event != "step.cancel_requested" }.map(\.event)
                == ["step.started", "step.attempt", "step.retry", "step.finished"])
        #expect(log.outcomes == ["a": "cancelled"])
        #expect(log.errors == [])
        LogInvariants.check(log)
    }

    // C9
    @Test(arguments: [
        ("SIGINT", "interrupt", "interrupted by SIGINT"), ("ctl", "interrupt", "cancelled by `flowrun ctl`"),
        ("fail-fast", "fail-fast", "ended by `fail-fast`"), ("timeout", "timeout", ""),
    ])
    func `a cancel carries its reason`(source: String, kind: String, message: String) async throws {
        try await withLongEnoughLimit { limit, _ in
            let test = try FlowrunTest(
                """
                version: 1
                steps:
                  g:
                    fail-fast: true
                    \(source == "timeout" ? "timeout: \(limit)" : "name: group")
                    steps:
                      a: { run: "echo up > a.up; read _ < a.go" }
                      bad: { run: "read _ < bad.go; exit 1" }
                """)
            let gates = try ["a.go", "bad.go"].map { try test.gate($0) }
            let running = try await test.start("workflow.yml", "--log", "json", "-j", "2")
            if source != "timeout" { try await running.waitForFile("a.up") }
            switch source {
            case "SIGINT": running.signal(2)
            case "ctl": try await test.ask("ctl", "cancel", "g").expect(exit: 0)
            case "fail-fast": gates[1].open()
            default: break
            }
            let log = try await running.finish().log()
            withExtendedLifetime(gates) {}
            guard test.exists("a.up") else { return false }
            let words = source == "timeout" ? "`g` timed out after \(limit)" : message
            #expect(log.outcomes["g.a"] == "cancelled")
            #expect(log.finished("g.a")?.cause?.kind == kind)
            #expect(log.finished("g.a")?.cause?.message == words)
            let asked = try #require(log.first("step.cancel_requested", step: "g.a"))
            #expect(asked.cause?.kind == kind && asked.cause?.message == words)
            LogInvariants.check(log)
            return true
        }
    }
}
