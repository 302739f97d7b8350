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
                flowrun: the parameter `channel` is required; give --param channel=VALUE with `nightly` or `stable` \
                (what to publish)
                flowrun: --param count=many: expected a whole number in decimal digits, such as 12 or -3

                """)
    }

    @Test func `a value that is not UTF-8 is refused`() async throws {
        let result = try await test().run(
            "workflow.yml", launcher: ["sh", "-c", #"exec "$0" "$@" --param "channel=$(printf 'a\377')""#])
        result.expect(exit: 64, stdout: "")
        result.expect(stderr: "not UTF-8")
    }
}
