import FlowrunTestSupport
import Glibc
import Processes
import RunLog
import Running
import Testing

/// Whole runs without a process and without time.
@Suite(.timeLimit(.minutes(20))) struct WorkflowRunnerTests {
    typealias Behaviour = FakeSpawner.Behaviour

    init() { EventLoopThread.ensureRunning() }

    // MARK: Order

    @Test @EventLoopActor func `steps start when what they need has ended, and no more than jobs at once`() throws {
        let run = try VirtualRun(
            """
            steps:
              a: { run: "true" }
              b: { run: "true" }
              c: { run: "true", needs: [a, b] }
            """, jobs: 1)
        #expect(try run.run().outcome == .success)
        #expect(run.spawner.peak == 1)
        #expect(
            run.lines == [
                "0 started a", "1 finished a success", "1 started b", "2 finished b success", "2 started c",
                "3 finished c success", "3 finished run success",
            ])
    }

    @Test @EventLoopActor func `the log is gapless, and a step's end follows all else of it`() throws {
        let run = try VirtualRun("steps: { a: { run: \"true\" } }") { _, _ in Behaviour(output: "one\ntwo") }
        try run.run()
        #expect(run.events.map(\.sequence) == Array(0..<run.events.count))
        #expect(run.events.map(\.kind.word) == ["run", "started", "output", "attempt", "output", "finished", "end"])
    }

    // MARK: Retries

    @Test @EventLoopActor func `a retry ladder over hours runs in no time`() throws {
        let run = try VirtualRun(
            """
            steps:
              a: { run: "false", retry: { attempts: 5, delay: 1h, backoff: 2 } }
            """
        ) { _, attempt in Behaviour(status: .exited(attempt < 5 ? 7 : 0)) }
        #expect(try run.run().outcome == .success)
        #expect(
            run.lines(of: "a") == [
                "0 started a", "1 retry a in 3600", "3601 started a attempt 2", "3602 retry a in 7200",
                "10802 started a attempt 3", "10803 retry a in 14400", "25203 started a attempt 4",
                "25204 retry a in 28800", "54004 started a attempt 5", "54005 finished a success",
            ])
        #expect(run.end?.errors.isEmpty == true)
    }

    @Test @EventLoopActor func `an end that retry.when does not name is final`() throws {
        let run = try VirtualRun(
            "steps: { a: { run: \"false\", retry: { attempts: 3, delay: 1s, when: [75] } } }"
        ) { _, attempt in Behaviour(status: .exited(attempt == 1 ? 75 : 1)) }
        #expect(try run.run().outcome == .failure)
        #expect(run.finish(of: "a")?.attempt == 2)
        #expect(run.causes(of: "a") == ["exit 1 in `false`"])
    }

    @Test @EventLoopActor func `a new round of a group forgets all that the last one came to`() throws {
        var round = 0
        let run = try VirtualRun(
            """
            steps:
              g:
                retry: { attempts: 3, delay: 10s }
                steps:
                  a: { run: "true" }
                  b: { run: "false", needs: [a] }
                  c: { run: "true", needs: [b] }
              after: { run: "true", needs: [g] }
            """
        ) { step, _ in
            if step == "g.a" { round += 1 }
            return Behaviour(status: .exited(step == "g.b" && round < 3 ? 1 : 0))
        }
        #expect(try run.run().outcome == .success)
        #expect(
            run.lines.filter { !$0.contains("started") } == [
                "1 finished g.a success", "2 finished g.b failure", "2 finished g.c not-run", "2 retry g in 10",
                "13 finished g.a success round 1", "14 finished g.b failure round 1", "14 finished g.c not-run round 1",
                "14 retry g in 10", "25 finished g.a success round 2", "26 finished g.b success round 2",
                "27 finished g.c success round 2", "27 finished g success round 2", "28 finished after success",
                "28 finished run success",
            ])
        let end = try #require(run.end)
        #expect(end.errors.isEmpty && end.notRun.isEmpty)
        #expect(end.counts[.success] == 4 && end.counts[.failure] == 0 && end.counts[.notRun] == 0)
    }

    @Test @EventLoopActor func `groups in groups: each inner round has a number of its own in every outer one`() throws
    {
        var count = 0
        let run = try VirtualRun(
            """
            steps:
              outer:
                retry: { attempts: 2 }
                steps:
                  inner:
                    retry: { attempts: 2 }
                    steps: { a: { run: "false" } }
            """
        ) { _, _ in
            count += 1
            return Behaviour(status: .exited(count < 4 ? 1 : 0))
        }
        #expect(try run.run().outcome == .success)
        #expect(
            run.lines.filter { $0.contains("finished outer.inner.a") } == [
                "1 finished outer.inner.a failure", "2 finished outer.inner.a failure round 1",
                "3 finished outer.inner.a failure round 2", "4 finished outer.inner.a success round 3",
            ])
    }

    @Test @EventLoopActor func `so has each round of a copy that the run adds anew in every outer one`() throws {
        let run = try VirtualRun(
            """
            steps:
              list: { run: x, outputs: { names: list } }
              outer:
                needs: [list]
                retry: { attempts: 2 }
                steps:
                  inner:
                    for-each: ${{ steps.list.outputs.names }}
                    retry: { attempts: 2 }
                    steps: { a: { run: "false" }, b: { run: "true", needs: [a] } }
            """
        ) { step, _ in
            Behaviour(status: .exited(step == "list" ? 0 : 1), file: step == "list" ? #"names=["x"]"# : "")
        }
        #expect(try run.run().outcome == .failure)
        for step in ["outer.inner[x].a", "outer.inner[x].b"] {
            let rounds = run.events.compactMap { event in
                if case .stepFinished(let end) = event.kind, end.step == step { event.round } else { nil }
            }
            #expect(rounds == [0, 1, 2, 3])
        }
    }

    @Test @EventLoopActor func `a copy that never began takes no round from one that did`() throws {
        var outer = 0
        let run = try VirtualRun(
            """
            steps:
              list: { run: x, outputs: { names: list } }
              outer:
                needs: [list]
                retry: { attempts: 3 }
                steps:
                  gate: { run: x }
                  inner:
                    for-each: ${{ steps.list.outputs.names }}
                    retry: { attempts: 2 }
                    needs: { gate: done }
                    max-parallel: 1
                    fail-fast: true
                    steps: { a: { run: "false" } }
            """
        ) { step, _ in
            if step == "outer.gate" { outer += 1 }
            return Behaviour(status: .exited(step == "list" ? 0 : 1), file: step == "list" ? #"names=["x","y"]"# : "")
        }
        #expect(try run.run().outcome == .failure)
        for step in ["outer.inner[x].a", "outer.inner[y].a"] {
            let rounds = run.events.compactMap { event in
                if case .stepFinished(let end) = event.kind, end.step == step { event.round } else { nil }
            }
            #expect(Set(rounds).count == rounds.count, "\(step) has finished in \(rounds)")
        }
    }

    @Test @EventLoopActor func `the deadline of a retry ends the attempt it falls into`() throws {
        let run = try VirtualRun(
            "steps: { a: { run: \"false\", retry: { attempts: 9, delay: 1s, deadline: 100s } } }"
        ) { _, _ in Behaviour(duration: .seconds(40), status: .exited(1)) }
        #expect(try run.run().outcome == .failure)
        #expect(run.outcome(of: "a") == .timeout)
        #expect(run.causes(of: "a") == ["timed out after 1m40s, the `deadline` of its `retry`"])
    }

    // MARK: Limits of time

    @Test @EventLoopActor func `a step's timeout is TERM, and after the grace KILL`() throws {
        let run = try VirtualRun("steps: { a: { run: sleep, timeout: 1h, grace: 30s } }") { _, _ in
            Behaviour(duration: .seconds(100_000), isDeaf: true)
        }
        #expect(try run.run().outcome == .failure)
        #expect(
            run.lines(of: "a") == [
                "0 started a", "3600 cancelling a", "3600 sent a SIGTERM", "3630 sent a SIGKILL",
                "3630 finished a timeout",
            ])
        #expect(run.causes(of: "a") == ["timed out after 1h"])
    }

    @Test @EventLoopActor func `a timeout does not run while only a survivor is waited for`() throws {
        let run = try VirtualRun("steps: { a: { run: x, timeout: 5s } }") { _, _ in
            Behaviour(duration: .seconds(4), lingering: .seconds(4))
        }
        #expect(try run.run().outcome == .success)
        #expect(run.lines(of: "a") == ["0 started a", "8 finished a success"])
    }

    @Test @EventLoopActor func `a step's timeout starts with its process, not while the machine has none`() throws {
        let run = try VirtualRun("steps: { a: { run: x, timeout: 5s } }") { _, _ in Behaviour(duration: .seconds(4)) }
        // 20 s of refusals: 20, 40, 80, 160 ms and then 200 ms each.
        run.spawner.errors = [Int32](repeating: EAGAIN, count: 100)
        #expect(try run.run().outcome == .success)
        let start = try #require(run.events.first { if case .stepStarted = $0.kind { true } else { false } })
        #expect(start.elapsed > .seconds(15))
        #expect(run.finish(of: "a")?.duration == .seconds(4))
    }

    @Test @EventLoopActor func `a machine without processes for thirty seconds fails the step and the run says so`()
        throws
    {
        let run = try VirtualRun("steps: { a: { run: x, timeout: 5s } }")
        run.spawner.errors = [Int32](repeating: EMFILE, count: 1000)
        let result = try run.run()
        #expect(result.isOutOfProcesses)
        #expect(run.outcome(of: "a") == .failure)
        #expect(run.finish(of: "a")?.process.errno == EMFILE)
        #expect(run.finish(of: "a")?.attempt == 0)
        #expect(run.finish(of: "a")?.cause?.kind == .spawn)
        #expect(run.clock.elapsed >= .seconds(30) && run.clock.elapsed < .seconds(31))
    }

    @Test @EventLoopActor func `a step that waits for a process can be cancelled at once`() throws {
        let run = try VirtualRun("steps: { a: { run: x }, b: { run: x } }", jobs: 1)
        run.spawner.errors = [Int32](repeating: EAGAIN, count: 30)
        run.at(.seconds(2)) { #expect(run.runner.cancel("a") == .accepted) }
        #expect(try run.run().outcome == .failure)
        #expect(run.lines(of: "a") == ["2 cancelling a", "2 finished a cancelled"])
        #expect(run.outcome(of: "b") == .success)
    }

    @Test @EventLoopActor func `the run's own limit cancels what runs and what waits`() throws {
        let run = try VirtualRun("timeout: 90s\nsteps: { a: { run: x }, b: { run: x, needs: [a] } }") { _, _ in
            Behaviour(duration: .seconds(1000))
        }
        #expect(try run.run().outcome == .runTimeout)
        #expect(run.outcome(of: "a") == .cancelled && run.outcome(of: "b") == .cancelled)
        #expect(run.causes(of: "b") == ["the run timed out after 1m30s"])
        #expect(run.end?.outcome == .timeout)
        #expect(run.end?.errors.map(\.cause.message) == ["timed out after 1m30s"])
    }

    @Test @EventLoopActor func `the limit of a group is an error of the group, its members are cancelled`() throws {
        let run = try VirtualRun(
            "steps: { g: { timeout: 10s, steps: { a: { run: x } } }, z: { run: x, needs: { g: done } } }"
        ) { _, _ in Behaviour(duration: .seconds(60)) }
        #expect(try run.run().outcome == .failure)
        #expect(run.lines(of: "g") == ["0 started g", "10 cancelling g", "10 finished g timeout"])
        #expect(run.causes(of: "g.a") == ["`g` timed out after 10s"])
        #expect(run.end?.errors.map(\.group) == ["g"])
        #expect(run.outcome(of: "z") == .success)
    }

    // MARK: Failures

    @Test @EventLoopActor func `a thousand victims blame the root, not each other`() throws {
        let steps = (1...1000).map { "  s\($0): { run: x, needs: [s\($0 - 1)] }" }.joined(separator: "\n")
        let run = try VirtualRun("steps:\n  s0: { run: x }\n\(steps)") { _, _ in Behaviour(status: .exited(3)) }
        #expect(try run.run().outcome == .failure)
        #expect(run.causes(of: "s1000") == ["ruled out by `s0`", "exit 3 in `x`"])
        #expect(run.end?.errors.map(\.step) == ["s0"])
        #expect(run.end?.notRun.count == 1000)
    }

    @Test(arguments: [("true", StepOutcome.cancelled), ("drain", .notRun)])
    @EventLoopActor func `fail-fast stops the rest, drain lets what runs go on`(
        _ policy: String, _ waiting: StepOutcome
    ) throws {
        let run = try VirtualRun(
            """
            fail-fast: \(policy)
            steps:
              bad: { run: x }
              long: { run: x }
              late: { run: x, needs: [long] }
            """
        ) { step, _ in
            Behaviour(duration: .seconds(step == "bad" ? 1 : 9), status: .exited(step == "bad" ? 1 : 0))
        }
        #expect(try run.run().outcome == .failure)
        #expect(run.outcome(of: "long") == (policy == "true" ? .cancelled : .success))
        #expect(run.outcome(of: "late") == waiting)
        #expect(run.causes(of: "late") == ["ended by `fail-fast`", "exit 1 in `x`"])
        #expect(run.clock.elapsed == .seconds(policy == "true" ? 1 : 9))
    }

    @Test @EventLoopActor func `a tolerated failure is told apart, and what needs it runs`() throws {
        let run = try VirtualRun(
            "steps: { lint: { run: x, continue-on-error: true }, build: { run: x, needs: [lint] } }"
        ) { step, _ in Behaviour(status: .exited(step == "lint" ? 1 : 0)) }
        #expect(try run.run().outcome == .success)
        #expect(run.finish(of: "lint")?.isTolerated == true)
        #expect(run.end?.tolerated == ["lint"])
        #expect(run.end?.errors.isEmpty == true)
        #expect(run.end?.counts[.failure] == 1)
    }

    @Test @EventLoopActor func `hooks run after the body, whatever became of it`() throws {
        let run = try VirtualRun(
            """
            steps: { a: { run: x } }
            on-failure: { notify: { run: x } }
            finally: { report: { run: x, env: { OUTCOME: "${{ run.outcome }}" } } }
            """
        ) { step, _ in Behaviour(status: .exited(step == "a" ? 1 : 0)) }
        #expect(try run.run().outcome == .failure)
        #expect(
            run.lines.filter { $0.contains("started") } == [
                "0 started a", "1 started on-failure", "1 started on-failure.notify", "2 started finally",
                "2 started finally.report",
            ])
        #expect(run.spawner.commands.last?.environment["OUTCOME"] == "failure")
    }

    @Test @EventLoopActor func `a program that is not there fails its step alone`() throws {
        let run = try VirtualRun("steps: { a: { run: [no-such-program-here] }, b: { run: x } }")
        #expect(try run.run().outcome == .failure)
        #expect(run.causes(of: "a") == ["cannot start `no-such-program-here`: not found along PATH"])
        #expect(run.finish(of: "a")?.attempt == 0 && run.finish(of: "a")?.process.errno == ENOENT)
        #expect(run.outcome(of: "b") == .success)
    }

    // MARK: Values

    @Test @EventLoopActor func `a list that only the run knows becomes steps, and their results a list`() throws {
        let run = try VirtualRun(
            """
            steps:
              list: { run: x, outputs: { names: list } }
              build:
                needs: [list]
                for-each: ${{ steps.list.outputs.names }}
                as: name
                steps: { one: { run: x } }
              show:
                needs: { build: done }
                run: x
                env: { SEEN: "${{ toJSON(steps.build.items.*.outcome) }}" }
            """
        ) { step, _ in
            Behaviour(
                status: .exited(step == "build[b].one" ? 1 : 0), file: step == "list" ? #"names=["a","b"]"# : "")
        }
        #expect(try run.run().outcome == .failure)
        #expect(
            run.lines.filter { $0.contains("added") } == [
                "1 added build[a].one by build", "1 added build[b].one by build",
            ])
        #expect(run.spawner.commands.last?.environment["SEEN"] == #"["success","failure"]"#)
    }

    @Test @EventLoopActor func `the exit code of a step is that of its last attempt`() throws {
        let run = try VirtualRun(
            """
            steps:
              a: { run: x, retry: { attempts: 2 } }
              show: { run: x, needs: [a], env: { CODE: "${{ steps.a.exit_code }}" } }
            """
        ) { step, attempt in Behaviour(status: .exited(attempt == 1 && step == "a" ? 9 : 0)) }
        #expect(try run.run().outcome == .success)
        #expect(run.spawner.commands.last?.environment["CODE"] == "0")
    }

    @Test @EventLoopActor func `an output that was declared and not written fails the step`() throws {
        let run = try VirtualRun("steps: { a: { run: x, outputs: { v: int } }, b: { run: x, needs: [a] } }")
        #expect(try run.run().outcome == .failure)
        #expect(run.causes(of: "a") == ["did not write the declared output `v` to $FLOWRUN_OUTPUT"])
    }

    @Test @EventLoopActor func `a condition reads how its needs ended, and a false one skips`() throws {
        let run = try VirtualRun(
            """
            steps:
              a: { run: x }
              mend: { run: x, needs: [a], if: failure() }
              go: { run: x, needs: [a] }
              always: { run: x, needs: [go], if: always() }
            """
        ) { step, _ in Behaviour(status: .exited(step == "a" ? 1 : 0)) }
        #expect(try run.run().outcome == .failure)
        #expect(run.outcome(of: "mend") == .success && run.outcome(of: "always") == .success)
        #expect(run.outcome(of: "go") == .notRun)
    }

    @Test @EventLoopActor func `nothing of a run is left behind when it has ended`() throws {
        weak var runner: WorkflowRunner?
        do {
            let run = try VirtualRun("steps: { a: { run: x, timeout: 1h, retry: { attempts: 2 } } }") { _, attempt in
                Behaviour(status: .exited(attempt == 1 ? 1 : 0))
            }
            try run.run()
            runner = run.runner
            #expect(run.clock.callCount == 0)
        }
        #expect(runner == nil)
    }
}

extension RunEvent.Kind {
    fileprivate var word: String {
        switch self {
        case .runStarted: "run"
        case .stepStarted: "started"
        case .stepAttempt: "attempt"
        case .stepOutput: "output"
        case .stepFinished: "finished"
        case .runFinished: "end"
        default: "other"
        }
    }
}
