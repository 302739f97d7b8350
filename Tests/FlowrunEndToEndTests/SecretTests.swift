import FlowrunTestSupport
import Foundation
import Testing

/// Secrets reach the steps that list them, and nothing else.
struct SecretTests {
    private static let secret = "hunter2 \"&/ä"
    private static let workflow = """
        version: 1
        params: { shown: { type: string } }
        secrets: { TOKEN: { env: CI_TOKEN }, KEY: { file: key.pem } }
        steps:
          leak:
            secrets: [TOKEN, KEY]
            outputs: { token: string }
            run: |
              printf 'token=%s\\n' "$TOKEN" >> "$FLOWRUN_OUTPUT"
              echo "${CI_TOKEN-gone}; raw: $TOKEN"; echo "$KEY" >&2
              printf %s "$TOKEN" | base64; printf 'x%s' "$TOKEN" | base64; printf 'xx%s' "$TOKEN" | base64
              printf %s "$TOKEN" | od -An -tx1 | tr -d ' \\n'
              printf '\\nhalf: %s' "${TOKEN%??????}"; sleep 0.1; echo "${TOKEN#??????}"
              exit 3
          other: { run: 'echo "${TOKEN-gone} ${CI_TOKEN-gone} ${KEY-gone}"' }
        """

    private func test() throws -> FlowrunTest {
        try FlowrunTest(Self.workflow, files: ["key.pem": "-----BEGIN-----\nfirst line of it\nab\n-----END-----\n"])
    }

    @Test(arguments: ["text", "json"])
    func `no log has a secret in any form`(form: String) async throws {
        let test = try test()
        let result = try await test.start(
            ["workflow.yml", "--log", form, "--log-file", "log.jsonl", "--param", "shown=\(Self.secret)"],
            environment: ["CI_TOKEN": Self.secret]
        ).finish()
        result.expect(exit: 1)
        let base64 = Data(Self.secret.utf8).base64EncodedString()
        let hex = Self.secret.utf8.map { String(format: "%02x", $0) }.joined()
        for text in [result.stdout, result.stderr, try test.contents(of: "log.jsonl")] {
            for form in [Self.secret, "hunter2", "first line of it", base64, hex] {
                #expect(!text.contains(form), "\(form)")
            }
        }
        #expect(try test.contents(of: "log.jsonl").contains("gone; raw: ***"))
        #expect(try test.contents(of: "log.jsonl").contains("half: ***"))
    }

    @Test func `an item that is a secret stands in no log, nor does a value that the program refuses`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            secrets: { TOKEN: { env: CI_TOKEN } }
            params: { n: { type: int } }
            steps:
              a: { secrets: [TOKEN], run: 'printf %s "$TOKEN"', outputs: { v: { type: string, from: stdout } } }
              each:
                needs: [a]
                for-each: ${{ [steps.a.outputs.v, 'b'] }}
                steps: { run: { run: 'echo "$item"' }, skipped: { if: item == 'c', run: 'true' } }
            """)
        let environment: [String: String?] = ["CI_TOKEN": "hunter2-hunter2"]
        let result = try await test.runLogged("--log-file", "log.jsonl", environment: environment)
        result.expect(exit: 0)
        #expect(!result.stdout.contains("hunter2"))
        #expect(try !test.contents(of: "log.jsonl").contains("hunter2"))
        #expect(try result.log().finished("each[0].skipped")?["item"]?.string == "***")
        let refused = try await test.run("workflow.yml", "--param", "n=hunter2-hunter2", environment: environment)
        refused.expect(exit: 64)
        #expect(refused.stderr.contains("--param n=***: expected a whole number"))
    }

    @Test func `a step that does not list a secret sees neither it nor its source`() async throws {
        let log = try await test().runLogged(environment: ["CI_TOKEN": Self.secret]).log()
        #expect(log.output(of: "other") == "gone gone gone\n")
    }

    @Test func `a secret that is not there is wrong usage, unless no step of the run lists it`() async throws {
        let test = try test()
        let result = try await test.run("workflow.yml", "--log", "json")
        result.expect(
            exit: 64, stdout: "",
            stderr:
                "flowrun: secret `TOKEN`: the variable `CI_TOKEN` is not set; set it in the environment of flowrun\n")
        try await test.run("workflow.yml", "other").expect(exit: 0)
    }
}
