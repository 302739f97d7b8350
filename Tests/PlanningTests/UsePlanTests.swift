import FlowrunTestSupport
import Planning
import Syntax
import Testing
import Workflow

struct `Inside a body that is used` {
    private func plan(
        _ text: String, _ files: [String: String] = [:], known: KnownValues = .none
    ) throws -> (plan: Plan?, findings: [String]) {
        let marked = MarkedText(text, name: "main.yml")
        let found = WorkflowFiles(identity: { nil }) { path in
            files[path].map { .found(identity: path, name: path, bytes: Array($0.utf8)) } ?? .unreadable("missing")
        }
        let (workflow, mistakes) = WorkflowDecoder.read(marked.file, files: found)
        #expect(mistakes.map(\.message) == [])
        let (plan, findings) = Planner.plan(try #require(workflow), known: known)
        let lines = try #require(workflow).explained(findings).map { finding in
            let line = finding.file.line(at: finding.range.lowerOffset)
            return "\(finding.file.name):\(line) \(finding.message)"
        }
        return (plan, lines)
    }

    @Test func `no name outside can be needed or read`() throws {
        let (_, findings) = try plan(
            """
            version: 1
            params: { top: { default: x } }
            steps:
              lint: { run: x }
              build: { uses: b.yml, for-each: [p], with: { own: "${{ item }}" } }
            """,
            [
                "b.yml": """
                version: 1
                params: { own: { default: x } }
                env: { E: "${{ params.own }}", F: "${{ steps.c.outcome }}" }
                steps:
                  a: { run: x, needs: [lint] }
                  b: { run: [x, "${{ steps.lint.outcome }}"] }
                  c: { run: [x, "${{ params.top }}", "${{ params.own }}"] }
                  d: { run: [x, "${{ item }}"] }
                """
            ])
        #expect(
            findings == [
                "b.yml:3 this is evaluated before any step has run", "b.yml:5 unknown dependency `lint`",
                "b.yml:6 there is no step or group `lint`", "b.yml:7 there is no parameter `top`",
                "b.yml:8 unknown name `item`",
            ])
    }

    @Test func `a template also reads the parameters of its file`() throws {
        let (plan, findings) = try plan(
            """
            version: 1
            params: { top: { required: true }, other: { required: true } }
            templates:
              t:
                params: { other: { default: a } }
                steps: { s: { run: [x, "${{ params.top }}", "${{ params.other }}"] }, u: { run: 'echo $other' } }
            steps:
              a: { uses: t }
            """)
        #expect(findings == [])
        let reads = PlanReads(try #require(plan), known: .none, wanted: ["top", "other"])
        #expect(reads.parameters == ["top"])
    }

    @Test func `the types of what is given fit the parameters`() throws {
        let (_, findings) = try plan(
            """
            version: 1
            params: { list: { type: list, default: [] }, flag: { type: bool, default: false } }
            templates:
              t:
                params: { n: { type: int, default: 1 }, l: { type: list, default: [] }, s: { default: x } }
                steps: { s: { run: x } }
            steps:
              a: { uses: t, with: { n: "${{ params.flag }}", l: "${{ params.list }}", s: "${{ params.list }}" } }
              b: { uses: t, with: { l: "${{ len(params.list) }}", n: "${{ len(params.list) }}" } }
              c: { uses: t, with: { s: "${{ steps.a.outcome }}" } }
            """)
        #expect(
            findings == [
                "main.yml:8 the parameter `n` is a whole number, found true or false",
                "main.yml:8 the parameter `s` is a text, found a list",
                "main.yml:9 the parameter `l` is a list, found a whole number",
                "main.yml:10 expected a step that `c` waits for, found `a`, which may still run when it starts",
            ])
    }

    @Test func `a text is not a number, but for the values of a fan-out, which are held against the parameter`() throws
    {
        let (_, findings) = try plan(
            """
            version: 1
            params: { s: { type: string, default: x }, e: { type: enum, values: [a, c], default: a } }
            templates:
              t:
                params:
                  n: { type: int, default: 1 }
                  yes: { type: bool, default: false }
                  l: { type: list, default: [] }
                  e: { type: enum, values: [a, b], default: a }
                steps: { s: { run: x } }
            steps:
              a: { uses: t, with: { n: "${{ params.s }}" } }
              b: { uses: t, with: { yes: "${{ params.s }}" } }
              c: { uses: t, with: { l: "${{ params.s }}" } }
              d: { uses: t, with: { e: "${{ params.e }}" } }
              e: { uses: t, with: { e: "${{ params.s }}", n: "${{ fromJSON(params.s) }}" } }
              f: { uses: t, for-each: [1, 2], with: { n: "${{ item }}" } }
              g: { uses: t, matrix: { n: [1, x] }, with: { n: "${{ n }}" } }
            """)
        #expect(
            findings == [
                "main.yml:12 the parameter `n` is a whole number, found a text",
                "main.yml:13 the parameter `yes` is true or false, found a text",
                "main.yml:14 the parameter `l` is a list, found a text",
                "main.yml:15 the parameter `e` is `a` or `b`, and one of the values is `c`",
                "main.yml:18 the parameter `n` is a whole number, and one of the values is `x`",
            ])
    }

    @Test func `the folder of defaults is checked, in each file with its own names`() throws {
        let (_, findings) = try plan(
            """
            version: 1
            defaults: { working-directory: "${{ params.nope }}" }
            steps:
              a: { uses: b.yml }
            """,
            [
                "b.yml": """
                version: 1
                params: { own: { default: x } }
                defaults: { working-directory: "${{ params.own }}/${{ steps.s.outcome }}" }
                steps: { s: { run: x } }
                """
            ])
        #expect(
            findings == [
                "main.yml:2 there is no parameter `nope`", "b.yml:3 this is evaluated before any step has run",
            ])
    }

    @Test func `what is wrong in a body that is used a thousand times leaves room for other findings`() throws {
        let uses = (0..<1500).map { "  g\($0): { uses: t }\n" }.joined()
        let (_, findings) = try plan(
            "version: 1\ntemplates: { t: { steps: { s: { run: x, needs: [nope] } } } }\nsteps:\n\(uses)"
                + "  last: { run: x, needs: [missing] }\n")
        #expect(findings == ["main.yml:2 unknown dependency `nope`", "main.yml:1504 unknown dependency `missing`"])
    }

    @Test func `instances that follow from what is given are known before the run`() throws {
        let text = """
            version: 1
            params: { all: { type: list, default: [p, q] } }
            templates:
              t:
                params: { list: { type: list, default: [] }, on: { type: bool, default: true } }
                steps:
                  each: { for-each: "${{ params.list }}", run: x }
                  maybe: { if: params.on, run: x }
            steps:
              a: { uses: t, with: { list: [u, v] } }
              b: { uses: t, with: { list: "${{ params.all }}", on: false } }
            """
        let known = KnownValues(fields: [Value.Field(name: "all", value: .list([.string("p")]))])
        let plan = try #require(try plan(text, known: known).plan)
        #expect(plan.nodes.map(\.id).filter { $0.hasSuffix("]") } == ["a.each[u]", "a.each[v]", "b.each[p]"])
        let off = plan.rows.filter { known.rulesOut($0, of: plan) }.map { plan.nodes[$0].id }
        #expect(off == ["b.maybe"])
    }

    @Test func `defaults are those of the file that has the step`() throws {
        let (found, _) = try plan(
            """
            version: 1
            defaults: { timeout: 1m, shell: sh, grace: 1s }
            log: quiet
            env-policy: clean
            templates: { t: { shell: dash, steps: { s: { run: x } } } }
            steps:
              a: { uses: b.yml, grace: 3s }
              b: { uses: t }
              c: { shell: zsh, steps: { d: { uses: b.yml } } }
            """,
            [
                "b.yml": """
                version: 1
                log: live
                defaults: { timeout: 2m }
                steps: { s: { run: x } }
                """
            ])
        let plan = try #require(found)
        func row(_ id: String) throws -> PlanIndex { try #require(plan.rows.first { plan.nodes[$0].id == id }) }
        let (used, template, inner) = (try row("a.s"), try row("b.s"), try row("c.d.s"))
        #expect(plan.timeout(of: used) == .seconds(120) && plan.timeout(of: template) == .seconds(60))
        #expect(plan.shell(of: used) == .bash && plan.shell(of: inner) == .bash)
        #expect(plan.shell(of: template) == Shell(named: "dash"))
        #expect(plan.grace(of: used) == .seconds(3) && plan.grace(of: inner) == Settings.defaultGrace)
        #expect(plan.logView(of: used) == .live && plan.logView(of: template) == .quiet)
        #expect(plan.environmentPolicy(of: used) == .clean)
        #expect(plan.place(of: used) == "b.yml:4" && plan.place(of: template) == "main.yml:5")
    }

    @Test func `default of a file names its own steps`() throws {
        let (_, findings) = try plan(
            "version: 1\nsteps:\n  a: { uses: b.yml }\n  s: { run: x }\n",
            ["b.yml": "version: 1\ndefault: [s, t]\nsteps: { t: { run: x }, r: { run: x } }\n"])
        #expect(findings == ["b.yml:2 `default` names `s`, and there is no such step or group"])
    }
}
