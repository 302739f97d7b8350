import FlowrunTestSupport
import Planning
import Running
import Syntax
import Testing

@testable import Workflow

struct BoundTests {
    @Test func `without a timeout on some step there is no bound, and the first such step is named`() throws {
        let workflow = WorkflowSketch.workflow([step("a", 1), .group("g", [.step("b"), step("c", 1)]), .step("d")])
        let plan = try #require(Planner.plan(workflow).plan)
        #expect(plan.bound(jobs: 2) == .none(reason: "`g.b` at flow.yml:7 has no `timeout`"))
    }

    @Test(arguments: [(1, 108_800), (2, 76_600), (3, 44_400), (1_000, 44_400)])
    func `the longest chain and a share of the rest bound a run`(jobs: Int, milliseconds: Int) throws {
        let workflow = WorkflowSketch.workflow([
            step("a", 12, grace: 3), step("b", 25, needs: ["a"]), step("c", 30), step("d", 30),
        ])
        let plan = try #require(Planner.plan(workflow).plan)
        #expect(plan.bound(jobs: jobs) == .atMost(.milliseconds(milliseconds)))
    }

    /// Nothing waits for a place that nothing else can have.
    @Test func `a limit or a lock that nothing else can exhaust does not count`() throws {
        let group = NodeSketch.group("g", [step("b", 25, needs: []), step("e", 5, needs: ["b"])]).with(\.maxParallel, 1)
        let workflow = WorkflowSketch.workflow(
            [
                step("a", 15).with(\.mutexes, ["m"]), group, step("c", 30).with(\.pools, [("p", 1)]),
                step("d", 30).with(\.pools, [("p", 2)]),
            ], pools: [("p", 3)])
        #expect(try #require(Planner.plan(workflow).plan).bound(jobs: 1_000) == .atMost(.milliseconds(34_400)))
    }

    @Test func `a full group counts by the pieces of work in it`() throws {
        let members = (0..<32).map { step("s\($0)", 10) }
        for jobs in [8, 100] {
            let workflow = WorkflowSketch.workflow([NodeSketch.group("g", members).with(\.maxParallel, 8)])
            #expect(try #require(Planner.plan(workflow).plan).bound(jobs: jobs) == .atMost(.milliseconds(4 * 12_200)))
        }
    }

    @Test func `a lock of one step among many does not count, and one of two lengthens by the other`() throws {
        func bound(users: Int) throws -> RunBound {
            let steps = (0..<64).map { number in
                number < users ? step("s\(number)", 10).with(\.pools, [("p", 1)]) : step("s\(number)", 10)
            }
            return try #require(Planner.plan(WorkflowSketch.workflow(steps, pools: [("p", 1)])).plan).bound(jobs: 8)
        }
        #expect(try bound(users: 1) == .atMost(.milliseconds(8 * 12_200)))
        guard case .atMost(let two) = try bound(users: 2) else { throw Unbounded() }
        #expect(two > .milliseconds(8 * 12_200) && two <= .milliseconds(10 * 12_200))
    }

    @Test func `a group's limit is that of everything in it, whatever its members may take`() throws {
        let members = (0..<20).map { step("s\($0)", 600, grace: 10) }
        let workflow = WorkflowSketch.workflow(
            [NodeSketch.group("g", members).with(\.timeout, .seconds(600)), step("after", 5, needs: ["g"])])
        let plan = try #require(Planner.plan(workflow).plan)
        #expect(plan.bound(jobs: 8) == .atMost(.milliseconds(612_200 + 7_200)))
    }

    /// The default grace of ten seconds is that of a group without one; no step here has it.
    @Test func `only what runs has a grace`() throws {
        let limit = TimeLimit(duration: .seconds(60), range: .beginning)
        let workflow = WorkflowSketch.workflow(
            [NodeSketch.group("g", [step("a", 60)]).with(\.timeout, .seconds(60))],
            settings: Settings([.timeout: limit]))
        #expect(try #require(Planner.plan(workflow).plan).bound(jobs: 1) == .atMost(.milliseconds(62_200)))
    }

    @Test func `a group that holds a mutex is as long as its own chain to what waits for it`() throws {
        let holder = NodeSketch.group("g", [step("a", 10), step("b", 20, needs: ["a"]), step("c", 20)])
            .with(\.mutexes, ["m"])
        let workflow = WorkflowSketch.workflow([holder, step("w", 5).with(\.mutexes, ["m"])])
        #expect(
            try #require(Planner.plan(workflow).plan).bound(jobs: 10) == .atMost(.milliseconds(12_200 + 22_200 + 7_200))
        )
    }

    @Test func `the top level's limit is one more on the jobs`() throws {
        let workflow = WorkflowSketch.workflow(
            [step("a", 10), step("b", 10), step("c", 10)], settings: Settings([.maxParallel: 2]))
        #expect(try #require(Planner.plan(workflow).plan).bound(jobs: 8) == .atMost(.milliseconds(24_400)))
    }

    @Test func `instances count one by one, and limits that are not set are inherited`() throws {
        let limit = TimeLimit(duration: .seconds(4), range: .beginning)
        let defaults = Settings([.timeout: limit, .grace: Duration.seconds(1)])
        let workflow = WorkflowSketch.workflow(
            [
                .group("g", forEach: ["x", "y"], [.step("a"), .step("b", needs: ["a"])]).with(\.grace, .zero),
                .step("c", needs: ["g"]),
            ], defaults: defaults)
        let plan = try #require(Planner.plan(workflow).plan)
        #expect(plan.bound(jobs: 1) == .atMost(.milliseconds(32_000)))
        #expect(plan.bound(jobs: 2) == .atMost(.milliseconds(19_600)))
    }

    @Test func `the workflow's own timeout and the longest grace are a bound too`() throws {
        let limit = TimeLimit(duration: .seconds(60), range: .beginning)
        let workflow = WorkflowSketch.workflow(
            [.step("a"), .step("b").with(\.grace, .seconds(20))], settings: Settings([.timeout: limit]))
        #expect(try #require(Planner.plan(workflow).plan).bound(jobs: 1) == .atMost(.milliseconds(82_200)))
    }

    @Test func `ten million days do not overflow`() throws {
        let thousandDays = Duration.seconds(86_400_000)
        let steps = (0..<10_000).map { NodeSketch.step("s\($0)").with(\.timeout, thousandDays).with(\.grace, .zero) }
        let plan = try #require(Planner.plan(WorkflowSketch.workflow(steps)).plan)
        #expect(plan.bound(jobs: 1) == .atMost(thousandDays * 10_000 + .milliseconds(22_000_000)))
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
        #expect(try bound(retry(3)) == .atMost(.milliseconds(39_600)))
        #expect(try bound(retry(3, delay: 5)) == .atMost(.milliseconds(49_600)))
        #expect(try bound(retry(4, delay: 1, backoff: 3)) == .atMost(.milliseconds(52_800 + 13_000)))
        #expect(try bound(retry(4, delay: 1, backoff: 3, max: 2)) == .atMost(.milliseconds(52_800 + 5_000)))
        #expect(try bound(retry(4, delay: 1, deadline: 20)) == .atMost(.milliseconds(23_200)))
        #expect(try bound(retry(4, delay: 1, deadline: 20), nil) == .atMost(.milliseconds(23_200)))
        #expect(
            try bound(retry(1_000_000, delay: 1, backoff: 2))
                == .none(
                    reason: "retries and fan-outs add up to more than can be counted"))
    }

    @Test func `a retried group takes its rounds and their delays, its limit what each round may take`() throws {
        let retry = Retry(attempts: 3, delay: .seconds(7), range: .beginning)
        let group = NodeSketch.group("g", [step("a", 10), step("b", 20, needs: ["a"])]).with(\.retry, retry)
        let plan = try #require(Planner.plan(WorkflowSketch.workflow([group])).plan)
        #expect(plan.bound(jobs: 4) == .atMost(.milliseconds(3 * 34_400 + 14_000)))
        let limited = NodeSketch.group("g", [.step("a").with(\.grace, .seconds(1))]).with(\.retry, retry)
            .with(\.timeout, .seconds(40))
        let defaults = Settings([.grace: Duration.zero])
        let other = try #require(Planner.plan(WorkflowSketch.workflow([limited], defaults: defaults)).plan)
        #expect(other.bound(jobs: 4) == .atMost(.milliseconds(3 * 43_200 + 14_000)))
    }

    @Test func `hooks take two minutes unless they say otherwise, beyond the limits around`() throws {
        let limit = TimeLimit(duration: .seconds(60), range: .beginning)
        let workflow = WorkflowSketch.workflow(
            [.group("g", [.step("a")]).with(\.finally, [.step("b").with(\.grace, .seconds(1))]).with(\.grace, .zero)],
            finally: [step("report", 30, grace: 5)], settings: Settings([.timeout: limit]))
        let plan = try #require(Planner.plan(workflow).plan)
        #expect(plan.bound(jobs: 1) == .atMost(.milliseconds(62_200 + 123_200 + 37_200)))
    }

    @Test func `a fan-out that only the run knows counts with all that it may have, or with so many`() throws {
        let inside = [step("a", 10), step("b", 10, needs: ["a"])]
        let workflow = WorkflowSketch.workflow([
            .group("g", inside).with(\.items, "fromJSON('[]')").with(\.maxItems, 50), step("c", 5, needs: ["g"]),
        ])
        let plan = try #require(Planner.plan(workflow).plan)
        #expect(plan.bound(jobs: 1) == .atMost(.milliseconds(50 * 24_400 + 7_200)))
        #expect(plan.bound(jobs: 10) == .atMost(.milliseconds(31_600 + 119_560)))
        #expect(plan.bound(jobs: 10, items: 1) == .atMost(.milliseconds(31_600)))
    }

    @Test func `a milestone takes no time and no default`() throws {
        let limit = TimeLimit(duration: .seconds(10), range: .beginning)
        let defaults = Settings([
            .timeout: limit, .grace: Duration.zero, .retry: Retry(attempts: 3, range: .beginning),
        ])
        let milestone = NodeSketch.step("all", needs: ["a"]).with(\.isMilestone, true)
        let workflow = WorkflowSketch.workflow([.step("a"), milestone, .step("b", needs: ["all"])], defaults: defaults)
        let plan = try #require(Planner.plan(workflow).plan)
        #expect(plan.bound(jobs: 1) == .atMost(.milliseconds(73_200)))
        #expect(plan.row(ofID: "all").map { plan.timeout(of: $0) } == .some(nil))
        #expect(plan.row(ofID: "all").map { plan.retry(of: $0)?.attempts } == .some(nil))
    }

    @Test(arguments: [true, false])
    func `what shares a lock runs one after another`(isPool: Bool) throws {
        let steps = ["a", "b"].map { id in
            isPool ? step(id, 10).with(\.pools, [("p", 1)]) : step(id, 10).with(\.mutexes, ["m"])
        }
        let workflow = WorkflowSketch.workflow(steps, pools: isPool ? [("p", 1)] : [])
        #expect(try #require(Planner.plan(workflow).plan).bound(jobs: 3) == .atMost(.milliseconds(24_400)))
    }

    @Test(arguments: [
        (
            "a: { confirm: sure, run: x }",
            "`a` at flow.yml:4 asks before it starts (`confirm`), and may wait for the answer forever"
        ),
        ("g: { timeout: 1m, steps: { a: { confirm: sure, run: x } } }", nil),
        ("a: { if: params.p == 'a', run: x }", "the parameter `p` has no value"),
    ])
    func `what may wait for people has no bound`(steps: String, reason: String?) throws {
        let text =
            "defaults: { timeout: 10s }\n"
            + (reason?.contains("parameter") == true ? "params: { p: { required: true } }\n" : "")
            + "steps:\n  \(steps)\n"
        let plan = try #require(LongestRunTests.plan(text))
        if let reason {
            #expect(plan.bound(jobs: 1, known: KnownValues.none) == .none(reason: reason))
        } else {
            #expect(plan.bound(jobs: 1, known: KnownValues.none) == .atMost(.milliseconds(72_200)))
        }
    }

    @Test func `steps that known values rule out take no time`() throws {
        let plan = try #require(
            LongestRunTests.plan(
                "defaults: { timeout: 10s, grace: 0s }\nsteps:\n  a: { if: 'false', run: x }\n  b: { run: x }\n"))
        #expect(plan.bound(jobs: 1, known: KnownValues.none) == .atMost(.milliseconds(12_200)))
        #expect(plan.bound(jobs: 1) == .atMost(.milliseconds(24_400)))
    }

    /// The finding names the chain, the time of each of its steps, and what comes on top.
    @Test func `a deadline that may be exceeded names the parts of the bound`() throws {
        let workflow = WorkflowSketch.workflow([
            step("a", 10, grace: 1).with(\.retry, Retry(attempts: 2, delay: .seconds(3), range: .beginning)),
            step("b", 20, needs: ["a"]), step("c", 5), step("d", 5),
        ])
        let plan = try #require(Planner.plan(workflow).plan)
        #expect(plan.finding(deadline: .seconds(70), jobs: 2) == nil)
        let finding = try #require(plan.finding(deadline: .seconds(30), jobs: 2))
        #expect(finding.message == "a run can take 58s800ms with 2 jobs, more than the deadline of 30s")
        #expect(
            finding.notes.map(\.message) == [
                "`a` takes 29s400ms (2 times 10s + 1s of grace + 2s200ms until nothing is left of it, with delays)",
                "`b` takes 22s200ms (20s + 0s of grace + 2s200ms until nothing is left of it)",
                "waiting for slots, places and locks takes 7s200ms",
            ])
    }

    @Test func `commands of vars lengthen a run by the limits of those that are read`() throws {
        func bound(_ steps: String, defaults: String = "timeout: 10s", template: String = "") throws -> RunBound {
            let text = """
                defaults: { \(defaults), grace: 1s }
                vars:
                  own: { run: x, timeout: 5s }
                  other: { run: x }
                \(template)
                steps:
                  \(steps.replacing("\n", with: "\n  "))

                """
            return try #require(LongestRunTests.plan(text)).bound(jobs: 1)
        }
        #expect(try bound("a: { run: 'true' }") == .atMost(.milliseconds(13_200)))
        #expect(try bound("a: { run: 'echo $own' }") == .atMost(.milliseconds(13_200 + 11_400)))
        #expect(
            try bound("a: { run: 'echo $own $other' }\nb: { run: 'echo $own' }")
                == .atMost(.milliseconds(16_400 + 13_200 + 27_800)))
        let copies = "g: { for-each: [p, q], vars: { v: { run: x } }, steps: { s: { run: 'echo $v' } } }"
        #expect(try bound(copies) == .atMost(.milliseconds(2 * 32_800)))
        // Two rounds, in which a body may be given different values.
        let rounds = """
            g: { retry: { attempts: 2 }, steps: { u: { uses: t } } }
            """
        #expect(
            try bound(
                rounds,
                template:
                    "templates: { t: { steps: { i: { vars: { v: { run: x } }, steps: { s: { run: 'echo $v' } } } } } }")
                == .atMost(.milliseconds(2 * 32_800)))
        #expect(
            try bound("a: { timeout: 10s, run: 'echo $other' }", defaults: "shell: sh")
                == .none(reason: "`vars.other` at flow.yml:5 has no `timeout`"))
    }

    private func step(_ id: String, _ timeout: Int, grace: Int = 0, needs: [String] = []) -> NodeSketch {
        NodeSketch.step(id, needs: needs).with(\.timeout, .seconds(timeout)).with(\.grace, .seconds(grace))
    }
}

private struct Unbounded: Error {}
