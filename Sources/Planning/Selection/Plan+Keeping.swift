import Workflow

extension Plan {
    /// Whether any group has one.
    package var hasHooks: Bool { workflow.nodes.contains { $0.hook != nil } }

    /// Whether a row is a hook or inside of one, of whatever group. O(depth).
    package func isInHook(_ row: PlanIndex) -> Bool {
        var row = row
        while row != .root {
            if nodes[row].hook != nil { return true }
            row = nodes[row].parent
        }
        return false
    }

    /// An outline without the instances that only the run knows, ready to make them.
    func withoutDynamicInstances(needs: ResolvedNeeds) -> Plan {
        guard workflow.nodes.contains(where: { $0.settings?.fanOut?.isDynamic == true }) else { return self }
        let layout = PlanLayout(workflow, isOutline: false)
        return fixed(InstanceBlueprint(outline: self, needs: needs, layout: layout))
    }

    /// The rows of the outline that are chosen, which must hold whatever they wait for and the groups around them, with
    /// measures of their own. `named` are those of them that somebody has named.
    func keeping(_ isKept: [Bool], named: [PlanIndex]) -> Plan {
        let outline = self.outline
        let rows = outline.rows(keeping: isKept)
        let chosen = ChosenSteps(named, among: outline, isKept: isKept, isFixed: outline.isFixed())
        let origin = PlanOrigin(workflow, standardOutputReads: standardOutputReads, chosen: chosen)
        let plan = Plan(origin, measuring: rows.nodes, edges: rows.edges)
        guard let blueprint else { return plan }
        let isFixed = outline.isFixed()
        let numbers = RowNumbers(keeping: zip(isKept, isFixed).lazy.filter(\.1).map(\.0))
        var leftOut = [Bool](repeating: false, count: workflow.nodes.count)
        for row in outline.rows where !isKept[row] && !isFixed[row] {
            leftOut[outline.nodes[row].definition.row] = true
        }
        let layout = PlanLayout(workflow, isOutline: false, leavingOut: leftOut)
        return plan.fixed(
            InstanceBlueprint(outline: plan, needs: blueprint.needs, layout: layout, numbers: numbers))
    }

    private func fixed(_ blueprint: InstanceBlueprint) -> Plan {
        let rows = rows(keeping: isFixed())
        let origin = PlanOrigin(
            workflow, standardOutputReads: standardOutputReads, blueprint: blueprint, chosen: chosen)
        return Plan(origin, nodes: rows.nodes, edges: rows.edges)
    }

    /// Per row of an outline: whether the file says that it exists.
    private func isFixed() -> [Bool] {
        var isFixed = [Bool](repeating: true, count: nodes.count)
        for row in nodes.rows.dropFirst() {
            let parent = nodes[row].parent
            isFixed[row] = isFixed[parent] && !isDynamicFanOut(parent)
        }
        return isFixed
    }

    /// The chosen rows under new numbers, with the measures they have.
    private func rows(keeping isKept: [Bool]) -> (nodes: [PlanNode], edges: [PlanEdge]) {
        // How many rows before each are kept: the new number of a kept one, and of the end of a subtree.
        var numbers = [PlanIndex.root]
        numbers.reserveCapacity(nodes.count + 1)
        for row in nodes.rows { numbers.append(numbers[row].advanced(by: isKept[row] ? 1 : 0)) }
        var keptNodes: [PlanNode] = []
        var keptEdges: [PlanEdge] = []
        for row in nodes.rows where isKept[row] {
            let node = nodes[row]
            let edgeStart = UInt32(keptEdges.count)
            for edge in edges(of: row) {
                keptEdges.append(
                    PlanEdge(target: numbers[edge.target], kind: edge.kind, isSequence: edge.isSequence))
            }
            keptNodes.append(
                PlanNode(
                    id: node.id, definition: node.definition, role: node.role, hook: node.hook,
                    parent: numbers[node.parent], subtreeEnd: numbers[node.subtreeEnd],
                    edgeStart: edgeStart, edgeEnd: UInt32(keptEdges.count), level: node.level,
                    remainingPath: node.remainingPath, variables: node.variables))
        }
        return (keptNodes, keptEdges)
    }
}
