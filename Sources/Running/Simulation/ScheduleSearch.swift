internal import Basics
internal import Planning
internal import Scheduling
internal import Workflow

/// Searches for a short schedule of steps whose durations are known.
///
/// The ready step with the longest path ahead starts first, which is seldom more than a tenth longer than the best
/// schedule (Graham, Bounds on multiprocessing timing anomalies, 1969; Adam, Chandy and Dickson, A comparison of list
/// schedules, 1974). If that does not reach the lower bound, other orders are tried, each by paths whose lengths are
/// off by a little, and the shortest schedule counts. The same plan gives the same answer each time: the number of
/// orders that are tried follows from its durations, and no clock is read.
struct ScheduleSearch {
    private let plan: Plan
    private let jobs: Int
    private let durations: [Duration]
    private let known: KnownValues
    private var graph: OperationGraph
    private var generator = SeededNumbers()

    /// The maximum number of starts of steps in all orders together.
    private static let effort = 200_000
    private static let mostOrders = 1000
    /// A start takes about a microsecond, and a search may take a tenth of the time that it could save.
    private static let leastSaving = 10

    /// A schedule and the priorities that make it, by row.
    struct Found {
        var priorities: [UInt32]
        var run: SimulatedRun
    }

    /// `plan` is an outline; `durations` has an entry for each of its rows.
    init(_ plan: Plan, jobs: Int, durations: [Duration], known: KnownValues) {
        self.plan = plan
        self.jobs = jobs
        self.durations = durations
        self.known = known
        graph = SimulatedRun.graph(of: plan)
    }

    /// Returns the shortest schedule that was found.
    mutating func shortest() -> Found {
        let lengths = durations.map(\.wholeMicroseconds)
        var order = lengths
        var best = run(inOrderOf: order)
        let bound = lowerBound(lengths, of: best.run)
        let saving = best.run.makespan.wholeMicroseconds - bound
        let starts = min(Self.effort, saving / Self.leastSaving)
        var attempts = min(Self.mostOrders, starts / max(1, plan.nodes.count))
        while best.run.makespan.wholeMicroseconds > bound, attempts > 0 {
            attempts -= 1
            // By turns close to the best order so far, and far from the true lengths.
            let isNear = attempts.isMultiple(of: 2)
            let (base, range) = isNear ? (order, 100) : (lengths, 400)
            let other = base.map { $0 * (1000 - range / 2 + generator.next(below: range)) / 1000 }
            let found = run(inOrderOf: other)
            // Of two that are equally good the first stays, so that the result is no further from the longest path.
            // The search goes on from the second.
            guard found.run.makespan < best.run.makespan else {
                if found.run.makespan == best.run.makespan { order = other }
                continue
            }
            (best, order) = (found, other)
        }
        return best
    }

    private mutating func run(inOrderOf lengths: [Int]) -> Found {
        let priorities = plan.remainingPaths { lengths[$0.offset] }
        graph.prioritize(priorities)
        return Found(
            priorities: priorities,
            run: SimulatedRun(graph, of: plan, jobs: jobs, durations: durations, known: known))
    }

    /// Returns the time, in microseconds, that no schedule of the steps that run can be shorter than.
    private func lowerBound(_ lengths: [Int], of run: SimulatedRun) -> Int {
        let sum = run.spans.indices.reduce(0) { $0 + (run.spans[$1] == nil ? 0 : lengths[$1]) }
        let longest = plan.longestPath { run.spans[$0.offset] == nil ? 0 : lengths[$0.offset] }
        return max(longest, (sum + jobs - 1) / jobs)
    }
}

/// SplitMix64 (Steele, Lea and Flood, Fast splittable pseudorandom number generators, 2014).
private struct SeededNumbers {
    private var state: UInt64 = 0

    mutating func next(below limit: Int) -> Int {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return Int((mixed ^ (mixed >> 31)) % UInt64(limit))
    }
}
