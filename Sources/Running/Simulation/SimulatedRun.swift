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
