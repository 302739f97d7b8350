import Planning
import Workflow

@testable import Running
@testable import Scheduling

/// Searches for the longest run of a plan: the scheduler of real runs in virtual time, with steps that take as long or
/// as short as they can, and end well or badly.
struct LongestSearch {
    /// The behaviour of a step in its attempts and rounds.
    enum Choice: CaseIterable {
        /// Ends well at once.
        case nothing
        /// Takes its whole timeout, ends well, and leaves a process behind that takes the whole drain.
        case everything
        /// Ends by its limit and only by KILL, whenever it is tried.
        case tooLong
        /// The same until the last attempt of the last round, which takes everything and ends well.
        case onceMore
    }

    private let plan: Plan
    private let graph: OperationGraph
    private let jobs: Int
    private let steps: [Int]
    /// How often each row may be started in all.
    private let starts: [Int]
    private let drain = Duration.milliseconds(2200)
    private let lastWait = Duration.milliseconds(200)

    init(_ plan: Plan, jobs: Int) {
        self.plan = plan
        self.jobs = jobs
        var locks = RunLocks()
        graph = OperationGraph(plan, options: RunOptions(), locks: &locks)
        steps = plan.rows.filter { plan.nodes[$0].role == .step && !plan.isMilestone($0) }.map(\.offset)
        var starts = [Int](repeating: 1, count: plan.nodes.count)
        for row in plan.rows {
            if row != .root { starts[row.offset] = starts[plan.nodes[row].parent.offset] }
            starts[row.offset] *= plan.retry(of: row)?.attempts ?? 1
        }
        self.starts = starts
    }

    /// The longest of all runs if there are at most so many, or of so many that a climb by single changes finds.
    /// `isWhole` says which.
    func longest(limit: Int) -> (time: Duration, isWhole: Bool) {
        let kinds = steps.map { starts[$0] > 1 ? Choice.allCases : [.nothing, .everything, .tooLong] }
        let count = kinds.reduce(1.0) { $0 * Double($1.count) }
        var choices = [Choice](repeating: .nothing, count: plan.nodes.count)
        var longest = Duration.zero
        if count <= Double(limit) {
            for number in 0..<Int(count) {
                var rest = number
                for (step, kinds) in zip(steps, kinds) {
                    choices[step] = kinds[rest % kinds.count]
                    rest /= kinds.count
                }
                longest = max(longest, end(choices))
            }
            return (longest, true)
        }
        var left = limit
        for first in Choice.allCases {
            choices = [Choice](repeating: first, count: plan.nodes.count)
            var best = end(choices)
            var hasImproved = true
            while hasImproved, left > 0 {
                hasImproved = false
                for (step, kinds) in zip(steps, kinds) {
                    let old = choices[step]
                    var chosen = old
                    for kind in kinds where kind != old {
                        choices[step] = kind
                        left -= 1
                        let time = end(choices)
                        if time > best { (best, chosen, hasImproved) = (time, kind, true) }
                    }
                    choices[step] = chosen
                }
            }
            longest = max(longest, best)
        }
        return (longest, false)
    }

    private struct Running {
        let id: OperationID
        var end: Duration
        var outcome: OperationOutcome
        /// The time at which the first process ends by itself; nil once it has, or if it does not.
        var exit: Duration?
    }

    /// The end of a run in which each step does what is chosen.
    func end(_ choices: [Choice]) -> Duration {
        var scheduler = OperationScheduler(graph, width: jobs)
        var running: [Running] = []
        var begun = [Int](repeating: 0, count: choices.count)
        var now = Duration.zero
        var wake: Duration?
        var commands = scheduler.handle(.begin, at: now)
        while true {
            var next = 0
            while next < commands.count {
                let command = commands[next]
                next += 1
                switch command {
                case .start(let id, _):
                    begun[id.row] += 1
                    running.append(start(id, choices[id.row], isLast: begun[id.row] >= starts[id.row], at: now))
                case .stop(let id, _):
                    guard let index = running.firstIndex(where: { $0.id == id }) else { continue }
                    running[index].end = now + plan.grace(of: id.planIndex) + lastWait
                    running[index].exit = nil
                case .wake(let time): wake = time
                case .decide(let id): scheduler.handle(.decided(id, .run), at: now, into: &commands)
                case .conclude(let id, let outcome):
                    scheduler.handle(.ended(id, outcome, mayRetry: true), at: now, into: &commands)
                default: break
                }
            }
            guard !scheduler.isFinished else { return now }
            commands.removeAll(keepingCapacity: true)
            let first = running.indices.min {
                (running[$0].exit ?? running[$0].end) < (running[$1].exit ?? running[$1].end)
            }
            let time = first.map { running[$0].exit ?? running[$0].end }
            if let due = wake, time.map({ due <= $0 }) ?? true {
                wake = nil
                now = max(now, due)
                scheduler.handle(.time, at: now, into: &commands)
            } else if let first, let time {
                now = max(now, time)
                if running[first].exit != nil {
                    running[first].exit = nil
                    scheduler.handle(.lingering(running[first].id), at: now, into: &commands)
                } else {
                    let ended = running.remove(at: first)
                    scheduler.handle(.ended(ended.id, ended.outcome, mayRetry: true), at: now, into: &commands)
                }
            } else {
                preconditionFailure("nothing goes on")
            }
        }
    }

    private func start(_ id: OperationID, _ choice: Choice, isLast: Bool, at now: Duration) -> Running {
        let timeout = plan.timeout(of: id.planIndex) ?? .zero
        switch choice {
        case .nothing: return Running(id: id, end: now, outcome: .success)
        case .onceMore where !isLast, .tooLong:
            // Its limit comes first.
            return Running(id: id, end: now + timeout * 1000 + .seconds(1_000_000), outcome: .failure)
        case .everything, .onceMore:
            // The last moment before its limit.
            let exit = now + timeout - .microseconds(1)
            return Running(id: id, end: exit + drain, outcome: .success, exit: exit)
        }
    }
}
