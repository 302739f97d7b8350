package import Workflow

extension Plan {
    /// Whether a row is a fan-out whose items only the run knows.
    package func isDynamicFanOut(_ row: PlanIndex) -> Bool {
        fanOut(of: row)?.isDynamic == true
    }

    /// Whether the instances that a run makes go without a definition, because nobody has chosen it.
    package func isLeftOut(_ definition: NodeIndex) -> Bool { blueprint?.layout.isLeftOut(definition.row) ?? false }

    /// The plan with one instance `[*]` in the place of those that only the run knows: to show it, to measure it. The
    /// plan itself where there are none.
    package var outline: Plan { blueprint?.outline ?? self }

    /// Writes the instances of a dynamic fan-out behind all other rows and answers with their rows, as one interval in
    /// preorder; fan-outs among them are expanded likewise, by a call of their own. A second call, for the next round
    /// of a retried group, takes the place of the first, whose rows stay without belonging to anything.
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

    /// What the instances of a dynamic fan-out will need outside of it: rows, in order, each once. O(definitions
    /// inside).
    package func outsideNeeds(ofInstancesOf row: PlanIndex) -> [PlanIndex] {
        guard let blueprint else { return [] }
        let rows = PlanExpansion(blueprint.layout, blueprint.needs, behind: nodes, numbers: blueprint.numbers)
        return rows.needs(insideFanOut: row)
    }

    /// All rows inside a row, without itself, in the order in which they were made: those of an expansion come behind
    /// those of the file. O(rows inside).
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

/// Where the rows of a whole plan lie in one that left some of them out. Without numbers, everything lies where it did.
struct RowNumbers: Sendable {
    /// By row of the whole plan; of a row left out, the next one's number.
    private var numbers: [PlanIndex] = []
    /// By row of the plan at hand; rows behind these were added later and are laid out in one piece.
    private var originals: [PlanIndex] = []

    init() {}

    init(keeping isKept: some Sequence<Bool>) {
        for isKept in isKept {
            let original = PlanIndex(numbers.count)
            numbers.append(PlanIndex(originals.count))
            if isKept { originals.append(original) }
        }
    }

    /// The row that in the whole plan lies at a distance from another one, which is given as it lies here.
    func row(_ distance: Int, behind row: PlanIndex) -> PlanIndex {
        row.offset < originals.count
            ? numbers[originals[row].advanced(by: distance)] : row.advanced(by: distance)
    }
}
