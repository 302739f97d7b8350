import FlowrunTestSupport
import Planning
import Syntax
import Testing
import Workflow

struct HookPlanTests {
    @Test func `hooks are rows behind the members of their group, and say so`() throws {
        let workflow = WorkflowSketch.workflow(
            [
                .group("build", forEach: ["x", "y"], [.step("compile")])
                    .with(\.finally, [.step("clean"), .step("tell", needs: ["clean"])])
            ],
            onFailure: [.step("notify")], finally: [.step("report")])
        let plan = try #require(Planner.plan(workflow).plan)
        #expect(
            plan.ids == [
                "build", "build[x]", "build[x].compile", "build[x].finally", "build[x].finally.clean",
                "build[x].finally.tell", "build[y]", "build[y].compile", "build[y].finally", "build[y].finally.clean",
                "build[y].finally.tell", "on-failure", "on-failure.notify", "finally", "finally.report",
            ])
        let hooks = plan.nodes.filter { $0.hook != nil }.map(\.id)
        #expect(hooks == ["build[x].finally", "build[y].finally", "on-failure", "finally"])
        #expect(plan.needs(of: "build[y].finally.tell") == ["build[y].finally.clean"])
        #expect(plan.needs(of: "finally") == [])
    }

    @Test func `a hook is further down than everything else in its group, and finally than on-failure`() throws {
        let workflow = WorkflowSketch.workflow(
            [
                .step("a"), .step("b", needs: ["a"]),
                .group("g", [.step("x")]).with(\.finally, [.step("y")]), .step("after", needs: ["g"]),
            ],
            onFailure: [.step("notify")], finally: [.step("report"), .step("last", needs: ["report"])])
        let plan = try #require(Planner.plan(workflow).plan)
        let ids = ["a", "b", "g.x", "g.finally", "g.finally.y", "after", "on-failure.notify", "finally.report"]
        #expect(ids.map { plan.level(of: $0) } == [0, 1, 0, 1, 1, 2, 3, 4])
        #expect(
            plan.criticalIDs == ["g.x", "g.finally.y", "after", "on-failure.notify", "finally.report", "finally.last"])
        let remaining = ["a", "b", "g", "g.x", "g.finally", "on-failure", "finally"].map { id in
            plan.row(id).map { plan.nodes[$0].remainingPath }
        }
        #expect(remaining == [5, 4, 6, 6, 5, 3, 2])
    }

    @Test func `the order of a sequence does not lead into its hooks`() throws {
        let workflow = WorkflowSketch.workflow([
            .group("s", isSequence: true, [.step("a"), .step("b")]).with(\.finally, [.step("c"), .step("d")])
        ])
        let plan = try #require(Planner.plan(workflow).plan)
        #expect(
            ["s.b", "s.finally", "s.finally.c", "s.finally.d"].map { plan.needs(of: $0) } == [["s.a"], [], [], []])
    }

    @Test func `nothing needs a hook or what is in it, and a hook needs nothing outside`() throws {
        let workflow = WorkflowSketch.workflow(
            [
                .step("a", needs: ["finally"]), .step("b", needs: ["report"]),
                .group("g", [.step("x")]).with(\.finally, [.step("y", needs: ["x"]), .step("z", needs: ["y", "a"])]),
                .step("c", needs: ["g.finally.y"]),
            ], finally: [.step("report", needs: ["c"])])
        let findings = Planner.plan(workflow).diagnostics
        #expect(findings.map(\.code) == Array(repeating: .dependencyAcrossHook, count: 6))
        #expect(
            findings.map(\.message) == [
                "`finally` starts when everything else has ended, so nothing outside of it can need it",
                "`report` is in `finally`, which starts when everything else has ended, so nothing outside of it can need it",
                "`x` is outside of `g.finally`, whose steps can need each other only",
                "`a` is outside of `g.finally`, whose steps can need each other only",
                "`g.finally.y` is in `g.finally`, which starts when everything else has ended, so nothing outside of it "
                    + "can need it",
                "`c` is outside of `finally`, whose steps can need each other only",
            ])
        #expect(findings[0].fix?.description == "remove `finally` from the needs of `a`")
    }

    @Test func `inside a hook an unknown name is compared with what the hook holds`() throws {
        let workflow = WorkflowSketch.workflow(
            [.step("report")], finally: [.step("upload"), .step("mail", needs: ["uplaod"])])
        let finding = try #require(Planner.plan(workflow).diagnostics.first)
        #expect(finding.code == .unknownDependency)
        #expect(finding.fix?.description == "replace `uplaod` by `upload`")
    }

    @Test func `a choice keeps the hooks of the groups around it and of the workflow`() throws {
        let workflow = WorkflowSketch.workflow(
            [
                .group("g", [.step("x"), .step("y")]).with(\.finally, [.step("clean")]),
                .group("h", [.step("z")]).with(\.finally, [.step("clean")]), .step("other"),
            ], finally: [.step("report")])
        let plan = try #require(Planner.plan(workflow).plan).restricted(to: ["g.x"])
        #expect(plan.ids == ["g", "g.x", "g.finally", "g.finally.clean", "finally", "finally.report"])
        #expect(plan.level(of: "finally.report") == 2)
    }
}
