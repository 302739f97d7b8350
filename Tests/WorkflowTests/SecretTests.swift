import Syntax
import Testing
import Workflow

struct `A secret` {
    private func check(_ secrets: String, step: String = "{ run: x }") -> Checked {
        Checked("version: 1\nsecrets: \(secrets)\nsteps:\n  a: \(step)\n")
    }

    @Test func `says where it comes from, and a step which it sees`() throws {
        let checked = check(
            "{ TOKEN: { env: CI_TOKEN }, KEY: { file: key.pem } }", step: "{ run: x, secrets: [KEY, TOKEN] }")
        #expect(checked.summary == [])
        let workflow = try #require(checked.workflow)
        #expect(workflow.secrets.map(\.name) == ["TOKEN", "KEY"])
        #expect(workflow.secrets.map(\.source) == [.environment("CI_TOKEN"), .file("key.pem")])
        #expect(checked.node("a")?.settings?.secrets.map(\.name) == ["KEY", "TOKEN"])
    }

    @Test(arguments: [
        (
            "1️⃣[TOKEN]", "{ run: x }",
            "FR0205 `secrets` takes a mapping of names to `{ env: NAME }` or `{ file: PATH }`, found a list"
        ),
        (
            "{ A: 1️⃣B }", "{ run: x }", "FR0205 `A` takes `{ env: NAME }` or `{ file: PATH }`, found the text `B`"
        ),
        ("{ 1️⃣A: {} }", "{ run: x }", "FR0204 the secret `A` does not say where it comes from"),
        (
            "{ A: { 1️⃣env: B, file: c } }", "{ run: x }",
            "FR0209 a secret comes from `env` or from `file`, this one from both"
        ),
        ("{ A: { env: 1️⃣B-C } }", "{ run: x }", "FR0211 `B-C` cannot name a variable"),
        (
            "{ 1️⃣LD_PRELOAD: { env: B } }", "{ run: x }",
            "FR0212 `LD_PRELOAD` is a variable that changes how programs behave"
        ),
        ("{ A: { 1️⃣path: b } }", "{ run: x }", "FR0202 `path` is not a key of a secret; flowrun's word is `file`"),
        ("{ A: { env: B } }", "{ run: x, secrets: [1️⃣C] }", "FR0221 the workflow declares no secret `C`"),
        ("{ A: { env: B } }", "{ run: x, secrets: [A, 1️⃣A] }", "FR0214 `A` is in the list twice"),
        (
            "{ A: { env: B } }", "{ run: x, secrets: 1️⃣{ A: b } }",
            "FR0205 `secrets` takes a list of names of secrets, found a mapping"
        ),
        ("{}", "{ steps: { b: { run: x } }, 1️⃣secrets: [A] }", "FR0201 `secrets` is not a key of a group"),
    ])
    func `is refused where it says something wrong`(secrets: String, step: String, finding: String) {
        #expect(check(secrets, step: step).summary == ["1️⃣ \(finding)"])
    }

    @Test func `is not also a parameter`() {
        let checked = Checked(
            "version: 1\nparams: { 1️⃣A: { type: int } }\nsecrets: { 2️⃣A: { env: A } }\nsteps: { a: { run: x } }\n")
        #expect(checked.summary == ["2️⃣ FR0209 `A` is a secret and a parameter"])
    }

    @Test(arguments: [
        ("[A, B]", "{ A: { env: A }, B: { env: B } }"), ("{ A: B }", "{ A: { env: B } }"),
        ("{ A: }", "{ A: { env: A }}"),
    ])
    func `has a fix that a machine can make`(secrets: String, fixed: String) {
        #expect(check(secrets).fixed == check(fixed).fixed)
        #expect(check(fixed).summary == [])
    }

    @Test func `that is misspelt in a step is suggested`() {
        let checked = check("{ TOKEN: { env: B } }", step: "{ run: x, secrets: [TOKNE] }")
        #expect(checked.diagnostics.map(\.code) == [.undeclaredSecret])
        #expect(checked.fixed.contains("secrets: [TOKEN]"))
    }
}
