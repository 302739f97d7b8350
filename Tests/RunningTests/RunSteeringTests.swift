import FlowrunTestSupport
import Glibc
import Processes
import RunLog
import Running
import Testing

/// Runs that are interrupted, paused, cancelled and asked from outside, without a process and without time.
@Suite(.timeLimit(.minutes(20))) struct RunSteeringTests {
    typealias Behaviour = FakeSpawner.Behaviour

    init() { EventLoopThread.ensureRunning() }

    @Test @EventLoopActor func `Ctrl-C cancels what runs, finally has its time, a second one takes it away`() throws {
        let run = try VirtualRun(
            "steps: { a: { run: x, grace: 60s } }\nfinally: { clean: { run: x } }"
        ) { _, _ in Behaviour(duration: .seconds(1000), isDeaf: true) }
        run.at(.seconds(10)) { run.runner.interrupt(by: SIGINT) }
        run.at(.seconds(20)) { run.runner.interrupt(by: SIGINT) }
        try run.run()
        #expect(run.runner.signal == SIGINT)
        #expect(
            run.lines(of: "a") == [
                "0 started a", "10 cancelling a", "10 sent a SIGTERM", "20 sent a SIGKILL", "20 finished a cancelled",
            ])
        #expect(run.outcome(of: "finally.clean") == .cancelled)
        #expect(run.causes(of: "a") == ["interrupted by SIGINT"])
    }

    @Test @EventLoopActor func `nothing starts while the log's reader is far behind, and no limit of it runs`() throws {
        var isBehind = true
        let run = try VirtualRun("steps: { a: { run: x, timeout: 2s }, b: { run: x } }", mayTakeOutput: { !isBehind })
        run.at(.seconds(10)) { isBehind = false }
        try run.run()
        #expect(run.lines(of: "a") == ["10 started a", "11 finished a success"])
        #expect(run.lines(of: "b") == ["10 started b", "11 finished b success"])
    }

    @Test @EventLoopActor func `what has not started for the log's reader ends with the run`() throws {
        let run = try VirtualRun("timeout: 5s\nsteps: { a: { run: x } }", mayTakeOutput: { false })
        try run.run()
        #expect(
            run.lines == [
                "5 cancelling run timeout", "5 cancelling a", "5 finished a cancelled", "5 finished run timeout",
            ])
        #expect(run.spawner.commands.isEmpty)
    }

    @Test @EventLoopActor func `finally runs to its end after one Ctrl-C`() throws {
        let run = try VirtualRun("steps: { a: { run: x } }\nfinally: { clean: { run: x } }") { step, _ in
            Behaviour(duration: .seconds(step == "a" ? 1000 : 5))
        }
        run.at(.seconds(10)) { run.runner.interrupt(by: SIGTERM) }
        try run.run()
        #expect(run.outcome(of: "a") == .cancelled && run.outcome(of: "finally.clean") == .success)
        #expect(run.clock.elapsed == .seconds(15))
    }

    @Test @EventLoopActor func `a signal before the start lets nothing start`() throws {
        let run = try VirtualRun("steps: { a: { run: x }, b: { run: x, if: \"1 < 2\" } }")
        run.runner.interrupt(by: SIGINT)
        try run.run()
        #expect(run.spawner.commands.isEmpty)
        #expect(run.outcome(of: "a") == .cancelled && run.outcome(of: "b") == .cancelled)
    }

    @Test @EventLoopActor func `a signal before the start leaves hooks to run`() throws {
        let run = try VirtualRun(
            """
            steps:
              g: { steps: { a: { run: x } }, finally: { down: { run: x } } }
            finally: { clean: { run: x } }
            """)
        run.runner.interrupt(by: SIGINT)
        try run.run()
        #expect(run.outcome(of: "g.a") == .cancelled)
        #expect(run.outcome(of: "g.finally.down") == .success && run.outcome(of: "finally.clean") == .success)
        #expect(run.spawner.commands.count == 2)
    }

    @Test @EventLoopActor func `a pause starts nothing new, and a resume goes on where it was`() throws {
        let run = try VirtualRun("steps: { a: { run: x }, b: { run: x, needs: [a] } }")
        run.at(.milliseconds(500)) { #expect(run.runner.pause(by: "ctl")) }
        run.at(.seconds(100)) { #expect(run.runner.resume(by: "ctl")) }
        #expect(try run.run().outcome == .success)
        #expect(
            run.lines == [
                "0 started a", "0.5 paused run ctl", "1 finished a success", "100 resumed run ctl", "100 started b",
                "101 finished b success", "101 finished run success",
            ])
    }

    @Test @EventLoopActor func `no start follows the word of a pause, even one that the machine had refused`() throws {
        let run = try VirtualRun("steps: { a: { run: x } }")
        run.spawner.errors = [EAGAIN]
        run.at(.milliseconds(1)) { run.runner.pause(by: "ctl") }
        run.at(.seconds(50)) { run.runner.resume(by: "ctl") }
        #expect(try run.run().outcome == .success)
        #expect(
            run.lines == [
                "0.001 paused run ctl", "50 resumed run ctl", "50 started a", "51 finished a success",
                "51 finished run success",
            ])
    }

    @Test @EventLoopActor func `a run that begins paused starts nothing before it is resumed`() throws {
        let run = try VirtualRun("steps: { a: { run: x } }", startsPaused: true)
        run.at(.seconds(5)) { run.runner.resume(by: "ctl") }
        #expect(try run.run().outcome == .success)
        #expect(run.lines.prefix(3) == ["0 paused run --paused", "5 resumed run ctl", "5 started a"])
    }

    @Test @EventLoopActor func `frozen steps and their limits stand still together`() throws {
        let run = try VirtualRun("timeout: 100s\nsteps: { a: { run: x, timeout: 50s } }") { _, _ in
            Behaviour(duration: .seconds(40))
        }
        run.at(.seconds(30)) { run.runner.pause(by: "ctl", freezing: true) }
        run.at(.seconds(3600)) { run.runner.resume(by: "ctl") }
        #expect(try run.run().outcome == .success)
        #expect(run.lines(of: "a") == ["0 started a", "3610 finished a success"])
    }

    @Test @EventLoopActor func `time in which flowrun itself was stopped counts against no limit`() throws {
        let run = try VirtualRun("steps: { a: { run: x, timeout: 50s } }") { _, _ in Behaviour(duration: .seconds(40)) }
        run.at(.seconds(30)) {
            run.runner.standStill(by: "SIGTSTP", until: "SIGCONT") { run.clock.pass(.seconds(1000)) }
        }
        #expect(try run.run().outcome == .success)
        #expect(
            run.lines == [
                "0 started a", "30 paused run SIGTSTP", "1030 resumed run SIGCONT", "1040 finished a success",
                "1040 finished run success",
            ])
    }

    private static let sharedValue =
        "vars: { v: { run: x, timeout: 50s } }\nsteps: { a: { run: 'echo $v' } }"

    @Test @EventLoopActor func `the limit of a var's command stands still with it`() throws {
        for isStopped in [false, true] {
            let run = try VirtualRun(Self.sharedValue) { step, _ in
                Behaviour(duration: .seconds(step.isEmpty ? 40 : 1))
            }
            if isStopped {
                run.at(.seconds(30)) {
                    run.runner.standStill(by: "SIGTSTP", until: "SIGCONT") { run.clock.pass(.seconds(3570)) }
                }
            } else {
                run.at(.seconds(30)) { run.runner.pause(by: "ctl", freezing: true) }
                run.at(.seconds(3600)) { run.runner.resume(by: "ctl") }
            }
            #expect(try run.run().outcome == .success)
            #expect(run.lines(of: "a") == ["3610 started a", "3611 finished a success"])
        }
    }

    @Test @EventLoopActor func `the limit of a var's command goes on after it stood still`() throws {
        let run = try VirtualRun(Self.sharedValue) { step, _ in Behaviour(duration: .seconds(step.isEmpty ? 60 : 1)) }
        run.at(.seconds(30)) { run.runner.pause(by: "ctl", freezing: true) }
        run.at(.seconds(3600)) { run.runner.resume(by: "ctl") }
        try run.run()
        #expect(run.lines(of: "a") == ["3620 finished a failure"])
        #expect(run.causes(of: "a").first == "`vars.v` (line 2) has no value: timed out after 50s")
    }

    @Test @EventLoopActor func `a var's command that is refused a process is tried anew after a pause`() throws {
        let run = try VirtualRun(Self.sharedValue)
        // Five tries a second: twenty seconds before the pause, and as long behind it.
        run.spawner.errors = Array(repeating: EAGAIN, count: 200)
        run.at(.seconds(20)) { run.runner.pause(by: "ctl") }
        run.at(.seconds(100)) { run.runner.resume(by: "ctl") }
        #expect(try run.run().outcome == .success)
    }

    @Test @EventLoopActor func `frozen steps of a run that winds down go on and end`() throws {
        let run = try VirtualRun("steps: { a: { run: x }, b: { run: x, needs: [a] } }\nfinally: { last: { run: x } }") {
            _, _ in Behaviour(duration: .seconds(40))
        }
        run.at(.seconds(30)) {
            run.runner.pause(by: "ctl", freezing: true)
            run.runner.windDown(because: "the journal cannot be written")
        }
        #expect(try run.run().outcome != .success)
        #expect(run.lines(of: "a") == ["0 started a", "40 finished a success"])
        #expect(run.outcome(of: "b") == .notRun || run.outcome(of: "b") == .cancelled)
        #expect(run.outcome(of: "finally.last") == .success)
    }

    @Test @EventLoopActor func `a run that winds down lets the command of a var end`() throws {
        let run = try VirtualRun(Self.sharedValue) { step, _ in Behaviour(duration: .seconds(step.isEmpty ? 40 : 1)) }
        run.at(.seconds(30)) { run.runner.windDown(because: "the journal cannot be written") }
        try run.run()
        #expect(run.lines.contains("40 finished vars.v success"))
        #expect(run.outcome(of: "a") == .cancelled)
    }

    @Test @EventLoopActor func `a pause that follows a resume in one turn holds`() throws {
        let run = try VirtualRun("steps: { a: { run: x }, b: { run: x, needs: [a] } }") { _, _ in
            Behaviour(duration: .seconds(10))
        }
        run.at(.seconds(5)) { run.runner.pause(by: "ctl") }
        run.whenReported = { event in
            guard case .stepFinished(let end) = event.kind, end.step == "a" else { return }
            run.runner.resume(by: "ctl")
            run.runner.pause(by: "ctl")
        }
        run.at(.seconds(100)) {
            #expect(run.runner.status.isPaused)
            #expect(run.runner.resume(by: "ctl"))
        }
        #expect(try run.run().outcome == .success)
        #expect(run.lines(of: "b") == ["100 started b", "110 finished b success"])
    }

    @Test @EventLoopActor func `nothing is recorded or steered once the run is over`() throws {
        let run = try VirtualRun("steps: { a: { run: x } }")
        try run.run()
        let events = run.events.count
        run.runner.setJobs(3, by: "ctl")
        #expect(!run.runner.pause(by: "ctl", freezing: true))
        #expect(!run.runner.resume(by: "ctl"))
        #expect(run.runner.cancel(nil) == .hasEnded(.success))
        var stops = 0
        run.runner.standStill(by: "SIGTSTP", until: "SIGCONT") { stops += 1 }
        run.runner.interrupt(by: SIGINT)
        #expect(stops == 1)
        #expect(run.events.count == events)
        #expect(!run.runner.status.isPaused && run.runner.status.jobs == 4)
    }

    @Test @EventLoopActor func `fewer jobs stop nothing, more start at once`() throws {
        let run = try VirtualRun("steps: { a: { run: x }, b: { run: x }, c: { run: x } }", jobs: 1) { _, _ in
            Behaviour(duration: .seconds(10))
        }
        run.at(.seconds(3)) { run.runner.setJobs(2, by: "ctl") }
        try run.run()
        #expect(run.lines.filter { $0.contains("started") } == ["0 started a", "3 started b", "10 started c"])
    }

    @Test @EventLoopActor func `a change of the jobs is logged before the starts that it allows`() throws {
        let run = try VirtualRun("steps: { a: { run: x }, b: { run: x } }", jobs: 1) { _, _ in
            Behaviour(duration: .seconds(10))
        }
        run.at(.seconds(3)) { run.runner.setJobs(2, by: "ctl") }
        try run.run()
        #expect(run.lines.prefix(3) == ["0 started a", "3 jobs run 2", "3 started b"])
    }

    @Test(arguments: [(5, StepOutcome.cancelled), (15, .success), (20, .success)])
    @EventLoopActor func `flowrun dies by a signal only where the log tells of no success`(
        second: Int, outcome: StepOutcome
    ) throws {
        let run = try VirtualRun("steps: { a: { run: x } }\nfinally: { last: { run: x } }") { _, _ in
            Behaviour(duration: .seconds(10))
        }
        // In the body, in a hook of a body that has succeeded, and once the last record is written.
        if second < 20 {
            run.at(.seconds(second)) { run.runner.interrupt(by: SIGINT) }
        } else {
            run.whenReported = { if case .runFinished = $0.kind { run.runner.interrupt(by: SIGINT) } }
        }
        let result = try run.run()
        #expect(run.end?.outcome == outcome)
        #expect(result.signal == (outcome == .success ? nil : SIGINT))
    }

    @Test @EventLoopActor func `a signal after the end of a failed run leaves its exit status alone`() throws {
        let run = try VirtualRun("steps: { a: { run: x } }") { _, _ in Behaviour(status: .exited(1)) }
        run.whenReported = { if case .runFinished = $0.kind { run.runner.interrupt(by: SIGINT) } }
        let result = try run.run()
        #expect(result.outcome == .failure && result.signal == nil)
    }

    @Test @EventLoopActor func `one step is cancelled by its id, and what it is told of stands in the chain`() throws {
        let run = try VirtualRun("steps: { a: { run: x }, b: { run: x, needs: [a] }, c: { run: x } }") { _, _ in
            Behaviour(duration: .seconds(10))
        }
        run.at(.seconds(1)) {
            #expect(run.runner.cancel("a") == .accepted)
            #expect(run.runner.cancel("a") == .isEndingAlready)
            #expect(run.runner.cancel("cc") == .unknown(suggestion: "c"))
        }
        #expect(try run.run().outcome == .failure)
        #expect(run.causes(of: "b") == ["ruled out by `a`", "cancelled by `flowrun ctl`"])
        #expect(run.outcome(of: "c") == .success)
        #expect(run.end?.cancelled == ["a"] && run.end?.notRun == ["b"])
    }

    @Test @EventLoopActor func `the status tells what runs, what stops and what waits`() throws {
        let run = try VirtualRun("steps: { a: { run: x }, b: { run: x }, c: { run: x, needs: [a] } }") { _, _ in
            Behaviour(duration: .seconds(10), isDeaf: true)
        }
        run.at(.seconds(4)) {
            _ = run.runner.cancel("a")
            let status = run.runner.status
            #expect(status.elapsed == .seconds(4) && status.waiting == ["c"])
            #expect(status.running.map(\.step) == ["a", "b"])
            #expect(status.running.map(\.state) == [.stopping, .running])
            #expect(run.runner.progress(of: "c") == .waiting(for: ["a"]))
            #expect(run.runner.progress(of: "b") == .running(attempt: 1))
        }
        try run.run()
        #expect(run.runner.progress(of: "b") == .ended(.success))
    }

    @Test(arguments: ["g", nil]) @EventLoopActor
    func `a group that is cancelled while its next round waits for a lock ends with the failure of the last one`(
        cancelled: String?
    ) throws {
        let run = try VirtualRun(
            """
            steps:
              g:
                retry: { attempts: 3, delay: 1s }
                steps:
                  deploy: { mutex: m, run: x }
                on-failure: { rollback: { run: x } }
                finally: { clean: { run: x } }
              hold: { needs: { g: done }, run: x, if: "false" }
              other: { mutex: m, run: x }
            """, jobs: 1
        ) { step, _ in
            Behaviour(
                duration: .seconds(step == "other" ? 100 : 1), status: .exited(step == "g.deploy" ? 1 : 0))
        }
        run.at(.seconds(10)) { _ = run.runner.cancel(cancelled) }
        try run.run()
        #expect(run.lines(of: "g.deploy").filter { $0.contains("started") } == ["0 started g.deploy"])
        #expect(run.outcome(of: "g.on-failure.rollback") == .success)
        #expect(run.lines(of: "g.finally.clean").count { $0.contains("started") } == 1)
        #expect(run.lines(of: "g").last?.contains("finished g failure") == true)
        let end = try #require(run.end)
        #expect(end.outcome == .failure)
        #expect(end.errors.map(\.step) == ["g.deploy"])
    }
}
