import SourceDiagnostics
import WorkflowModel

/// What is wrong with the names in `undoes`.
struct UndoesFindings {
    let workflow: Workflow

    /// O(rows), and for each row with names the members of its body.
    func add(to findings: inout FindingList) {
        for row in workflow.nodes.indices {
            guard let names = workflow.nodes[row].settings?.undoes, !names.isEmpty, let body = body(of: row) else {
                continue
            }
            let members = Set(members(of: body))
            for name in names where !members.contains(name.name) {
                findings.add(.error) { unknown(name, in: body) }
            }
        }
    }

    /// The group whose hook something is in; nil where it is in none, which has a finding of its own.
    private func body(of row: Int) -> NodeIndex? {
        var next = NodeIndex(row)
        while next != .root {
            let parent = workflow.nodes[next.row].parent
            if workflow.nodes[next.row].hook != nil { return parent }
            next = parent
        }
        return nil
    }

    private func members(of body: NodeIndex) -> [String] {
        workflow.members(of: body).filter { workflow[$0].hook == nil }.map { workflow[$0].id }
    }

    private func unknown(_ name: StepReference, in body: NodeIndex) -> Diagnostic {
        let candidates = members(of: body)
        let around = body == .root ? "the workflow" : "`\(workflow.path(of: body))`"
        return Diagnostic(
            .unknownStep,
            "`undoes` names \(Phrase.quoted(name.name)), and \(around), whose hook this is, has no such step or group",
            in: workflow.file, at: name.range,
            fix: Suggestion.nearest(to: name.name, among: candidates).map {
                Diagnostic.Fix(
                    "did you mean `\($0)`?", edits: [Diagnostic.Fix.Edit(range: name.range, replacement: $0)])
            }
                ?? Diagnostic.Fix(
                    "write ids of members of the body that the hook belongs to, such as `\(candidates.first ?? "deploy")`, "
                        + "or `[]` where it undoes nothing"))
    }
}
