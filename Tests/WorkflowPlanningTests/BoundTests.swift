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

    @Test func `attempts and the delays between them count, up to the deadline of all`() throws {
        func bound(_ retry: Retry, _ timeout: Int? = 10) throws -> RunBound {
            var step = NodeSketch.step("a").with(\.grace, .seconds(1)).with(\.retry, retry)
            step.timeout = timeout.map { .seconds($0) }
            return try #require(Planner.plan(WorkflowSketch.workflow([step])).plan).bound(jobs: 1)
        }
        func retry(_ attempts: Int, delay: Int = 0, backoff: Double = 1, max: Int? = nil, deadline: Int? = nil) -> Retry
        {
            Retry(
                attempts: attempts, delay: .seconds(delay), backoff: backoff, maxDelay: max.map { .seconds($0) },
                deadline: deadline.map { TimeLimit(duration: .seconds($0), range: .beginning) }, range: .beginning)
        }
        #expect(try bound(retry(3)) == .atMost(.seconds(33)))
        #expect(try bound(retry(3, delay: 5)) == .atMost(.seconds(43)))
        #expect(try bound(retry(4, delay: 1, backoff: 3)) == .atMost(.seconds(44 + 13)))
        #expect(try bound(retry(4, delay: 1, backoff: 3, max: 2)) == .atMost(.seconds(44 + 5)))
        #expect(try bound(retry(4, delay: 1, deadline: 20)) == .atMost(.seconds(21)))
        #expect(try bound(retry(4, delay: 1, deadline: 20), nil) == .atMost(.seconds(21)))
        #expect(
            try bound(retry(1_000_000, delay: 1, backoff: 2))
                == .none(
                    reason: "retries and fan-outs add up to more than can be counted"))
    }

    @Test func `a retried group takes its rounds and their delays, its limit what each round may take`() throws {
        let retry = Retry(attempts: 3, delay: .seconds(7), range: .beginning)
        let group = NodeSketch.group("g", [step("a", 10), step("b", 20, needs: ["a"])]).with(\.retry, retry)
        let plan = try #require(Planner.plan(WorkflowSketch.workflow([group])).plan)
        #expect(plan.bound(jobs: 4) == .atMost(.seconds(3 * 30 + 14)))
        let limited = NodeSketch.group("g", [.step("a").with(\.grace, .seconds(1))]).with(\.retry, retry)
            .with(\.timeout, .seconds(40))
        var defaults = Defaults()
        defaults.grace = .zero
        let other = try #require(Planner.plan(WorkflowSketch.workflow([limited], defaults: defaults)).plan)
        #expect(other.bound(jobs: 4) == .atMost(.seconds(3 * 41 + 14)))
    }

    @Test func `hooks take two minutes unless they say otherwise, beyond the limits around`() throws {
        let limit = TimeLimit(duration: .seconds(60), range: .beginning)
        let workflow = WorkflowSketch.workflow(
            [.group("g", [.step("a")]).with(\.finally, [.step("b").with(\.grace, .seconds(1))]).with(\.grace, .zero)],
            finally: [step("report", 30, grace: 5)], settings: Settings(timeout: limit))
        let plan = try #require(Planner.plan(workflow).plan)
        #expect(plan.bound(jobs: 1) == .atMost(.seconds(60 + 10 + 121 + 35)))
    }

    @Test func `a fan-out that only the run knows counts with all that it may have, or with so many`() throws {
        let inside = [step("a", 10), step("b", 10, needs: ["a"])]
        let workflow = WorkflowSketch.workflow([
            .group("g", inside).with(\.items, "fromJSON('[]')").with(\.maxItems, 50), step("c", 5, needs: ["g"]),
        ])
        let plan = try #require(Planner.plan(workflow).plan)
        #expect(plan.bound(jobs: 1) == .atMost(.seconds(50 * 20 + 5)))
        #expect(plan.bound(jobs: 10) == .atMost(.seconds(25 + 980 / 10)))
        #expect(plan.bound(jobs: 10, items: 1) == .atMost(.seconds(25)))
    }

    @Test func `a milestone takes no time and no default`() throws {
        var defaults = Defaults()
        defaults.timeout = .seconds(10)
        defaults.grace = .zero
        defaults.retry = Retry(attempts: 3, range: .beginning)
        let milestone = NodeSketch.step("all", needs: ["a"]).with(\.isMilestone, true)
        let workflow = WorkflowSketch.workflow([.step("a"), milestone, .step("b", needs: ["all"])], defaults: defaults)
        let plan = try #require(Planner.plan(workflow).plan)
        #expect(plan.bound(jobs: 1) == .atMost(.seconds(60)))
        #expect(plan.row("all").map { plan.timeout(of: $0) } == .some(nil))
        #expect(plan.row("all").map { plan.retry(of: $0)?.attempts } == .some(nil))
    }

    @Test(arguments: [true, false])
    func `locks leave only the sum`(isPool: Bool) throws {
        let steps = ["a", "b"].map { id in
            isPool ? step(id, 10).with(\.pools, [("p", 1)]) : step(id, 10).with(\.mutexes, ["m"])
        }
        let workflow = WorkflowSketch.workflow(steps + [step("c", 10)], pools: isPool ? [("p", 1)] : [])
        #expect(try #require(Planner.plan(workflow).plan).bound(jobs: 3) == .atMost(.seconds(30)))
    }

    private func step(_ id: String, _ timeout: Int, grace: Int = 0, needs: [String] = []) -> NodeSketch {
        NodeSketch.step(id, needs: needs).with(\.timeout, .seconds(timeout)).with(\.grace, .seconds(grace))
    }
}
