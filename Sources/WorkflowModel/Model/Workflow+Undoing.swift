extension Workflow {
    /// The group whose body a step in a hook counts as undoing, and which members of it, nil being all of it; nil for a
    /// step in no hook. Of hooks inside one another the outermost counts, since no hook is ever taken over. O(depth).
    package func undoing(by step: NodeIndex) -> (group: NodeIndex, members: [StepReference]?)? {
        var found: (NodeIndex, [StepReference]?)?
        var declared: [StepReference]?
        var next = step
        while next != .root {
            if nodes[next.row].hook != nil {
                found = (nodes[next.row].parent, declared)
                declared = nil
            } else if declared == nil {
                declared = nodes[next.row].settings?.undoes
            }
            next = nodes[next.row].parent
        }
        return found
    }
}
