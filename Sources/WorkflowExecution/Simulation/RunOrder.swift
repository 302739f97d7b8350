internal import OperationScheduling
internal import WorkflowModel
package import WorkflowPlanning

/// The order in which ready steps start, and the schedule that it makes where each step takes as long as it is said to.
/// A run with this order and its simulation are the same but for what steps really take.
package struct RunOrder: Sendable {
    /// The run with this order in virtual time.
    package let run: SimulatedRun
    /// By row of the outline; nil for the longest path in steps.
    private let priorities: [UInt32]?

    /// Runs the steps of an outline by the longest path in time, or by an order that was found to be better. One step at
    /// a time run by the longest path in steps: no order is shorter. So they do where `isTimed` says no.
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

    /// The priorities of a plan's rows; nil for the longest path in steps.
    package func priorities(of plan: Plan, outline: Plan) -> RowPriorities? {
        priorities.map { RowPriorities($0, of: plan, outline: outline) }
    }
}

/// What starts before what, for the rows of a plan and those that its run adds.
package struct RowPriorities: Sendable {
    private let byRow: [UInt32]
    /// Of the instances that only the run knows: all are alike.
    private var byDefinition: [NodeIndex: UInt32] = [:]

    init(_ priorities: [UInt32], of plan: Plan, outline: Plan) {
        guard !plan.fanOutsOfRun.isEmpty else {
            byRow = priorities
            return
        }
        var byID: [String: UInt32] = [:]
        for row in outline.rows {
            byID[outline.nodes[row].id] = priorities[row.offset]
            byDefinition[outline.nodes[row].definition] = priorities[row.offset]
        }
        byRow = plan.rows.map { byID[plan.nodes[$0].id] ?? 0 }
    }

    subscript(row: PlanIndex, plan: Plan) -> UInt32 {
        row.offset < byRow.count ? byRow[row.offset] : byDefinition[plan.nodes[row].definition] ?? 0
    }
}

extension Plan {
    /// Whether more steps may be ready at some moment than may run, so that their order matters. O(rows + edges) where
    /// there are more steps than that.
    package func mayWait(jobs: Int) -> Bool {
        guard stepCount > jobs || !fanOutsOfRun.isEmpty else { return false }
        return SimulatedRun.graph(of: outline).mayExceed(width: jobs) || !fanOutsOfRun.isEmpty
    }
}
