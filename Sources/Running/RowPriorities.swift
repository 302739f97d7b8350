internal import Planning
internal import Workflow

/// The priorities for the rows of a plan and those that its run adds.
package struct RowPriorities: Sendable {
    private let byRow: [UInt32]
    /// For instances that only the run knows; they are all alike.
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
