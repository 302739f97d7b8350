package import Workflow

extension Plan {
    /// True for a fan-out whose items only the run knows.
    package func isDynamicFanOut(_ row: PlanIndex) -> Bool {
        fanOut(of: row)?.isDynamic == true
    }

    /// True if the instances that a run makes omit a definition, because it was not chosen.
    package func isLeftOut(_ definition: NodeIndex) -> Bool { blueprint?.layout.isLeftOut(definition.row) ?? false }

    /// The plan with one instance `[*]` in place of those that only the run knows, to show and to measure it. The
    /// plan itself if there are none.
    package var outline: Plan { blueprint?.outline ?? self }

    /// Appends the instances of a dynamic fan-out after all other rows and returns their rows, as one interval in
    /// preorder. Fan-outs among them are expanded by separate calls. A second call, for the next round of a retried
    /// group, replaces the first one, whose rows remain but belong to nothing.
    ///
    /// O(rows added), amortised.
    package mutating func expand(_ row: PlanIndex, into instances: [FanOut.Instance]) -> Range<PlanIndex> {
        guard let blueprint, isDynamicFanOut(row) else {
            preconditionFailure("`\(nodes[row].id)` is not a dynamic fan-out")
        }
        let start = PlanIndex(nodes.count)
        var nodes: [PlanNode] = []
        var edges: [PlanEdge] = []
        // Moved, not copied: a plan may be large and the instances few.
        swap(&nodes, &self.nodes)
        swap(&edges, &self.edges)
        var expansion = PlanExpansion(
            blueprint.layout, blueprint.needs, behind: nodes, edges: edges, numbers: blueprint.numbers)
        (nodes, edges) = ([], [])
        expansion.expand(row, into: instances)
        (nodes, edges) = expansion.takeRows()
        swap(&nodes, &self.nodes)
        swap(&edges, &self.edges)
        let rows = start..<self.rows.upperBound
        for row in rows { blueprint.measure(&self.nodes[row]) }
        expansions[row] = rows
        return rows
    }

    /// Returns the rows outside of a dynamic fan-out that its instances will need: in order, each once. O(definitions
    /// inside).
    package func outsideNeeds(ofInstancesOf row: PlanIndex) -> [PlanIndex] {
        guard let blueprint else { return [] }
        let rows = PlanExpansion(blueprint.layout, blueprint.needs, behind: nodes, numbers: blueprint.numbers)
        return rows.needs(insideFanOut: row)
    }

    /// Returns all rows inside a row, without the row itself, in the order in which they were made: those of an
    /// expansion come after those of the file. O(rows inside).
    package func rows(inside row: PlanIndex) -> [PlanIndex] {
        guard !expansions.isEmpty else { return Array(row.next..<nodes[row].subtreeEnd) }
        var rows: [PlanIndex] = []
        var intervals = [row.next..<nodes[row].subtreeEnd]
        if let expansion = expansions[row] { intervals.append(expansion) }
        while let interval = intervals.popLast() {
            for row in interval {
                rows.append(row)
                if nodes[row].role == .fanOut, let expansion = expansions[row] { intervals.append(expansion) }
            }
        }
        return rows.sorted()
    }
}

/// The data for making the instances of fan-outs whose items only the run knows.
final class InstanceBlueprint: Sendable {
    /// The plan with one instance in place of each of them, measured.
    let outline: Plan
    let needs: ResolvedNeeds
    let layout: PlanLayout
    let numbers: RowNumbers
    /// By definition: the measures in the outline, for rows inside such a fan-out.
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

    /// Gives a new row the measures of the one instance in the outline: all instances are alike, and so are their
    /// paths to the end.
    func measure(_ node: inout PlanNode) {
        node.level = levels[node.definition.row]
        node.remainingPath = remainingPaths[node.definition.row]
    }
}

/// Maps the rows of a whole plan to those of a plan that leaves some out. Without numbers, every row keeps its place.
struct RowNumbers: Sendable {
    /// By row of the whole plan; for a row that is left out, the number of the next one.
    private var numbers: [PlanIndex] = []
    /// By row of the restricted plan; later rows were added afterwards, and their layout has no gaps.
    private var originals: [PlanIndex] = []

    init() {}

    init(keeping isKept: some Sequence<Bool>) {
        for isKept in isKept {
            let original = PlanIndex(numbers.count)
            numbers.append(PlanIndex(originals.count))
            if isKept { originals.append(original) }
        }
    }

    /// Returns the row that is at this distance from `row` in the whole plan; both are rows of the restricted plan.
    func row(_ distance: Int, behind row: PlanIndex) -> PlanIndex {
        row.offset < originals.count
            ? numbers[originals[row].advanced(by: distance)] : row.advanced(by: distance)
    }
}
