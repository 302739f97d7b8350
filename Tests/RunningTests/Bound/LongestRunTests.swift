import FlowrunTestSupport
import Glibc
import Planning
import Processes
import Syntax
import Testing
import Workflow

@testable import Running

/// Checks the bound of a run against the scheduler of real runs in virtual time.
///
/// `make proof` sets FLOWRUN_PROOF_BOUNDS to ten thousand workflows.
@Suite struct LongestRunTests {
    private static let proof = getenv("FLOWRUN_PROOF_BOUNDS").flatMap { Int(String(cString: $0)) }
    private static let workflows = proof ?? 40
    /// How many runs of one workflow are tried; fewer find fewer of the longest.
    private static let runs = proof == nil ? 200 : 7000
    private static let batches = 8

    init() { EventLoopThread.ensureRunning() }

    static func plan(_ text: String) -> Plan? {
        let (document, _) = YAMLParser.parse(SourceFile(name: "flow.yml", text: "version: 1\n" + text))
        guard let workflow = document.flatMap({ WorkflowDecoder.decode($0).workflow }) else { return nil }
        return Planner.plan(workflow).plan
    }

    @Test func `no run is longer than its bound, and few bounds are far from the longest run`() async throws {
        let results = await withTaskGroup(of: Tightness.self) { group in
            for batch in 0..<Self.batches {
                group.addTask { Self.look(at: stride(from: batch, to: Self.workflows, by: Self.batches)) }
            }
            return await group.reduce(into: Tightness()) { $0.add($1) }
        }
        print(results.table)
        #expect(results.failures.isEmpty, "\(results.failures.prefix(3).joined(separator: "\n"))")
        // Locks between groups may close cycles, which the planner refuses.
        #expect(results.refused * 3 < Self.workflows)
        #expect(results.ratio(at: 0.5) <= 1.3)
        #expect(Self.proof == nil || results.ratio(ofWhole: true, at: 0.95) <= 2)
    }

    /// Whole runs with commands of `vars`, which the search leaves out, and with cancels.
    @EventLoopActor
    @Test func `no run in virtual time is longer than its bound, whatever is cancelled`() throws {
        var runs = 0
        for seed in 0..<UInt64(Self.workflows) {
            let workflow = LimitedWorkflow(seed: seed, size: 14, hasVars: true)
            guard let plan = Self.plan(workflow.text), case .atMost(let bound) = plan.bound(jobs: workflow.jobs) else {
                continue
            }
            for variant in 0..<4 as Range<UInt64> {
                var random = SeededGenerator(seed: seed * 31 + variant)
                let run = try VirtualRun(workflow.text, jobs: workflow.jobs) { _, _ in
                    var behaviour = FakeSpawner.Behaviour()
                    let seconds = [0, 5, 10, 20, 60, 100, 120, 300, 100_000].randomElement(using: &random) ?? 0
                    behaviour.duration = max(.zero, .seconds(seconds) - .microseconds(1))
                    behaviour.isDeaf = Bool.random(using: &random)
                    behaviour.status = .exited(Int32.random(in: 0...3, using: &random) == 0 ? 1 : 0)
                    if Bool.random(using: &random) {
                        behaviour.lingering = .milliseconds(2200)
                        behaviour.pipeIsHeld = .milliseconds(200)
                    }
                    return behaviour
                }
                let ids = plan.rows.dropFirst().map { plan.nodes[$0].id }
                for _ in 0..<Int.random(in: 0...3, using: &random) {
                    let time = Duration.seconds(Int.random(in: 1...300, using: &random))
                    let id = ids.randomElement(using: &random)
                    run.at(time) { _ = run.runner.cancel(id) }
                }
                try run.run()
                runs += 1
                #expect(
                    run.clock.elapsed <= bound,
                    "workflow \(seed), \(variant), takes \(run.clock.elapsed), at most \(bound):\n\(workflow.text)")
            }
        }
        #expect(runs > Self.workflows)
    }

    private static func look(at seeds: StrideTo<Int>) -> Tightness {
        var tightness = Tightness()
        for seed in seeds {
            let workflow = LimitedWorkflow(seed: UInt64(seed), size: 8, hasVars: false)
            guard let plan = plan(workflow.text) else {
                tightness.refused += 1
                continue
            }
            guard case .atMost(let bound) = plan.bound(jobs: workflow.jobs) else {
                tightness.failures.append("workflow \(seed) has no bound")
                continue
            }
            let (longest, isWhole) = LongestSearch(plan, jobs: workflow.jobs).longest(limit: runs)
            tightness.note(workflow.features, bound, longest, isWhole: isWhole)
            if longest > bound {
                tightness.failures.append(
                    "workflow \(seed) takes \(longest), at most \(bound) with \(workflow.jobs):\n\(workflow.text)")
            }
        }
        return tightness
    }
}

/// How far bounds are from the longest runs, and which features the workflows have.
private struct Tightness: Sendable {
    var failures: [String] = []
    var refused = 0
    private var ratios: [(ratio: Double, isWhole: Bool)] = []
    private var counts: [LimitedWorkflow.Feature: Int] = [:]

    mutating func note(_ features: Set<LimitedWorkflow.Feature>, _ bound: Duration, _ longest: Duration, isWhole: Bool)
    {
        ratios.append((bound / longest, isWhole))
        for feature in features { counts[feature, default: 0] += 1 }
    }

    mutating func add(_ other: Tightness) {
        failures += other.failures
        refused += other.refused
        ratios += other.ratios
        counts.merge(other.counts, uniquingKeysWith: +)
    }

    /// For workflows whose longest run is certain, or for all.
    func ratio(ofWhole: Bool = false, at share: Double) -> Double {
        let sorted = ratios.filter { $0.isWhole || !ofWhole }.map(\.ratio).sorted()
        return sorted.isEmpty ? .infinity : sorted[min(sorted.count - 1, Int(Double(sorted.count) * share))]
    }

    var table: String {
        let shares = LimitedWorkflow.Feature.allCases.map {
            "\($0) \((counts[$0] ?? 0) * 100 / max(1, ratios.count)) %"
        }
        func line(_ ofWhole: Bool) -> String {
            "median \(ratio(ofWhole: ofWhole, at: 0.5)), 95 % \(ratio(ofWhole: ofWhole, at: 0.95)), "
                + "most \(ratio(ofWhole: ofWhole, at: 1))"
        }
        return """
            \(ratios.count) workflows, \(refused) refused: \(shares.joined(separator: ", "))
            bound over the longest run found: \(line(false))
            of \(ratios.count { $0.isWhole }) searched exhaustively: \(line(true))
            """
    }
}
