import Syntax
import Testing
import Workflow

struct `What a start requires` {
    @Test func `is a list of conditions with messages`() {
        let checked = checkStep(
            "run: x\nrequire: [{ if: params.a == 'b', message: no }, { if: true, message: 'a ${{ env.X }}' }]")
        #expect(checked.diagnostics.isEmpty)
        let requirements = checked.node("a")?.settings?.requirements ?? []
        let texts = requirements.map {
            if case .expression(let condition) = $0.condition { condition.text } else { "a command" }
        }
        #expect(texts == ["params.a == 'b'", "true"])
        #expect(checkStep("run: x\nconfirm: Really?").node("a")?.settings?[.confirm] == "Really?")
    }

    @Test func `is a command as well, placed among the values of the group around`() {
        let checked = Checked(
            """
            version: 1
            require: { run: docker info }
            vars: { v: x }
            steps:
              g:
                require: [{ run: [test, -d, .git], message: no repository }, { if: true, message: no }]
                steps: { s: { run: x, require: [{ if: true, message: no }, { run: "a\\nb" }] } }
            """)
        #expect(checked.summary == [])
        func commands(of id: String?) -> [String] {
            let settings = id == nil ? checked.workflow?.nodes[0].settings : checked.node(id ?? "")?.settings
            return settings?.sharedValues.map(\.words) ?? []
        }
        #expect(commands(of: nil) == ["vars.v", "require[1]"])
        #expect(commands(of: "g") == ["require[1]", "s.require[2]"])
        let step = checked.node("s")?.settings?.requirements ?? []
        #expect(step.count == 2 && step.last?.message == nil)
        guard case .command("s.require[2]", text: "a")? = step.last?.condition else {
            return #expect(Bool(false), "\(step)")
        }
    }

    @Test func `belongs to steps, groups, files and templates`() {
        let list = "require: [{ if: true, message: no }]"
        #expect(
            Checked("version: 1\n\(list)\nsteps: { g: { \(list), steps: { a: { run: x } } } }\n").diagnostics.isEmpty)
        let body = "{ t: { \(list), steps: { a: { run: x } } } }"
        #expect(Checked("version: 1\ntemplates: \(body)\nsteps: { g: { uses: t } }\n").summary == [])
    }

    @Test(arguments: [
        (
            "require: 1️⃣x",
            "FR0205 `require` takes a list such as `[{ if: env.CI != null, message: only in CI }]`, found the text `x`"
        ),
        ("require: [1️⃣{ if: true }]", "FR0204 this entry of `require` has no `message`"),
        (
            "require: [{ 1️⃣sh: test -f x, message: y }]",
            "FR0202 `sh` is not a key of an entry of `require`; flowrun's word is `run`"
        ),
        ("require: 1️⃣{}", "FR0204 this entry of `require` has no `if` and `message`"),
        ("require: [{ run: x }, 1️⃣{ message: y }]", "FR0204 this entry of `require` has no `if`"),
        (
            "require: { run: x, 1️⃣if: y, message: z }",
            "FR0209 an entry of `require` has either `if` or `run`, this one has both"
        ),
        ("require: { run: 1️⃣true }", "FR0205 `run` takes a script or a list of words, found the boolean `true`"),
        ("require: { run: 'echo 1️⃣${{ params.a }}' }", "FR0210 `${{` in a script: flowrun never puts a value into code"),
        ("require: 1️⃣[]", "FR0216? `require` names nothing"),
        ("1️⃣assert: [a]", "FR0202 `assert` is not a key of a step; flowrun's word is `require`"),
        ("confirm: 1️⃣true", "FR0205 `confirm` takes the text of a question, found the boolean `true`"),
    ])
    func `is refused where it is something else`(lines: String, finding: String) {
        #expect(checkStep("run: x\n\(lines)").summary.first == "1️⃣ \(finding)")
    }
}
