internal import WorkflowModel
package import WorkflowPlanning

/// Looks for a short schedule of steps whose durations are known.
///
/// A step that is ready and has the longest path before it starts first, which is seldom more than a tenth longer than
/// the best schedule (Graham, Bounds on multiprocessing timing anomalies, 1969; Adam, Chandy and Dickson, A comparison
/// of list schedules, 1974). Where that does not reach the lower bound, other orders are tried, each by paths whose
/// lengths are off by a little, and the shortest schedule counts. The same plan gives the same answer each time.
package struct ScheduleSearch {
    private let plan: Plan
    private let jobs: Int
    private let durations: [Duration]
    private let known: KnownValues
    private var generator = SeededNumbers()

    /// How many starts of steps all orders together may take.
    private static let effort = 200_000
    private static let mostOrders = 1000

    /// `plan` is an outline; `durations` has an entry for each of its rows.
    package init(_ plan: Plan, jobs: Int, durations: [Duration], known: KnownValues) {
        self.plan = plan
        self.jobs = jobs
        self.durations = durations
        self.known = known
    }

    /// The shortest schedule that was found.
    package mutating func shortest() -> SimulatedRun {
        let lengths = durations.map { $0.microseconds }
        var order = lengths
        var best = run(inOrderOf: order)
        let bound = lowerBound(lengths, of: best)
        var attempts = min(Self.mostOrders, Self.effort / max(1, plan.nodes.count))
        while best.makespan.microseconds > bound, attempts > 0 {
            attempts -= 1
            // Far from the true lengths and close to the best order so far by turns.
            let isNear = attempts.isMultiple(of: 2)
            let (base, range) = isNear ? (order, 100) : (lengths, 400)
            let other = base.map { $0 * (1000 - range / 2 + generator.next(below: range)) / 1000 }
            let run = run(inOrderOf: other)
            guard run.makespan <= best.makespan else { continue }
            (best, order) = (run, other)
        }
        return best
    }

    private func run(inOrderOf lengths: [Int]) -> SimulatedRun {
        var plan = plan
        plan.prioritize { lengths[$0.offset] }
        return SimulatedRun(plan, jobs: jobs, durations: durations, known: known)
    }

    /// What no schedule of the steps that run can be shorter than, in microseconds.
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

extension Duration {
    fileprivate var microseconds: Int {
        Int(components.seconds) * 1_000_000 + Int(components.attoseconds / 1_000_000_000_000)
    }
}
