import FlowrunTestSupport
import Planning
import Syntax
import Testing
import Workflow

/// What follows from the values of parameters before a run.
struct KnownValuesTests {
    private static let text = MarkedText(
        """
        version: 1
        params:
          list: { type: list, default: [x, y] }
          more: { type: list, default: [] }
          flag: { type: bool, default: false }
          need: { type: string, required: true }
        secrets: { OTHER: { env: OTHER } }
        env: { TOP: "${{ params.flag }}" }
        steps:
          each: { for-each: "${{ params.list }}", as: v, run: [echo, "${{ v }}"] }
          late: { needs: [each], for-each: "${{ fromJSON('[1]') }}", run: x }
          run: { needs: [each], for-each: "${{ steps.each.items.*.item }}", run: x }
          off: { if: params.flag && true, steps: { a: { run: 'echo $need', secrets: [OTHER] } } }
          says: { if: always() && params.flag, run: 'echo needless' }
          word: { run: 'echo ${need}' }
        """)

    private func workflow() throws -> Workflow { try #require(WorkflowDecoder.read(Self.text.file).workflow) }

    private func plan(_ given: (name: String, text: String)..., hiding hidden: String = "none") throws -> (
        Plan, KnownValues
    ) {
        let workflow = try workflow()
        let values = try ParameterValues(given, for: workflow.parameters)
        let known = KnownValues(fields: values.fields) { $0 == hidden }
        return (try #require(Planner.plan(workflow, known: known).plan), known)
    }

    @Test func `a fan-out over a parameter has its instances in the plan`() throws {
        let (plan, _) = try plan()
        #expect(plan.ids.filter { $0.hasPrefix("each") } == ["each", "each[x]", "each[y]"])
        #expect(plan.fanOutsOfRun.map { plan.nodes[$0].id } == ["late", "run"])
        #expect(plan.stepCount == 5)
        #expect(try plan.restricted(to: ["each[y]"]).ids == ["each", "each[y]"])
        let (given, _) = try self.plan(("list", "p,q,r"))
        #expect(given.ids.prefix(4) == ["each", "each[p]", "each[q]", "each[r]"])
        let bare = try #require(Planner.plan(try workflow()).plan)
        #expect(bare.fanOutsOfRun.map { bare.nodes[$0].id } == ["each", "late", "run"])
    }

    @Test func `a list that is wrong is left to the run, and a hidden value is no name`() throws {
        let (twice, _) = try plan(("list", "p,p"))
        #expect(twice.fanOutsOfRun.map { twice.nodes[$0].id } == ["each", "late", "run"])
        let (hidden, _) = try plan(("list", "p,q"), hiding: "q")
        #expect(hidden.ids.prefix(3) == ["each", "each[p]", "each[1]"])
    }

    @Test func `only a condition over parameters alone is known`() throws {
        let (plan, known) = try plan()
        func isRuledOut(_ id: String) -> Bool? {
            plan.row(id).map { known.rulesOut($0, of: plan) }
        }
        #expect(isRuledOut("off") == true)
        #expect(isRuledOut("says") == false)
    }

    @Test func `a condition over the variables of a copy is known, unless the run has their values`() throws {
        let text = MarkedText(
            """
            version: 1
            params: { fast: { type: bool, default: true } }
            steps:
              t: { matrix: { os: [linux, mac], cc: [gcc, clang] }, if: "os == 'linux' && (cc == 'gcc' || !params.fast)", run: x }
              g: { for-each: [a, b], as: x, steps: { m: { if: x != 'b', run: x }, n: { if: "x != 'b' || env.Y != null", run: x } } }
              late: { needs: [t], for-each: "${{ steps.t.items }}", if: item.item.os == 'mac', run: x }
              other: { platforms: [windows], run: x }
              others: { platforms: [freebsd, windows], for-each: [a], run: x }
              here: { platforms: [linux, windows], run: x }
              both: { for-each: [a], steps: { in: { for-each: "${{ fromJSON('[1]') }}", if: item != 'a', run: x } } }
            """)
        let workflow = try #require(WorkflowDecoder.read(text.file).workflow)
        let known = KnownValues(fields: try ParameterValues([], for: workflow.parameters).fields)
        let outline = try #require(Planner.plan(workflow, known: known).plan).outline
        let ruledOut = outline.rows.filter { known.rulesOut($0, of: outline) }.map { outline.nodes[$0].id }
        #expect(ruledOut == ["t[linux,clang]", "t[mac,gcc]", "t[mac,clang]", "g[b].m", "other", "others"])
    }

    @Test func `reads are what expressions name, scripts have as a word and steps list`() throws {
        func reads(_ steps: [String], _ given: (name: String, text: String)...) throws -> [String] {
            let workflow = try workflow()
            let values = try ParameterValues(given, for: workflow.parameters)
            let known = KnownValues(fields: values.fields)
            let plan = try #require(Planner.plan(workflow, known: known).plan).restricted(to: steps)
            let reads = PlanReads(plan, known: known, wanted: ["need"])
            return reads.parameters.sorted() + reads.secrets.sorted()
        }
        #expect(try reads(["each"]) == ["flag"])
        #expect(try reads(["off"]) == ["flag"])
        #expect(try reads(["off"], ("flag", "true")) == ["flag", "need", "OTHER"])
        #expect(try reads(["says"]) == ["flag"])
        #expect(try reads(["word"]) == ["flag", "need"])
    }
}
