import Syntax
import Workflow

extension Plan {
    /// Returns the plan for a run of these names: the steps and groups named, whole, and all that they need, directly
    /// or not. Their enclosing groups remain, with the needs and hooks of those. Without names, it is the steps of
    /// `default`, or else everything. Only for a plan that is whole and has not run yet.
    ///
    /// A name is a path of definitions (`build.compile`: in every instance) or an id (`build[x86_64].compile`). A
    /// group that is chosen whole goes without its `manual` members, unless they are named themselves or needed by a
    /// chosen step.
    package func restricted(to names: [String]) throws(UnknownTargets) -> Plan {
        let defaults = workflow.defaultSteps?.map(\.name) ?? []
        guard !names.isEmpty || !defaults.isEmpty || workflow.hasManual else { return self }
        let outline = self.outline
        let finder = TargetFinder(outline)
        var rows: [PlanIndex] = []
        var unknown: [UnknownTargets.Name] = []
        for name in names.isEmpty ? defaults : names {
            let found = finder.rows(of: name)
            if found.isEmpty || workflow.instanceOfDynamicFanOut(in: name) != nil {
                unknown.append(self.unknown(name))
            }
            rows += found
        }
        guard unknown.isEmpty else { throw UnknownTargets(names: unknown) }
        let isWhole = names.isEmpty && defaults.isEmpty
        let named = isWhole ? [.root] : rows
        return keeping(outline.kept(for: named), named: named)
    }

    /// True if a name means something in the plan. An instance that only the run knows is assumed to exist. O(rows).
    package func has(_ name: String) -> Bool {
        if !TargetFinder(outline).rows(of: name).isEmpty { return true }
        guard workflow.instanceOfDynamicFanOut(in: name) != nil, let definition = workflow.definition(named: name)
        else { return false }
        return outline.nodes.contains { $0.definition == definition }
    }

    /// Returns the instances that a past run had in place of the named one, and the one that was probably meant.
    /// `ids` are those of the run's steps. nil for a name of anything else, and if the run had no instances. O(ids).
    package func instances(
        inPlaceOf name: String, among ids: some Sequence<String>
    ) -> (all: [String], meant: String?)? {
        guard workflow.instanceOfDynamicFanOut(in: name) != nil else { return nil }
        let path = InstancePath(name).parts
        let past = ids.map { InstancePath($0).parts }
        for end in path.indices where path[end].key != nil {
            // The path to the fan-out, in any of its instances.
            let way = InstancePath(parts: path[..<end] + [.init(id: path[end].id, key: nil)])
            let instances = Set(
                past.filter { way.names($0.prefix(end + 1)) }.map { InstancePath(parts: $0[...end]).text })
            guard !instances.isEmpty else { return nil }
            let asked = InstancePath(parts: path[...end])
            guard !instances.contains(where: asked.names) else { continue }
            let all = instances.sorted()
            return (all, Suggestion.nearest(to: asked.text, among: all))
        }
        return nil
    }

    /// True if one of the names means a row or an enclosing group. O(names * depth).
    package func isMeant(_ row: PlanIndex, by names: [String]) -> Bool {
        guard !names.isEmpty else { return false }
        let paths = names.map(InstancePath.init)
        var next = row
        while next != .root {
            if paths.contains(where: { $0.names(nodes[next].id) }) { return true }
            next = nodes[next].parent
        }
        return false
    }

    private func unknown(_ name: String) -> UnknownTargets.Name {
        if let fanOut = workflow.instanceOfDynamicFanOut(in: name) {
            return UnknownTargets.Name(name: name, suggestion: fanOut, isDynamic: true)
        }
        let suggestion = workflow.suggestion(for: name, orAmong: nodes)
        guard let fanOut = fanOutWithout(name) else { return UnknownTargets.Name(name: name, suggestion: suggestion) }
        // A similar name elsewhere was hardly meant.
        let isItsOwn = suggestion?.hasPrefix(fanOut.name + "[") == true
        return UnknownTargets.Name(name: name, suggestion: isItsOwn ? suggestion : nil, fanOut: fanOut)
    }

    /// Returns the first fan-out in the path of a name that has no such instance, with the instances that it has.
    private func fanOutWithout(_ name: String) -> (name: String, instances: [String])? {
        let parts = InstancePath(name).parts
        for end in parts.indices where parts[end].key != nil {
            let way = parts[..<end].map(\.text) + [parts[end].id]
            let fanOuts = TargetFinder(outline).rows(of: way.joined(separator: "."))
            guard let first = fanOuts.first, nodes[first].role == .fanOut else { return nil }
            let instances = members(of: first).map { nodes[$0].id }
            if TargetFinder(outline).rows(of: parts[...end].map(\.text).joined(separator: ".")).isEmpty {
                return (nodes[first].id, instances)
            }
        }
        return nil
    }

    /// Returns true for each row of an outline that a choice includes.
    private func kept(for rows: [PlanIndex]) -> [Bool] {
        var isKept = [Bool](repeating: false, count: nodes.count)
        var isWhole = isKept
        let (hasHooks, hasManual) = (self.hasHooks, workflow.hasManual)
        var worklist: [(row: PlanIndex, isWhole: Bool)] = rows.map { ($0, true) }
        while let (row, whole) = worklist.popLast() {
            if whole, !isWhole[row] {
                isWhole[row] = true
                for member in members(of: row) where !hasManual || !isLeftOutOfGroups(member) {
                    worklist.append((member, true))
                }
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

    /// True if a row is left out of its enclosing group, being manual; an instance follows its fan-out.
    func isLeftOutOfGroups(_ row: PlanIndex) -> Bool {
        nodes[nodes[row].parent].role != .fanOut && settings(of: row)?.isManual == true
    }
}

/// Finds the rows that names of steps and groups mean.
struct TargetFinder {
    private let plan: Plan

    init(_ plan: Plan) { self.plan = plan }

    /// Returns no rows if the name means nothing. O(rows visited).
    func rows(of name: String) -> [PlanIndex] {
        var rows = [PlanIndex.root]
        for (position, part) in InstancePath(name).parts.enumerated() {
            if position > 0 { rows = rows.flatMap(copies) }
            rows = rows.flatMap { row in
                plan.members(of: row).filter { plan.workflow[plan.nodes[$0].definition].id == part.id }
            }
            guard let key = part.key else { continue }
            rows = rows.flatMap { row in
                plan.nodes[row].role == .fanOut ? plan.members(of: row).filter { instanceKey(of: $0) == key } : []
            }
        }
        return rows == [.root] ? [] : rows
    }

    /// The instances of a fan-out, or the row itself.
    private func copies(of row: PlanIndex) -> [PlanIndex] {
        plan.nodes[row].role == .fanOut ? plan.members(of: row) : [row]
    }

    /// The key in the last brackets of an instance's id.
    private func instanceKey(of row: PlanIndex) -> String {
        let around = plan.nodes[plan.nodes[row].parent].id
        return String(plan.nodes[row].id.dropFirst(around.count + 1).dropLast())
    }
}

extension Plan {
    /// True if any group has a hook.
    package var hasHooks: Bool { workflow.nodes.contains { $0.hook != nil } }

    /// True for a hook and for a row inside of one, of any group. O(depth).
    package func isInHook(_ row: PlanIndex) -> Bool {
        var row = row
        while row != .root {
            if nodes[row].hook != nil { return true }
            row = nodes[row].parent
        }
        return false
    }

    /// Returns an outline without the instances that only the run knows, ready to make them.
    func withoutDynamicInstances(needs: ResolvedNeeds) -> Plan {
        guard workflow.nodes.contains(where: { $0.settings?.fanOut?.isDynamic == true }) else { return self }
        let layout = PlanLayout(workflow, isOutline: false)
        return fixed(InstanceBlueprint(outline: self, needs: needs, layout: layout))
    }

    /// Returns the chosen rows of the outline with new measures. They have to include everything that they wait for,
    /// and their enclosing groups. `named` are the rows that were named explicitly.
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

    /// Per row of an outline: true if the file says that it exists.
    private func isFixed() -> [Bool] {
        var isFixed = [Bool](repeating: true, count: nodes.count)
        for row in nodes.rows.dropFirst() {
            let parent = nodes[row].parent
            isFixed[row] = isFixed[parent] && !isDynamicFanOut(parent)
        }
        return isFixed
    }

    /// Returns the chosen rows under new numbers, with the measures that they have.
    private func rows(keeping isKept: [Bool]) -> (nodes: [PlanNode], edges: [PlanEdge]) {
        // The number of kept rows before each: the new number of a kept row, and of the end of a subtree.
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

/// Names on the command line that match no step or group of the plan.
package struct UnknownTargets: Error, Sendable, CustomStringConvertible {
    package struct Name: Sendable {
        /// As the user wrote it.
        package let name: String
        /// The id that was probably meant; nil if none is similar.
        package let suggestion: String?
        /// True for the name of an instance that only the run knows; then the suggestion is its fan-out.
        package var isDynamic = false
        /// The fan-out whose instance is missing, and the ids of those that it has; nil for any other name.
        package var fanOut: (name: String, instances: [String])?
    }

    /// In the order of the command line, never empty.
    package let names: [Name]

    /// One line, in the form of a finding.
    package var description: String {
        names.map { unknown in
            if unknown.isDynamic, let fanOut = unknown.suggestion {
                return "`\(unknown.name)` cannot be chosen: only the run knows the copies of `\(fanOut)`; "
                    + "name `\(fanOut)`"
            }
            if let (fanOut, instances) = unknown.fanOut, unknown.suggestion == nil {
                let more = instances.count > 12 ? ", …" : ""
                let known =
                    instances.isEmpty ? "it has none" : "it has \(instances.prefix(12).joined(separator: ", "))\(more)"
                return "`\(fanOut)` has no copy `\(unknown.name)`: \(known)"
            }
            return "no step or group `\(unknown.name)`" + (unknown.suggestion.map { "; did you mean `\($0)`?" } ?? "")
        }
        .joined(separator: "; ")
    }
}
