// Members that join while the graph runs.

/// Rows that became members of a group behind all others.
struct Addition: Sendable {
    var rows: Range<Int>
    /// Whether they answer an `expand`: then the next round asks for new ones.
    let isExpansion: Bool
}

extension OperationScheduler {
    /// Takes the answer to `expand`. O(rows and edges of the expansion).
    mutating func expand(_ id: OperationID, _ expansion: OperationGraph) {
        let index = groupIndex(of: id)
        precondition(groups[index].isExpanding, "\(id) was not asked for its members")
        groups[index].isExpanding = false
        awaited -= 1
        join(expansion, to: id, isExpansion: true)
        groups[index].unfinishedMembers -= 1
        considerEnd(ofBody: id)
    }

    /// Moves a group on that waited for something besides its members: to the end of its body where nothing of it is
    /// left, or to a verdict about those whose conditions are false.
    mutating func considerEnd(ofBody id: OperationID) {
        if groups[groupIndex(of: id)].unfinishedMembers == 0 {
            advance(id)
        } else if has(id, .judgesMembers) {
            judge(id)
        }
    }

    /// Adds members to an open or running group.
    mutating func add(_ expansion: OperationGraph, to id: OperationID) {
        join(expansion, to: id, isExpansion: false)
    }

    private mutating func join(_ expansion: OperationGraph, to id: OperationID, isExpansion: Bool) {
        graph.append(expansion, to: id)
        addState(of: expansion.table)
        for edge in expansion.table.edges {
            awaitForPlaces(edge.prerequisite, for: edge.dependent, joinedAt: expansion.rows.lowerBound)
        }
        groups[groupIndex(of: id)].note(Addition(rows: expansion.rows, isExpansion: isExpansion))
        var walk = RowWalk(expansion.rows)
        while let member = walk.next(graph.table.rows) { admit(member, to: id, isExpansion: isExpansion) }
    }

    /// Adds one operation, without a graph. O(dependencies).
    mutating func add(
        _ options: OperationGraph.Options, to group: OperationID, needs: [(OperationID, DependencyKind)]
    ) {
        let id = graph.table.append(options, to: group)
        addState(of: id, options.locks, needs)
        for (need, _) in needs { awaitForPlaces(need, for: id, joinedAt: id.row) }
        groups[groupIndex(of: group)].note(Addition(rows: id.row..<id.row + 1, isExpansion: false))
        admit(id, to: group, isExpansion: false)
    }

    /// Makes a row that joined a group go on, or end as the group does.
    private mutating func admit(_ member: OperationID, to id: OperationID, isExpansion: Bool) {
        let index = groupIndex(of: id)
        // It is a member of the next round, too, if a group around it is tried again.
        if !isExpansion { graph.addMembers(1, toGroup: index) }
        let isWaiting = groups[index].stage == .body || isBetweenAttempts(id)
        guard isExpansion || isWaiting, states[id.row].phase != .finished else {
            return settle(member, verdict: .cancelled, cause: .request)
        }
        groups[index].unfinishedMembers += 1
        if let verdict = groups[index].verdict {
            settle(member, verdict: verdict.outcome == .timeout ? .cancelled : verdict.outcome, cause: verdict.cause)
        } else {
            consider(member)
        }
    }

    /// Closes an open group.
    mutating func close(_ id: OperationID) {
        let index = groupIndex(of: id)
        guard groups[index].isOpen else { return }
        shut(index)
        if hasStarted(id) { considerEnd(ofBody: id) }
    }

    /// Marks a group as closed. The caller moves it on.
    mutating func shut(_ index: Int) {
        guard groups[index].isOpen else { return }
        groups[index].isOpen = false
        openGroups -= 1
        groups[index].unfinishedMembers -= 1
    }
}
