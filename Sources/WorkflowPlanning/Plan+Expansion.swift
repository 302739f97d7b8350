package import WorkflowModel

extension Plan {
    /// Whether a row is a fan-out whose items only the run knows.
    package func isDynamicFanOut(_ row: Int) -> Bool {
        fanOut(of: row)?.isDynamic == true
    }

    /// The plan with one instance `[*]` in the place of those that only the run knows: to show it, to measure it. The
    /// plan itself where there are none.
    package var outline: Plan { blueprint?.outline ?? self }

    /// Writes the instances of a dynamic fan-out behind all other rows and answers with their rows, as one interval in
    /// preorder; fan-outs among them are expanded likewise, by a call of their own. A second call, for the next round of
    /// a retried group, takes the place of the first, whose rows stay without belonging to anything.
    ///
    /// O(rows added), amortised.
    package mutating func expand(_ row: Int, into instances: [FanOut.Instance]) -> Range<Int> {
        guard let blueprint, isDynamicFanOut(row) else {
            preconditionFailure("`\(nodes[row].id)` is no dynamic fan-out")
        }
        let start = nodes.count
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
        for row in start..<self.nodes.count { blueprint.measure(&self.nodes[row]) }
        let rows = start..<self.nodes.count
        expansions[row] = rows
        return rows
    }

    /// What the instances of a dynamic fan-out will need outside of it: rows, in order, each once. O(definitions inside).
    package func outsideNeeds(ofInstancesOf row: Int) -> [Int] {
        guard let blueprint else { return [] }
        let rows = PlanExpansion(blueprint.layout, blueprint.needs, behind: nodes, numbers: blueprint.numbers)
        return rows.needs(insideFanOut: row)
    }

    /// All rows inside a row, without itself, in the order in which they were made: those of an expansion come behind
    /// those of the file. O(rows inside).
    package func rows(inside row: Int) -> [Int] {
        guard !expansions.isEmpty else { return Array((row + 1)..<Int(nodes[row].subtreeEnd)) }
        var rows: [Int] = []
        var intervals = [(row + 1)..<Int(nodes[row].subtreeEnd)]
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
