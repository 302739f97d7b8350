import FlowrunTestSupport
import Planning
import Syntax
import Testing
import Workflow

struct `Vars in a plan` {
    private func check(_ vars: String, _ steps: String = "s: { run: x }", top: String = "") -> Planned {
        Planned(steps, top: "vars: { \(vars) }" + top)
    }

    @Test(arguments: [
        ("1️⃣a: '${{ vars.b }}', b: '${{ vars.a }}'", "`vars.a` -> `vars.b` -> `vars.a`"),
        ("1️⃣a: '${{ vars.a }}'", "`vars.a` -> `vars.a`"),
        (
            "x: '${{ vars.b }}', 1️⃣b: { run: 'echo $c' }, c: { run: [echo, '${{ vars.b }}'] }",
            "`vars.b` -> `vars.c` -> `vars.b`"
        ),
    ])
    func `read no ring`(vars: String, ring: String) {
        #expect(check(vars).summary == ["1️⃣ FR0302 `vars` that read each other: \(ring)"])
    }

    @Test func `that double each other forty times are looked at once each`() {
        let doubled = (1...40).map { "v\($0): '${{ vars.v\($0 - 1) }}${{ vars.v\($0 - 1) }}'" }
        let planned = check(
            "v0: x, " + doubled.joined(separator: ", "), "s: { for-each: \"${{ fromJSON(vars.v40) }}\", run: x }")
        #expect(planned.summary == [])
    }

    @Test func `tell why each of a ring reads the next`() throws {
        let finding = try #require(check("b: { run: 'echo $c' }, c: '${{ vars.b }}'").diagnostics.first)
        #expect(finding.notes.map(\.message) == ["the script of `vars.b` has the word `c`", "`vars.c` reads `vars.b`"])
    }

    @Test func `may have their own name as a word, and read what reads nothing back`() {
        #expect(check("tags: { run: git tags }, a: { run: 'echo $b $c' }, b: '${{ vars.c }}', c: x").summary == [])
        let nested = check("x: outer", "g:\n  vars: { y: '${{ vars.x }}', x: inner }\n  steps: { s: { run: x } }")
        #expect(nested.summary == [])
    }

    @Test(arguments: [
        ("params: { a: { type: string } }", "a parameter"), ("secrets: { a: { env: A } }", "a secret"),
    ])
    func `have no name of something else that every step has`(top: String, what: String) {
        let planned = check("1️⃣a: x", top: "\n" + top)
        #expect(planned.summary == ["1️⃣ FR0209 `a` is one of `vars` and \(what)"])
    }

    @Test func `have no name of the fan-out of their group`() {
        let planned = check("a: x", "g:\n  for-each: [p]\n  as: b\n  vars: { 1️⃣b: y }\n  steps: { s: { run: x } }")
        #expect(planned.summary == ["1️⃣ FR0209 `b` is one of `vars` and the variable of a fan-out"])
    }

    private static let vars = """
        text: x, list: [p, q], count: { value: 3, type: int }, lines: { run: x, type: lines }, \
        number: { run: x, type: int }, made: "${{ vars.count }}", any: { run: x, type: json }
        """

    @Test(arguments: [
        "vars.text", "vars.list", "vars.count > 2", "vars.lines[0] ?? 'x'", "join(vars.lines, ' ')", "vars.number < 3",
        "vars.made > 2", "vars.any.deep", "contains(vars.list, vars.text)",
    ])
    func `have types`(expression: String) {
        #expect(check(Self.vars, "s: { run: [x, \"${{ \(expression) }}\"] }").summary == [])
    }

    @Test(arguments: [
        ("vars.1️⃣txt", "FR0403 there is no var `txt`"), ("1️⃣text", "FR0403 unknown name `text`"),
        ("1️⃣vars", "FR0403 a name is missing after `vars`"),
        ("1️⃣vars.text > 2", "FR0406 cannot order a text and a whole number"),
        ("1️⃣vars.lines == 'x'", "FR0406 cannot compare a list and a text"),
        ("vars.count.1️⃣x", "FR0406 a whole number has no field `x`"),
    ])
    func `are checked where they are read`(expression: String, finding: String) {
        #expect(check(Self.vars, "s: { run: [x, \"${{ \(expression) }}\"] }").summary == ["1️⃣ \(finding)"])
    }

    @Test(arguments: [
        ("1️⃣steps.s.outcome", "FR0407 `vars` cannot read `steps`: their value is the same before and after any step"),
        (
            "1️⃣previous.outcome",
            "FR0407 `vars` cannot read `previous`: their value is the same before and after any step"
        ),
        ("1️⃣args", "FR0407 `args` is known only in the words of a step's `run` list and in `with`"),
        ("1️⃣env.FROM", "FR0405 `env.FROM` may have no value, because the variable may not be set"),
        ("run.1️⃣outcome", "FR0407 the outcome of the run is known only in `finally` and `on-failure` of the workflow"),
    ])
    func `know no step, and nothing that vars make`(expression: String, finding: String) {
        let planned = check("a: \"${{ \(expression) }}\", b: y", top: "\nenv: { FROM: \"${{ vars.b }}\", SET: x }")
        #expect(planned.summary == ["1️⃣ \(finding)"])
        #expect(check("a: '${{ env.SET }}'", top: "\nenv: { SET: x }").summary == [])
    }

    @Test func `of a group are in sight of its members, not of its own condition and list`() {
        func group(_ key: String) -> Planned {
            Planned("g:\n  vars: { own: [a], flag: { value: true, type: bool } }\n  \(key)\n  steps: { s: { run: x } }")
        }
        #expect(group("env: { A: \"${{ vars.own }}\" }").summary == [])
        #expect(group("outputs: { a: \"${{ vars.own }}\" }").summary == [])
        #expect(group("if: vars.1️⃣flag").summary == ["1️⃣ FR0403 there is no var `flag`"])
        #expect(group("for-each: ${{ vars.1️⃣own }}").summary == ["1️⃣ FR0403 there is no var `own`"])
    }

    @Test(arguments: [false, true])
    func `may follow from one another up to a limit, whatever their order`(isReversed: Bool) {
        func check(_ count: Int, _ next: (Int) -> String) -> Planned {
            let lines = (1..<count).map { "  v\($0): \(next($0 - 1))" } + ["  v0: x"]
            return Planned(
                "s: { run: [x, \"${{ vars.v\(count - 1) }}\"] }",
                top: "vars:\n" + (isReversed ? lines.reversed() : lines).joined(separator: "\n"))
        }
        let message = "more than 64 of `vars` follow from one another"
        #expect(check(64) { "\"${{ vars.v\($0) }}\"" }.summary == [])
        #expect(check(64) { "{ run: 'echo $v\($0)' }" }.summary == [])
        #expect(check(65) { "\"${{ vars.v\($0) }}\"" }.diagnostics.map(\.message) == [message])
        #expect(check(1000) { "\"${{ vars.v\($0) }}\"" }.diagnostics.map(\.message) == [message])
        #expect(check(65) { "{ run: [echo, \"${{ vars.v\($0) }}\"] }" }.diagnostics.map(\.message) == [message])
    }

    @Test func `that need no command are known before the run`() throws {
        let planned = Planned(
            """
            each: { for-each: "${{ vars.list }}", run: x }
            made: { for-each: "${{ vars.made }}", run: x }
            late: { for-each: "${{ vars.late }}", run: x }
            never: { if: vars.count > 3, run: 'echo $late' }
            ever: { if: vars.count < 4, run: x }
            """,
            top: """
                vars:
                  list: [p, q]
                  made: "${{ [vars.list[0]] }}"
                  late: { run: x, type: lines }
                  count: { value: 3, type: int }
                """)
        #expect(planned.summary == [])
        let plan = try #require(planned.plan)
        #expect(plan.ids == ["each", "each[p]", "each[q]", "made", "made[p]", "late", "never", "ever"])
        let rows = plan.rows.filter { KnownValues.none.rulesOut($0, of: plan) }
        #expect(rows.map { plan.nodes[$0].id } == ["never"])
    }

    @Test func `are read by what names them, and read in turn`() throws {
        let planned = Planned(
            "a: { run: 'echo $made' }\nb: { run: [x, '${{ vars.login }}'] }\nc: { run: x }",
            top: """
                params: { tag: { type: string, required: true }, word: { type: string, required: true } }
                secrets: { KEY: { env: KEY } }
                vars:
                  made: "${{ params.tag }}"
                  login: { run: 'login $word', secrets: [KEY] }
                """)
        #expect(planned.summary == [])
        func reads(_ step: String) throws -> [String] {
            let plan = try #require(planned.plan).restricted(to: [step])
            let reads = PlanReads(plan, known: .none, wanted: ["tag", "word"])
            return reads.parameters.sorted() + reads.secrets.sorted()
                + reads.sharedValues.map { plan.workflow[$0].name }.sorted()
        }
        #expect(try reads("a") == ["tag", "made"])
        #expect(try reads("b") == ["word", "KEY", "login"])
        #expect(try reads("c") == [])
    }
}
