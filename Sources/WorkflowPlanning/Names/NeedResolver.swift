import SourceDiagnostics
import WorkflowModel

/// Looks up the names in `needs`.
struct NeedResolver {
    let workflow: Workflow
    let names: ScopedNames
    var findings = FindingList()
    /// The first row of every id, made when the first name is not found.
    var rowsByID: [String: Int]?
    /// Candidates that may still be compared in search of suggestions: a file of nothing but unknown names is to be
    /// refused in linear time.
    var suggestionBudget = 200_000

    init(_ workflow: Workflow) {
        self.workflow = workflow
        names = ScopedNames(workflow.nodes)
    }

    mutating func resolve() -> ResolvedNeeds {
        let nodes = workflow.nodes
        var resolved = ResolvedNeeds(rows: nodes.count)
        // The last row that needed this one, which shows a repeated entry at once.
        var neededBy = [UInt32](repeating: 0, count: nodes.count)
        for row in nodes.indices {
            let needs = nodes[row].needs
            for position in needs.indices {
                guard let target = names.visible(needs[position].name, from: nodes[row].parent.row) else {
                    let finding = unresolved(needs[position], of: row)
                    findings.add(.error) { finding }
                    continue
                }
                if neededBy[target] == UInt32(row), row != 0 {
                    let finding = repeated(position, of: row)
                    findings.add(.warning) { finding }
                    continue
                }
                neededBy[target] = UInt32(row)
                resolved.append(ResolvedNeeds.Entry(target: UInt32(target), position: UInt32(position)))
            }
            resolved.closeRow()
        }
        return resolved
    }
}
