import FlowrunTestSupport
import Testing

/// What follows `--` on the command line, and lists in a `run` list.
struct ArgumentTests {
    private static let workflow = #"""
        version: 1
        params: { words: { type: list, default: [] } }
        secrets: { KEY: { env: KEY } }
        steps:
          before: { run: 'echo "before $# $*"' }
          script: { needs: [before], run: 'printf "<%s>" "$0" "$@"' }
          sh: { shell: sh, run: 'printf "<%s>" "$@"; shift; echo " $1"' }
          list: { run: [printf, "<%s>", first, "${{ args }}", "${{ params.words }}", "-${{ len(args) }}"] }
          plain: { run: echo plain }
          group:
            steps:
              member: { run: 'echo "$@"' }
              hand: { manual: true, run: 'echo "hand $@"' }
              last: { needs: [hand], run: 'true' }
          copies: { for-each: [x, y], as: v, run: 'echo "$v $@"' }
          made:
            needs: [plain]
            for-each: "${{ fromJSON('[1]') }}"
            steps: { a: { run: 'echo "a $@"' }, b: { run: 'echo "b $@"' } }
          words: { run: ["${{ params.words }}"] }
        """#

    private func log(_ words: [String], environment: [String: String?] = [:]) async throws -> EventLog {
        let result = try await FlowrunTest(Self.workflow).start(
            ["workflow.yml", "--log", "json"] + words, environment: environment
        ).finish()
        result.expect(exit: 0)
        return try result.log()
    }

    private static let hostile = ["a b", "", "$(id)", "'\"\\", "--param", "*", "é\n", "-"]

    @Test func `arguments are those of the named steps, not of what comes along`() async throws {
        let log = try await log(["script", "sh", "list", "--"] + Self.hostile)
        let all = Self.hostile.map { "<\($0)>" }.joined()
        #expect(log.output(of: "before") == "before 0 \n")
        #expect(log.output(of: "script") == "<bash>" + all)
        #expect(log.output(of: "sh") == all + " \n")
        #expect(log.output(of: "list") == "<first>" + all + "<-8>")
        #expect(
            log.first("step.started", step: "list")?["argv"]?.strings == ["printf", "<%s>", "first"] + Self.hostile + [
                "-8"
            ])
        #expect(log.first("run.started")?["args"]?.strings == Self.hostile)
    }

    @Test func `without arguments a list has none of them`() async throws {
        let log = try await log(["script", "list", "--"])
        #expect(log.output(of: "script") == "<bash>")
        #expect(log.output(of: "list") == "<first><-0>")
        #expect(log.first("run.started")?["args"]?.strings == [])
    }

    @Test func `a group passes them to its members, a fan-out to its copies`() async throws {
        let group = try await log(["group", "--", "x"])
        #expect(group.output(of: "group.member") == "x\n")
        // It is not named, only needed.
        #expect(group.output(of: "group.hand") == "hand \n")
        let copies = try await log(["copies", "--", "z"])
        #expect(["copies[x]", "copies[y]"].map { copies.output(of: $0) } == ["x z\n", "y z\n"])
        let one = try await log(["copies[y]", "--", "z"])
        #expect(one.output(of: "copies[y]") == "y z\n")
        let made = try await log(["made", "--", "z"])
        #expect(["made[1].a", "made[1].b"].map { made.output(of: $0) } == ["a z\n", "b z\n"])
        let member = try await log(["made.a", "--", "z"])
        #expect(member.output(of: "made[1].a") == "a z\n")
        #expect(member.finished("made[1].b") == nil)
    }

    @Test func `with default they are for what it names, without for everything`() async throws {
        let steps = "  a: { run: 'echo \"a $@\"' }\n  b: { needs: [a], run: 'echo \"b $@\"' }\n"
        let test = try FlowrunTest(files: [
            "all.yml": "version: 1\nsteps:\n" + steps, "some.yml": "version: 1\ndefault: [b]\nsteps:\n" + steps,
        ])
        let all = try await test.run("all.yml", "--log", "json", "--", "x").log()
        #expect(["a", "b"].map { all.output(of: $0) } == ["a x\n", "b x\n"])
        let some = try await test.run("some.yml", "--log", "json", "--", "x").log()
        #expect(["a", "b"].map { some.output(of: $0) } == ["a \n", "b x\n"])
    }

    @Test func `a group gives them to the body that it uses, if it is named`() async throws {
        let test = try FlowrunTest(
            #"""
            version: 1
            templates:
              tool:
                params: { files: { type: list, default: [] }, first: { default: none } }
                steps:
                  show: { run: [printf, "<%s>", "${{ params.first }}", "${{ params.files }}"] }
                  each: { for-each: "${{ params.files }}", run: [echo, "${{ item }}"] }
                  deep: { uses: ./in/part.yml, with: { words: "${{ args }}" } }
            steps:
              a: { uses: tool, with: { files: "${{ args }}", first: "${{ args[0] ?? 'none' }}" } }
              b: { needs: [a], uses: tool, with: { files: ["${{ join(args, '+') }}"] } }
              c: { for-each: [p, q], uses: tool, with: { files: "${{ args }}" } }
            """#,
            files: [
                "in/part.yml": #"""
                version: 1
                params: { words: { type: list, default: [] } }
                steps: { s: { run: [printf, "[%s]", "${{ params.words }}"] } }
                """#
            ])
        func log(_ words: String...) async throws -> EventLog {
            let result = try await test.start(["workflow.yml", "--log", "json"] + words).finish()
            result.expect(exit: 0)
            return try result.log()
        }
        let named = try await log("b", "c", "--", "x y", "$(id)")
        #expect(named.output(of: "a.show") == "<none>")
        #expect(named.output(of: "a.deep.s") == "[]")
        #expect(named.output(of: "b.show") == "<none><x y+$(id)>")
        #expect(named.output(of: "b.deep.s") == "[x y][$(id)]")
        #expect(["p", "q"].map { named.output(of: "c[\($0)].show") } == ["<none><x y><$(id)>", "<none><x y><$(id)>"])
        #expect(named.output(of: "c[q].each[x y]") + named.output(of: "c[q].each[0]") == "x y\n")
        let whole = try await log("a", "--", "1", "2")
        #expect(whole.output(of: "a.show") == "<1><1><2>")
        #expect(whole.output(of: "a.each[2]") == "2\n")
        try await test.run("workflow.yml", "a.show", "--", "x").expect(exit: 64)
        try await test.run("check", "--strict", "workflow.yml").expect(exit: 0)
    }

    @Test func `arguments that nothing takes are wrong usage`() async throws {
        let test = try FlowrunTest(Self.workflow)
        let how =
            "takes the arguments behind `--`: a script takes them as \"$@\", a `run` list and `with` as `${{ args }}`\n"
        try await test.run("workflow.yml", "plain", "--", "x").expect(
            exit: 64, stdout: "", stderr: "flowrun: nothing in `plain` \(how)")
        try await test.run("-n", "workflow.yml", "plain", "--", "x").expect(exit: 64, stdout: "")
        try await test.run("workflow.yml", "plain", "--").expect(exit: 0)
        try test.write("version: 1\nsteps: { a: { run: 'true' } }\n", to: "flowrun.yml")
        try await test.run("--", "x").expect(exit: 64, stdout: "", stderr: "flowrun: nothing that is chosen \(how)")
    }

    @Test func `a list in a list is as many words`() async throws {
        let log = try await log(["words", "list", "--param", #"words=["printf", "%s-", "a b", ""]"#])
        #expect(log.output(of: "words") == "a b--")
        #expect(log.output(of: "list") == "<first><printf><%s-><a b><><-0>")
        let empty = try await FlowrunTest(Self.workflow).run("workflow.yml", "words")
        empty.expect(exit: 1)
        empty.expect(stdout: "words  the list of `run` is empty once its lists are spliced in")
    }

    @Test func `a secret among the arguments is not logged`() async throws {
        let log = try await log(["script", "--", "hush hush"], environment: ["KEY": "hush hush"])
        #expect(log.first("run.started")?["args"]?.strings == ["***"])
        #expect(log.output(of: "script") == "<bash><***>")
    }

    @Test func `check knows where arguments and lists may stand`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              a: { env: { A: "${{ join(args, ' ') }}" }, run: x }
              b: { if: len(args) > 0, run: x }
              c: { continue-on-error: true, for-each: [p, q], run: x, outputs: { v: string } }
              d: { needs: [c], run: [x, "${{ steps.c.outputs.v }}", "${{ args.x }}"] }
              e: { run: 'echo ${{ args }}' }
            """)
        let result = try await test.run("check", "workflow.yml")
        result.expect(exit: 2)
        result.expect(
            stdout: "3:28: error[FR0407]: `args` is known only in the words of a step's `run` list",
            "4:16: error[FR0407]: `args` is known only", "6:34: error[FR0405]: an element of the list may be missing",
            "6:67: error[FR0406]: a list has no field `x`", "7:19: error[FR0210]")
    }
}
