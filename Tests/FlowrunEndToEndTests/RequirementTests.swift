import FlowrunTestSupport
import Testing

/// `require` and `confirm`: what has to be so before a step or group starts.
struct `Before it starts` {
    @Test func `a requirement that does not hold fails with its message and its place`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            params: { count: { type: int, default: 0 } }
            steps:
              good: { require: [{ if: params.count >= 0, message: never }], run: 'true' }
              bad:
                require:
                  - { if: params.count >= 0, message: never }
                  - { if: params.count > 0, message: "count is ${{ params.count }}" }
                run: 'true'
              group:
                require: [{ if: "env.NOBODY_SETS_THIS != null", message: set it first }]
                steps: { s: { run: 'true' } }
              each:
                for-each: [a, b]
                require: [{ if: item != 'b', message: not for b }]
                run: 'true'
              behind: { needs: [bad], run: 'true' }
              spare: { if: params.count > 0, require: [{ if: params.count > 0, message: never }], run: 'true' }
            """)
        try await test.run("check", "--strict", "workflow.yml").expect(exit: 0)
        let result = try await test.runLogged()
        result.expect(exit: 1)
        let log = try result.log()
        #expect(log.outcomes["good"] == "success" && log.outcomes["bad"] == "failure")
        let cause = try #require(log.finished("bad")?.cause)
        #expect(cause.message == "count is 0" && cause.root["line"]?.int == 8)
        #expect(log.first("step.started", step: "bad") == nil)
        #expect(log.outcomes["group.s"] == "not-run")
        #expect(log.outcomes["each[a]"] == "success" && log.finished("each[b]")?.cause?.message == "not for b")
        #expect(log.outcomes["behind"] == "not-run" && log.outcomes["spare"] == "skipped")
        try await test.run("workflow.yml").expect(
            stdout: "bad: count is 0 (workflow.yml:", "group group: set it first",
            "not run: behind because bad failed: count is 0\n")
        try await test.runLogged("--param", "count=1", "behind").expect(exit: 0)
    }

    @Test func `a tolerated group that is refused says why, one whose member failed leaves that to the member`()
        async throws
    {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              g:
                continue-on-error: true
                require: { if: 1 == 2, message: not today }
                steps: { a: { run: "true" } }
              h: { needs: [g], continue-on-error: true, steps: { a: { run: exit 3 } } }
            """)
        try await test.run("workflow.yml").expect(stdout: "\ntolerated: g (not today), h.a (exit 3)\n")
    }

    @Test func `what the top requires has to hold before anything runs`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            params: { count: { type: int, default: 0 } }
            vars: { who: { run: echo me } }
            require:
              - { if: vars.who == 'me', message: never }
              - { if: params.count > 0, message: "count is ${{ params.count }}" }
            steps:
              a: { run: 'true' }
              g: { steps: { b: { run: 'true' } }, on-failure: { f: { run: 'true' } }, finally: { c: { run: 'true' } } }
            on-failure: { d: { run: 'true' } }
            finally: { e: { run: 'true' } }
            """)
        try await test.run("check", "--strict", "workflow.yml").expect(exit: 0)
        let refused = try await test.runLogged()
        refused.expect(exit: 1)
        let log = try refused.log()
        #expect(Set(log.outcomes.values) == ["not-run"] && log.outcomes.count == 6)
        #expect(log.finished("g.finally.c")?.cause?.root["message"]?.string == "count is 0")
        #expect(log.first("step.started", step: "a") == nil)
        try await test.run("workflow.yml").expect(
            stdout: "1 error:\n  the run: count is 0 (workflow.yml:6)\n",
            "not run: a, g.b, g.on-failure.f, g.finally.c, on-failure.d, finally.e because count is 0\n")
        try await test.run("workflow.yml", "--param", "count=1").expect(exit: 0)
    }

    @Test func `a command that the top requires ends the run before its first step`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            params: { status: { type: int, default: 3 } }
            defaults: { timeout: 10m }
            require:
              - { if: params.status >= 0, message: never }
              - { run: 'echo "status $status"; echo "last words" >&2; exit "$status"', message: "give status=0" }
            steps:
              a: { run: touch ran }
            finally: { f: { run: touch ran } }
            """)
        try await test.run("check", "--strict", "workflow.yml").expect(exit: 0)
        try await test.run("-n", "workflow.yml").expect(exit: 0)
        let result = try await test.runLogged("a")
        result.expect(exit: 1)
        let log = try result.log()
        #expect(Set(log.outcomes.values) == ["not-run"])
        #expect(!test.exists("ran"))
        let message =
            "give status=0 (`echo \"status $status\"; echo \"last words\" >&2; exit \"$status\"`: exit 3)"
        #expect(log.finished("a")?.cause?.root["message"]?.string == message)
        let end = log.first("value.finished")
        #expect(end?["var"]?.string == "require[2]" && end?["exit_code"]?.int == 3)
        #expect(log.first("value.started")?["line"]?.int == 6)
        try await test.run("workflow.yml", "a").expect(stdout: message, "    | status 3\n", "    | last words\n")
        let good = try await test.runLogged("--param", "status=0", "a")
        good.expect(exit: 0)
        #expect(try good.log().outcomes == ["a": "success", "finally.f": "success"])
        let slow = try FlowrunTest(
            """
            version: 1
            defaults: { timeout: 200ms }
            steps: { b: { require: { run: [sleep, "9999"] }, run: 'true' } }
            """)
        let late = try await slow.runLogged("b")
        #expect(
            try late.log().finished("b")?.cause?.message
                == "a command of `require` failed, `sleep 9999`: timed out after 200ms")
        #expect(test.survivors() == [] && slow.survivors() == [])
    }

    @Test func `a command is required once for all copies, of each copy of a group, and by what is used`() async throws
    {
        let test = try FlowrunTest(
            #"""
            version: 1
            vars: { root: here }
            templates:
              part:
                params: { file: { default: none } }
                require: [{ run: 'test -e "$file"', message: "no ${{ params.file }}" }]
                steps: { s: { run: 'true' } }
            steps:
              copies: { for-each: [a, b], require: { run: echo once >> copies }, run: 'true' }
              groups:
                for-each: [c, d]
                as: name
                require: { run: [sh, -c, 'echo "$0" >> groups; test "$0" = c', "${{ name }}"] }
                steps: { s: { run: 'true' } }
              good: { uses: part, with: { file: "${{ vars.root }}" }, require: { run: echo outside >> copies } }
              bad: { needs: [good], uses: part, with: { file: gone } }
              off: { if: false, require: { run: touch off }, run: 'true' }
            """#, files: ["here": ""])
        let log = try await test.runLogged("-j", "1").log()
        #expect(log.outcomes["copies[a]"] == "success" && log.outcomes["copies[b]"] == "success")
        #expect(log.outcomes["groups[c].s"] == "success" && log.outcomes["groups[d].s"] == "not-run")
        #expect(log.outcomes["good.s"] == "success" && log.outcomes["bad.s"] == "not-run")
        #expect(log.finished("bad.s")?.cause?.root["message"]?.string == "no gone (`test -e \"$file\"`: exit 1)")
        #expect(try test.contents(of: "copies").split(separator: "\n").sorted() == ["once", "outside"])
        #expect(try test.contents(of: "groups").split(separator: "\n").sorted() == ["c", "d"])
        #expect(!test.exists("off"))
    }

    @Test func `the output of a required command has no limit and no form`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            require: { run: "head -c 3000000 /dev/zero | tr '\\\\0' 'x'; printf '\\\\377'" }
            steps: { a: { run: 'true' } }
            """)
        try await test.run("workflow.yml", "--log", "quiet").expect(exit: 0)
    }

    @Test func `the limit of the run holds for what the top requires`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            timeout: 100ms
            vars: { who: { run: sleep 9999 } }
            require: [{ if: vars.who == 'me', message: never }]
            steps: { a: { run: 'true' } }
            """)
        let result = try await test.runLogged()
        result.expect(exit: 124)
        #expect(try result.log().outcomes == ["a": "cancelled"])
        #expect(test.survivors() == [])
    }

    @Test func `a used file requires it of the group that uses it`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              small: { uses: part.yml, with: { count: 1 } }
              large: { uses: part.yml, with: { count: 7 } }
            """,
            files: [
                "part.yml": """
                version: 1
                params: { count: { type: int, default: 0 } }
                require: [{ if: params.count < 5, message: "${{ params.count }} are too many" }]
                steps: { a: { run: 'true' } }
                """
            ])
        let result = try await test.runLogged()
        result.expect(exit: 1)
        let log = try result.log()
        #expect(log.outcomes["small.a"] == "success" && log.outcomes["large.a"] == "not-run")
        let cause = try #require(log.finished("large.a")?.cause?.root)
        #expect(cause["message"]?.string == "7 are too many" && cause["file"]?.string == "part.yml")
    }

    @Test func `a template requires it of each group that uses it`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            params: { most: { type: int, default: 5 } }
            templates:
              part:
                params: { count: { type: int, default: 0 } }
                require: [{ if: params.count < params.most, message: "${{ params.count }} are too many" }]
                steps: { a: { run: 'true' } }
            steps:
              small: { uses: part }
              each: { for-each: [1, 7], uses: part, with: { count: "${{ item }}" } }
            """)
        try await test.run("check", "--strict", "workflow.yml").expect(exit: 0)
        let result = try await test.runLogged()
        result.expect(exit: 1)
        let log = try result.log()
        #expect(log.outcomes["small.a"] == "success" && log.outcomes["each[1].a"] == "success")
        let cause = try #require(log.finished("each[7].a")?.cause?.root)
        #expect(cause["message"]?.string == "7 are too many" && cause["line"]?.int == 6)
    }

    @Test func `what the top requires is known before any step`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            require: [{ if: steps.a.outcome == 'success', message: x }, { if: success(), message: x }]
            steps: { a: { run: 'true' } }
            """)
        try await test.run("check", "workflow.yml").expect(
            stdout: "error[FR0404]: this is evaluated before any step has run", "move it to the steps that need `a`",
            "error[FR0407]: `success()` can be asked only in `if`")
    }

    @Test func `a question that has scrolled away is asked again`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              deploy: { confirm: Deploy now?, run: echo deployed }
              noise: { run: "echo up > up; read _ < go; for n in $(seq 40); do echo line $n; done" }
            """)
        let gate = try test.gate("go")
        let terminal = try await test.startOnTerminal(["workflow.yml", "-j", "2"])
        try await terminal.wait(forText: "deploy: Deploy now? [y/N]")
        gate.open()
        try await terminal.wait(for: "the question below the noise") { screen in
            let isAsked = screen.lines.contains { $0.hasSuffix("deploy: Deploy now? [y/N]") }
            return isAsked && screen.lines.contains { $0.contains("line 40") }
        }
        terminal.type("y\n")
        let (status, end) = try await terminal.finish()
        #expect(status == .exited(0))
        #expect(end.text.count { $0.contains("Deploy now? [y/N]") } == 2)
        #expect(end.text.contains { $0.contains("2 success") })
    }

    @Test func `a question fails without a terminal, and --yes answers it`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              build: { run: 'true' }
              deploy: { needs: [build], confirm: Deploy now?, run: echo deployed }
            """)
        let result = try await test.runLogged()
        result.expect(exit: 1)
        #expect(
            try result.log().finished("deploy")?.cause?.message
                == "`Deploy now?` needs an answer, and there is no terminal to ask on; `--yes` answers yes")
        let answered = try await test.runLogged("--yes")
        answered.expect(exit: 0)
        #expect(try answered.log().output(of: "deploy") == "deployed\n")
    }

    @Test func `the hooks of a group that is refused tell the same reason`() async throws {
        let log = try await FlowrunTest(
            """
            version: 1
            steps:
              g:
                require: [{ if: "1 == 2", message: not today }]
                steps: { a: { run: 'true' } }
                on-failure: { o: { run: 'true' } }
                finally: { f: { run: 'true' } }
            """
        ).runLogged().log()
        for step in ["g.a", "g.on-failure.o", "g.finally.f"] {
            #expect(log.outcomes[step] == "not-run")
            #expect(log.finished(step)?.cause?.root["message"]?.string == "not today", "\(step)")
        }
    }

    @Test func `nobody is asked any more about what was cancelled`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              g: { timeout: 50ms, steps: { deploy: { confirm: Deploy now?, run: echo deployed } } }
              other: { confirm: And this?, run: echo done, needs: { g: done } }
            """)
        let script = """
            import os, pty, sys
            pid, fd = pty.fork()
            if pid == 0: os.execv(sys.argv[1], sys.argv[1:])
            seen, hasAnswered = b"", False
            while True:
                try: data = os.read(fd, 4096)
                except OSError: break
                if not data: break
                seen += data
                if b"And this? [y/N]" in seen and not hasAnswered:
                    hasAnswered = True
                    os.write(fd, b"y\\n")
            sys.stdout.buffer.write(seen.replace(b"\\r", b""))
            sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
            """
        try test.write(script, to: "ask.py")
        let result = try await test.run(
            "workflow.yml", "--progress", "none", launcher: ["sh", "-c", #"exec python3 ask.py "$0" "$@""#])
        result.expect(exit: 1)
        result.expect(stdout: "Deploy now? [y/N]", "And this? [y/N]", "1 success")
    }

    @Test(arguments: [("y", Int32(0), "deployed"), ("n", 1, "the answer to `Deploy now?` was no")])
    func `a question is asked on the terminal`(answer: String, status: Int32, text: String) async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              deploy: { confirm: Deploy now?, run: echo deployed }
              other: { confirm: And this?, run: 'true', needs: { deploy: done } }
            """)
        let script = """
            import os, pty, sys
            pid, fd = pty.fork()
            if pid == 0: os.execv(sys.argv[1], sys.argv[1:])
            seen, asked = b"", 0
            while True:
                try: data = os.read(fd, 4096)
                except OSError: break
                if not data: break
                seen += data
                while seen.count(b"[y/N]") > asked:
                    asked += 1
                    os.write(fd, sys.stdin.buffer.readline())
            sys.stdout.buffer.write(seen.replace(b"\\r", b""))
            sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
            """
        try test.write(script, to: "ask.py")
        try test.write("\(answer)\ny\n", to: "answers")
        let result = try await test.run(
            "workflow.yml", "--progress", "none", launcher: ["sh", "-c", #"exec python3 ask.py "$0" "$@" < answers"#])
        result.expect(exit: status)
        result.expect(stdout: "flowrun: deploy: Deploy now? [y/N]", text)
        #expect(result.stdout.ranges(of: "other: And this?").count == 1, "asked once")
    }
}
