import SourceDiagnostics
import WorkflowModel

/// Finds steps that run after a failure although nothing in them says so: what they need runs `always()` or on a
/// `failure()`, and its success is all that they ask for.
struct PassedFailures {
    private let workflow: Workflow
    private let needs: ResolvedNeeds
    /// By row: whether it may run, and succeed, although something that it needs has failed.
    private var runsAfterFailure: [Bool]
    /// By row: the member before it in a sequence.
    private var membersBefore: [Int: Int] = [:]

    init(_ workflow: Workflow, _ needs: ResolvedNeeds) {
        self.workflow = workflow
        self.needs = needs
        runsAfterFailure = workflow.nodes.map { $0.settings?.condition?.holdsAfterFailure == true }
        for row in workflow.nodes.indices where workflow.nodes[row].settings?.isSequence == true {
            var before: Int?
            for member in workflow.members(of: NodeIndex(row)) {
                if workflow.nodes[member.row].hook == nil { membersBefore[member.row] = before }
                before = member.row
            }
        }
    }

    /// Whether there is anything to look for.
    static func concern(_ workflow: Workflow) -> Bool {
        workflow.nodes.contains { $0.settings?.condition?.usesStatus == true }
    }

    /// O(rows + needs), and for each step behind one that runs after failures what it needs, directly or not.
    func add(to findings: inout FindingList) {
        for row in workflow.nodes.indices.dropFirst() where !decidesByStatus(row) {
            let passing = needed(by: row).filter { runsAfterFailure[$0.row] }
            guard !passing.isEmpty else { continue }
            let guards = whatStops(row)
            for need in passing {
                let passed = needed(by: need.row).map(\.row).filter { !guards.contains($0) && mayFail($0) }
                guard !passed.isEmpty else { continue }
                findings.add(.warning) { finding(about: row, need, passed) }
            }
        }
    }

    private struct Edge {
        let row: Int
        let range: SourceRange
        /// nil for the member before in a sequence.
        let position: Int?
    }

    /// What a row needs without another word about its end, the member before it in a sequence included.
    private func needed(by row: Int) -> [Edge] {
        var edges: [Edge] = []
        var isBeforeNeeded = false
        let before = membersBefore[row]
        for index in needs.range(of: row) {
            let entry = needs.entries[index]
            let need = workflow.need(Int(entry.position), of: row)
            isBeforeNeeded = isBeforeNeeded || Int(entry.target) == before
            guard need.kind == .ok else { continue }
            edges.append(Edge(row: Int(entry.target), range: need.range, position: Int(entry.position)))
        }
        if let before, !isBeforeNeeded {
            edges.append(Edge(row: before, range: workflow.nodes[row].range, position: nil))
        }
        return edges
    }

    private func decidesByStatus(_ row: Int) -> Bool { workflow.nodes[row].settings?.condition?.usesStatus == true }

    private func mayFail(_ row: Int) -> Bool { workflow.nodes[row].settings?.continueOnError != true }

    /// Everything whose failure keeps a row from running, through whatever is between.
    private func whatStops(_ row: Int) -> Set<Int> {
        var found: Set<Int> = []
        var open: [Int] = []
        var around = row
        while around != 0 {
            if !decidesByStatus(around) { open += required(by: around) }
            around = workflow.nodes[around].parent.row
        }
        while let next = open.popLast() {
            guard found.insert(next).inserted else { continue }
            let node = workflow.nodes[next]
            // The failure of a member is the group's, and so is what rules a member out.
            for inside in next..<Int(node.subtreeEnd) {
                if inside != next { found.insert(inside) }
                if !decidesByStatus(inside) { open += required(by: inside) }
            }
        }
        return found
    }

    /// What has to succeed, or to be skipped, before a row.
    private func required(by row: Int) -> [Int] {
        let explicit = needs.range(of: row).map { needs.entries[$0] }.filter { entry in
            workflow.need(Int(entry.position), of: row).kind == .success
        }
        return needed(by: row).map(\.row) + explicit.map { Int($0.target) }
    }

    private func finding(about row: Int, _ need: Edge, _ passed: [Int]) -> Diagnostic {
        let names = passed.map { workflow.nodes[$0].id }
        let (name, between) = (workflow.nodes[row].id, workflow.nodes[need.row].id)
        let condition = workflow.nodes[need.row].settings?.condition
        var notes = [Diagnostic.Note("`\(between)` runs after a failure, too", at: condition?.range ?? need.range)]
        if need.position == nil {
            notes.append(.init("in a sequence, `\(name)` needs the one before it, and only that"))
        }
        let all = Phrase.all(names)
        return Diagnostic(
            .passedFailure, "`\(name)` runs even if \(all) \(names.count == 1 ? "fails" : "fail")", in: workflow.file,
            at: need.range, severity: .warning, notes: notes,
            fix: Diagnostic.Fix(
                "let `\(name)` need \(all), too; or write `if: always()` if it is to run in any case",
                edits: edits(adding: names, to: need)))
    }

    /// Only in a list in brackets is it certain how an entry is written.
    private func edits(adding names: [String], to need: Edge) -> [Diagnostic.Fix.Edit] {
        guard need.position != nil else { return [] }
        let file = workflow.file.file(at: need.range.lowerOffset)
        let rest = file.bytes[(need.range.upperOffset - file.start)...].drop { $0 == 0x20 }
        guard rest.first == UInt8(ascii: "]") || rest.first == UInt8(ascii: ",") else { return [] }
        let end = SourceRange(need.range.upperOffset..<need.range.upperOffset)
        return [.init(range: end, replacement: names.map { ", \($0)" }.joined())]
    }
}

extension Expression {
    /// Whether a condition lets its step run because something that it needs has failed. A condition over other values
    /// counts as one that may hold.
    fileprivate var holdsAfterFailure: Bool {
        guard usesStatus, let holds = root.truth(afterFailure: true) else {
            return usesStatus && root.truth(afterFailure: false) == false
        }
        return holds && root.truth(afterFailure: false) != true
    }
}

extension ExpressionNode {
    /// The value of a condition after a failure, or as if `always()` and `failure()` were false; nil where other
    /// values decide.
    fileprivate func truth(afterFailure: Bool) -> Bool? {
        switch kind {
        case .literal(.bool(let value)): return value
        case .call(.always, _), .call(.failure, _): return afterFailure
        case .call(.success, _), .call(.cancelled, _): return false
        case .not(let part): return part.truth(afterFailure: afterFailure).map { !$0 }
        case .all(let parts):
            let truths = parts.map { $0.truth(afterFailure: afterFailure) }
            return truths.contains(false) ? false : truths.contains(nil) ? nil : true
        case .any(let parts):
            let truths = parts.map { $0.truth(afterFailure: afterFailure) }
            return truths.contains(true) ? true : truths.contains(nil) ? nil : false
        default: return nil
        }
    }
}
