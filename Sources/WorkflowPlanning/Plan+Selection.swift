import SourceDiagnostics
import WorkflowModel

/// Names on the command line that no step or group of the plan has.
package struct UnknownTargets: Error, Sendable, CustomStringConvertible {
    package struct Name: Sendable, Hashable {
        /// As the user wrote it.
        package let name: String
        /// The id that was probably meant; nil where none is near.
        package let suggestion: String?
        /// Whether the name is of an instance that only the run knows; then the suggestion is its fan-out.
        package var isDynamic = false
    }

    /// In the order of the command line, never empty.
    package let names: [Name]

    /// One line, in the form of a finding.
    package var description: String {
        names.map { unknown in
            if unknown.isDynamic, let fanOut = unknown.suggestion {
                return "`\(unknown.name)` cannot be chosen: only the run knows the instances of `\(fanOut)`; "
                    + "name `\(fanOut)`"
            }
            return "no step or group `\(unknown.name)`" + (unknown.suggestion.map { "; did you mean `\($0)`?" } ?? "")
        }
        .joined(separator: "; ")
    }
}

extension Plan {
    /// Only the steps and groups named, whole, and what they need, directly or not; groups around them stay, with what
    /// those need and their hooks. No names: the plan itself. Only for a plan that is whole and not yet run.
    ///
    /// A name is a path of definitions (`build.compile`: in every instance) or an id (`build[x86_64].compile`).
    package func restricted(to targets: [String]) throws(UnknownTargets) -> Plan {
        guard !targets.isEmpty else { return self }
        let outline = self.outline
        var rows: [PlanIndex] = []
        var unknown: [UnknownTargets.Name] = []
        for target in targets {
            let found = outline.rows(of: target)
            if let fanOut = dynamicFanOut(in: target) {
                unknown.append(UnknownTargets.Name(name: target, suggestion: fanOut, isDynamic: true))
            } else if found.isEmpty {
                unknown.append(UnknownTargets.Name(name: target, suggestion: suggestion(for: target)))
            }
            rows += found
        }
        guard unknown.isEmpty else { throw UnknownTargets(names: unknown) }
        return keeping(outline.kept(for: rows))
    }

    /// The path of the fan-out that a name reaches into, where only the run knows its instances.
    private func dynamicFanOut(in target: String) -> String? {
        guard blueprint != nil else { return nil }
        let parts = InstancePath(target).parts
        var path: [String] = []
        var group = NodeIndex.root
        for (position, part) in parts.enumerated() {
            guard let member = workflow.members(of: group).first(where: { workflow[$0].id == part.id }) else { break }
            path.append(part.id)
            let isInside = position + 1 < parts.count || part.key != nil
            if isInside, workflow.settings(of: member)?.fanOut?.isDynamic == true {
                return path.joined(separator: ".")
            }
            group = member
        }
        return nil
    }

    /// The rows that a name means, none where it means nothing.
    private func rows(of target: String) -> [PlanIndex] {
        var rows = [PlanIndex.root]
        for (position, part) in InstancePath(target).parts.enumerated() {
            if position > 0 { rows = rows.flatMap(copies) }
            rows = rows.flatMap { members(of: $0).filter { workflow[nodes[$0].definition].id == part.id } }
            guard let key = part.key else { continue }
            rows = rows.flatMap { row in
                nodes[row].role == .fanOut ? members(of: row).filter { instanceKey(of: $0) == key } : []
            }
        }
        return rows == [.root] ? [] : rows
    }

    /// The instances of a fan-out, or the row itself.
    private func copies(of row: PlanIndex) -> [PlanIndex] { nodes[row].role == .fanOut ? members(of: row) : [row] }

    /// What stands in the last brackets of an instance's id.
    private func instanceKey(of row: PlanIndex) -> String {
        let around = nodes[nodes[row].parent].id
        return String(nodes[row].id.dropFirst(around.count + 1).dropLast())
    }

    private func suggestion(for target: String) -> String? {
        let definitions = workflow.nodes.indices.dropFirst()
        if let row = definitions.first(where: { workflow.nodes[$0].id == target }) {
            return workflow.path(of: NodeIndex(row))
        }
        // Enough to be of help in what people write by hand, and quick in what programs do.
        return Suggestion.nearest(
            to: target,
            among: definitions.prefix(20_000).map { workflow.path(of: NodeIndex($0)) }
                + nodes.dropFirst().prefix(20_000).map(\.id))
    }

    private func kept(for rows: [PlanIndex]) -> [Bool] {
        var isKept = [Bool](repeating: false, count: nodes.count)
        var isWhole = isKept
        var worklist: [(row: PlanIndex, isWhole: Bool)] = rows.map { ($0, true) }
        while let (row, whole) = worklist.popLast() {
            if whole, !isWhole[row] {
                isWhole[row] = true
                for member in members(of: row) { worklist.append((member, true)) }
            }
            guard !isKept[row] else { continue }
            isKept[row] = true
            for edge in edges(of: row) { worklist.append((edge.target, true)) }
            worklist.append((nodes[row].parent, false))
            // A group that runs at all runs its hooks.
            if nodes[row].role == .group, hasHooks {
                for member in members(of: row) where nodes[member].hook != nil { worklist.append((member, true)) }
            }
        }
        return isKept
    }
}

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
    /// measures of their own.
    func keeping(_ isKept: [Bool]) -> Plan {
        let outline = self.outline
        let rows = outline.rows(keeping: isKept)
        let origin = PlanOrigin(workflow, standardOutputReads: standardOutputReads)
        let chosen = Plan(origin, measuring: rows.nodes, edges: rows.edges)
        guard let blueprint else { return chosen }
        let isFixed = outline.isFixed()
        let numbers = RowNumbers(keeping: zip(isKept, isFixed).lazy.filter(\.1).map(\.0))
        return chosen.fixed(
            InstanceBlueprint(outline: chosen, needs: blueprint.needs, layout: blueprint.layout, numbers: numbers))
    }

    private func fixed(_ blueprint: InstanceBlueprint) -> Plan {
        let rows = rows(keeping: isFixed())
        let origin = PlanOrigin(workflow, standardOutputReads: standardOutputReads, blueprint: blueprint)
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
