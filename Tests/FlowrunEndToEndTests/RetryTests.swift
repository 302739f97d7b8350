import FlowrunTestSupport
import Foundation
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
        try await withLongEnoughLimit { limit, _ in
            let test = try FlowrunTest(
                """
                version: 1
                steps:
                  code: { run: '[ $FLOWRUN_ATTEMPT = 1 ] && exit 75; exit 3', retry: { attempts: 5, when: [75] } }
                  limit: { run: '[ $FLOWRUN_ATTEMPT = 2 ] || sleep 9999', timeout: \(limit), grace: 0s, retry: { attempts: 3, when: [timeout] } }
                  signal: { run: '[ $FLOWRUN_ATTEMPT = 2 ] || kill -9 $$', retry: { attempts: 3, when: [signal] } }
                  other: { run: exit 1, retry: { attempts: 3, when: [timeout] } }
                """)
            let result = try await test.runLogged("-j", "4")
            result.expect(exit: 1)
            let log = try result.log()
            // The second attempt does nothing and still needs its time.
            guard log.all("step.started", step: "limit").count == 2 else { return false }
            #expect(log.finished("code")?["attempt"]?.int == 2 && log.finished("code")?["exit_code"]?.int == 3)
            #expect(log.outcomes["limit"] == "success" && log.finished("limit")?["attempt"]?.int == 2)
            #expect(log.outcomes["signal"] == "success")
            #expect(log.finished("other")?["attempt"]?.int == 1)
            LogInvariants.check(log)
            return true
        }
    }

    @Test func `ends are named as a shell shows them`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              killed: { run: '[ $FLOWRUN_ATTEMPT = 2 ] || kill -9 $$', retry: { attempts: 3, when: [137] } }
              code: { run: '[ $FLOWRUN_ATTEMPT = 2 ] || exit 143', retry: { attempts: 3, when: [143] } }
              absent: { run: [no-such-program], retry: { attempts: 2, when: [127] } }
              denied: { run: [/etc/passwd], retry: { attempts: 2, when: [126] } }
              folder: { working-directory: no-such-folder, run: 'true', retry: { attempts: 2, when: [126, 127] } }
              other: { run: [no-such-program], retry: { attempts: 2, when: [126, 137] } }
              group:
                retry: { attempts: 2, when: [127] }
                steps: { in: { run: [no-such-program] } }
            """)
        let result = try await test.runLogged("-j", "4")
        result.expect(exit: 1)
        let log = try result.log()
        #expect(log.outcomes["killed"] == "success" && log.outcomes["code"] == "success")
        let retries = Dictionary(grouping: log.all("step.retry")) { $0.step ?? "" }.mapValues(\.count)
        #expect(retries == ["killed": 1, "code": 1, "absent": 1, "denied": 1])
        #expect(log.all("group.retry", group: "group").count == 1)
    }

    @Test func `what its own limit kills has timed out, whatever a shell would show`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              a: { timeout: 50ms, grace: 0s, run: "trap '' TERM; sleep 9999", retry: { attempts: 3, when: [137, 143] } }
            """)
        let log = try await test.runLogged().log()
        #expect(log.outcomes == ["a": "timeout"])
        #expect(log.all("step.retry").isEmpty)
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

    @Test func `a group is tried again only if every failure in it is of a named kind`() async throws {
        for (first, second, rounds) in [(75, 75, 2), (75, 1, 1), (1, 75, 1)] {
            let test = try FlowrunTest(
                """
                version: 1
                steps:
                  g:
                    retry: { attempts: 2, when: [75] }
                    steps: { a: { run: exit \(first) }, b: { needs: { a: done }, run: exit \(second) } }
                """)
            let log = try await test.runLogged().log()
            #expect(log.all("group.started", group: "g").count == rounds, "\(first), \(second)")
            LogInvariants.check(log)
        }
    }

    @Test func `a group and the run hand on the outputs that can be made, also after a failure`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              g:
                steps:
                  a: { run: 'echo n=7 >> "$FLOWRUN_OUTPUT"', outputs: { n: int } }
                  b: { needs: [a], run: 'echo m=8 >> "$FLOWRUN_OUTPUT"; exit 1', outputs: { m: int } }
                outputs: { n: "${{ steps.a.outputs.n }}", m: "${{ steps.b.outputs.m }}" }
              late: { needs: { g: done }, run: [echo, "${{ steps.g.outputs.n ?? 0 }}"] }
            outputs: { n: "${{ steps.g.outputs.n ?? 0 }}" }
            """)
        let result = try await test.runLogged()
        result.expect(exit: 1)
        let log = try result.log()
        #expect(log.all("group.finished", group: "g").first?["outputs"]?.object?.compactMapValues(\.int) == ["n": 7])
        #expect(log.output(of: "late") == "7\n")
        #expect(log.runFinished?["outputs"]?["n"]?.int == 7)
        #expect(log.errors == ["g.b"])
    }

    @Test func `a step's duration is from its first start to its end, and the last attempt has its own`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              a: { run: 'test $FLOWRUN_ATTEMPT = 2', retry: { attempts: 2, delay: 200ms } }
              once: { run: "true" }
            """)
        let result = try await test.runLogged()
        result.expect(exit: 0)
        let log = try result.log()
        let end = try #require(log.finished("a"))
        let (whole, last) = (try #require(end["duration"]?.double), try #require(end["attempt_duration"]?.double))
        #expect(whole >= last + 0.2)
        let began = try #require(log.first("step.started", step: "a"))
        #expect(whole <= end.time - began.time + 0.01)
        let once = try #require(log.finished("once"))
        #expect(once["attempt_duration"]?.double == once["duration"]?.double)
        // The next run is expected to take as long as one success.
        let plan = try await test.ask("plan", "--format", "json", "workflow.yml")
        let steps = try JSONDecoder().decode(JSONValue.self, from: Data(plan.stdout.utf8))["steps"]?.array ?? []
        #expect(steps.first { $0["id"]?.string == "a" }?["estimate"]?.double == whole)
    }

    // C8
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
        #expect(first.first("group.finished", group: "g")?.outcome == "failure")
        #expect(first.runFinished?.outcome == "failure")
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

    // C8
    @Test func `a group in a back-off that is cancelled by name ends at once, and the run goes on`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              g:
                retry: { attempts: 3, delay: 1h }
                steps: { a: { run: exit 1 }, b: { needs: [a], run: "true" } }
              after: { needs: { g: done }, run: "true" }
            """)
        let running = try await test.start("workflow.yml", "--log", "json")
        try await running.waitForEvent("group.retry", group: "g")
        try await test.ask("ctl", "cancel", "g.a").expect(exit: 0, stdout: "`g.a` has ended already: failure\n")
        try await test.ask("ctl", "cancel", "g").expect(exit: 0, stdout: "cancelling `g`\n")
        let result = try await running.finish()
        result.expect(exit: 1)
        let log = try result.log()
        #expect(log.all("group.finished", group: "g").map(\.outcome) == ["failure"])
        #expect(log.all("group.finished", group: "g").first?.cause?.rootStep == "g.a")
        #expect(log.all("group.cancel_requested", group: "g").first?["round"]?.int == 0)
        #expect(log.outcomes == ["g.a": "failure", "g.b": "not-run", "after": "success"])
        #expect(log.errors == ["g.a"])
        LogInvariants.check(log, steps: ["g.a", "g.b", "after"])
    }

    @Test func `of rounds in rounds no step has one twice`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              g:
                retry: { attempts: 2 }
                steps: { h: { retry: { attempts: 2 }, steps: { a: { run: exit 1 } } } }
            """)
        let result = try await test.runLogged()
        result.expect(exit: 1)
        let log = try result.log()
        #expect(log.all("step.finished", step: "g.h.a").compactMap { $0["round"]?.int } == [0, 1, 2, 3])
        #expect(log.all("group.started", group: "g.h").compactMap { $0["round"]?.int } == [0, 1, 2, 3])
        #expect(log.errors == ["g.h.a"])
        LogInvariants.check(log)
    }

    @Test func `a limit of all attempts says so, not that of one`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            defaults: { grace: 0s }
            steps:
              a: { run: sleep 9999, timeout: 1h, retry: { attempts: 9, deadline: 200ms } }
              g:
                timeout: 1h
                retry: { attempts: 9, deadline: 200ms }
                steps: { b: { run: sleep 9999 } }
            """)
        let result = try await test.runLogged("-j", "2")
        result.expect(exit: 1)
        let log = try result.log()
        let words = "timed out after 200ms, the `deadline` of its `retry`"
        #expect(log.finished("a")?.outcome == "timeout" && log.finished("a")?.cause?.message == words)
        #expect(log.finished("g.b")?.cause?.message == "`g` \(words)")
        #expect(log.all("group.finished", group: "g").first?.cause?.message == words)
        #expect(log.all("group.cancel_requested", group: "g").first?["round"]?.int == 0)
        LogInvariants.check(log)
    }

    @Test func `fail-fast around a group that is tried again waits for its last round`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            fail-fast: true
            steps:
              g:
                retry: { attempts: 2 }
                steps: { a: { run: "test -e mark || { touch mark; exit 1; }" } }
              b: { needs: [g], run: "true" }
            """)
        let result = try await test.runLogged()
        result.expect(exit: 0)
        #expect(try result.log().outcomes == ["g.a": "success", "b": "success"])
    }

    @Test func `earlier rounds are no part of the summary, nor of what why tells`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              g:
                retry: { attempts: 3 }
                steps:
                  a: { run: "echo x >> rounds; exit $((3 - $(wc -l < rounds)))" }
                  b: { needs: [a], run: "true" }
              bad: { needs: [g], run: exit 1 }
            """)
        let result = try await test.run("workflow.yml")
        result.expect(exit: 1)
        #expect(!result.stdout.contains("not run:"))
        result.expect(stdout: ": 2 success, 1 failure\n")
        try await test.ask("why", "g.a").expect(exit: 0, stdout: "g.a: success\n")
        try await test.ask("why", "g.b").expect(exit: 0, stdout: "g.b: success\n")
    }
}
