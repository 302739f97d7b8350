import Syntax
import Workflow

extension Plan {
    /// What a run of these names is about: the steps and groups named, whole, and what they need, directly or not;
    /// groups around them stay, with what those need and their hooks. No names: what `default` says, or else
    /// everything. Only for a plan that is whole and not yet run.
    ///
    /// A name is a path of definitions (`build.compile`: in every instance) or an id (`build[x86_64].compile`). What is
    /// `manual` is left out of a group that is chosen whole, unless it is named itself or something chosen needs it.
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

    /// Whether a name means something in the plan. An instance that only the run knows is taken to be there. O(rows).
    package func has(_ name: String) -> Bool {
        if !TargetFinder(outline).rows(of: name).isEmpty { return true }
        guard workflow.instanceOfDynamicFanOut(in: name) != nil, let definition = workflow.definition(named: name)
        else { return false }
        return outline.nodes.contains { $0.definition == definition }
    }

    /// The instances that a past run had in place of one that is named, and the one that was probably meant. `ids` are
    /// those of the run's steps. nil for a name of anything else, and if the run had no instances. O(ids).
    package func instances(
        inPlaceOf name: String, among ids: some Sequence<String>
    ) -> (all: [String], meant: String?)? {
        guard workflow.instanceOfDynamicFanOut(in: name) != nil else { return nil }
        let path = InstancePath(name).parts
        let past = ids.map { InstancePath($0).parts }
        for end in path.indices where path[end].key != nil {
            // The way to the fan-out, in any of its instances.
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

    /// Whether a row, or a group around it, is what one of the names means. O(names and depth).
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
        // What has a like name elsewhere was hardly meant.
        let isItsOwn = suggestion?.hasPrefix(fanOut.name + "[") == true
        return UnknownTargets.Name(name: name, suggestion: isItsOwn ? suggestion : nil, fanOut: fanOut)
    }

    /// The first fan-out on the way of a name that has no such instance, with those that it has.
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

    /// Of an outline: which rows a choice is made of.
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

    /// Whether a row is left out of the group around it, being manual; a copy goes with its fan-out.
    func isLeftOutOfGroups(_ row: PlanIndex) -> Bool {
        nodes[nodes[row].parent].role != .fanOut && settings(of: row)?.isManual == true
    }
}

/// Finds the rows that names of steps and groups mean.
struct TargetFinder {
    private let plan: Plan

    init(_ plan: Plan) { self.plan = plan }

    /// None where the name means nothing. O(rows looked at).
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

    /// What is in the last brackets of an instance's id.
    private func instanceKey(of row: PlanIndex) -> String {
        let around = plan.nodes[plan.nodes[row].parent].id
        return String(plan.nodes[row].id.dropFirst(around.count + 1).dropLast())
    }
}
