import FlowrunTestSupport
import Foundation
import Glibc
import Testing

/// TSTP and CONT, as Ctrl-Z and `fg` of a shell send them.
struct JobControlTests {
    private static let held = "version: 1\nsteps: { a: { run: 'echo up > up; read _ < go' } }\n"

    @Test func `TSTP stops the steps and then flowrun, CONT lets both go on`() async throws {
        let test = try FlowrunTest(Self.held)
        let gate = try test.gate("go")
        defer { gate.open() }
        let running = try await test.start("workflow.yml", "--log", "json")
        try await running.waitForFile("up")
        let pid = try #require(try await running.waitForEvent("step.started", step: "a")["pid"]?.int)
        for _ in 1...2 {
            running.signal(SIGTSTP)
            try await running.waitUntilStopped()
            try await StepProcess(pid).waitForState("T")
            running.signal(SIGCONT)
            try await running.waitForEvent("run.resumed")
        }
        gate.open()
        let result = try await running.finish()
        result.expect(exit: 0)
        let log = try result.log()
        LogInvariants.check(log)
        let wanted = ["run.paused", "step.signal", "step.signal", "run.resumed"]
        #expect(log.records.map(\.event).filter(wanted.contains) == wanted + wanted)
        #expect(log.all("step.signal").map { $0["signal"]?.string } == ["SIGSTOP", "SIGCONT", "SIGSTOP", "SIGCONT"])
        #expect(log.first("run.paused")?["source"]?.string == "SIGTSTP")
        #expect(log.first("run.resumed")?["source"]?.string == "SIGCONT")
    }

    @Test func `a CONT that comes while flowrun is about to stop is not lost`() async throws {
        let test = try FlowrunTest(Self.held)
        let gate = try test.gate("go")
        defer { gate.open() }
        let running = try await test.start("workflow.yml", "--log", "json")
        try await running.waitForFile("up")
        // Two records at the start, then four for each time.
        for round in 0..<30 {
            running.signal(SIGTSTP)
            try await running.waitForRecords(2 + 4 * round + 1)
            running.signal(SIGCONT)
            try await running.waitForRecords(2 + 4 * (round + 1))
        }
        gate.open()
        try await running.finish().expect(exit: 0)
    }

    @Test func `no limit of time comes nearer while flowrun is stopped`() async throws {
        try await withLongEnoughLimit { limit, seconds in
            let test = try FlowrunTest(
                """
                version: 1
                steps:
                  group:
                    timeout: \(limit)
                    steps: { a: { timeout: \(limit), run: "echo up > up; read _ < go" } }
                """)
            let gate = try test.gate("go")
            defer { gate.open() }
            let running = try await test.start("workflow.yml", "--log", "json")
            guard (try? await running.waitForFile("up")) != nil else { return false }
            running.signal(SIGTSTP)
            guard (try? await running.waitUntilStopped()) != nil else { return false }
            // Longer than the limits: time has to pass, and nothing but time.
            let longer = ["sh", "-c", "exec sleep \(seconds + 0.2)"]
            try await test.startBeside([], launcher: longer).finish().expect(exit: 0)
            running.signal(SIGCONT)
            gate.open()
            let result = try await running.finish()
            let log = try result.log()
            // The limit came before flowrun was stopped, or so long after it went on.
            let isSlow = log.outcomes["group.a"] != "success" && log.unpausedTime(of: "group.a") ?? 0 > seconds * 0.9
            guard !isSlow else { return false }
            result.expect(exit: 0)
            #expect(log.outcomes == ["group.a": "success"])
            return true
        }
    }

    @Test func `TSTP stays ignored where it was ignored at the start`() async throws {
        let test = try FlowrunTest(Self.held)
        let gate = try test.gate("go")
        defer { gate.open() }
        let running = try await test.start(
            "workflow.yml", "--log", "json", launcher: ["sh", "-c", #"trap '' TSTP; exec "$0" "$@""#])
        try await running.waitForFile("up")
        running.signal(SIGTSTP)
        try await test.ask("ctl", "status").expect(exit: 0)
        gate.open()
        let result = try await running.finish()
        result.expect(exit: 0)
        #expect(try result.log().first("run.paused") == nil)
    }

    @Test func `an interrupt of a stopped run is heard when it goes on`() async throws {
        let test = try FlowrunTest(Self.held)
        let gate = try test.gate("go")
        defer { gate.open() }
        let running = try await test.start("workflow.yml", "--log", "json")
        try await running.waitForFile("up")
        running.signal(SIGTSTP)
        try await running.waitUntilStopped()
        running.signal(SIGINT)
        running.signal(SIGCONT)
        let result = try await running.finish()
        result.expect(.signalled(SIGINT))
        #expect(try result.log().outcomes == ["a": "cancelled"])
        #expect(test.survivors() == [])
    }

    @Test func `a stopped run does not answer, and whoever asks is told so`() async throws {
        let test = try FlowrunTest(Self.held)
        let gate = try test.gate("go")
        defer { gate.open() }
        let running = try await test.start("workflow.yml", "--log", "json")
        try await running.waitForFile("up")
        running.signal(SIGTSTP)
        try await running.waitUntilStopped()
        let asked = try await test.ask("ctl", "status")
        asked.expect(exit: 1, stdout: "")
        asked.expect(stderr: "does not answer; it may be stopped, as by Ctrl-Z")
        running.signal(SIGCONT)
        gate.open()
        try await running.finish().expect(exit: 0)
    }
}
