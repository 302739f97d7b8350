import FlowrunTestSupport
import Planning
import Syntax
import Testing
import Workflow

struct PlannerTests {
    @Test func `an empty workflow is an empty plan`() throws {
        let plan = try #require(Planner.plan(WorkflowSketch.workflow([])).plan)
        #expect(plan.stepCount == 0)
        #expect(plan.criticalPath() == [])
    }

    @Test func `levels count steps, not groups`() throws {
        let workflow = WorkflowSketch.workflow([
            .step("last", needs: ["g"]),
            .group("g", needs: ["a"], [.step("x"), .step("y", needs: ["x", "b"]), .group("empty", needs: ["y"], [])]),
            .step("a"), .step("b", needs: ["c"]), .step("c", needs: ["a"]), .step("alone", needs: ["g"]),
        ])
        let plan = try #require(Planner.plan(workflow).plan)
        let ids = ["a", "b", "c", "g", "g.x", "g.y", "g.empty", "last"]
        #expect(ids.map { plan.level(of: $0) } == [0, 2, 1, 1, 1, 3, 4, 4])
        #expect(plan.criticalIDs == ["a", "c", "b", "g.y", "last"])
        #expect(plan.row("a").map { plan.nodes[$0].remainingPath } == 5)
        #expect(plan.row("g").map { plan.nodes[$0].remainingPath } == 3)
    }

    @Test func `levels are the same in a file where nothing needs what stands below it`() throws {
        let workflow = WorkflowSketch.workflow([
            .step("a"), .step("c", needs: ["a"]), .step("b", needs: ["c"]),
            .group("g", needs: ["a"], [.step("x"), .step("y", needs: ["x", "b"]), .group("empty", needs: ["y"], [])]),
            .step("last", needs: ["g"]), .step("alone", needs: ["g"]),
        ])
        let plan = try #require(Planner.plan(workflow).plan)
        let ids = ["a", "b", "c", "g", "g.x", "g.y", "g.empty", "last"]
        #expect(ids.map { plan.level(of: $0) } == [0, 2, 1, 1, 1, 3, 4, 4])
        #expect(plan.criticalIDs == ["a", "c", "b", "g.y", "last"])
        #expect(plan.row("a").map { plan.nodes[$0].remainingPath } == 5)
        #expect(plan.row("g").map { plan.nodes[$0].remainingPath } == 3)
    }

    @Test func `the critical path leads through groups without steps`() throws {
        let workflow = WorkflowSketch.workflow([
            .step("a"), .group("e1", needs: ["a"], []), .group("e2", needs: ["e1"], []), .step("b", needs: ["e2"]),
        ])
        #expect(try #require(Planner.plan(workflow).plan).criticalIDs == ["a", "b"])
    }

    @Test func `a chain of a hundred thousand declared in reverse is planned`() throws {
        let count = 100_000
        let steps = (0..<count).map { NodeSketch.step("s\($0)", needs: $0 + 1 < count ? ["s\($0 + 1)"] : []) }
        let plan = try #require(Planner.plan(WorkflowSketch.workflow(steps)).plan)
        #expect(plan.level(of: "s0") == count - 1)
        #expect(plan.nodes[0].remainingPath == count)
        #expect(plan.criticalPath() == (1...count).reversed().map { PlanIndex($0) })
    }

    @Test func `groups nested thirty thousand deep are planned`() throws {
        let depth = 30_000
        let file = SourceFile(name: "deep.yml", text: "")
        let end = UInt32(depth + 2)
        var nodes = [WorkflowNode(id: "", range: .beginning, parent: .root, subtreeEnd: end, body: .group)]
        for row in 1...depth {
            nodes.append(
                WorkflowNode(id: "", range: .beginning, parent: NodeIndex(row - 1), subtreeEnd: end, body: .group))
        }
        nodes.append(
            WorkflowNode(
                id: "s", range: .beginning, parent: NodeIndex(depth), subtreeEnd: end,
                needs: 0..<1, body: .script("")))
        let needs = [Need(name: "s", range: .beginning)]
        #expect(
            Planner.plan(Workflow(file: file, nodes: nodes, needs: needs)).diagnostics.map(\.code) == [.dependencyCycle]
        )
        nodes[depth + 1].needs = 0..<0
        #expect(Planner.plan(Workflow(file: file, nodes: nodes)).plan?.stepCount == 1)
    }

    @Test func `a sequence chains its members, and a need of the one before takes the edge's place`() throws {
        let workflow = WorkflowSketch.workflow([
            .group(
                "s", isSequence: true,
                [
                    .step("a"), .group("b", [.step("x")]), .step("c", needs: ["a"]),
                    .step("d").with(\.needs, [("c", .done)]),
                ])
        ])
        let plan = try #require(Planner.plan(workflow).plan)
        #expect(plan.needs(of: "s.b") == ["s.a"])
        #expect(plan.needs(of: "s.c") == ["s.a", "s.b"])
        let row = try #require(plan.row("s.d"))
        #expect(plan.edges(of: row).map(\.kind) == [.done])
        #expect(plan.edges(of: row).map(\.isSequence) == [false])
        #expect(plan.row("s.c").map { plan.edges(of: $0).map(\.isSequence) } == [false, true])
    }
}

struct FanOutPlanTests {
    @Test func `instances have the key in brackets and stand inside their fan-out`() throws {
        let workflow = WorkflowSketch.workflow([
            .step("prepare"),
            .group(
                "a", needs: ["prepare"], forEach: ["1", "3.10"],
                [
                    .step("first"),
                    .group("b", needs: ["first"], forEach: ["x"], [.step("c", needs: ["outside"])]),
                    .step("outside"),
                ]),
            .step("last", needs: ["a"], forEach: ["p", "q"]),
        ])
        let plan = try #require(Planner.plan(workflow).plan)
        #expect(
            plan.ids == [
                "prepare", "a", "a[1]", "a[1].first", "a[1].b", "a[1].b[x]", "a[1].b[x].c", "a[1].outside", "a[3.10]",
                "a[3.10].first", "a[3.10].b", "a[3.10].b[x]", "a[3.10].b[x].c", "a[3.10].outside", "last", "last[p]",
                "last[q]",
            ])
        let roles = ["a", "a[1]", "a[1].b", "a[1].b[x]", "last", "last[p]"].map { id in
            plan.row(id).map { plan.nodes[$0].role }
        }
        #expect(roles == [.fanOut, .group, .fanOut, .group, .fanOut, .step])
        #expect(plan.stepCount == 9)
        for row in plan.rows.dropFirst() {
            let parent = plan.nodes[row].parent
            #expect(plan.members(of: parent).contains(row))
        }
    }

    @Test func `needs belong to the whole, and inside an instance stay inside it`() throws {
        let workflow = WorkflowSketch.workflow([
            .step("prepare"),
            .group(
                "a", needs: ["prepare"], forEach: ["1", "2"],
                [.step("first"), .group("b", forEach: ["x", "y"], [.step("c", needs: ["first", "prepare"])])]),
            .step("last", needs: ["a"]),
        ])
        let plan = try #require(Planner.plan(workflow).plan)
        #expect(plan.needs(of: "a") == ["prepare"])
        #expect(plan.needs(of: "a[1]") == [])
        #expect(plan.needs(of: "a[2].b[y].c") == ["a[2].first", "prepare"])
        #expect(plan.needs(of: "last") == ["a"])
        #expect(plan.level(of: "a[2].b[y].c") == 2)
        #expect(plan.level(of: "last") == 3)
    }

    @Test func `each copy of a sequence is a chain of its own`() throws {
        let workflow = WorkflowSketch.workflow([
            .group("s", isSequence: true, forEach: ["x", "y"], [.step("a"), .step("b")])
        ])
        let plan = try #require(Planner.plan(workflow).plan)
        #expect(plan.needs(of: "s[x].a") == [])
        #expect(plan.needs(of: "s[y].a") == [])
        #expect(plan.needs(of: "s[y].b") == ["s[y].a"])
    }

    @Test func `variables come outermost first`() throws {
        let inner = NodeSketch.step("c", forEach: ["x"]).with(\.variable, "letter")
        let workflow = WorkflowSketch.workflow([.group("a", forEach: ["1"], [inner]).with(\.variable, "number")])
        let plan = try #require(Planner.plan(workflow).plan)
        let row = try #require(plan.row("a[1].c[x]"))
        #expect(plan.nodes[row].variables.map(\.name) == ["number", "letter"])
        #expect(plan.nodes[row].variables.map(\.value) == ["1", "x"])
        #expect(plan.row("a").map { plan.nodes[$0].variables.isEmpty } == true)
    }

    @Test func `a fan-out without instances lets its dependents run`() throws {
        let workflow = WorkflowSketch.workflow([.step("a", forEach: []), .step("b", needs: ["a"])])
        let plan = try #require(Planner.plan(workflow).plan)
        #expect(plan.ids == ["a", "b"])
        #expect(plan.level(of: "b") == 0)
    }

    @Test func `fan-outs that multiply beyond the limit are refused before they are expanded`() throws {
        let values = (0..<1_000).map { "\($0)" }
        var member = NodeSketch.step("deep", forEach: values)
        for level in 0..<8 { member = .group("g\(level)", forEach: values, [member]) }
        let workflow = WorkflowSketch.workflow([member])
        let (plan, findings) = Planner.plan(workflow)
        #expect(plan == nil)
        let finding = try #require(findings.first)
        #expect(finding.code == .fanOutTooLarge)
        #expect(finding.message == "the workflow expands to far more steps and groups; at most 1000000 are accepted")
        #expect(workflow.file.text(in: finding.range) == "for-each")
    }

    @Test func `the largest plan within the limit is made`() throws {
        let values = (0..<998).map { "\($0)" }
        let member = NodeSketch.group("g", forEach: values, [.step("s", forEach: values)])
        let plan = try #require(Planner.plan(WorkflowSketch.workflow([member])).plan)
        #expect(plan.nodes.count == 2 + 998 * (2 + 998))
        #expect(plan.stepCount == 998 * 998)
    }
}
