internal import Planning
internal import Scheduling

// The graph of a run has the rows of its plan, one for one: the only place that turns the ones into the others.
extension OperationID {
    /// The operation or group of a row of the plan.
    init(_ row: PlanIndex) { self.init(row: row.offset) }

    /// The row of the plan that it stands for.
    var planIndex: PlanIndex { PlanIndex(row) }
}
