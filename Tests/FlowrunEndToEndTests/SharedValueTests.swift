import FlowrunTestSupport
import Foundation
import Glibc
import Testing

/// `vars`: values with a name, and the commands that make them.
struct SharedValueTests {
    @Test func `a command runs once, for all that read it, and not at all for none`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            vars:
              value: { run: 'echo run >> runs; echo "a value"' }
              unread: { run: echo run >> unread }
            steps:
              script: { run: 'echo "$value"' }
              words: { run: [printf, "%s+", "${{ vars.value }}", "x ${{ vars.value }}"] }
              both: { run: ["sh", "-c", "echo $value ${{ vars.value }}"] }
              if: { if: vars.value == 'a value', run: 'true' }
              each: { for-each: "${{ [vars.value] }}", run: 'echo "$item"' }
              none: { run: 'env | grep -c "^val""ue=" || true' }
              group: { env: { V: "${{ vars.value }}" }, steps: { member: { run: 'echo "$V"' } } }
            """)
        let result = try await test.runLogged("-j", "8")
        result.expect(exit: 0)
        let log = try result.log()
        #expect(try test.contents(of: "runs") == "run\n")
        #expect(!test.exists("unread"))
        #expect(log.output(of: "script") == "a value\n")
        #expect(log.output(of: "words") == "a value+x a value+")
        #expect(log.output(of: "both") == "a value a value\n")
        #expect(log.outcomes["if"] == "success")
        #expect(log.output(of: "each[0]") == "a value\n")
        #expect(log.output(of: "none") == "0\n")
        #expect(log.output(of: "group.member") == "a value\n")
    }

    @Test func `the limit of a command does not hold for what it leaves behind`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            vars: { value: { timeout: 1s, run: 'sleep 100 > /dev/null 2>&1 & echo hi' } }
            steps: { a: { run: [echo, "${{ vars.value }}"] } }
            """)
        let result = try await test.runLogged()
        result.expect(exit: 0)
        #expect(try result.log().output(of: "a") == "hi\n")
    }

    @Test func `values have types, and read each other`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            params: { tag: { type: string, default: dev } }
            env: { SET: "set", MADE: "${{ vars.files }}" }
            vars:
              files: { run: 'printf "a b\\n\\nc\\n"', type: lines }
              count: { run: echo 3, type: int }
              list: { run: "echo '[1, \\"x\\"]'", type: list }
              exact: { run: 'printf "x\\n\\n"' }
              image: "${{ params.tag }}/${{ vars.count }}/${{ env.SET }}"
              chain: { run: 'echo "$image-$SET-${MADE-unset}"' }
              python: { run: "#!/bin/sh\\necho interpreted" }
            steps:
              a:
                run: [printf, "<%s>", "${{ vars.files }}", "${{ vars.count }}", "${{ vars.list[1] }}", "${{ vars.chain }}"]
              b: { if: vars.count > 2, run: 'printf "%s" "$files$exact$count-$python"' }
            """)
        let result = try await test.runLogged()
        result.expect(exit: 0)
        let log = try result.log()
        #expect(log.output(of: "a") == "<a b><c><3><x><dev/3/set-set-unset>")
        #expect(log.output(of: "b") == #"["a b","c"]x"# + "\n3-interpreted")
    }

    @Test func `a group has its own, a fan-out one for each copy, and what is nearer wins`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            vars: { v: outer, shown: outer }
            steps:
              g:
                for-each: [x, y]
                as: item
                vars: { v: { run: 'echo "$item" >> runs; echo "made of $item"' } }
                steps:
                  a: { run: 'echo "$v"' }
                  b: { run: [echo, "${{ vars.v }} ${{ vars.shown }}"] }
                  env: { env: { v: own }, run: 'echo "$v"' }
                  axis: { for-each: [in], as: v, run: 'echo "$v"' }
              out: { run: 'echo "$v"' }
            """)
        let log = try await test.runLogged().log()
        #expect(log.output(of: "g[x].a") == "made of x\n")
        #expect(log.output(of: "g[y].b") == "made of y outer\n")
        #expect(log.output(of: "g[x].env") == "own\n")
        #expect(log.output(of: "g[x].axis[in]") == "in\n")
        #expect(log.output(of: "out") == "outer\n")
        #expect(try test.contents(of: "runs").split(separator: "\n").sorted() == ["x", "y"])
    }

    @Test func `a failure is that of all readers, with the command's place and words`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            secrets: { KEY: { env: KEY } }
            vars:
              bad: { run: 'echo run >> runs; echo "why $KEY" >&2; exit 3', secrets: [KEY] }
              uses: "${{ vars.bad }}!"
              typed: { run: echo x, type: int }
              absent: { run: [no-such-program] }
            steps:
              script: { run: 'echo "$bad"' }
              words: { needs: { script: done }, run: [echo, "${{ vars.uses }}"] }
              if: { if: vars.bad == 'x', run: 'true' }
              each: { for-each: "${{ [vars.bad] }}", run: 'true' }
              typed: { run: 'echo "$typed"' }
              absent: { run: 'echo "$absent"' }
              after: { needs: [script], run: 'true' }
            """)
        let result = try await test.start(
            "workflow.yml", "--log", "json", environment: ["KEY": "hush hush"]
        ).finish()
        result.expect(exit: 1)
        let log = try result.log()
        #expect(try test.contents(of: "runs") == "run\n")
        let message = "`vars.bad` (line 4) has no value: exit 3"
        #expect(log.finished("script")?.cause?.message == message)
        #expect(log.finished("words")?.cause?.message == message)
        #expect(log.finished("if")?.cause?.message == "cannot evaluate `if`: " + message)
        let root = try #require(log.finished("script")?.cause?.root)
        #expect(root["var"]?.string == "bad" && root["line"]?.int == 4 && root["kind"]?.string == "exit")
        #expect(
            log.finished("typed")?.cause?.message
                == "`vars.typed` (line 6) has no value: it has to be a whole number, found `x`")
        #expect(
            log.finished("absent")?.cause?.message
                == "`vars.absent` (line 7) has no value: cannot start `no-such-program`: not found along PATH")
        #expect(log.outcomes["after"] == "not-run")
        let errors = log.runFinished?["errors"]?.array ?? []
        let tails = errors.filter { $0["step"]?.string == "script" || $0["group"]?.string == "each" }
        #expect(tails.map { $0["output_tail"]?.string } == ["why ***\n", "why ***\n"])
        let text = try await test.run("workflow.yml", "script", environment: ["KEY": "hush hush"])
        text.expect(stdout: "  script: \(message) (workflow.yml:9)\n    | why ***\n")
        let why = try await test.ask("why", "script")
        why.expect(stdout: "`vars.bad`: exit 3 (workflow.yml:4)")
    }

    @Test func `its own limit ends a command`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            vars: { late: { run: sleep 9999, timeout: 50ms } }
            steps: { a: { run: 'echo "$late"' } }
            """)
        let log = try await test.runLogged().log()
        #expect(log.finished("a")?.cause?.message == "`vars.late` (line 2) has no value: timed out after 50ms")
        #expect(test.survivors() == [])
    }

    @Test func `a signal ends a command and all it has started`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            vars: { v: { run: "sleep 9998 & trap 'touch told; exit' TERM; touch up; sleep 9999 & wait" } }
            steps:
              begun: { run: 'true' }
              a: { needs: [begun], run: 'echo "$v"' }
              b: { needs: [begun], if: vars.v == 'x', run: 'true' }
            finally: { last: { run: touch last } }
            """)
        let running = try await test.start("workflow.yml", "--log", "json", "-j", "2")
        try await running.waitForFile("up")
        running.signal(SIGINT)
        let result = try await running.finish()
        result.expect(.signalled(SIGINT))
        #expect(
            try result.log().outcomes
                == ["begun": "success", "a": "cancelled", "b": "cancelled", "finally.last": "success"])
        #expect(test.exists("told"))
        #expect(test.survivors() == [])
    }

    @Test func `a command that writes without end is stopped`() async throws {
        let test = try FlowrunTest("version: 1\nvars: { v: { run: 'yes' } }\nsteps: { a: { run: 'echo $v' } }")
        let log = try await test.runLogged().log()
        let message = try #require(log.finished("a")?.cause?.message)
        #expect(message.contains("has more than 1 MiB on standard output"))
        #expect(test.survivors() == [])
    }

    @Test func `the script file of an interpreter goes with its command`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            vars: { v: { run: "#!/bin/sh\\necho $0" } }
            steps:
              a: { run: 'echo $v; [ -n "$v" ] && [ ! -e "$v" ]' }
            """)
        let result = try await test.runLogged()
        result.expect(exit: 0)
    }

    @Test func `a value that only one branch reads is made before its reader takes a place`() async throws {
        let log = try await FlowrunTest(
            """
            version: 1
            vars: { w: { run: 'until [ -e go ]; do sleep 0.01; done; echo w' } }
            steps:
              a: { run: [echo, "${{ if(len(run.id) > 0, vars.w, 'none') }}"] }
              b: { run: [touch, go] }
            """
        ).runLogged("-j", "2").log()
        #expect(log.output(of: "a") == "w\n")
        #expect(log.startOrder == ["b", "a"])
    }

    @Test func `a hook waits for a value no longer than its own limit`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            vars: { v: { run: sleep 9997 } }
            steps: { a: { run: 'true' } }
            finally: { f: { run: 'echo $v', timeout: 50ms } }
            """)
        let log = try await test.runLogged().log()
        #expect(log.finished("finally.f")?.cause?.message == "waited longer than 50ms for a value")
        #expect(test.survivors() == [])
    }

    @Test func `whoever waits for a value takes no place and no lock`() async throws {
        let log = try await FlowrunTest(
            """
            version: 1
            pools: { p: 1 }
            vars: { w: { run: 'until [ -e go ]; do sleep 0.01; done; echo w' } }
            steps:
              a: { pool: p, mutex: m, run: 'echo $w' }
              b: { pool: p, mutex: m, run: [touch, go] }
            """
        ).runLogged("-j", "2").log()
        #expect(log.outcomes == ["a": "success", "b": "success"])
        #expect(log.output(of: "a") == "w\n")
    }

    @Test func `a command is stopped that nobody waits for any more, and runs again for the next`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            vars:
              v:
                run: |
                  echo x >> runs
                  [ $(wc -l < runs) = 2 ] || { touch up; sleep 9999; }
                  echo value
            steps:
              g: { steps: { a: { run: 'echo "$v"' } } }
              later: { needs: { g: done }, run: 'echo "$v"' }
            """)
        let running = try await test.start("workflow.yml", "--log", "json")
        try await running.waitForFile("up")
        try await test.ask("ctl", "cancel", "g").expect(exit: 0)
        let log = try await running.finish().log()
        #expect(log.outcomes == ["g.a": "cancelled", "later": "success"])
        #expect(log.output(of: "later") == "value\n")
        #expect(test.survivors() == [])
    }

    @Test func `one that nobody waits for goes on for the others`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            vars: { v: { run: "echo x >> runs; touch up; read _ < go; echo value" } }
            steps:
              a: { run: 'echo "$v"' }
              b: { run: 'echo "$v"' }
            """)
        let gate = try test.gate("go")
        let running = try await test.start("workflow.yml", "--log", "json", "-j", "2")
        try await running.waitForFile("up")
        try await test.ask("ctl", "cancel", "a").expect(exit: 0)
        try await running.waitForEvent("step.finished", step: "a")
        gate.open()
        let result = try await running.finish()
        result.expect(exit: 1)
        let log = try result.log()
        #expect(log.outcomes == ["a": "cancelled", "b": "success"])
        #expect(log.output(of: "b") == "value\n")
        #expect(try test.contents(of: "runs") == "x\n")
    }

    @Test func `a command is logged like a step, with its output, and nothing secret`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            secrets: { KEY: { env: KEY } }
            vars:
              top: { run: 'echo "note $KEY" >&2; echo "is $KEY"', secrets: [KEY] }
            steps:
              g:
                for-each: [x]
                vars: { own: { run: [sh, -c, "kill -9 $$"] } }
                steps: { a: { run: 'echo "$own"' } }
              b: { run: 'test "$top" = "is hush hush"' }
            """)
        let result = try await test.run("workflow.yml", "--log", "json", environment: ["KEY": "hush hush"])
        result.expect(exit: 1)
        let replay = try await test.run("replay", "--log", "json")
        for log in [try result.log(), try replay.log()] {
            LogInvariants.check(log)
            let start = try #require(log.all("value.started").first { $0["var"]?.string == "top" })
            #expect(start["script"]?.string == #"echo "note $KEY" >&2; echo "is $KEY""#)
            #expect(start["line"]?.int == 4 && start["pid"]?.int != nil && start["group"]?.string == nil)
            let outputs = log.all("value.output").filter { $0["var"]?.string == "top" }
            #expect(outputs.first { $0["stream"]?.string == "stderr" }?["text"]?.string == "note ***\n")
            #expect(outputs.first { $0["stream"]?.string == "stdout" }?["text"]?.string == "is ***\n")
            let end = try #require(log.all("value.finished").first { $0["var"]?.string == "top" })
            #expect(end.outcome == "success" && end["exit_code"]?.int == 0 && end["output_bytes"]?.int == 28)
            #expect(end["duration"]?.double != nil && end["containment"]?.string != nil)
            #expect(try end.seq < #require(log.first("step.started", step: "b")).seq)
            let own = try #require(log.all("value.finished").first { $0["var"]?.string == "own" })
            #expect(own["group"]?.string == "g[x]" && own["signal"]?.string == "SIGKILL")
            #expect(own.outcome == "failure" && own.cause?.kind == "signal" && own["cause"]?["line"]?.int == 8)
        }
        let why = try await test.ask("why", "g[x].vars.own")
        why.expect(stdout: "g[x].vars.own: failure", "SIGKILL")
    }

    @Test func `a command counts in -j, and starts before any step that is ready`() async throws {
        let workflow = """
            version: 1
            vars: { v: { run: ": > made; echo v" } }
            steps:
              first: { run: 'true' }
              reader: { needs: [first], run: 'echo "$v"' }
              held: { needs: [first], run: "until [ -e made ] || [ $WAIT = no ]; do sleep 0.01; done" }
              last: { needs: [first], run: 'true' }
            """
        // With two places it runs beside the step, which waits for it; with one it comes first.
        for (jobs, wait) in [("2", "yes"), ("1", "no")] {
            let log = try await FlowrunTest(workflow).runLogged("-j", jobs, "--env", "WAIT=\(wait)").log()
            LogInvariants.check(log)
            #expect(log.runFinished?.outcome == "success")
            let end = try #require(log.first("value.finished")).seq
            let held = try #require(log.first("step.started", step: "held")).seq
            #expect(jobs == "2" ? held < end : end < held)
            #expect(try #require(log.first("value.started")).seq < held)
        }
    }

    @Test func `a step that has its place lends it to the command that it waits for, and others have none`()
        async throws
    {
        let test = try FlowrunTest(
            """
            version: 1
            vars: { v: { run: "echo run >> runs; echo v" } }
            steps:
              held: { run: touch here }
              reader: { run: [echo, "${{ if(len(glob('here')) > 0, vars.v, 'none') }}"] }
              other: { needs: { held: done }, run: 'echo "$v"' }
              more: { needs: { held: done }, for-each: "${{ [vars.v, 'w'] }}", run: 'echo "$item"' }
            """)
        let log = try await test.runLogged("-j", "1").log()
        LogInvariants.check(log)
        #expect(log.runFinished?.outcome == "success")
        #expect(log.output(of: "reader") == "v\n" && log.output(of: "other") == "v\n")
        #expect(log.output(of: "more[v]") == "v\n")
        #expect(try test.contents(of: "runs") == "run\n")
    }

    @Test func `status shows a command that runs, and the default limit ends one`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            defaults: { timeout: 50ms }
            vars: { v: { run: "touch up; read _ < go; echo v", timeout: 1h } }
            steps:
              a: { run: 'echo "$v"', timeout: 1h }
              g:
                vars: { late: { run: "sleep 9996" } }
                needs: [a]
                steps: { m: { run: 'echo "$late"', timeout: 1h } }
            """)
        let gate = try test.gate("go")
        let running = try await test.start("workflow.yml", "--log", "json")
        try await running.waitForFile("up")
        try await test.ask("ctl", "status").expect(stdout: "running  vars.v  ", "waiting  a")
        let answer = try await test.ask("ctl", "status", "--format", "json")
        let status = try JSONDecoder().decode(JSONValue.self, from: Data(answer.stdout.utf8))
        let value = try #require(status["values"]?[0])
        let pid = try await running.waitForEvent("value.started")["pid"]?.int
        #expect(value["var"]?.string == "v" && value["state"]?.string == "running" && value["pid"]?.int == pid)
        gate.open()
        let log = try await running.finish().log()
        LogInvariants.check(log)
        let end = try #require(log.all("value.finished", group: "g").first)
        #expect(end.outcome == "timeout" && end.cause?.message == "timed out after 50ms")
        #expect(test.survivors() == [])
    }

    @Test func `a command that is stopped has an end, before that of the run`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            vars: { v: { run: "echo begun >&2; touch up; sleep 9995" } }
            steps: { a: { run: 'echo "$v"' } }
            """)
        let running = try await test.start("workflow.yml", "--log", "json")
        try await running.waitForFile("up")
        running.signal(SIGTERM)
        let result = try await running.finish()
        result.expect(.signalled(SIGTERM))
        let log = try result.log()
        LogInvariants.check(log)
        let end = try #require(log.first("value.finished"))
        #expect(end.outcome == "cancelled" && end.cause?.message == "nothing that runs reads it any more")
        #expect(test.survivors() == [])
    }

    @Test func `a resumed run takes a step over as long as the values that it reads are the same`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            vars: { same: { run: echo x }, other: { run: cat other } }
            steps:
              a: { run: 'echo "$same" >> a.runs' }
              b: { run: 'echo "$other" >> b.runs' }
              c: { needs: [a, b], run: exit 1 }
            """, files: ["other": "1"])
        try await test.run("workflow.yml").expect(exit: 1)
        try test.write("2", to: "other")
        let log = try await test.runLogged("--resume").log()
        LogInvariants.check(log)
        #expect(try test.contents(of: "a.runs") == "x\n" && test.contents(of: "b.runs") == "1\n2\n")
    }

    @Test(arguments: ["", "grouped", "stream", "failed", "none"])
    func `what a command says is shown as the output of a step is`(mode: String) async throws {
        let test = try FlowrunTest(
            """
            version: 1
            vars: { v: { run: 'echo said >&2; echo v' }, quiet: { run: echo q }, bad: { run: 'echo why >&2; exit 3' } }
            steps: { a: { run: 'test "$v$quiet" = vq' }, b: { run: 'echo "$bad"' } }
            """)
        let result = try await test.start(
            ["workflow.yml", "-j", "1"] + (mode.isEmpty ? [] : ["--output", mode])
        ).finish()
        result.expect(exit: 1)
        let lines = result.stdout.split(separator: "\n").map(String.init)
        let said = lines.first { $0.hasSuffix("said") }
        #expect(said == (["": "| said", "grouped": "| said", "stream": "[vars.v] said"][mode]))
        #expect(lines.contains { $0.contains("success") && $0.hasSuffix("vars.v") } == ["", "grouped"].contains(mode))
        #expect(lines.contains { $0.contains("failure") && $0.hasSuffix("vars.bad  exit 3") })
        #expect(lines.contains(mode == "stream" ? "[vars.bad] why" : "| why") == (mode != "none"))
        #expect(!result.stdout.contains("vars.quiet"))
        #expect(lines.contains("    | why"))
    }

    @Test func `nothing starts while the run is paused`() async throws {
        let test = try FlowrunTest(
            "version: 1\nvars: { v: { run: 'touch ran; echo x' } }\nsteps: { a: { run: 'echo \"$v\"' } }")
        let running = try await test.start("workflow.yml", "--log", "json", "--paused")
        try await running.waitForEvent("run.paused")
        try await test.ask("ctl", "status").expect(exit: 0)
        #expect(!test.exists("ran"))
        try await test.ask("ctl", "resume").expect(exit: 0)
        try await running.finish().expect(exit: 0)
        #expect(test.exists("ran"))
    }

    @Test func `a plan runs none, and says which would`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            vars:
              list: [p, q]
              v: { run: touch ran }
              unread: { run: touch ran }
            steps:
              a: { for-each: "${{ vars.list }}", run: 'echo "$v $item"' }
            """)
        let plan = try await test.run("plan", "workflow.yml")
        plan.expect(exit: 0)
        plan.expect(
            stdout: "a[p]\n", "a[q]\n",
            "vars.v (workflow.yml:4): its command runs before the first step that reads it\n")
        #expect(!plan.stdout.contains("unread"))
        try await test.run("check", "--strict", "workflow.yml").expect(exit: 0)
        try await test.run("-n", "workflow.yml").expect(exit: 0)
        #expect(!test.exists("ran"))
        try await test.run("workflow.yml", "a[q]").expect(exit: 0)
    }

    @Test func `outputs as lines are lists`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              find: { run: 'printf "a\\n\\nc\\n"', outputs: { files: { type: lines, from: stdout } } }
              write: { run: 'printf "files<<END\\nx\\n\\ny z\\nEND\\n" >> "$FLOWRUN_OUTPUT"', outputs: { files: lines } }
              each: { needs: [find], for-each: "${{ steps.find.outputs.files }}", run: 'echo "$item"' }
              words: { needs: [write], run: [printf, "<%s>", "${{ steps.write.outputs.files }}"] }
            """)
        let log = try await test.runLogged().log()
        #expect(log.outcomes.keys.filter { $0.hasPrefix("each") }.sorted() == ["each[a]", "each[c]"])
        #expect(log.output(of: "each[c]") == "c\n")
        #expect(log.output(of: "words") == "<x><y z>")
    }
}
