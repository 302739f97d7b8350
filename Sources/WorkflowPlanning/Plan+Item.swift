internal import WorkflowModel

extension Plan {
    /// The values of the innermost fan-out around a row, or of the row itself where it is an instance, in axis order
    /// with commas between them; nil outside of a fan-out. O(depth).
    package func item(of row: Int) -> String? {
        var next = row
        while next != 0 {
            let parent = Int(nodes[next].parent)
            if nodes[parent].role == .fanOut {
                let axes = workflow.settings(of: nodes[next].definition)?.fanOut?.axes.count ?? 0
                let own = nodes[next].variables.dropFirst(nodes[parent].variables.count)
                return own.prefix(axes).map(\.value).joined(separator: ",")
            }
            next = parent
        }
        return nil
    }
}
