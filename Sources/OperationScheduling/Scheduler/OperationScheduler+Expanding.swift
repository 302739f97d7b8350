// Members that join while the graph runs.

/// Rows that became members of a group behind all others.
struct Addition: Sendable {
    let rows: Range<Int>
    /// Whether they answer an `expand`: then the next round asks for new ones.
    let isExpansion: Bool
}

extension OperationScheduler {
    /// The answer to `expand`. O(rows and edges of the expansion).
    mutating func expand(_ id: OperationID, _ expansion: OperationGraph) {
        let index = groupIndex(of: id)
        precondition(groups[index].isExpanding, "\(id) was not asked for its members")
        groups[index].isExpanding = false
        awaited -= 1
        join(expansion, to: id, isExpansion: true)
        groups[index].unfinishedMembers -= 1
        if groups[index].unfinishedMembers == 0 { advance(id) }
    }

    /// Further members for an open or running group.
    mutating func add(_ expansion: OperationGraph, to id: OperationID) {
        let isWaiting = groups[groupIndex(of: id)].stage == .body || isBetweenAttempts(id)
        if states[id.row].phase != .finished, isWaiting {
            let count = join(expansion, to: id, isExpansion: false)
            graph.addMembers(count, toGroup: groupIndex(of: id))
        } else {
            for member in append(expansion, to: id, isExpansion: false) {
                settle(member, verdict: .cancelled, cause: .request)
            }
        }
    }

    /// Returns how many direct members joined.
    @discardableResult
    private mutating func join(
        _ expansion: OperationGraph, to id: OperationID, isExpansion: Bool
    ) -> Int {
        let index = groupIndex(of: id)
        let members = append(expansion, to: id, isExpansion: isExpansion)
        groups[index].unfinishedMembers += members.count
        if let verdict = groups[index].verdict {
            let outcome = verdict.outcome == .timeout ? .cancelled : verdict.outcome
            for member in members { settle(member, verdict: outcome, cause: verdict.cause) }
        } else {
            for member in members { consider(member) }
        }
        return members.count
    }

    /// Returns the direct members.
    private mutating func append(
        _ expansion: OperationGraph, to id: OperationID, isExpansion: Bool
    ) -> [OperationID] {
        graph.append(expansion, to: id)
        addState(of: expansion.table)
        additions[id, default: []].append(Addition(rows: expansion.rows, isExpansion: isExpansion))
        var members: [OperationID] = []
        var walk = RowWalk(expansion.rows)
        while let member = walk.next(graph.table.rows) { members.append(member) }
        return members
    }

    /// An open group takes no more.
    mutating func close(_ id: OperationID) {
        let index = groupIndex(of: id)
        guard groups[index].isOpen else { return }
        shut(index)
        if groups[index].unfinishedMembers == 0, hasStarted(id) { advance(id) }
    }

    /// The same, for a group that is looked after already.
    mutating func shut(_ index: Int) {
        guard groups[index].isOpen else { return }
        groups[index].isOpen = false
        openGroups -= 1
        groups[index].unfinishedMembers -= 1
    }

    /// Takes a dependency away from something that has not started.
    mutating func unlink(_ dependent: OperationID, from prerequisite: OperationID) {
        let count = needs.cut(from: dependent, to: prerequisite)
        _ = dependents.cut(from: prerequisite, to: dependent)
        guard count > 0, states[prerequisite.row].phase != .finished else { return }
        states[dependent.row].pendingNeeds -= UInt32(count)
        consider(dependent)
    }
}
