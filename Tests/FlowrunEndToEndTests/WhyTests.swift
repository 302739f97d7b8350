import FlowrunTestSupport
import Foundation
import Glibc
import Testing

/// `flowrun why`: how a step of the last run, or of a live one, came to its end.
struct WhyTests {
    private static let failing = """
        version: 1
        steps:
          compile: { run: "echo compiling; echo 'a.c:3: no such type' >&2; exit 2" }
          link: { needs: [compile], run: "true" }
          pack: { needs: [link], run: "true" }
          lint: { run: "true" }
          slow: { timeout: 50ms, grace: 0s, run: sleep 9999 }
          group: { steps: { bad: { run: [./no-such-program] } } }
          quiet: { needs: { lint: failure }, run: "true" }
        """

    private func expect(
        _ text: String, why step: String, in test: FlowrunTest, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let answer = try await test.ask("why", step)
        answer.expect(exit: 0, stdout: text, stderr: "", sourceLocation: sourceLocation)
    }

    @Test func `a step of the last run is followed down to the root, with its place and its output`() async throws {
        let test = try FlowrunTest(Self.failing)
        try await test.run("workflow.yml", "-j", "1").expect(exit: 1)
        let root = "    | compiling\n    | a.c:3: no such type\n"
        try await expect("compile: failure\n  exit 2 (workflow.yml:3)\n" + root, why: "compile", in: test)
        for victim in ["link", "pack"] {
            try await expect(
                """
                \(victim): not-run
                  ruled out by `compile` (workflow.yml:3)
                  because compile: exit 2 (workflow.yml:3)

                """ + root, why: victim, in: test)
        }
        try await expect("lint: success\n", why: "lint", in: test)
        try await expect("slow: timeout\n  timed out after <time> (workflow.yml:7)\n", why: "slow", in: test)
        try await expect(
            "quiet: skipped\n  `lint` ended with success, `needs` wants failure (workflow.yml:9)\n", why: "quiet",
            in: test)
        let group = try await test.ask("why", "group")
        group.expect(exit: 0)
        group.expect(
            stdout:
                "group: failure\n  group.bad failed (workflow.yml:8)\n  because group.bad: cannot start `./no-such-program`"
        )
    }

    @Test func `an unknown step is an error with the one that was meant`() async throws {
        let test = try FlowrunTest(Self.failing)
        try await test.run("workflow.yml", "lint").expect(exit: 0)
        let unknown = try await test.ask("why", "lin")
        unknown.expect(exit: 1, stdout: "")
        unknown.expect(stderr: "of `workflow.yml` had no step or group `lin`; did you mean `lint`?")
        // Known to the file, but not a part of that run.
        let other = try await test.ask("why", "compile")
        other.expect(exit: 1, stdout: "")
        other.expect(stderr: "had no step or group `compile`: it ran only `lint`, with what they need\n")
        try await expect("lint: success\n", why: "lint", in: test)
    }

    @Test func `the last run counts, of the file that is named, or the one with the id`() async throws {
        let test = try FlowrunTest(
            "version: 1\nsteps: { a: { run: exit 1 } }\n",
            files: ["other.yml": "version: 1\nsteps: { a: { run: exit 2 } }\n"])
        let first = try await test.run("workflow.yml", "--log", "json")
        try await test.run("other.yml").expect(exit: 1)
        try await test.ask("why", "a", "--file", "workflow.yml").expect(stdout: "exit 1 (workflow.yml:2)")
        try await test.ask("why", "a", "--file", "other.yml").expect(stdout: "exit 2 (other.yml:2)")
        let id = try #require(try first.log().first("run.started")?["run"]?.string)
        try await test.ask("why", "a", "--run", id).expect(stdout: "exit 1 (workflow.yml:2)")
        try test.write("version: 1\nsteps: { a: { run: exit 3 } }\n", to: "workflow.yml")
        try await test.run("workflow.yml").expect(exit: 1)
        try await test.ask("why", "a", "--file", "workflow.yml").expect(stdout: "exit 3 (workflow.yml:2)")
        try test.write("version: 1\nsteps: { a: { run: 'true' } }\n", to: "workflow.yml")
        let success = try await test.run("workflow.yml", "--log", "json")
        try await expect("a: success\n", why: "a", in: test)
        try await test.ask("why", "a", "--run", id).expect(stdout: "exit 1 (workflow.yml:2)")
        let last = try #require(try success.log().first("run.started")?["run"]?.string)
        try await test.ask("why", "a", "--run", last).expect(exit: 0, stdout: "a: success\n")
        try await test.run("other.yml").expect(exit: 1)
        try await test.ask("why", "a").expect(stdout: "exit 2 (other.yml:2)")
    }

    @Test func `of a live run it tells how far the step is`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              bad: { run: "echo oh; exit 1" }
              held: { run: "echo up > up; read _ < go" }
              after: { needs: [held, bad], run: "true" }
              later: { needs: [held], run: "true" }
              fine: { run: "true" }
            """)
        let gate = try test.gate("go")
        defer { gate.open() }
        let running = try await test.start("workflow.yml", "--log", "json", "-j", "3")
        try await running.waitForFile("up")
        try await running.waitForEvent("step.finished", step: "bad")
        try await running.waitForEvent("step.finished", step: "fine")
        try await expect("held: running\n", why: "held", in: test)
        try await expect("later: waiting, for `held`\n", why: "later", in: test)
        try await expect("fine: success\n", why: "fine", in: test)
        try await expect("bad: failure\n  exit 1 (workflow.yml:3)\n    | oh\n", why: "bad", in: test)
        try await test.ask("why", "hel").expect(
            exit: 1, stdout: "", stderr: "flowrun: no step or group `hel`; did you mean `held`?\n")
        gate.open()
        try await running.finish().expect(exit: 1)
    }

    @Test func `of a step that runs again with its group it tells how far it is now`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              g:
                retry: { attempts: 2 }
                steps:
                  a: { run: "test -e once || { touch once; exit 3; }; echo up > up; read _ < go" }
            """)
        let gate = try test.gate("go")
        defer { gate.open() }
        let running = try await test.start("workflow.yml")
        try await running.waitForFile("up")
        try await expect("g.a: running\n", why: "g.a", in: test)
        gate.open()
        try await running.finish().expect(exit: 0)
    }

    @Test func `an interrupted run is recorded too, and output cannot steer the terminal`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              a: { run: "printf '\\\\033[2J\\\\007bad\\\\n'; exit 1" }
              b: { needs: { a: done }, run: sleep 9999 }
            """)
        let running = try await test.start("workflow.yml", "--log", "json")
        try await running.waitForEvent("step.started", step: "b")
        running.signal(SIGINT)
        try await running.finish().expect(.signalled(SIGINT))
        try await expect("b: cancelled\n  interrupted by SIGINT\n", why: "b", in: test)
        let answer = try await test.ask("why", "a")
        answer.expect(exit: 0)
        #expect(answer.stdout.hasSuffix("bad\n"))
        #expect(!answer.stdout.unicodeScalars.contains { $0.value < 32 && $0 != "\n" })
    }

    @Test func `a journal that is broken is believed up to there`() async throws {
        let test = try FlowrunTest("version: 1\nsteps: { a: { run: exit 1 } }\n")
        let run = try #require(try await test.run("workflow.yml", "--log", "json").log().records[0]["run"]?.string)
        let path = ".flowrun/runs/\(run)/journal.jsonl"
        let journal = try test.contents(of: path)
        for text in ["", "{", "[]", "\0", journal.replacingOccurrences(of: "journal", with: "Journal")] {
            try test.write(text, to: path)
            try await test.ask("why", "a", "--file", "workflow.yml").expect(exit: 1, stdout: "")
        }
        try test.write(journal + "{", to: path)
        try await test.ask("why", "a").expect(stdout: "exit 1 (workflow.yml:2)")
    }

    @Test func `without a name it is the run that ended last, not one that a step of it made`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              outer:
                run: |
                  "$FLOWRUN" inner.yml > /dev/null
                  until test mark -nt .flowrun/inner.yml.lock; do touch mark; done  # times of files go by ticks
                  exit 3
            """,
            files: ["inner.yml": "version: 1\nsteps: { inner: { run: 'true' } }\n"])
        try await test.run("workflow.yml", environment: ["FLOWRUN": FlowrunBinary.path]).expect(exit: 1)
        try await expect("outer: failure\n  exit 3 (workflow.yml:3)\n", why: "outer", in: test)
    }

    @Test func `a chain through a group names the group's member that failed, and each link once`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              group: { steps: { bad: { run: exit 4 } } }
              after: { needs: [group], run: "true" }
            """)
        try await test.run("workflow.yml").expect(
            stdout: "failure", "group group  group.bad failed", "not run: after because group.bad failed")
        try await expect(
            """
            after: not-run
              ruled out by `group` (workflow.yml:3)
              because group.bad failed (workflow.yml:3)
              because group.bad: exit 4 (workflow.yml:3)

            """, why: "after", in: test)
    }

    @Test func `a step that the live run does not have is that of the run before`() async throws {
        let test = try FlowrunTest(
            "version: 1\nsteps: { a: { run: 'echo > up; read _ < go' }, other: { run: exit 3 } }\n")
        let gate = try test.gate("go")
        try await test.run("workflow.yml", "other").expect(exit: 1)
        let running = try await test.start("workflow.yml", "a")
        try await running.waitForFile("up")
        let answer = try await test.ask("why", "workflow.yml", "other")
        answer.expect(exit: 0)
        answer.expect(stdout: "other: failure")
        try await test.ask("why", "workflow.yml", "none").expect(exit: 1)
        gate.open()
        try await running.finish().expect(exit: 0)
    }

    @Test func `runs of standard input are found by its name`() async throws {
        let test = try FlowrunTest("version: 1\nsteps: { a: { run: 'echo of file; echo > up; read _ < go' } }\n")
        let gate = try test.gate("go")
        let input = "version: 1\nsteps: { b: { run: echo of input } }\n"
        try await test.run("-", stdin: .text(input)).expect(exit: 0)
        let running = try await test.start("workflow.yml")
        try await running.waitForFile("up")
        try await test.ask("why", "-", "b").expect(stdout: "b: success")
        try await test.ask("replay", "-f", "-").expect(stdout: "of input")
        let refused = try await test.ask("ctl", "-", "cancel")
        refused.expect(exit: 1)
        refused.expect(stderr: "no live run of `-`")
        gate.open()
        try await running.finish().expect(exit: 0)
    }

    @Test func `a step that did not run is followed to what kept it from running`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            params: { deploy: { type: bool, default: false } }
            steps:
              bad: { run: exit 3 }
              off: { if: params.deploy, run: 'true' }
              behind-off: { needs: { off: success }, run: 'true' }
              behind-both: { needs: { behind-off: success }, run: 'true' }
              group: { if: params.deploy, steps: { inner: { run: 'true' } } }
              behind-group: { needs: { group: success }, run: 'true' }
              behind-bad: { needs: [bad], if: "success()", run: 'true' }
              kept: { manual: true, steps: { inner: { run: 'true' } } }
              stopped: { fail-fast: true, steps: { a: { run: exit 1 }, b: { needs: { a: done }, run: 'true' } } }
              late: { timeout: 50ms, grace: 0s, steps: { s: { run: sleep 9999 }, t: { needs: [s], run: 'true' } } }
              calm: { steps: { ok: { run: 'true' } }, on-failure: { mend: { run: 'true' } } }
            """)
        try await test.run("workflow.yml", "-j", "1").expect(exit: 1)
        let off = "  because off: `if: params.deploy` is false (workflow.yml:5)\n"
        for (step, text) in [
            ("off", "skipped\n  `if: params.deploy` is false (workflow.yml:5)\n"),
            ("behind-off", "skipped\n  `off` ended with skipped, `needs` wants success (workflow.yml:6)\n" + off),
            (
                "behind-both",
                "skipped\n  `behind-off` ended with skipped, `needs` wants success (workflow.yml:7)\n" + off
            ),
            ("group.inner", "skipped\n  group group: `if: params.deploy` is false (workflow.yml:8)\n"),
            (
                "behind-group",
                """
                skipped
                  `group` ended with skipped, `needs` wants success (workflow.yml:9)
                  because group group: `if: params.deploy` is false (workflow.yml:8)

                """
            ),
            (
                "behind-bad",
                """
                not-run
                  `if: success()` is false; ruled out by `bad` (workflow.yml:4)
                  because bad: exit 3 (workflow.yml:4)

                """
            ),
            (
                "stopped.b",
                "cancelled\n  ended by `fail-fast` (workflow.yml:12)\n  because stopped.a: exit 1 (workflow.yml:12)\n"
            ),
            ("late.t", "cancelled\n  group late: `late` timed out after <time> (workflow.yml:13)\n"),
            ("calm.on-failure.mend", "skipped\n  group calm.on-failure: nothing failed (workflow.yml:14)\n"),
        ] {
            try await expect("\(step): \(text)", why: step, in: test)
        }
        let kept = try await test.ask("why", "kept.inner")
        kept.expect(exit: 1, stdout: "")
        kept.expect(stderr: "had no step or group `kept.inner`: `kept` is `manual`, and nothing that ran needs it\n")
        let json = try await test.ask("why", "behind-off", "--format", "json")
        json.expect(exit: 0, stderr: "")
        let answer = try JSONDecoder().decode(JSONValue.self, from: Data(json.stdout.utf8))
        #expect(answer["outcome"]?.string == "skipped" && answer["cause"]?["cause"]?["step"]?.string == "off")
    }
}
