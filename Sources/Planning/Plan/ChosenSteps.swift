import Workflow

/// The steps and groups named by the command line or `default`, apart from those that are only needed by them.
struct ChosenSteps: Sendable {
    /// Rows of the restricted plan.
    private(set) var rows: Set<PlanIndex> = []
    /// Definitions named in all instances that the run will make.
    private(set) var definitions: Set<NodeIndex> = []

    /// `named` are rows of an outline, of which those that are kept and fixed become the plan.
    init(_ named: [PlanIndex], among outline: Plan, isKept: [Bool], isFixed: [Bool]) {
        let named = Set(named)
        var number = PlanIndex.root
        for row in outline.rows {
            if named.contains(row) {
                if isFixed[row] { rows.insert(number) } else { definitions.insert(outline.nodes[row].definition) }
            }
            if isKept[row], isFixed[row] { number = number.next }
        }
    }
}

// Steps that receive the arguments after `--`.
extension Plan {
    /// True if a step, or a group that contains it, is named: it receives the arguments of the command line if it
    /// takes any. O(depth).
    package func isNamed(_ row: PlanIndex) -> Bool {
        guard let chosen else { return true }
        var row = row
        while true {
            if chosen.rows.contains(row) || chosen.definitions.contains(nodes[row].definition) { return true }
            // Naming a group does not name its manual members.
            guard row != .root, !isLeftOutOfGroups(row) else { return false }
            row = nodes[row].parent
        }
    }

    /// True if some named step takes arguments, or a group that gives them to the body it uses. O(rows), and the length
    /// of the scripts of the named steps.
    package var takesArguments: Bool {
        rows.contains { row in
            if nodes[row].role != .fanOut { return isNamed(row) && workflow.takesArguments(nodes[row].definition) }
            return isDynamicFanOut(row) && takesArguments(insideFanOut: row)
        }
    }

    /// Checks the instances that the run will make.
    private func takesArguments(insideFanOut row: PlanIndex) -> Bool {
        let fanOut = nodes[row].definition
        let inside = fanOut.row..<Int(workflow[fanOut].subtreeEnd)
        return inside.lazy.map { NodeIndex($0) }.contains { definition in
            guard !isLeftOut(definition), workflow.takesArguments(definition) else { return false }
            var next = definition
            while next != fanOut {
                if chosen?.definitions.contains(next) == true { return true }
                if workflow.settings(of: next)?.isManual == true { return false }
                next = workflow[next].parent
            }
            return isNamed(row)
        }
    }
}
