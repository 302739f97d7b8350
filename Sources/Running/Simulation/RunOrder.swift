package import Planning
internal import Scheduling
internal import Workflow

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
