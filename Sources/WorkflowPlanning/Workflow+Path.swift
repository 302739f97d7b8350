package import WorkflowModel

extension Workflow {
    /// The ids from the outermost group down, such as `build.compile`; empty for the workflow itself.
    package func path(of node: NodeIndex) -> String {
        var ids: [String] = []
        var row = node.row
        while row != 0 {
            ids.append(nodes[row].id)
            row = nodes[row].parent.row
        }
        return ids.reversed().joined(separator: ".")
    }
}
