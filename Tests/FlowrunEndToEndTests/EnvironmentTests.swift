import FlowrunTestSupport
import Testing

/// The variables a step sees, and where they come from.
struct EnvironmentTests {
    @Test func `an expression at the top reads what is inherited, others what the top sets`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            env: { BASE: "${{ env.BASE ?? 'none' }}/top", NEW: "${{ env.UNSET_HERE ?? 'none' }}" }
            steps:
              a: { run: [echo, "${{ env.BASE }}", "${{ env.NEW }}"] }
            """)
        let result = try await test.start(["run", "workflow.yml"], environment: ["BASE": "outside"]).finish()
        result.expect(exit: 0)
        #expect(result.stdout.contains("outside/top none"))
    }

    @Test func `each level overrides the one before it, and the command line overrides all`() async throws {
        // V0 is set nowhere but outside, V1 up to the dotenv file, V2 up to the top level, …
        let level = { (name: String, first: Int) in
            (first...5).map { "V\($0): \(name)" }.joined(separator: ", ")
        }
        let test = try FlowrunTest(
            """
            version: 1
            dotenv: vars.env
            env: { \(level("top", 2)) }
            steps:
              group:
                env: { \(level("group", 3)) }
                steps:
                  step:
                    env: { \(level("step", 4)) }
                    run: echo $V0 $V1 $V2 $V3 $V4 $V5
              plain: { run: echo $V0 $V1 $V2 $V3 $V4 $V5 }
            """,
            files: ["vars.env": "# a comment\n" + (1...5).map { "V\($0)=dotenv\n" }.joined()])
        let outside = Dictionary(uniqueKeysWithValues: (0...5).map { ("V\($0)", String?.some("outside")) })
        let result = try await test.start(
            ["run", "workflow.yml", "--log", "json", "--env", "V5=option"], environment: outside
        ).finish()
        result.expect(exit: 0)
        let log = try result.log()
        #expect(log.output(of: "group.step") == "outside dotenv top group step option\n")
        #expect(log.output(of: "plain") == "outside dotenv top top top option\n")
    }

    @Test func `a clean environment has what is set of a few variables, and all that the file adds`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            env-policy: clean
            env: { FROM_FILE: there }
            steps:
              step: { run: "echo ${HOME-gone} ${USER-gone} $LANG ${GIVEN-gone} $FROM_FILE $FLOWRUN_STEP" }
            """)
        let log = try await test.runLogged(
            environment: ["HOME": nil, "USER": nil, "LANG": "C.UTF-8", "TERM": nil, "GIVEN": "outside"]
        ).log()
        #expect(log.output(of: "step") == "gone gone C.UTF-8 gone there step\n")
    }

    @Test func `null takes a variable away`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            env: { FROM_FILE: there }
            steps:
              step: { env: { GIVEN: null, FROM_FILE: ~ }, run: "echo ${GIVEN-gone} ${FROM_FILE-gone}" }
              other: { run: "echo ${GIVEN-gone} ${FROM_FILE-gone}" }
            """)
        let log = try await test.runLogged(environment: ["GIVEN": "outside"]).log()
        #expect(log.output(of: "step") == "gone gone\n")
        #expect(log.output(of: "other") == "outside there\n")
    }

    @Test func `values arrive as they are written`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            env: { NUMBER: 3.10, BIG: 0o17, QUOTED: "a  $HOME 'x'", EMPTY: "" }
            steps:
              step: { run: [printenv, NUMBER, BIG, QUOTED, EMPTY] }
            """)
        let log = try await test.runLogged().log()
        #expect(log.output(of: "step") == "3.10\n0o17\na  $HOME 'x'\n\n")
    }

    @Test func `a missing dotenv file is an error unless it is optional`() async throws {
        let test = try FlowrunTest(
            "version: 1\ndotenv: { path: absent.env, optional: true }\nsteps: { a: { run: 'true' } }\n")
        try await test.run("workflow.yml").expect(exit: 0)
        try test.write("version: 1\ndotenv: absent.env\nsteps: { a: { run: 'true' } }\n", to: "workflow.yml")
        let result = try await test.run("workflow.yml")
        #expect(result.status != .exited(0))
        #expect((result.stdout + result.stderr).contains("absent.env"))
    }

    @Test(arguments: [false, true]) func `a dotenv file that is a FIFO is refused, written to or not`(
        isWritten: Bool
    ) async throws {
        let test = try FlowrunTest("version: 1\nsteps: { a: { dotenv: pipe.env, run: 'true' } }\n")
        let gate = try test.gate("pipe.env")
        defer { withExtendedLifetime(gate) {} }
        if isWritten { gate.open() }
        let result = try await test.runLogged()
        result.expect(exit: 1)
        #expect(
            try result.log().finished("a")?.cause?.message
                == "`pipe.env` (dotenv at workflow.yml:2): is a FIFO, which gives what it has to one reader only; "
                + "write the variables to a regular file")
    }

    @Test func `a dotenv file without an end is refused, one without anything is empty`() async throws {
        let test = try FlowrunTest("version: 1\nsteps: { a: { dotenv: /dev/zero, run: 'true' } }\n")
        try await test.run("workflow.yml").expect(exit: 1)
        try test.write("version: 1\nsteps: { a: { dotenv: /dev/null, run: 'true' } }\n", to: "workflow.yml")
        try await test.run("workflow.yml").expect(exit: 0)
    }

    @Test func `a step knows its run, its id and its attempt`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              each: { for-each: [x], run: echo "$FLOWRUN_RUN $FLOWRUN_STEP $FLOWRUN_ATTEMPT" }
            """)
        let log = try await test.runLogged().log()
        let run = try #require(log.first("run.started")?["run"]?.string)
        #expect(log.output(of: "each[x]") == "\(run) each[x] 1\n")
    }

    @Test func `a dotenv value keeps every letter, also one that joins with the sign before it`() async throws {
        let test = try FlowrunTest(
            "version: 1\nsteps: { a: { dotenv: v.env, run: 'printf %s \"$A$B$C\"' } }\n",
            files: ["v.env": "A=\u{301}a\nB='\u{301}b'\nC=\"\u{301}c\u{200D}\"\n"])
        let log = try await test.runLogged().log()
        // Texts that Unicode takes for the same need not have the same bytes.
        #expect(log.output(of: "a").utf8.elementsEqual("\u{301}a\u{301}b\u{301}c\u{200D}".utf8))
    }

    @Test func `a dotenv file that is not UTF-8 fails the step instead of changing a value`() async throws {
        let test = try FlowrunTest("version: 1\nsteps: { a: { dotenv: v.env, run: 'true' } }\n")
        try test.write(Array("OK=1\nA=".utf8) + [0xFF, 0x0A], to: "v.env")
        let result = try await test.run("workflow.yml")
        result.expect(exit: 1)
        result.expect(stdout: "line 2: is not UTF-8")
    }

    @Test(arguments: ["FLOWRUN_STEP=mine", "A='x' y", "1A=x", "no assignment", "A='open"])
    func `a dotenv file with a mistake fails the step and names the line`(line: String) async throws {
        let test = try FlowrunTest(
            "version: 1\nsteps: { a: { dotenv: bad.env, run: 'true' } }\n", files: ["bad.env": "OK=1\n\(line)\n"])
        let result = try await test.run("workflow.yml")
        result.expect(exit: 1)
        result.expect(stdout: "`bad.env`", "line 2")
    }

    @Test func `a step has no part in the jobs of the make around it`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps: { a: { run: "echo [$MAKEFLAGS] [$MFLAGS]" } }
            """)
        let flags = " -j4 --jobserver-auth=3,4"
        let result = try await test.runLogged(environment: ["MAKEFLAGS": "k\(flags) -- A=b", "MFLAGS": "-k\(flags)"])
        result.expect(exit: 0)
        #expect(try result.log().output(of: "a") == "[k -- A=b] [-k]\n")
    }
}
