import FlowrunTestSupport
import Testing

/// `retry` on steps and groups.
struct RetryTests {
    // L1
    @Test func `a step is tried until it succeeds, and each attempt is in the log`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              a: { run: 'echo try >> tries; [ "$(wc -l < tries)" = 3 ]', retry: { attempts: 5 } }
              b: { needs: [a], run: "true" }
            """)
        let result = try await test.runLogged()
        result.expect(exit: 0)
        let log = try result.log()
        #expect(log.all("step.started", step: "a").compactMap { $0["attempt"]?.int } == [1, 2, 3])
        #expect(log.all("step.attempt", step: "a").compactMap { $0["exit_code"]?.int } == [1, 1, 0])
        #expect(log.all("step.retry", step: "a").compactMap { $0["attempt"]?.int } == [1, 2])
        #expect(log.finished("a")?["attempt"]?.int == 3)
        #expect(log.errors.isEmpty)
        LogInvariants.check(log, needs: DependencyTable(["b": ["a"]]))
    }

    // L1, L6
    @Test func `the last attempt's error is the error, once, and nothing waits after it`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              a: { run: 'exit $((FLOWRUN_ATTEMPT + 4))', retry: { attempts: 3 } }
              late: { run: exit 1, retry: { attempts: 2, delay: 1h, deadline: 30m } }
            """)
        let result = try await test.runLogged()
        result.expect(exit: 1)
        let log = try result.log()
        #expect(log.finished("a")?["exit_code"]?.int == 7)
        #expect(log.errors.sorted() == ["a", "late"])
        #expect(log.all("step.started", step: "late").count == 1)
        LogInvariants.check(log)
    }

    // L3
    @Test func `only ends that are named are tried again`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              code: { run: '[ $FLOWRUN_ATTEMPT = 1 ] && exit 75; exit 3', retry: { attempts: 5, when: [75] } }
              limit: { run: '[ $FLOWRUN_ATTEMPT = 2 ] || sleep 99', timeout: 300ms, grace: 0s, retry: { attempts: 3, when: [timeout] } }
              signal: { run: '[ $FLOWRUN_ATTEMPT = 2 ] || kill -9 $$', retry: { attempts: 3, when: [signal] } }
              other: { run: exit 1, retry: { attempts: 3, when: [timeout] } }
            """)
        let result = try await test.runLogged("-j", "4")
        result.expect(exit: 1)
        let log = try result.log()
        #expect(log.finished("code")?["attempt"]?.int == 2 && log.finished("code")?["exit_code"]?.int == 3)
        #expect(log.outcomes["limit"] == "success" && log.finished("limit")?["attempt"]?.int == 2)
        #expect(log.outcomes["signal"] == "success")
        #expect(log.finished("other")?["attempt"]?.int == 1)
        LogInvariants.check(log)
    }

    @Test func `a group is tried as a whole, with rounds, fresh outputs and no error of earlier rounds`()
        async throws
    {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              g:
                retry: { attempts: 3 }
                steps:
                  one: { run: 'echo x >> rounds; echo "n=$(wc -l < rounds)" >> "$FLOWRUN_OUTPUT"', outputs: { n: int } }
                  two: { needs: [one], run: '[ "$N" = 2 ]', env: { N: "${{ steps.one.outputs.n }}" } }
                outputs: { n: "${{ steps.one.outputs.n }}" }
              after: { needs: [g], run: [echo, "${{ steps.g.outputs.n }}"] }
            """)
        let result = try await test.runLogged()
        result.expect(exit: 0)
        let log = try result.log()
        #expect(log.all("step.finished", step: "g.two").map(\.outcome) == ["failure", "success"])
        #expect(log.all("step.finished", step: "g.one").compactMap { $0["round"]?.int } == [0, 1])
        #expect(log.all("group.finished", group: "g").count == 1)
        #expect(log.output(of: "after") == "2\n")
        #expect(log.errors.isEmpty)
        #expect(log.runFinished?["counts"]?["success"]?.int == 3)
        LogInvariants.check(log, needs: DependencyTable(["after": ["g"], "g.two": ["g.one"]]))
    }

    // C8
    @Test func `the summary tells of the last round only`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              g:
                retry: { attempts: 2 }
                steps: { a: { run: "mkdir ran && exit 7; true" }, b: { needs: [a], run: "true" } }
            """)
        let result = try await test.run("workflow.yml")
        result.expect(exit: 0)
        result.expect(stdout: "retry", "group g", "success in ")
        #expect(!result.stdout.contains("not run:"))
    }

    @Test func `Ctrl-C in a back-off ends the step at once without another attempt`() async throws {
        let test = try FlowrunTest(
            "version: 1\nsteps: { a: { run: exit 1, retry: { attempts: 3, delay: 1h } } }")
        let running = try await test.start("workflow.yml", "--log", "json")
        try await running.waitForEvent("step.retry", step: "a")
        running.signal(2)
        let result = try await running.finish()
        result.expect(.signalled(2))
        let log = try result.log()
        #expect(log.outcomes == ["a": "cancelled"])
        #expect(log.all("step.started").count == 1)
        LogInvariants.check(log)
    }

    @Test func `a group that ends before its next round keeps what the last one came to`() async throws {
        let cancelled = try FlowrunTest(
            """
            version: 1
            steps:
              g:
                retry: { attempts: 3, delay: 1h }
                steps: { a: { run: exit 7 }, b: { needs: [a], run: "true" } }
            """)
        let running = try await cancelled.start("workflow.yml", "--log", "json")
        try await running.waitForEvent("group.retry", group: "g")
        running.signal(2)
        let interrupted = try await running.finish()
        interrupted.expect(.signalled(2))
        let first = try interrupted.log()
        #expect(first.first("group.finished", group: "g")?.outcome == "cancelled")
        #expect(first.errors == ["g.a"] && first.runFinished?["not_run"]?.strings == ["g.b"])
        LogInvariants.check(first, steps: ["g.a", "g.b"])

        let drained = try FlowrunTest(
            """
            version: 1
            fail-fast: drain
            steps:
              g:
                fail-fast: false
                retry: { attempts: 3, delay: 1h }
                steps: { a: { run: exit 7 } }
              bad: { run: read _ < go; exit 3 }
            """)
        let gate = try drained.gate("go")
        let draining = try await drained.start("workflow.yml", "--log", "json", "-j", "2")
        try await draining.waitForEvent("group.retry", group: "g")
        gate.open()
        let ended = try await draining.finish()
        ended.expect(exit: 1)
        let second = try ended.log()
        #expect(second.errors == ["g.a", "bad"])
        #expect(second.first("group.finished", group: "g")?["errors"]?.strings == ["g.a"])
        #expect(second.first("group.finished", group: "g")?.cause?.rootStep == "g.a")
        LogInvariants.check(second, steps: ["g.a", "bad"])
    }
}
