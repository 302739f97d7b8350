import Syntax
import Testing
import Workflow

struct `What a start requires` {
    @Test func `is a list of conditions with messages`() {
        let checked = checkStep(
            "run: x\nrequire: [{ if: params.a == 'b', message: no }, { if: true, message: 'a ${{ env.X }}' }]")
        #expect(checked.diagnostics.isEmpty)
        let requirements = checked.node("a")?.settings?.requirements ?? []
        #expect(requirements.map(\.condition.text) == ["params.a == 'b'", "true"])
        #expect(checkStep("run: x\nconfirm: Really?").node("a")?.settings?[.confirm] == "Really?")
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
            "FR0202 `sh` is not a key of an entry of `require`; flowrun's word is `if`"
        ),
        ("require: 1️⃣[]", "FR0216? `require` names nothing"),
        ("1️⃣assert: [a]", "FR0202 `assert` is not a key of a step; flowrun's word is `require`"),
        ("confirm: 1️⃣true", "FR0205 `confirm` takes the text of a question, found the boolean `true`"),
    ])
    func `is refused where it is something else`(lines: String, finding: String) {
        #expect(checkStep("run: x\n\(lines)").summary.first == "1️⃣ \(finding)")
    }
}
