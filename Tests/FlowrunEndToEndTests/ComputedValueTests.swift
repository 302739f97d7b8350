import FlowrunTestSupport
import Testing

/// Settings, axes and defaults that follow from parameters.
struct ComputedValueTests {
    private static let workflow = """
        version: 1
        params:
          prefix: { default: /usr, env: PREFIX }
          need: { required: true }
          man: { default: "${{ params.prefix }}/share/man" }
          words: { type: list, default: ["${{ params.prefix }}", "${{ vars.v }}"] }
          deep: { default: "${{ params.need }}-x", pattern: '[a-z-]+' }
          attempts: { type: int, default: 2 }
          limit: { default: 1m }
          os: { type: list, default: [a, b] }
        vars: { v: "v-${{ params.prefix }}" }
        templates:
          t:
            params: { a: { default: A }, b: { default: "${{ params.a }}:${{ params.prefix }}" } }
            steps: { s: { run: 'echo "$a $b"' } }
        steps:
          show: { run: 'echo "$man $words"' }
          deep: { run: 'echo "$deep"' }
          again: { run: echo x >> tries; exit 3, retry: { attempts: "${{ params.attempts }}", when: ["${{ len('abc') }}", timeout] } }
          soft: { run: exit 3, continue-on-error: "${{ params.limit == '1m' }}" }
          limited: { for-each: [50ms, 1m], run: '[ "$item" = 1m ] || sleep 9999', timeout: "${{ item }}" }
          each: { matrix: { os: "${{ params.os }}", n: [1] }, run: 'echo "$os $n"' }
          use: { uses: t }
          given: { uses: t, with: { a: "${{ params.man }}" } }
          late: { uses: t, needs: [show], with: { a: "${{ steps.show.stdout }}" } }
        """

    private func log(_ words: String...) async throws -> EventLog {
        try await FlowrunTest(Self.workflow).start(["workflow.yml", "--log", "json"] + words).finish().log()
    }

    @Test func `a default follows from parameters before it, on every way to them`() async throws {
        let plain = try await log("show", "use", "given", "late")
        #expect(plain.output(of: "show") == "/usr/share/man [\"/usr\",\"v-/usr\"]\n")
        #expect(plain.output(of: "use.s") == "A A:/usr\n")
        #expect(plain.output(of: "given.s") == "/usr/share/man /usr/share/man:/usr\n")
        #expect(plain.output(of: "late.s").hasPrefix("/usr/share/man ["))
        let given = try await log("show", "--param", "prefix=/opt")
        #expect(given.output(of: "show") == "/opt/share/man [\"/opt\",\"v-/opt\"]\n")
        let own = try await log("show", "--param", "prefix=/opt", "--param", "man=/m")
        #expect(own.output(of: "show").hasPrefix("/m "))
    }

    @Test func `a default over a required parameter demands that`() async throws {
        let test = try FlowrunTest(Self.workflow)
        let missing = try await test.run("workflow.yml", "deep")
        missing.expect(
            exit: 64, stdout: "", stderr: "flowrun: the parameter `need` is required; give --param need=VALUE\n")
        try await test.run("workflow.yml", "show").expect(exit: 0)
        #expect(try await log("deep", "--param", "need=q").output(of: "deep") == "q-x\n")
        #expect(try await log("deep", "--param", "deep=z").output(of: "deep") == "z\n")
        let wrong = try await test.run("workflow.yml", "deep", "--param", "need=Q1")
        wrong.expect(exit: 64, stdout: "")
        #expect(
            wrong.stderr
                == "flowrun: workflow.yml:7: the default of `deep`: the value does not match the pattern `[a-z-]+`, found `Q1-x`\n"
        )
    }

    @Test func `settings have the values of the run, those of copies their own`() async throws {
        let log = try await log("again", "limited", "soft", "each", "--param", "attempts=3", "--param", "os=p,q")
        #expect(log.all("step.started", step: "again").count == 3)
        #expect(log.outcomes["limited[50ms]"] == "timeout" && log.outcomes["limited[1m]"] == "success")
        #expect(log.output(of: "each[p,1]") + log.output(of: "each[q,1]") == "p 1\nq 1\n")
        #expect(log.outcomes["each[a,1]"] == nil)
        let test = try FlowrunTest(Self.workflow)
        try await test.run("workflow.yml", "soft").expect(exit: 0)
        try await test.run("workflow.yml", "soft", "--param", "limit=2m").expect(exit: 1)
    }

    @Test func `a value that a key refuses ends the run before its first step, with its place`() async throws {
        let test = try FlowrunTest(Self.workflow)
        let wrong = try await test.run("workflow.yml", "show", "--param", "attempts=0")
        wrong.expect(exit: 2, stdout: "")
        #expect(
            wrong.stderr.hasPrefix(
                "workflow.yml:19:49: error[FR0206]: `attempts` takes a whole number from 1 to 1000, found `0`\n"))
        let twice = try await test.run("workflow.yml", "show", "--param", "os=p,p")
        twice.expect(exit: 2, stdout: "")
        #expect(twice.stderr.hasPrefix("workflow.yml:22:19: error[FR0206]: `p` is in the list twice\n"))
        try await test.run("check", "--strict", "workflow.yml").expect(exit: 0)
    }

    @Test func `a resume runs a step again if a value that it reads follows from another parameter`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            params: { a: { default: x }, b: { default: "${{ params.a }}-b" }, tries: { type: int, default: 1 } }
            steps:
              one: { run: 'echo "$b" >> one' }
              two: { needs: [one], run: 'test -e two', retry: { attempts: "${{ params.tries }}" } }
            """)
        try await test.run("workflow.yml", "--param", "a=y").expect(exit: 1)
        try test.write("", to: "two")
        try await test.run("workflow.yml", "--resume", "--param", "a=y", "--param", "tries=2").expect(exit: 0)
        #expect(try test.contents(of: "one") == "y-b\n")
        try await test.run("workflow.yml", "--resume", "--param", "a=z").expect(exit: 0)
        #expect(try test.contents(of: "one") == "y-b\nz-b\n")
    }

    @Test func `a retry that reads the value of a copy counts its rounds`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps: { g: { for-each: [2], retry: { attempts: "${{ item }}" }, steps: { x: { run: exit 1 } } } }
            """)
        let result = try await test.runLogged()
        result.expect(exit: 1)
        result.expect(stdout: #""round":0"#, #""round":1"#)
    }

    @Test func `a default of a template that cannot be evaluated fails the group that uses it`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            templates:
              t:
                params: { a: { default: zz }, b: { type: int, default: "${{ fromJSON(params.a) }}" } }
                steps: { s: { run: touch ran } }
            steps: { use: { uses: t } }
            """)
        try await test.run("workflow.yml").expect(exit: 1)
        #expect(!test.exists("ran"))
    }

    @Test func `an axis may have the name of a field of retry`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            params: { os: { type: list, default: [a, b] } }
            steps: { a: { matrix: { delay: "${{ params.os }}" }, run: 'echo "$delay"' } }
            """)
        try await test.run("check", "workflow.yml").expect(exit: 0)
    }

    @Test func `a value with the signs of an expression is a text`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            params: { s: { default: 1s }, t: { default: it }, l: { type: list, default: [q] }, sh: { default: sh } }
            steps:
              asks: { confirm: "Deploy ${{ params.t }}?", run: echo DEPLOYED }
              limited: { timeout: "${{ params.s }}", run: echo not limited }
              copies: { matrix: { n: "${{ params.l }}" }, run: [echo, "copy ${{ n }}"] }
              shell: { shell: "${{ params.sh }}", run: echo other }
            """)
        try await test.run("workflow.yml", "asks", "--param", "t=${{ x }}").expect(stdout: "Deploy ${{ x }}?")
        for value in ["${{ x }}", "a$${{b", "${{"] {
            let limited = try await test.run("workflow.yml", "limited", "--param", "s=\(value)")
            limited.expect(exit: 2)
            limited.expect(stderr: "`timeout`")
            let copies = try await test.run("workflow.yml", "copies", "--param", "l=[\"\(value)\"]")
            copies.expect(exit: 0)
            copies.expect(stdout: "copy \(value)")
        }
        let shell = try await test.run("workflow.yml", "shell", "--param", "sh=${{ x }}")
        #expect(shell.status != .exited(0) && !shell.stdout.contains("other\n"))
    }

    @Test(arguments: ["null", "Null", "~", "true", "1", "a\u{85}b", "a\u{7f}b", "a\u{2028}b"])
    func `an axis has the texts that it is given`(text: String) async throws {
        let test = try FlowrunTest(
            """
            version: 1
            params: { l: { type: list, default: [q] } }
            steps: { c: { matrix: { n: "${{ params.l }}" }, label: x, run: 'printf %s "$n" > out' } }
            """)
        try await test.run("workflow.yml", "--param", "l=[\"\(text)\"]").expect(exit: 0)
        #expect(try test.contents(of: "out") == text)
    }

    @Test func `copies are left out of a list that is given by their texts`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            params: { l: { type: list, default: ["1", "2", "true"] } }
            steps:
              c:
                matrix: { n: "${{ params.l }}", exclude: [{ n: "1" }, { n: true }] }
                run: [echo, "copy ${{ n }}"]
            """)
        let usual = try await test.run("workflow.yml")
        usual.expect(stdout: "copy 2")
        #expect(!usual.stdout.contains("copy 1") && !usual.stdout.contains("copy true"))
        try await test.run("workflow.yml", "--param", "l=[\"3\"]").expect(stdout: "copy 3")
    }

    @Test(arguments: [["t", "foo"], ["t", "cnt=foo"], ["t", "--param", "t.cnt=foo"], ["t", "foo", "-n"]])
    func `a wrong value of a step's parameter is told as such where a key reads it`(words: [String]) async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              t:
                params: { cnt: { type: int, default: 2 } }
                retry: { attempts: "${{ params.cnt }}" }
                run: 'echo $cnt'
            """)
        let result = try await test.start(["workflow.yml"] + words).finish()
        result.expect(exit: 64)
        result.expect(stderr: "expected a whole number")
        #expect(!result.stderr.contains("cannot be computed"))
    }

    @Test func `what the default of a template's parameter reads is demanded before anything runs`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            params: { p: { required: true } }
            templates: { t: { params: { q: { default: "${{ params.p }}" } }, steps: { m: { run: 'echo "m $q"' } } } }
            steps:
              first: { run: touch ran }
              b: { needs: [first], uses: t }
              c: { needs: [first], uses: t, with: { q: given } }
            """)
        let refused = try await test.run("workflow.yml")
        refused.expect(exit: 64)
        refused.expect(stderr: "the parameter `p` is required")
        #expect(!test.exists("ran"))
        try await test.run("workflow.yml", "c").expect(exit: 0)
        try await test.run("workflow.yml", "--param", "p=1").expect(stdout: "m 1")
    }

    @Test func `a deadline is checked with the values of the keys`() async throws {
        func check(_ step: String, _ parameter: String = "{ default: 300ms }", deadline: String) async throws
            -> ProcessStatus
        {
            let test = try FlowrunTest("version: 1\nparams: { p: \(parameter) }\nsteps: { a: { \(step) } }\n")
            return try await test.run("check", "workflow.yml", "--deadline", deadline).status
        }
        let retry = #"timeout: 1s, grace: 0s, retry: { attempts: "${{ params.p }}" }, run: x"#
        #expect(try await check(retry, "{ type: int, default: 5 }", deadline: "3s") == .exited(2))
        #expect(try await check(retry, "{ type: int, default: 5 }", deadline: "1h") == .exited(0))
        #expect(try await check(retry, "{ type: int, required: true }", deadline: "1h") == .exited(2))
        #expect(try await check(#"timeout: "${{ params.p }}", run: x"#, deadline: "1h") == .exited(0))
        #expect(try await check(#"timeout: 1s, confirm: "${{ params.p }}", run: x"#, deadline: "1h") == .exited(2))
        let copies = #"timeout: 3s, matrix: { n: "${{ params.p }}" }, run: x"#
        #expect(try await check(copies, "{ type: list, default: [a, b, c, d] }", deadline: "5m") == .exited(0))
    }
}
