import SourceDiagnostics
import WorkflowModel

/// Looks up the names in `needs`.
struct NeedResolver {
    let workflow: Workflow
    let names: ScopedNames
    var findings = FindingList()
    /// The first row of every id, made when the first name is not found.
    var rowsByID: [String: Int]?
    var suggestions = Suggestion()
    /// How many of what is in sight are looked at for a suggestion.
    static let candidateLimit = 20_000

    init(_ workflow: Workflow) {
        self.workflow = workflow
        names = ScopedNames(workflow.nodes)
    }

    mutating func resolve() -> ResolvedNeeds {
        let (nodes, allNeeds) = (workflow.nodes, workflow.needs)
        // Beside `self`, so that a finding is made only where there is room for it.
        var findings = FindingList()
        var resolved = ResolvedNeeds(rows: nodes.count)
        // The last row that needed this one, which shows a repeated entry at once.
        var neededBy = [UInt32](repeating: 0, count: nodes.count)
        for row in nodes.indices {
            let first = Int(nodes[row].needs.lowerBound)
            for position in 0..<nodes[row].needs.count {
                guard let target = names.visible(allNeeds[first + position].name, from: nodes[row].parent.row) else {
                    findings.add(.error) { unresolved(allNeeds[first + position], of: row) }
                    continue
                }
                if neededBy[target] == UInt32(row), row != 0 {
                    findings.add(.warning) { repeated(position, of: row) }
                    continue
                }
                neededBy[target] = UInt32(row)
                resolved.append(ResolvedNeeds.Entry(target: UInt32(target), position: UInt32(position)))
            }
            resolved.closeRow()
        }
        self.findings = findings
        return resolved
    }
}
