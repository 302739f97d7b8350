import FlowrunTestSupport
import Planning
import Syntax
import Testing
import Workflow

struct NeedResolutionTests {
    @Test func `a name means the sibling before the sibling of a group around it`() throws {
        let workflow = WorkflowSketch.workflow([
            .step("x"),
            .group("g", [.step("x"), .step("a", needs: ["x"]), .group("h", [.step("b", needs: ["x", "y"])])]),
            .step("y"),
        ])
        let plan = try #require(Planner.plan(workflow).plan)
        #expect(plan.needs(of: "g.a") == ["g.x"])
        #expect(plan.needs(of: "g.h.b") == ["g.x", "y"])
    }

    @Test func `an unknown name is shown with the nearest one and the edit`() throws {
        let workflow = WorkflowSketch.workflow([.step("compile"), .step("smoke", needs: ["compil"])])
        let finding = try onlyFinding(workflow)
        #expect(finding.code == .unknownDependency)
        #expect(finding.message == "unknown dependency `compil`")
        #expect(workflow.file.text(in: finding.range) == "compil")
        #expect(finding.notes.map(\.message) == ["did you mean `compile`, declared here?"])
        #expect(finding.notes[0].range == workflow.nodes[1].range)
        #expect(finding.fix?.edits == [Diagnostic.Fix.Edit(range: finding.range, replacement: "compile")])
    }

    @Test func `where nothing is near, what could be needed is listed`() throws {
        let finding = try onlyFinding(WorkflowSketch.workflow([.step("a", needs: ["zzzzzz"]), .step("b")]))
        #expect(
            finding.notes.map(\.message) == ["`needs` takes siblings of the step or of an enclosing group: `b`"])
        #expect(finding.fix == nil)
    }

    @Test func `neither the step nor the group around it is suggested`() throws {
        let finding = try onlyFinding(WorkflowSketch.workflow([.group("group", [.step("stepp", needs: ["grouq"])])]))
        #expect(finding.notes.map(\.message) == ["there is nothing here that it could need"])
    }

    @Test(arguments: ["compile", "build.compile", "build[x].compile", "build.inner.deep", "deep", "build[x]"])
    func `what is inside another group is answered with the group`(name: String) throws {
        let workflow = WorkflowSketch.workflow([
            .group("build", forEach: ["x"], [.step("compile"), .group("inner", [.step("deep")])]),
            .step("publish", needs: [name]),
        ])
        let finding = try onlyFinding(workflow)
        #expect(finding.code == .dependencyInsideGroup)
        #expect(workflow.file.text(in: finding.range) == name)
        #expect(finding.fix?.edits == [Diagnostic.Fix.Edit(range: finding.range, replacement: "build")])
    }

    @Test func `the group to need is the one beside, not the outermost`() throws {
        let workflow = WorkflowSketch.workflow([
            .group("outer", [.group("inner", [.step("deep")]), .step("a", needs: ["deep"])])
        ])
        let finding = try onlyFinding(workflow)
        #expect(finding.message == "`deep` is inside the group `outer.inner`; `needs` takes the group as a whole")
        #expect(finding.fix?.edits.map(\.replacement) == ["inner"])
    }

    @Test func `a group cannot need its own member`() throws {
        let finding = try onlyFinding(WorkflowSketch.workflow([.group("g", needs: ["a"], [.step("a")])]))
        #expect(finding.code == .dependencyInsideGroup)
        #expect(finding.message == "`a` is a member of `g` itself, which starts before its members")
        #expect(finding.fix?.edits.isEmpty == true)
    }

    @Test func `a dotted name that leads nowhere is unknown`() throws {
        let workflow = WorkflowSketch.workflow([.group("g", [.step("a")]), .step("b", needs: ["g.nowhere"])])
        #expect(try onlyFinding(workflow).code == .unknownDependency)
    }

    @Test func `a repeated name is a warning and one edge`() throws {
        let workflow = WorkflowSketch.workflow([.step("a"), .step("b", needs: ["a", "a"])])
        let (plan, findings) = Planner.plan(workflow)
        #expect(try #require(plan).needs(of: "b") == ["a"])
        let finding = try #require(findings.first)
        #expect(findings.count == 1)
        #expect(finding.severity == .warning)
        #expect(finding.code == .repeatedDependency)
        #expect(finding.range.start > finding.notes[0].range?.start ?? UInt32.max)
    }

    @Test func `the unknown names of a large file are found in linear time, and a thousand are told`() throws {
        let steps = (0..<30_000).map { NodeSketch.step("step-\($0)", needs: ["stop-\($0)x"]) }
        let (plan, findings) = Planner.plan(WorkflowSketch.workflow(steps))
        #expect(plan == nil)
        #expect(findings.count == FindingList.limit)
        #expect(try #require(findings.last).notes.contains { $0.message.contains("29000 more findings") })
    }

    private func onlyFinding(_ workflow: Workflow) throws -> Diagnostic {
        let (plan, findings) = Planner.plan(workflow)
        #expect(plan == nil)
        #expect(findings.count == 1)
        return try #require(findings.first)
    }
}
