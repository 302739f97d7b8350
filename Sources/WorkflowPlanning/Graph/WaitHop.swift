import SourceDiagnostics
import WorkflowModel

/// Words for one reason why something waits.
struct WaitHop {
    /// The definition that waits.
    let row: Int
    let message: String
    /// The place that makes it wait.
    let range: SourceRange

    init(_ reason: DependencyGraph.Reason, of row: Int, on target: Int, in workflow: Workflow, _ needs: ResolvedNeeds) {
        let node = workflow.nodes[row]
        let path = workflow.path(of: NodeIndex(row))
        self.row = row
        switch reason {
        case .need(let entry):
            let need = workflow.need(Int(needs.entries[entry].position), of: row)
            message = "`\(path)` needs `\(need.name)`"
            range = need.range
        case .memberEnds:
            let member = workflow.nodes[target]
            message = "`\(path)` ends only when its member `\(member.id)` has ended"
            range = member.range
        case .sequence:
            message = "`\(path)` runs after `\(workflow.nodes[target].id)` because their group is a sequence"
            range = node.range
        case .ownStart:
            message = "`\(path)` ends after its start"
            range = node.range
        }
    }
}
