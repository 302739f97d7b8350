import FlowrunTestSupport
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
        ).runLogged("-j", "1").log()
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
        ).runLogged("-j", "1").log()
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
