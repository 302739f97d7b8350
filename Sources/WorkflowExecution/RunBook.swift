internal import ProcessExecution
internal import RunEvents
internal import SourceDiagnostics
internal import WorkflowModel
internal import WorkflowPlanning

/// The plan of a run, which grows while the run goes on, and what follows from it alone.
@EventLoopActor
final class RunBook {
    private(set) var plan: Plan

    let workflow: Workflow
    /// The workflow's own rows. Kept by themselves, because asking the plan for one copies more than the row.
    private let definitions: [WorkflowNode]

    init(_ plan: Plan) {
        self.plan = plan
        workflow = plan.workflow
        definitions = plan.workflow.nodes
    }

    func id(_ row: Int) -> String { plan.nodes[row].id }

    /// The step or group of a full id; nil where the run has none. O(rows).
    func row(ofID id: String) -> Int? { plan.nodes.indices.dropFirst().first { plan.nodes[$0].id == id } }

    func parent(of row: Int) -> Int { Int(plan.nodes[row].parent) }

    func settings(of row: Int) -> Settings? { definitions[plan.nodes[row].definition.row].settings }

    func body(of row: Int) -> WorkflowNode.Body { definitions[plan.nodes[row].definition.row].body }

    /// The values of the innermost fan-out around a step, for the log; nil outside of fan-outs.
    func item(of row: Int) -> String? { plan.nodes[row].variables.isEmpty ? nil : plan.item(of: row) }

    /// Whether a failure of a row leaves the group around it unharmed. Of a fan-out that is said of each copy.
    func tolerates(_ row: Int) -> Bool {
        plan.nodes[row].role != .fanOut && settings(of: row)?.continueOnError ?? false
    }

    /// Whether a row is a group that may be tried again.
    func hasRounds(_ row: Int) -> Bool { plan.nodes[row].role == .group && settings(of: row)?.retry != nil }

    /// Where a row stands in the file, from 1.
    func line(of row: Int) -> Int {
        workflow.file.line(at: definitions[plan.nodes[row].definition.row].range.lowerOffset)
    }

    /// Whether a row is a member, at any depth, of a group.
    func isInside(_ row: Int, _ group: Int) -> Bool {
        var next = row
        while next != 0 {
            next = parent(of: next)
            if next == group { return true }
        }
        return false
    }

    /// The row before this one in a group with `order: sequence`; nil for its first member and elsewhere.
    func previous(of row: Int) -> Int? {
        let whole = self.whole(of: row)
        let group = parent(of: whole)
        guard settings(of: group)?.isSequence == true, whole - 1 > group else { return nil }
        // Members lie side by side, so the row in front of this one is in the member before.
        var before = whole - 1
        while parent(of: before) != group { before = parent(of: before) }
        return before
    }

    /// The members of a group that the file has and the plan has not, because the caller has chosen others.
    func leftOut(of group: Int) -> [NodeIndex] {
        let kept = Set(plan.members(of: group).map { plan.nodes[$0].definition })
        let declared = workflow.members(of: plan.nodes[group].definition)
        return declared.filter { !kept.contains($0) && workflow[$0].hook == nil }
    }

    /// The fan-out that a row is an instance of, or the row itself.
    func whole(of row: Int) -> Int {
        let parent = parent(of: row)
        return row != 0 && plan.nodes[parent].role == .fanOut ? parent : row
    }

    /// Makes the instances of a dynamic fan-out; returns their rows. `isHidden` as in `FanOut.instances`.
    func expand(_ row: Int, over items: Value, isHidden: (String) -> Bool) throws(FanOut.ItemProblem) -> Range<Int> {
        guard let fanOut = settings(of: row)?.fanOut else { return 0..<0 }
        let instances = try fanOut.instances(over: items, isHidden: isHidden)
        return plan.expand(row, into: instances)
    }

    /// The limit of a step's attempts or a group's rounds, wherever it is set; nil for none.
    func timeout(of row: Int) -> Duration? {
        if let own = settings(of: row)?.timeout { return own.duration }
        guard plan.nodes[row].role == .step else { return nil }
        return workflow.defaults.timeout ?? (plan.isInHook(row) ? Defaults.hookTimeout : nil)
    }

    func subject(of row: Int) -> Cause.Subject {
        row == 0 ? .run : plan.nodes[row].role == .step ? .step(plan.nodes[row].id) : .group(plan.nodes[row].id)
    }
}
