import Syntax
import Workflow

/// Finds mistakes in the names in `default`.
struct DefaultFindings {
    private let workflow: Workflow
    private let names: ScopedNames
    private var keys: [NodeIndex: Set<String>] = [:]
    private var suggestions = Suggestion()
    /// The first step or group with each id.
    private lazy var rowsByID = Dictionary(
        workflow.nodes.indices.dropFirst().map { (workflow.nodes[$0].id, $0) }, uniquingKeysWith: { first, _ in first })
    /// Enough to help in files written by hand, and fast for generated ones.
    private lazy var paths = workflow.nodes.indices.dropFirst().prefix(20_000).map { workflow.path(of: NodeIndex($0)) }

    init(_ workflow: Workflow, _ names: ScopedNames) {
        self.workflow = workflow
        self.names = names
    }

    /// O(names), each times the number of groups in its path.
    mutating func add(to findings: inout FindingList) {
        add(workflow.defaultSteps ?? [], in: .root, to: &findings)
        for use in workflow.uses { add(use.defaultSteps ?? [], in: use.group, to: &findings) }
    }

    private mutating func add(_ steps: [StepReference], in group: NodeIndex, to findings: inout FindingList) {
        for step in steps {
            if let fanOut = workflow.instanceOfDynamicFanOut(in: step.name, of: group, by: &self) {
                findings.add(.error) { dynamic(step, of: fanOut) }
            } else if workflow.definition(named: step.name, in: group, by: &self) == nil {
                findings.add(.error) { unknown(step) }
            }
        }
    }

    private func dynamic(_ step: StepReference, of fanOut: String) -> Diagnostic {
        Diagnostic(
            .unknownStep,
            "`default` cannot name \(Phrase.quoted(step.name)): only the run knows the copies of `\(fanOut)`",
            in: workflow.file, at: step.range,
            fix: Diagnostic.Fix(
                "name `\(fanOut)`", edits: [Diagnostic.Fix.Edit(range: step.range, replacement: fanOut)]))
    }

    private mutating func unknown(_ step: StepReference) -> Diagnostic {
        let near =
            rowsByID[step.name].map { workflow.path(of: NodeIndex($0)) }
            ?? suggestions.nearest(to: step.name, among: paths)
        return Diagnostic(
            .unknownStep, "`default` names \(Phrase.quoted(step.name)), and there is no such step or group",
            in: workflow.file, at: step.range,
            fix: near.map {
                Diagnostic.Fix(
                    "did you mean `\($0)`?", edits: [Diagnostic.Fix.Edit(range: step.range, replacement: $0)])
            } ?? Diagnostic.Fix("write the id of a step or group, with those of its enclosing groups: `build.compile`"))
    }
}

extension DefaultFindings: MemberSearch {
    func member(_ id: String, of group: NodeIndex) -> NodeIndex? {
        names.member(id, of: group.row).map { NodeIndex($0) }
    }

    mutating func hasInstance(_ key: String, of fanOut: NodeIndex) -> Bool {
        let known = keys[fanOut] ?? Set(workflow.settings(of: fanOut)?.fanOut?.instances.map(\.key) ?? [])
        keys[fanOut] = known
        return known.contains(key)
    }
}

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
