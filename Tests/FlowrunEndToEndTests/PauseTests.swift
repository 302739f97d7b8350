import FlowrunTestSupport
import Foundation
import Glibc
import Testing

/// Pause and resume of a live run.
struct PauseTests {
    private static let held = "'echo up > up; read _ < go'"

    private func start(_ test: FlowrunTest, _ options: String...) async throws -> RunningFlowrun {
        try await test.start(["run", "workflow.yml", "--log", "json", "-j", "4"] + options)
    }

    private func status(_ test: FlowrunTest) async throws -> JSONValue {
        let answer = try await test.ask("ctl", "status", "--format", "json")
        answer.expect(exit: 0)
        return try JSONDecoder().decode(JSONValue.self, from: Data(answer.stdout.utf8))
    }

    // B5, J1
    @Test func `a run that starts paused starts nothing until it is resumed, not even what is cancelled before`()
        async throws
    {
        let test = try FlowrunTest(
            "version: 1\nsteps: { a: { run: 'true' }, b: { run: 'true' }, c: { needs: [b], run: 'true' } }\n")
        let running = try await start(test, "--paused")
        try await running.waitForEvent("run.paused")
        #expect(try await status(test)["paused"]?.bool == true)
        try await test.ask("ctl", "cancel", "a").expect(exit: 0, stdout: "cancelling `a`\n")
        try await running.waitForEvent("step.finished", step: "a")
        #expect(try await status(test)["waiting"]?.strings == ["b", "c"])
        try await test.ask("ctl", "resume").expect(exit: 0, stdout: "resumed\n")
        let result = try await running.finish()
        result.expect(exit: 1)
        let log = try result.log()
        LogInvariants.check(log, steps: ["a", "b", "c"])
        #expect(log.startOrder == ["b", "c"])
        #expect(log.outcomes["a"] == "cancelled")
        #expect(log.first("run.paused")?["source"]?.string == "--paused")
        #expect(log.first("run.resumed")?["source"]?.string == "ctl")
        let resumed = try #require(log.first("run.resumed"))
        #expect(log.all("step.started").allSatisfy { $0.seq > resumed.seq })
    }

    // D5
    @Test func `a group cancelled before its start ends cancelled with all its members`() async throws {
        let test = try FlowrunTest(
            "version: 1\nsteps: { g: { steps: { a: { run: 'true' }, h: { steps: { b: { run: 'true' } } } } } }\n")
        let running = try await start(test, "--paused")
        try await running.waitForEvent("run.paused")
        try await test.ask("ctl", "cancel", "g").expect(exit: 0)
        let result = try await running.finish()
        let log = try result.log()
        LogInvariants.check(log, steps: ["g.a", "g.h.b"])
        #expect(log.outcomes == ["g.a": "cancelled", "g.h.b": "cancelled"])
        #expect(log.all("step.started").isEmpty)
        #expect(log.first("group.finished", group: "g")?.outcome == "cancelled")
    }

    // D18, J2
    @Test func `a pause lets what runs end, and starts nothing`() async throws {
        let test = try FlowrunTest(
            "version: 1\nsteps: { g: { steps: { a: { run: \(Self.held) }, b: { needs: [a], run: 'true' } } } }\n")
        let gate = try test.gate("go")
        defer { gate.open() }
        let running = try await start(test)
        try await running.waitForFile("up")
        try await test.ask("ctl", "pause").expect(exit: 0, stdout: "paused\n")
        try await running.waitForEvent("run.paused")
        gate.open()
        try await running.waitForEvent("step.finished", step: "g.a")
        // Asked after that end, so that a start of `b` would be seen.
        #expect(try await status(test)["waiting"]?.strings == ["g.b"])
        try await test.ask("ctl", "resume").expect(exit: 0)
        let result = try await running.finish()
        result.expect(exit: 0)
        let log = try result.log()
        LogInvariants.check(log, needs: ["g.b": ["g.a": .ok]], steps: ["g.a", "g.b"])
        let resumed = try #require(log.first("run.resumed"))
        #expect(try #require(log.first("step.started", step: "g.b")).seq > resumed.seq)
    }

    // J6
    @Test func `pausing or resuming twice is one event and says so`() async throws {
        let test = try FlowrunTest("version: 1\nsteps: { a: { run: \(Self.held) } }\n")
        let gate = try test.gate("go")
        defer { gate.open() }
        let running = try await start(test)
        try await running.waitForFile("up")
        try await test.ask("ctl", "resume").expect(exit: 0, stdout: "not paused\n")
        for answer in ["paused", "paused already"] {
            try await test.ask("ctl", "pause").expect(exit: 0, stdout: "\(answer)\n")
        }
        for answer in ["resumed", "not paused"] {
            try await test.ask("ctl", "resume").expect(exit: 0, stdout: "\(answer)\n")
        }
        gate.open()
        let log = try await running.finish().log()
        #expect(log.all("run.paused").count == 1)
        #expect(log.all("run.resumed").count == 1)
    }

    // J7
    @Test(arguments: ["ctl", "SIGTERM"])
    func `a paused run that is cancelled ends without being resumed first`(by: String) async throws {
        let test = try FlowrunTest("version: 1\nsteps: { a: { run: 'true' }, b: { needs: [a], run: 'true' } }\n")
        let running = try await start(test, "--paused")
        try await running.waitForEvent("run.paused")
        if by == "ctl" { try await test.ask("ctl", "cancel").expect(exit: 0) } else { running.signal(SIGTERM) }
        let result = try await running.finish()
        result.expect(by == "ctl" ? .exited(130) : .signalled(SIGTERM))
        let log = try result.log()
        LogInvariants.check(log, steps: ["a", "b"])
        #expect(log.outcomes == ["a": "cancelled", "b": "cancelled"])
        #expect(log.all("step.started").isEmpty)
        #expect(log.first("run.cancel_requested")?["source"]?.string == by)
        #expect(log.runFinished?.outcome == "cancelled")
    }

    // J8
    @Test func `the run's own limit stands still while it is paused`() async throws {
        let test = try FlowrunTest("version: 1\ntimeout: 300ms\nsteps: { a: { run: 'true' } }\n")
        let running = try await start(test, "--paused")
        try await running.waitForEvent("run.paused")
        while try await status(test)["elapsed"]?.double ?? 0 < 0.6 {}
        #expect(try await status(test)["waiting"]?.strings == ["a"])
        #expect(try await status(test)["stopping"]?.bool == false)
        running.signal(SIGINT)
        #expect(try await running.finish().log().first("run.cancel_requested")?["source"]?.string == "SIGINT")
    }

    // J4
    @Test func `pause --stop stops what runs where it is, resume lets it go on`() async throws {
        let test = try FlowrunTest("version: 1\nsteps: { a: { run: \(Self.held) }, b: { needs: [a], run: 'true' } }\n")
        let gate = try test.gate("go")
        defer { gate.open() }
        let running = try await start(test)
        try await running.waitForFile("up")
        let pid = try #require(try await running.waitForEvent("step.started", step: "a")["pid"]?.int)
        try await test.ask("ctl", "pause", "--stop").expect(exit: 0)
        try await StepProcess(pid).waitForState("T")
        gate.open()
        let frozen = try await status(test)
        #expect(frozen["running"]?[0]?["state"] == .string("frozen"))
        try await test.ask("ctl", "resume").expect(exit: 0)
        let result = try await running.finish()
        result.expect(exit: 0)
        let log = try result.log()
        LogInvariants.check(log)
        #expect(log.all("step.signal", step: "a").map { $0["signal"]?.string } == ["SIGSTOP", "SIGCONT"])
        #expect(log.outcomes == ["a": "success", "b": "success"])
    }

    /// Freezes the step of a run once it is up; nil where the step, or the run, has ended before.
    private func pauseFrozen(_ running: RunningFlowrun, of test: FlowrunTest) async throws -> Double? {
        guard (try? await running.waitForFile("up")) != nil,
            try await test.ask("ctl", "pause", "--stop").status == .exited(0)
        else { return nil }
        let answer = try await test.ask("ctl", "status", "--format", "json")
        let status = try? JSONDecoder().decode(JSONValue.self, from: Data(answer.stdout.utf8))
        guard status?["running"]?[0]?["state"] == .string("frozen") else {
            running.signal(SIGKILL)
            return nil
        }
        return status?["elapsed"]?.double
    }

    @Test func `the limits of frozen steps stand still`() async throws {
        try await withLongEnoughLimit { limit, seconds in
            let test = try FlowrunTest("version: 1\nsteps: { a: { timeout: \(limit), run: \(Self.held) } }\n")
            let gate = try test.gate("go")
            defer { gate.open() }
            let running = try await start(test)
            // Otherwise the limit came before the pause.
            guard let frozenAt = try await pauseFrozen(running, of: test) else { return false }
            let over = frozenAt + seconds + 0.1
            while try await status(test)["elapsed"]?.double ?? 0 < over {}
            try await test.ask("ctl", "resume").expect(exit: 0)
            gate.open()
            let result = try await running.finish()
            let log = try result.log()
            // The limit came so long after the freeze.
            guard log.outcomes["a"] == "success" || log.unpausedTime(of: "a") ?? 0 < seconds * 0.9 else { return false }
            result.expect(exit: 0)
            return true
        }
    }

    // K1, J4
    @Test func `a limit that stood still goes on after the freeze`() async throws {
        try await withLongEnoughLimit { limit, seconds in
            let test = try FlowrunTest("version: 1\nsteps: { a: { timeout: \(limit), run: \(Self.held) } }\n")
            let gate = try test.gate("go")
            defer { gate.open() }
            let running = try await start(test)
            // Otherwise the limit came before the pause.
            guard let frozenAt = try await pauseFrozen(running, of: test) else { return false }
            let over = frozenAt + seconds + 0.1
            while try await status(test)["elapsed"]?.double ?? 0 < over {}
            try await test.ask("ctl", "resume").expect(exit: 0)
            let result = try await running.finish()
            result.expect(exit: 1)
            #expect(try result.log().outcomes == ["a": "timeout"])
            return true
        }
    }

    @Test func `a frozen step that is cancelled hears of it`() async throws {
        let test = try FlowrunTest(
            "version: 1\nsteps: { a: { run: \"trap 'echo > told; exit' TERM; echo up > up; read _ < go\" } }\n")
        let gate = try test.gate("go")
        defer { gate.open() }
        let running = try await start(test)
        try await running.waitForFile("up")
        let pid = try #require(try await running.waitForEvent("step.started", step: "a")["pid"]?.int)
        try await test.ask("ctl", "pause", "--stop").expect(exit: 0)
        try await StepProcess(pid).waitForState("T")
        try await test.ask("ctl", "cancel").expect(exit: 0)
        try await running.finish().expect(exit: 130)
        #expect(test.exists("told"))
    }

    @Test func `the status of a paused run says when that is, not how long it has been paused`() async throws {
        let test = try FlowrunTest("version: 1\nsteps: { a: { run: 'true' } }\n")
        let running = try await test.start("run", "workflow.yml", "--log", "json", "--paused")
        try await running.waitForEvent("run.paused")
        let status = try await test.ask("ctl", "status")
        status.expect(exit: 0)
        #expect(status.stdout.hasPrefix("workflow.yml: paused, "))
        status.expect(stdout: " after its start, up to ", "  waiting  a\n")
        try await test.ask("ctl", "resume").expect(exit: 0)
        try await running.finish().expect(exit: 0)
    }
}
