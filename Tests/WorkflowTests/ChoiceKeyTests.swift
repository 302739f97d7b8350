import Syntax
import Testing
import Workflow

/// `default` and `manual`.
struct `What runs by default` {
    @Test func `is a list of names, and manual is true or false`() throws {
        let checked = Checked(
            """
            version: 1
            default: [build, "test[linux]"]
            steps:
              build: { run: x }
              test: { manual: false, run: x }
              g: { manual: true, steps: { a: { manual: true, run: x } } }
            """)
        #expect(checked.summary == [])
        #expect(checked.workflow?.defaultSteps?.map(\.name) == ["build", "test[linux]"])
        #expect(
            ["build", "test", "g", "a"].map { checked.node($0)?.settings?.isManual ?? false } == [
                false, false, true, true,
            ])
    }

    @Test(arguments: [
        ("default: 1️⃣build", "FR0205 `default` takes a list of ids, found the text `build`", "write `[build]`"),
        ("default: 1️⃣[]", "FR0216 `default` is empty", "name what runs, or remove the key so that everything does"),
        (
            "default: 1️⃣{ timeout: 10m }", "FR0205 `default` takes a list of ids, found a mapping",
            "did you mean `defaults`?"
        ),
        ("default: [build, 1️⃣build]", "FR0214 `build` is in the list twice", "remove one of the two"),
        (
            "1️⃣default-goal: [a]", "FR0202 `default-goal` is not a key of the workflow; flowrun's word is `default`",
            "write `default`"
        ),
    ])
    func `is refused where it says something else`(line: String, finding: String, fix: String) {
        let checked = Checked("version: 1\n\(line)\nsteps: { build: { run: x } }\n")
        #expect(checked.summary == ["1️⃣ " + finding])
        #expect(checked.diagnostics.first?.fix?.description == fix)
    }

    @Test(arguments: [
        ("manual: 1️⃣yes", "FR0219 `manual` takes `true` or `false`, and `yes` is a text in YAML 1.2", "manual: true"),
        ("1️⃣hidden: true", "FR0202 `hidden` is not a key of a step; flowrun's word is `manual`", "manual: true"),
        ("1️⃣internal: true", "FR0202 `internal` is not a key of a step; flowrun's word is `manual`", "manual: true"),
        ("1️⃣when: manual", "FR0202 `when` is not a key of a step; flowrun's word is `manual`", "manual: true"),
        ("1️⃣silent: true", "FR0202 `silent` is not a key of a step; flowrun's word is `log`", "log: quiet"),
        ("1️⃣desc: about", "FR0202 `desc` is not a key of a step; flowrun's word is `description`", "description: about"),
    ])
    func `has one word, and those of other tools lead to it`(line: String, finding: String, fixed: String) {
        let checked = checkStep("run: x\n\(line)")
        #expect(checked.summary == ["1️⃣ " + finding])
        #expect(checked.fixed.contains("    \(fixed)\n"), "\(checked.fixed)")
    }

    @Test func `another name for a step is a step that needs it`() {
        let checked = checkStep("run: x\n1️⃣aliases: [b]")
        #expect(checked.summary == ["1️⃣ FR0202 flowrun has no key `aliases`"])
        #expect(
            checked.diagnostics.first?.fix?.description == "add a step with the other name that only needs this one")
    }
}
