import FlowrunTestSupport
import SourceDiagnostics
import Testing
import WorkflowModel
import WorkflowPlanning

struct BoundTests {
    @Test func `without a timeout on some step there is no bound, and the first such step is named`() throws {
        let workflow = WorkflowSketch.workflow([step("a", 1), .group("g", [.step("b"), step("c", 1)]), .step("d")])
        let plan = try #require(Planner.plan(workflow).plan)
        #expect(plan.bound(jobs: 2) == .none(reason: "`g.b` at flow.yml:7 has no `timeout`"))
    }

    @Test(arguments: [(1, 100_000), (2, 70_000), (5, 52_000), (1_000, 40_060)])
    func `the longest chain and a share of the rest bound a run`(jobs: Int, milliseconds: Int) throws {
        let workflow = WorkflowSketch.workflow([
            step("a", 12, grace: 3), step("b", 25, needs: ["a"]), step("c", 30), step("d", 30),
        ])
        let plan = try #require(Planner.plan(workflow).plan)
        #expect(plan.bound(jobs: jobs) == .atMost(.milliseconds(milliseconds)))
    }

    @Test func `a limit inside the workflow leaves only the sum`() throws {
        let workflow = WorkflowSketch.workflow([
            step("a", 15), .group("g", [step("b", 25)]).with(\.maxParallel, 1), step("c", 30), step("d", 30),
        ])
        #expect(try #require(Planner.plan(workflow).plan).bound(jobs: 1_000) == .atMost(.seconds(100)))
    }

    @Test func `the top level's limit is one more on the jobs`() throws {
        let workflow = WorkflowSketch.workflow(
            [step("a", 10), step("b", 10), step("c", 10)], settings: Settings(maxParallel: 2))
        #expect(try #require(Planner.plan(workflow).plan).bound(jobs: 8) == .atMost(.seconds(20)))
    }

    @Test func `instances count one by one, and what is not said is inherited`() throws {
        var defaults = Defaults()
        defaults.timeout = .seconds(4)
        defaults.grace = .seconds(1)
        let workflow = WorkflowSketch.workflow(
            [
                .group("g", forEach: ["x", "y"], [.step("a"), .step("b", needs: ["a"])]).with(\.grace, .zero),
                .step("c", needs: ["g"]),
            ], defaults: defaults)
        let plan = try #require(Planner.plan(workflow).plan)
        #expect(plan.bound(jobs: 1) == .atMost(.seconds(21)))
        #expect(plan.bound(jobs: 2) == .atMost(.seconds(17)))
    }

    @Test func `the workflow's own timeout and the longest grace are a bound too`() throws {
        let limit = TimeLimit(duration: .seconds(60), range: .beginning)
        let workflow = WorkflowSketch.workflow(
            [.step("a"), .step("b").with(\.grace, .seconds(20))], settings: Settings(timeout: limit))
        #expect(try #require(Planner.plan(workflow).plan).bound(jobs: 1) == .atMost(.seconds(80)))
    }

    @Test func `ten million days do not overflow`() throws {
        let thousandDays = Duration.seconds(86_400_000)
        let steps = (0..<10_000).map { NodeSketch.step("s\($0)").with(\.timeout, thousandDays).with(\.grace, .zero) }
        let plan = try #require(Planner.plan(WorkflowSketch.workflow(steps)).plan)
        #expect(plan.bound(jobs: 1) == .atMost(thousandDays * 10_000))
    }

    private func step(_ id: String, _ timeout: Int, grace: Int = 0, needs: [String] = []) -> NodeSketch {
        NodeSketch.step(id, needs: needs).with(\.timeout, .seconds(timeout)).with(\.grace, .seconds(grace))
    }
}
