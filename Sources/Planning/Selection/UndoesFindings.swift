import Syntax
import Workflow

/// Findings about the names in `undoes`.
struct UndoesFindings {
    private let workflow: Workflow
    private let names: ScopedNames
    private var suggestions = Suggestion()
    /// The ids of the members of each body.
    private var candidates: [NodeIndex: [String]] = [:]

    init(_ workflow: Workflow, _ names: ScopedNames) {
        self.workflow = workflow
        self.names = names
    }

    /// O(rows + names).
    mutating func add(to findings: inout FindingList) {
        for row in workflow.nodes.indices {
            guard let names = workflow.nodes[row].settings?.undoes, !names.isEmpty, let body = body(of: row) else {
                continue
            }
            for name in names where !isMember(name.name, of: body) {
                findings.add(.error) { unknown(name, in: body) }
            }
        }
    }

    /// The group whose hook contains a step or group; nil outside of hooks, which has a finding of its own.
    private func body(of row: Int) -> NodeIndex? {
        var next = NodeIndex(row)
        while next != .root {
            let parent = workflow.nodes[next.row].parent
            if workflow.nodes[next.row].hook != nil { return parent }
            next = parent
        }
        return nil
    }

    private func isMember(_ name: String, of body: NodeIndex) -> Bool {
        names.member(name, of: body.row).map { workflow.nodes[$0].hook == nil } == true
    }

    private mutating func members(of body: NodeIndex) -> [String] {
        if let known = candidates[body] { return known }
        let found = workflow.members(of: body).filter { workflow[$0].hook == nil }.map { workflow[$0].id }
        candidates[body] = found
        return found
    }

    private mutating func unknown(_ name: StepReference, in body: NodeIndex) -> Diagnostic {
        let candidates = members(of: body)
        let around = body == .root ? "the workflow" : "`\(workflow.path(of: body))`"
        return Diagnostic(
            .unknownStep,
            "`undoes` names \(Phrase.quoted(name.name)), and \(around), whose hook this is, has no such step or group",
            in: workflow.file, at: name.range,
            fix: suggestions.nearest(to: name.name, among: candidates).map {
                Diagnostic.Fix(
                    "did you mean `\($0)`?", edits: [Diagnostic.Fix.Edit(range: name.range, replacement: $0)])
            }
                ?? Diagnostic.Fix(
                    """
                    write ids of members of the body that the hook belongs to, such as \
                    `\(candidates.first ?? "deploy")`, or `[]` where it undoes nothing
                    """))
    }
}
