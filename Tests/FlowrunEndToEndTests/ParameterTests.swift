import FlowrunTestSupport
import Testing

/// `--param`: what the caller gives, and where it arrives.
struct ParameterTests {
    private static let workflow = """
        version: 1
        dotenv: vars.env
        env: { TOP: top }
        params:
          channel: { type: enum, values: [nightly, stable], required: true, description: what to publish }
          count: { type: int, default: 2 }
          TARGETS: { type: list, default: [x86_64, arm64] }
          FILE: { type: string, default: param }
          TOP: { type: string, default: param }
          INHERITED: { type: string, default: param }
        steps:
          show: { run: 'echo "$channel $count $TARGETS $FILE $TOP $INHERITED"' }
        """

    private func test() throws -> FlowrunTest {
        try FlowrunTest(Self.workflow, files: ["vars.env": "FILE=dotenv\nchannel=dotenv\n"])
    }

    @Test func `every step has the parameters as variables, over dotenv and under env`() async throws {
        let result = try await test().runLogged(
            "--param", "channel=nightly", "--param", "count=7", "--param", "channel=stable", "--param", "TARGETS=a,b c",
            environment: ["INHERITED": "outside"])
        result.expect(exit: 0)
        let log = try result.log()
        #expect(log.output(of: "show") == "stable 7 [\"a\",\"b c\"] param top param\n")
        let params = log.first("run.started")?["params"]
        #expect(params?["channel"] == .string("stable"))
        #expect(params?["count"] == .number(7))
        #expect(params?["TARGETS"] == .array([.string("a"), .string("b c")]))
    }

    @Test func `all mistakes are told at once, and nothing runs`() async throws {
        let result = try await test().run(
            "workflow.yml", "--param", "chanel=stable", "--param", "count=many", "--log", "json")
        result.expect(
            exit: 64, stdout: "",
            stderr: """
                flowrun: --param chanel=stable: the workflow has no parameter of this name; did you mean `channel`?
                flowrun: --param count=many: expected a whole number in decimal digits, such as 12 or -3
                flowrun: the parameter `channel` is required; give --param channel=VALUE with `nightly` or `stable` \
                (what to publish)

                """)
    }

    @Test func `a value that is not UTF-8 is refused`() async throws {
        let result = try await test().run(
            "workflow.yml", launcher: ["sh", "-c", #"exec "$0" "$@" --param "channel=$(printf 'a\377')""#])
        result.expect(exit: 64, stdout: "")
        result.expect(stderr: "not UTF-8")
    }

    private static let release = """
        version: 1
        params:
          version: { type: string, pattern: 'v\\d+', required: true, env: VERSION }
          token: { type: string, default: none, env: TOKEN_NAME }
          publish: { type: bool, default: false }
        secrets: { KEY: { env: RELEASE_KEY } }
        steps:
          build: { run: 'echo "${version-unset} $token"' }
          label: { run: [echo, "${{ params.version }}"] }
          tag: { run: 'echo "$version"' }
          other: { run: 'echo conversion ${version1-}' }
          publish:
            if: params.publish
            steps:
              sign: { secrets: [KEY], run: 'echo "$version"' }
        """

    @Test func `a value comes from a variable where the command line gives none`() async throws {
        let test = try FlowrunTest(Self.release)
        func output(_ words: [String], _ environment: [String: String?]) async throws -> String {
            let result = try await test.start(
                ["workflow.yml", "tag", "build", "--log", "json"] + words, environment: environment
            ).finish()
            result.expect(exit: 0)
            return try result.log().output(of: "build")
        }
        #expect(try await output([], ["VERSION": "v1", "TOKEN_NAME": "t"]) == "v1 t\n")
        #expect(try await output(["--param", "version=v2"], ["VERSION": "v1"]) == "v2 none\n")
        #expect(try await output([], ["VERSION": "v1", "TOKEN_NAME": ""]) == "v1 \n")
        let empty = try await test.run("workflow.yml", environment: ["VERSION": ""])
        empty.expect(
            exit: 64, stdout: "",
            stderr:
                "flowrun: the parameter `version` is required; give --param version=VALUE, or set the variable `VERSION`\n"
        )
        let wrong = try await test.run("workflow.yml", environment: ["VERSION": "1"])
        wrong.expect(
            stderr: "the variable `VERSION`, for the parameter `version`: the value does not match the pattern `v\\d+`")
        let bytes = try await test.run(
            "workflow.yml", launcher: ["sh", "-c", #"VERSION=$(printf 'v\377') exec "$0" "$@""#])
        bytes.expect(exit: 64)
        bytes.expect(stderr: "the variable `VERSION`, for the parameter `version`: it is not UTF-8")
    }

    @Test func `what is required is demanded when something that runs reads it`() async throws {
        let test = try FlowrunTest(Self.release)
        for step in ["build", "label", "tag"] {
            try await test.run("workflow.yml", step).expect(stderr: "the parameter `version` is required")
        }
        try await test.run("workflow.yml", "other").expect(exit: 0)
        // Switched off by a condition over parameters alone.
        try await test.run("workflow.yml", "publish").expect(exit: 0)
        let both = try await test.run("workflow.yml", "publish", "--param", "publish=true")
        both.expect(exit: 64, stdout: "")
        both.expect(
            stderr: "the parameter `version` is required", "secret `KEY`: the variable `RELEASE_KEY` is not set")
        let given = try await test.run(
            "workflow.yml", "publish", "--param", "publish=true", "--param", "version=v3",
            environment: ["RELEASE_KEY": "a good key"])
        given.expect(exit: 0)
        given.expect(stdout: "v3")
    }

    @Test func `a required parameter that nobody gave is no variable`() async throws {
        let test = try FlowrunTest(
            "version: 1\nparams: { p: { type: string, required: true } }\nsteps: { a: { run: [sh, -c, 'echo ${p-unset}'] } }\n"
        )
        try await test.run("workflow.yml").expect(stdout: "| unset")
    }
}
