internal import RunEvents
internal import WorkflowModel
internal import WorkflowPlanning

extension Plan {
    /// What the start of a step counts as undoing; nil for a step in no hook. O(depth).
    func undoing(by row: PlanIndex) -> Undoing? {
        var body: PlanIndex?
        var next = row
        while next != .root {
            if nodes[next].hook != nil { body = parent(of: next) }
            next = parent(of: next)
        }
        guard let body, let declared = workflow.undoing(by: nodes[row].definition) else { return nil }
        return Undoing(body: nodes[body].id, members: declared.members?.map(\.name))
    }
}
