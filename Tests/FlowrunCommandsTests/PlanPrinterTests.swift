import FlowrunCommands
import FlowrunTestSupport
import Foundation
import Testing
import WorkflowModel
import WorkflowPlanning

struct PlanPrinterTests {
    private let release = WorkflowSketch.workflow(
        [
            .step("toolchain"),
            .group(
                "build", needs: ["toolchain"], forEach: ["x86", "arm"],
                [.step("compile"), .step("smoke", needs: ["compile"])]),
            .step("lint"), .step("publish", needs: ["build", "lint"]),
        ], file: "release.yml")

    @Test func `text tells the order by level, the critical path and the bound`() throws {
        let plan = try #require(Planner.plan(release).plan)
        #expect(
            PlanPrinter(plan, jobs: 2).text() == """
                release.yml: 7 steps in 4 levels

                level 0
                  toolchain
                  lint

                level 1
                  build[x86].compile  after toolchain
                  build[arm].compile  after toolchain

                level 2
                  build[x86].smoke    after build[x86].compile, toolchain
                  build[arm].smoke    after build[arm].compile, toolchain

                level 3
                  publish             after build, lint

                critical path: 4 steps
                  toolchain -> build[x86].compile -> build[x86].smoke -> publish
                bound: none, `toolchain` at release.yml:3 has no `timeout`

                """)
    }

    @Test func `json has every instance with its level, needs and place`() throws {
        let object = try self.object(of: release)
        let steps = try #require(object["steps"] as? [[String: Any]])
        #expect(
            steps.map { $0["id"] as? String } == [
                "toolchain", "lint", "build[x86].compile", "build[arm].compile", "build[x86].smoke", "build[arm].smoke",
                "publish",
            ])
        #expect(steps.map { $0["level"] as? Int } == [0, 0, 1, 1, 2, 2, 3])
        #expect(steps.map { $0["needs"] as? [String] }.last == ["build", "lint"])
        #expect(steps.allSatisfy { $0["file"] as? String == "release.yml" })
        #expect(steps[2]["line"] as? Int == 9)
        #expect(
            (object["groups"] as? [[String: Any]])?.map { $0["id"] as? String } == [
                "build", "build[x86]", "build[arm]",
            ])
        #expect(
            object["critical_path"] as? [String] == ["toolchain", "build[x86].compile", "build[x86].smoke", "publish"])
        #expect(object["bound"] is NSNull)
        #expect(object["bound_reason"] as? String == "`toolchain` at release.yml:3 has no `timeout`")
    }

    @Test func `a bound is told in seconds`() throws {
        let step = NodeSketch.step("a").with(\.timeout, .milliseconds(90_500)).with(\.grace, .zero)
        let object = try self.object(of: WorkflowSketch.workflow([step]))
        #expect(object["bound"] as? Double == 90.5)
        #expect(object["bound_reason"] is NSNull)
        let plan = try #require(Planner.plan(WorkflowSketch.workflow([step])).plan)
        #expect(PlanPrinter(plan, jobs: 1).text().hasSuffix("bound: at most 1m30s500ms with 1 job\n"))
    }

    @Test func `a long critical path is broken into lines`() throws {
        let steps = (0..<30).map { NodeSketch.step("step-\($0)", needs: $0 > 0 ? ["step-\($0 - 1)"] : []) }
        let plan = try #require(Planner.plan(WorkflowSketch.workflow(steps)).plan)
        let lines = PlanPrinter(plan, jobs: 1).text().split(separator: "\n")
        #expect(lines.allSatisfy { $0.utf8.count <= 104 })
        #expect(lines.filter { $0.hasSuffix(" ->") }.count == 3)
    }

    @Test func `a plan without steps is told too`() throws {
        let plan = try #require(Planner.plan(WorkflowSketch.workflow([])).plan)
        #expect(PlanPrinter(plan, jobs: 1).text() == "flow.yml: 0 steps in 0 levels\n\nbound: at most 0s with 1 job\n")
    }

    private func object(of workflow: Workflow) throws -> [String: Any] {
        let plan = try #require(Planner.plan(workflow).plan)
        let text = PlanPrinter(plan, jobs: 2).json()
        #expect(text.hasSuffix("}\n") && text.count { $0 == "\n" } == 1)
        return try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
    }
}
