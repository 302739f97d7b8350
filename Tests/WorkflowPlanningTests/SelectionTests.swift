import FlowrunTestSupport
import Testing
import WorkflowModel
import WorkflowPlanning

struct SelectionTests {
    private let plan: Plan

    init() throws {
        let workflow = WorkflowSketch.workflow([
            .step("prepare"), .step("lint"),
            .group(
                "build", needs: ["prepare"], forEach: ["x86", "3.9"],
                [.step("compile"), .step("smoke", needs: ["compile"]), .step("size")]),
            .group("tail", isSequence: true, [.step("one"), .step("two"), .step("three")]),
            .step("publish", needs: ["build", "lint"]),
        ])
        plan = try #require(Planner.plan(workflow).plan)
    }

    @Test func `no names mean everything`() throws {
        #expect(try plan.restricted(to: []).ids == plan.ids)
    }

    @Test func `a step brings what it needs, groups whole`() throws {
        #expect(try plan.restricted(to: ["publish"]).ids == plan.ids.filter { !$0.hasPrefix("tail") })
        #expect(try plan.restricted(to: ["lint"]).ids == ["lint"])
    }

    @Test func `a member keeps the groups around it and what they need`() throws {
        let chosen = try plan.restricted(to: ["build[3.9].smoke"])
        #expect(chosen.ids == ["prepare", "build", "build[3.9]", "build[3.9].compile", "build[3.9].smoke"])
        #expect(chosen.needs(of: "build[3.9].smoke") == ["build[3.9].compile"])
        #expect(chosen.needs(of: "build") == ["prepare"])
        #expect(chosen.members(of: .root).map { chosen.nodes[$0].id } == ["prepare", "build"])
        #expect(chosen.level(of: "build[3.9].smoke") == 2)
        #expect(chosen.nodes[0].remainingPath == 3)
    }

    @Test func `a path of definitions means every instance`() throws {
        #expect(
            try plan.restricted(to: ["build.size"]).ids
                == ["prepare", "build", "build[x86]", "build[x86].size", "build[3.9]", "build[3.9].size"])
    }

    @Test func `an instance is chosen whole`() throws {
        let ids = ["prepare", "build", "build[x86]", "build[x86].compile", "build[x86].smoke", "build[x86].size"]
        #expect(try plan.restricted(to: ["build[x86]"]).ids == ids)
        #expect(try plan.restricted(to: ["build[x86].size", "build[x86]", "prepare"]).ids == ids)
    }

    @Test func `a member of a sequence brings those before it`() throws {
        #expect(try plan.restricted(to: ["tail.two"]).ids == ["tail", "tail.one", "tail.two"])
    }

    @Test func `the length of the remaining path is that of the choice`() throws {
        let chosen = try plan.restricted(to: ["prepare"])
        #expect(chosen.row("prepare").map { chosen.nodes[$0].remainingPath } == 1)
    }

    @Test(arguments: [
        ("publsh", "publish"), ("compile", "build.compile"), ("build.smok", "build.smoke"),
        ("build[x68].size", "build[x86].size"), ("qqqqqqqq", nil), ("", nil), ("build[x86", "build[x86]"),
        ("publish.inner", nil), ("publish[1]", nil), (".", nil),
    ])
    func `an unknown name is answered with a suggestion`(name: String, suggestion: String?) {
        let error = #expect(throws: UnknownTargets.self) { try plan.restricted(to: ["lint", name]) }
        #expect(error?.names.map(\.name) == [name])
        #expect(error?.names.first?.suggestion == suggestion)
        #expect(error?.description.hasPrefix("no step or group `\(name)`") == true)
    }
}
