import WorkflowModel

/// What it takes to write the instances of fan-outs whose items only the run knows.
final class InstanceBlueprint: Sendable {
    /// The plan with one instance in place of each of them, measured.
    let outline: Plan
    let needs: ResolvedNeeds
    let layout: PlanLayout
    let numbers: RowNumbers
    /// By definition, of what is inside such a fan-out: the places in the outline's measure.
    private let levels: [UInt32]
    private let remainingPaths: [UInt32]

    init(outline: Plan, needs: ResolvedNeeds, layout: PlanLayout, numbers: RowNumbers = RowNumbers()) {
        self.outline = outline
        self.needs = needs
        self.layout = layout
        self.numbers = numbers
        var levels = [UInt32](repeating: 0, count: outline.workflow.nodes.count)
        var remainingPaths = levels
        for node in outline.nodes {
            levels[node.definition.row] = node.level
            remainingPaths[node.definition.row] = node.remainingPath
        }
        self.levels = levels
        self.remainingPaths = remainingPaths
    }

    /// Gives a new row what one instance has in the outline: all instances are alike, and so are their ways to the end.
    func measure(_ node: inout PlanNode) {
        node.level = levels[node.definition.row]
        node.remainingPath = remainingPaths[node.definition.row]
    }
}
