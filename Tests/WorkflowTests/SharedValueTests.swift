import Syntax
import Testing
import Workflow

struct `A var` {
    private func check(_ lines: String) -> Checked {
        let indented = lines.split(separator: "\n").map { "  \($0)\n" }.joined()
        return Checked("version: 1\nsecrets: { KEY: { env: KEY } }\nvars:\n\(indented)steps:\n  a: { run: x }\n")
    }

    private func literal(_ value: SharedValue) -> Value? {
        if case .literal(let value) = value.source { value } else { nil }
    }

    @Test func `is one of at most a thousand in a group`() {
        let lines = (0..<1001).map { "v\($0): x" }
        #expect(check(lines.dropLast().joined(separator: "\n")).summary == [])
        let findings = check(lines.joined(separator: "\n")).diagnostics
        #expect(findings.map(\.message) == ["`vars` has 1001 names, at most 1000 are accepted"])
    }

    @Test func `is what the file says, with its type, or what a command prints`() throws {
        let checked = check(
            """
            text: 3.10
            block: { value: "a b", type: string }
            list: [x, 010]
            jobs: { value: 4, type: int }
            fast: { value: true, type: bool }
            names: { value: "a\\n\\nb\\r\\n", type: lines }
            any: { value: '{"a": [1]}', type: json }
            made: "${{ vars.text }}-x"
            script: { run: "git describe", shell: sh, timeout: 5s, secrets: [KEY] }
            words: { run: [git, ls-files], type: lines }
            """)
        #expect(checked.summary == [])
        let values = try #require(checked.workflow?.sharedValues(of: .root))
        #expect(
            values.map(\.name) == ["text", "block", "list", "jobs", "fast", "names", "any", "made", "script", "words"])
        #expect(
            values.dropFirst().prefix(6).map(literal) == [
                .string("a b"), .list([.string("x"), .string("010")]), .int(4), .bool(true),
                .list([.string("a"), .string("b")]), try Value(json: #"{"a": [1]}"#),
            ])
        guard case .template(let text) = values[0].source, case .template(let made) = values[7].source else {
            Issue.record("not texts")
            return
        }
        #expect(text.literal == "3.10")
        #expect(made.expressions.map(\.text) == ["vars.text"])
        let script = try #require(values[8].command)
        #expect(script.kind == .string && script.shell == .sh && script.timeout?.duration == .seconds(5))
        #expect(script.secrets.map(\.name) == ["KEY"])
        #expect(values[9].command?.kind == .lines)
    }

    @Test(arguments: [
        ("1️⃣a:", "FR0205 `a` takes a text, a list of texts, or `{ run: command }`, found nothing"),
        ("1️⃣a: {}", "FR0204 the var `a` has neither `run` nor `value`"),
        ("a: { run: x, 1️⃣value: y }", "FR0209 a var has either `run` or `value`, this one has both"),
        ("a: { value: x, 1️⃣shell: sh }", "FR0209 `shell` has no effect without `run`"),
        ("a: { run: 'echo 1️⃣${{ vars.b }}' }", "FR0210 `${{` in a script: flowrun never puts a value into code"),
        ("a: { value: 1️⃣x, type: int }", "FR0205 `value` takes a whole number, found the text `x`"),
        (
            "a: { value: 1️⃣'${{ vars.b }}', type: int }", "FR0209 an expression has the type of its value, not `int`"
        ),
        (
            "a: { value: 1️⃣'{', type: json }",
            "FR0206 `value` is not JSON: expected a name in double quotes, found `{`"
        ),
        (
            "a: { run: x, type: 1️⃣array }",
            "FR0206 `type` takes `string`, `int`, `bool`, `list`, `lines` or `json`, found `array`"
        ),
        ("a: { 1️⃣sh: x }", "FR0202 `sh` is not a key of a var; flowrun's word is `run`"),
        ("a: { run: x, secrets: [1️⃣OTHER] }", "FR0221 the workflow declares no secret `OTHER`"),
        ("1️⃣vars: x", "FR0212 `vars` has a meaning of its own in expressions"),
        ("1️⃣PATH: x", "FR0212 `PATH` is a variable that changes how programs behave"),
        ("1️⃣a-b: x", "FR0211 `a-b` cannot name a variable"),
    ])
    func `is refused where it is no value`(line: String, finding: String) {
        #expect(check(line).summary == ["1️⃣ \(finding)"])
    }

    @Test func `stands at the top and in groups`() {
        let step = checkStep("1️⃣vars: { b: c }\nrun: x")
        #expect(step.summary == ["1️⃣ FR0201 `vars` is not a key of a step"])
        let group = checkStep("vars: { b: c }\nsteps: { s: { run: x } }")
        #expect(group.summary == [])
        let foreign = Checked("version: 1\n1️⃣variables: { b: c }\nsteps: { a: { run: x } }\n")
        #expect(foreign.summary == ["1️⃣ FR0202 `variables` is not a key of the workflow; flowrun's word is `vars`"])
    }

    @Test func `means the nearest of its name, and a script reads it by the word`() throws {
        let checked = Checked(
            """
            version: 1
            vars: { x: 1, y: { run: "echo $x $y" }, z: "${{ vars.y }}" }
            steps:
              g:
                vars: { x: 2 }
                steps:
                  a: { run: 'echo "${x} x_ xy" $z' }
                  b: { env: { A: "${{ vars.y }}" }, run: [echo, "${{ vars.x }}"] }
              c: { run: y/x }
              d: { run: 'true' }
            """)
        #expect(checked.summary == [])
        let workflow = try #require(checked.workflow)
        let (group, a, b) = (NodeIndex(1), NodeIndex(2), NodeIndex(3))
        func id(_ scope: NodeIndex, _ position: Int) -> SharedValueID {
            SharedValueID(scope: scope, position: position)
        }
        #expect(workflow.sharedValuesRead(by: a) == [id(group, 0), id(.root, 2)])
        #expect(workflow.sharedValuesRead(by: b) == [id(.root, 1), id(group, 0)])
        #expect(workflow.sharedValuesRead(by: NodeIndex(4)) == [id(.root, 0), id(.root, 1)])
        #expect(workflow.sharedValuesRead(by: NodeIndex(5)) == [])
        #expect(workflow.sharedValuesRead(by: id(.root, 1)) == [id(.root, 0)])
        #expect(workflow.dependencies(of: id(.root, 2)) == [id(.root, 1)])
    }

    @Test func `is in the environment of what reads it in any case`() throws {
        let checked = Checked(
            """
            version: 1
            vars: { x: 1, y: 2, z: 3 }
            steps:
              a: { run: [p, "${{ if(vars.x == 1, vars.y, vars.z) }}"] }
              b: { run: [p, "${{ len(env.A ?? vars.y) }}", "${{ [vars.z].*.a }}"] }
            """)
        let workflow = try #require(checked.workflow)
        func names(_ row: Int) -> [String] { workflow.sharedValuesRead(by: NodeIndex(row)).map { workflow[$0].name } }
        #expect(names(1) == ["x"])
        #expect(names(2) == ["z"])
    }
}

struct `Output declarations` {
    @Test func `lines are a type, not a place`() {
        let checked = checkStep("run: x\noutputs:\n  good: lines\n  also: { type: lines, from: stdout }")
        #expect(checked.summary == [])
        let wrong = checkStep("run: x\noutputs: { a: { type: list, from: 1️⃣lines } }")
        #expect(wrong.summary == ["1️⃣ FR0206 `from` takes `stdout`, found `lines`"])
        #expect(wrong.diagnostics.first?.fix?.description == "write `type: lines` and no `from`")
    }
}
