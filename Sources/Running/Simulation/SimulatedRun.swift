internal import Basics
internal import HeapModule
package import Planning
internal import Scheduling
internal import Workflow

/// A run in virtual time: the scheduler of real runs, with steps that take their given durations and succeed.
///
/// No time limit counts, no step is tried again, no value is handed on. A condition over parameters alone decides as
/// in a run; any other is assumed true, with nothing failed and nothing cancelled.
package struct SimulatedRun: Sendable {
    /// The start and the end of a step, since the start of the run.
    package struct Span: Sendable, Hashable {
        package let start: Duration
        package let finish: Duration
    }

    /// The time from the start of the run to the end of its last step.
    package private(set) var makespan = Duration.zero
    /// By row; nil for groups and for steps that did not run.
    package private(set) var spans: [Span?]

    /// Runs the outline of a plan, which has one instance of each fan-out whose items only a run knows. `jobs` steps
    /// run at once, at least 1; `durations` has an entry for each row. O(rows log rows + edges).
    package init(_ plan: Plan, jobs: Int, durations: [Duration], known: KnownValues) {
        self.init(Self.graph(of: plan), of: plan, jobs: jobs, durations: durations, known: known)
    }

    static func graph(of plan: Plan) -> OperationGraph {
        var locks = RunLocks()
        return OperationGraph(plan, options: RunOptions(), locks: &locks)
    }

    /// Simulates with the graph of the plan, whose priorities may have been changed.
    init(_ graph: OperationGraph, of plan: Plan, jobs: Int, durations: [Duration], known: KnownValues) {
        spans = [Span?](repeating: nil, count: plan.nodes.count)
        var scheduler = OperationScheduler(graph, width: jobs)
        var running = Heap<End>()
        var commands = scheduler.handle(.begin, at: .zero)
        var now = Duration.zero
        while true {
            var next = 0
            // The list grows meanwhile.
            while next < commands.count {
                let command = commands[next]
                next += 1
                switch command {
                case .start(let id, _):
                    let finish = now + durations[id.row]
                    spans[id.row] = Span(start: now, finish: finish)
                    running.insert(End(time: finish, id: id))
                case .decide(let id):
                    let isSkipped = known.rulesOut(id.planIndex, of: plan, assumingSuccess: true)
                    scheduler.handle(.decided(id, isSkipped ? .skip : .run), at: now, into: &commands)
                case .expand(let id):
                    // The outline has its instance already.
                    let nothing = OperationGraph(joiningAt: scheduler.count)
                    scheduler.handle(.expanded(id, nothing), at: now, into: &commands)
                case .conclude(let id, let outcome):
                    scheduler.handle(.ended(id, outcome, mayRetry: false), at: now, into: &commands)
                default: break
                }
            }
            guard let end = running.popMin() else { break }
            now = end.time
            makespan = now
            commands.removeAll(keepingCapacity: true)
            guard running.min?.time == now else {
                scheduler.handle(.ended(end.id, .success, mayRetry: false), at: now, into: &commands)
                continue
            }
            // A step that one of them lets start must not take the slot of a step that another lets start.
            var ends = [OperationScheduler.Event.ended(end.id, .success, mayRetry: false)]
            while running.min?.time == now, let next = running.popMin() {
                ends.append(.ended(next.id, .success, mayRetry: false))
            }
            scheduler.handle(ends, at: now, into: &commands)
        }
    }

    /// The end of a running step; of several at the same time, that of the first in the file comes first.
    private struct End: Comparable {
        let time: Duration
        let id: OperationID

        static func < (left: End, right: End) -> Bool { (left.time, left.id.row) < (right.time, right.id.row) }
    }
}

/// The order in which ready steps start, and the schedule that follows from it if each step takes its expected time.
/// A run with this order differs from its simulation only by the times that steps really take.
package struct RunOrder: Sendable {
    /// The simulated run with this order.
    package let run: SimulatedRun
    /// By row of the outline; nil for the longest path in steps.
    private let priorities: [UInt32]?

    /// Orders the steps of an outline by the longest path in time, or by a better order if one was found. Steps that
    /// run one at a time are ordered by the longest path in steps, because no order is shorter; so is everything if
    /// `isTimed` is false.
    package init(_ outline: Plan, jobs: Int, durations: [Duration], known: KnownValues, isTimed: Bool = true) {
        guard jobs > 1, isTimed else {
            priorities = nil
            run = SimulatedRun(outline, jobs: jobs, durations: durations, known: known)
            return
        }
        var search = ScheduleSearch(outline, jobs: jobs, durations: durations, known: known)
        let found = search.shortest()
        (priorities, run) = (found.priorities, found.run)
    }

    /// Returns the priorities of a plan's rows; nil for the longest path in steps.
    package func priorities(of plan: Plan, outline: Plan) -> RowPriorities? {
        priorities.map { RowPriorities($0, of: plan, outline: outline) }
    }
}

extension Plan {
    /// Returns true if more steps may be ready at some moment than may run, so that their order matters. O(rows +
    /// edges) if there are more steps than that.
    package func mayWait(jobs: Int) -> Bool {
        guard stepCount > jobs || !fanOutsOfRun.isEmpty else { return false }
        // Most large graphs begin with more steps than may run at once.
        var (row, ready) = (PlanIndex.root.next, 0)
        while row < rows.upperBound, ready <= jobs {
            if nodes[row].role == .step, edges(of: row).isEmpty { ready += 1 }
            row = nodes[row].subtreeEnd
        }
        if ready > jobs { return true }
        return SimulatedRun.graph(of: outline).mayExceed(width: jobs) || !fanOutsOfRun.isEmpty
    }
}

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
