import FlowrunCommands
import FlowrunTestSupport
import Foundation
import Planning
import Testing
import Workflow

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

    @Test func `hooks, conditions and what only the run knows are told`() throws {
        let workflow = WorkflowSketch.workflow(
            [
                .step("list").with(\.timeout, .seconds(1)),
                .group("build", needs: ["list"], [.step("compile").with(\.timeout, .seconds(1))])
                    .with(\.items, "fromJSON('[]')").with(\.condition, "always()").with(\.maxItems, 5)
                    .with(\.finally, [.step("clean")]),
                .step("publish", needs: ["build"]).with(\.condition, "run.name == 'x'").with(\.timeout, .seconds(1)),
            ], onFailure: [.step("notify")], finally: [.step("report")])
        let plan = try #require(Planner.plan(workflow).plan)
        #expect(
            PlanPrinter(plan, jobs: 100).text() == """
                flow.yml: 4 steps and the copies of build in 6 levels

                level 0
                  list

                level 1
                  build[*].compile        after list  if always()

                level 2
                  build[*].finally.clean  after everything else in build[*], list  if always()

                level 3
                  publish                 after build  if run.name == 'x'

                level 4
                  on-failure.notify       after a failure

                level 5
                  finally.report          after everything else

                build[*]: one for each of fromJSON('[]'), at most 5

                critical path: 6 steps
                  list -> build[*].compile -> build[*].finally.clean -> publish -> on-failure.notify ->
                  finally.report
                bound: at most 7m16s200ms with 100 jobs

                """)
        let json = try object(of: workflow)
        let groups = try #require(json["groups"] as? [[String: Any]])
        #expect(
            groups.map { $0["id"] as? String } == [
                "build", "build[*]", "build[*].finally", "on-failure", "finally",
            ])
        #expect(groups.map { $0["if"] as? String } == ["always()", nil, nil, nil, nil])
        #expect(groups.map { $0["max_items"] as? Int } == [5, nil, nil, nil, nil])
    }

    @Test func `a group that holds mutexes tells what it takes, and for whom`() throws {
        let users = (1...5).map { NodeSketch.step("u\($0)").with(\.mutexes, ["n"]) }
        let inner = NodeSketch.group("inner", [.step("x").with(\.mutexes, ["o"])]).with(\.mutexes, ["p", "m"])
        let workflow = WorkflowSketch.workflow([
            .group("deploy", users + [inner]).with(\.mutexes, ["m"]),
            .group("plain", [.step("y").with(\.mutexes, ["m"])]),
        ])
        let text = PlanPrinter(try #require(Planner.plan(workflow).plan), jobs: 2).text()
        let taken = """
            deploy takes `m` for deploy.inner, `n` for deploy.u1, deploy.u2, deploy.u3 and 2 more, \
            `p` for deploy.inner, `o` for deploy.inner.x
            deploy.inner takes `p`, `o` for deploy.inner.x

            critical path
            """
        #expect(text.contains(taken), "\(text)")
        let groups = try #require(try object(of: workflow)["groups"] as? [[String: Any]])
        let takes = try groups.map { try #require($0["takes"] as? [[String: Any]]) }
        #expect(takes.map { $0.compactMap { $0["mutex"] as? String } } == [["m", "n", "p", "o"], ["p", "o"], []])
        #expect(takes[0][2]["for"] as? [String] == ["deploy.inner"])
        #expect(takes[1][0]["for"] as? [String] == [])
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
        #expect(object["bound"] as? Double == 92.7)
        #expect(object["bound_reason"] is NSNull)
        let plan = try #require(Planner.plan(WorkflowSketch.workflow([step])).plan)
        #expect(PlanPrinter(plan, jobs: 1).text().hasSuffix("bound: at most 1m32s700ms with 1 job\n"))
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
