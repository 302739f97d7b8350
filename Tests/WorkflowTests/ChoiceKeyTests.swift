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
        (
            "default: 1️⃣build", "FR0205 `default` takes a list of ids, or `list`, found the text `build`",
            "write `[build]`"
        ),
        (
            "default: 1️⃣{ timeout: 10m }", "FR0205 `default` takes a list of ids, or `list`, found a mapping",
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
        ("1️⃣hidden: true", "FR0202 `hidden` is not a key of a step; flowrun's word is `internal`", "internal: true"),
        ("1️⃣alias: [b]", "FR0202 `alias` is not a key of a step; flowrun's word is `aliases`", "aliases: [b]"),
        ("1️⃣when: manual", "FR0202 `when` is not a key of a step; flowrun's word is `manual`", "manual: true"),
        ("1️⃣silent: true", "FR0202 `silent` is not a key of a step; flowrun's word is `log`", "log: quiet"),
        ("1️⃣desc: about", "FR0202 `desc` is not a key of a step; flowrun's word is `description`", "description: about"),
    ])
    func `has one word, and those of other tools lead to it`(line: String, finding: String, fixed: String) {
        let checked = checkStep("run: x\n\(line)")
        #expect(checked.summary == ["1️⃣ " + finding])
        #expect(checked.fixed.contains("    \(fixed)\n"), "\(checked.fixed)")
    }

    @Test(arguments: ["list", "[]"])
    func `is nothing for a file whose steps are listed`(value: String) {
        let checked = Checked("version: 1\ndefault: \(value)\nsteps: { list: { run: x } }\n")
        #expect(checked.summary == [])
        #expect(checked.workflow?.defaultSteps?.isEmpty == true)
    }
}

/// `aliases`, `internal` and `section`.
struct `Names on the command line` {
    @Test func `are the id and its aliases, unless a step is internal`() throws {
        let checked = Checked(
            """
            version: 1
            steps:
              build: { run: x, aliases: [b, make], section: Work }
              helper: { run: x, internal: true }
              g: { internal: false, section: Rest, aliases: [all], steps: { a: { aliases: [b], run: x } } }
            """)
        #expect(checked.summary == [])
        let workflow = try #require(checked.workflow)
        #expect(checked.node("build")?.settings?.aliases.map(\.name) == ["b", "make"])
        #expect(checked.node("build")?.settings?.section == "Work")
        #expect(checked.node("helper")?.settings?.isInternal == true)
        #expect(checked.node("g")?.settings?.isInternal == false)
        #expect(workflow.namingKeys == [.aliases, .internal])
    }

    @Test func `cost nothing where no step has such a key`() {
        let checked = Checked("version: 1\nsteps: { a: { run: x, section: s, internal: false } }\n")
        #expect(checked.workflow?.namingKeys.isEmpty == true)
    }

    @Test(arguments: [
        ("aliases: 1️⃣b", "FR0205 `aliases` takes a list of names, found the text `b`"),
        ("aliases: [1️⃣b.c]", "FR0207 `b.c` cannot name a step"),
        ("aliases: [b, 1️⃣b]", "FR0214 `b` is in the list twice"),
        ("aliases: 1️⃣{ b: c }", "FR0205 `aliases` takes a list of names, found a mapping"),
        ("internal: 1️⃣yes", "FR0219 `internal` takes `true` or `false`, and `yes` is a text in YAML 1.2"),
        ("section: 1️⃣[b]", "FR0205 `section` takes a text, found a list"),
    ])
    func `are refused in another form`(line: String, finding: String) {
        #expect(checkStep("run: x\n\(line)").summary == ["1️⃣ " + finding])
    }

    @Test func `are unique in their group`() {
        let checked = Checked(
            """
            version: 1
            steps:
              a: { run: x, aliases: [1️⃣a, 2️⃣b] }
              b: { run: x, aliases: [c] }
              g: { aliases: [3️⃣c], steps: { c: { run: x, aliases: [a] } } }
            """)
        let names = ["a", "b", "c"]
        #expect(
            checked.summary
                == zip(["1️⃣", "2️⃣", "3️⃣"], names).map {
                    "\($0) FR0207 the alias `\($1)` is already a name in this group"
                })
    }

    @Test func `belong to no workflow`() {
        let checked = Checked("version: 1\n1️⃣aliases: [b]\nsteps: { a: { run: x } }\n")
        #expect(checked.summary == ["1️⃣ FR0201 `aliases` is not a key of the workflow"])
    }
}

/// `params` of a step.
struct `A step has parameters of its own` {
    @Test func `which are declared as those of the workflow are`() throws {
        let checked = checkStep("params: { name: { default: World }, n: { type: int, required: true } }\nrun: x")
        #expect(checked.summary == [])
        #expect(checked.node("a")?.settings?.parameters.map(\.name) == ["name", "n"])
        #expect(checked.node("a")?.settings?.parameters.map(\.isRequired) == [false, true])
        #expect(checked.workflow?.namingKeys == [.params])
    }

    @Test func `whose names are no other variable of the step`() {
        let checked = Checked(
            """
            version: 1
            params: { top: {} }
            secrets: { KEY: { env: KEY } }
            templates:
              t: { params: { x: {} }, steps: { s: { params: { 1️⃣x: {}, 2️⃣top: {}, y: {} }, run: x } } }
            steps:
              a: { params: { 3️⃣top: {}, 4️⃣KEY: {}, 5️⃣item: {}, y: {} }, for-each: [1], run: x }
              b: { params: { y: {} }, run: x }
              g: { uses: t, with: { x: 1 } }
            """)
        let outer = "is a parameter of the step and of all around it"
        #expect(
            checked.summary == [
                "1️⃣ FR0209 `x` \(outer)", "2️⃣ FR0209 `top` \(outer)", "3️⃣ FR0209 `top` \(outer)",
                "4️⃣ FR0209 `KEY` is a secret and a parameter",
                "5️⃣ FR0209 `item` is a parameter and the variable of the fan-out",
            ])
    }

    @Test(arguments: [
        ("params: 1️⃣[a]\nrun: x", "FR0205 `params` takes a mapping of names to `{ type, default, … }`, found a list"),
        ("params: { 1️⃣a-b: {} }\nrun: x", "FR0211 `a-b` cannot name a variable"),
        ("needs: [b]\n1️⃣params: { a: {} }", "FR0204 `a` has no `run`, and without one `params` has no effect"),
        ("1️⃣params: { a: {} }\nsteps: { b: { run: x } }", "FR0201 `params` is not a key of a group"),
        (
            "params: { a: {} }\nrun: echo 1️⃣${{ params.a }}",
            "FR0210 `${{` in a script: flowrun never puts a value into code"
        ),
    ])
    func `and are refused elsewhere`(lines: String, finding: String) {
        #expect(checkStep(lines).summary == ["1️⃣ " + finding])
    }
}
