internal import Glibc
package import Planning
internal import RunLog
internal import Scheduling
package import Workflow

// Facts about rows that a run needs, from the plan alone.
extension Plan {
    package func isStep(_ row: PlanIndex) -> Bool { nodes[row].role == .step }

    func parent(of row: PlanIndex) -> PlanIndex { nodes[row].parent }

    /// Returns the step or group with a full id; nil if the run has none. If each round has made an instance with
    /// that id, returns the last one. O(rows).
    package func row(ofID id: String) -> PlanIndex? { rows.dropFirst().last { nodes[$0].id == id } }

    /// The steps, without those that a later round has replaced. O(rows).
    var currentSteps: [PlanIndex] {
        var ids: Set<String> = []
        return rows.filter(isStep).reversed().filter { ids.insert(nodes[$0].id).inserted }.reversed()
    }

    /// The ids of the steps whose standard output is read, without the parts in brackets.
    package var outputReads: Set<String> { Set(standardOutputReads.map(workflow.path)) }

    /// Returns the nearest enclosing group of a row whose body is used; nil for rows that belong to the workflow
    /// itself. With `isInside`, a group that uses one is inside of it.
    func user(around row: PlanIndex, isInside: Bool = false) -> PlanIndex? {
        guard !workflow.uses.isEmpty else { return nil }
        var row = isInside ? row : parent(of: row)
        while row != .root {
            if use(of: row) != nil { return row }
            row = parent(of: row)
        }
        return nil
    }

    /// Returns the nearest enclosing group that uses a file; otherwise as `user(around:isInside:)`.
    func fileUser(around row: PlanIndex, isInside: Bool = false) -> PlanIndex? {
        var user = user(around: row, isInside: isInside)
        while let known = user, use(of: known)?.source == .template { user = self.user(around: known) }
        return user
    }

    /// Returns the body that a group uses; nil for a fan-out, each of whose instances uses it.
    package func use(of row: PlanIndex) -> Use? {
        nodes[row].role == .group ? workflow.use(of: nodes[row].definition) : nil
    }

    /// True if the files that are there, or what a command prints, may decide if a row runs, or what it hands on.
    func asksMore(_ row: PlanIndex) -> Bool {
        let requirements = requirements(of: row) + (use(of: row)?.settings?.requirements ?? [])
        let outputs = settings(of: row)?.outputs ?? []
        func asksMore(_ text: Expression) -> Bool { text.asksFiles || text.readsSharedValues }
        return condition(of: row).map(asksMore) == true
            || outputs.contains {
                guard case .expression(let text) = $0.source else { return false }
                return text.expressions.contains(where: asksMore)
            }
            || requirements.contains {
                switch $0.condition {
                case .expression(let condition): asksMore(condition)
                case .command: true
                }
            }
    }

    /// Returns the variables of fan-outs that a row sees: not those outside of the body that it is in.
    func variables(of row: PlanIndex, isInside: Bool = false) -> ArraySlice<Variable> {
        guard let user = user(around: row, isInside: isInside) else { return nodes[row].variables[...] }
        return nodes[row].variables.dropFirst(nodes[user].variables.count)
    }

    /// Returns the values of the innermost fan-out enclosing a step, for the log; nil outside of fan-outs.
    func loopItem(of row: PlanIndex) -> String? { nodes[row].variables.isEmpty ? nil : item(of: row) }

    /// Returns true if a row is a group that may be tried again.
    func hasRounds(_ row: PlanIndex) -> Bool { nodes[row].role == .group && retry(of: row) != nil }

    /// Returns true if a row is a member of a group, at any depth.
    package func isInside(_ row: PlanIndex, _ group: PlanIndex) -> Bool {
        var next = row
        while next != .root {
            next = parent(of: next)
            if next == group { return true }
        }
        return false
    }

    /// Returns a row and its enclosing groups, innermost first.
    package func rowAndAround(_ row: PlanIndex) -> [PlanIndex] {
        var rows = [row]
        while let last = rows.last, last != .root { rows.append(parent(of: last)) }
        return rows
    }

    /// Returns the fan-out that a row is an instance of, or the row itself.
    func whole(of row: PlanIndex) -> PlanIndex {
        let parent = parent(of: row)
        return row != .root && nodes[parent].role == .fanOut ? parent : row
    }

    /// Returns the row before this one in a group with `order: sequence`; nil for its first member and elsewhere.
    func previous(of row: PlanIndex) -> PlanIndex? {
        let whole = self.whole(of: row)
        let group = parent(of: whole)
        guard settings(of: group)?.isSequence == true, whole > group.next else { return nil }
        // Members are adjacent, so the row before this one is in the previous member.
        var before = whole.advanced(by: -1)
        while parent(of: before) != group { before = parent(of: before) }
        return before
    }

    /// Returns the members of a group that the file has and the plan has not, because the caller has chosen others.
    func leftOut(of group: PlanIndex) -> [NodeIndex] {
        let kept = Set(members(of: group).map { nodes[$0].definition })
        let declared = workflow.members(of: nodes[group].definition)
        return declared.filter { !kept.contains($0) && workflow[$0].hook == nil }
    }
}

// The graph of a run has the same rows as its plan. This is the only place that converts one into the other.
extension OperationID {
    /// Makes the id of the operation or group of a row of the plan.
    init(_ row: PlanIndex) { self.init(row: row.offset) }

    /// The row of the plan that it represents.
    var planIndex: PlanIndex { PlanIndex(row) }
}

extension KillSignal {
    var number: Int32 {
        switch self {
        case .term: SIGTERM
        case .int: SIGINT
        case .hup: SIGHUP
        case .quit: SIGQUIT
        case .usr1: SIGUSR1
        case .usr2: SIGUSR2
        case .kill: SIGKILL
        }
    }
}

extension OutputView {
    init(_ view: LogView) {
        self =
            switch view {
            case .live: .live
            case .grouped: .grouped
            case .quiet: .quiet
            }
    }
}
