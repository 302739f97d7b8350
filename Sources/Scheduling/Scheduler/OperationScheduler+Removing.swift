// Removes rows that have ended, so that a scheduler that is never idle does not grow.

extension OperationScheduler {
    /// Removes rows that have ended and that nothing depends on any more, and returns the new ids of the others. They
    /// are used from now on, also in answers to earlier questions. O(rows + edges): called when `endedCount` is more
    /// than half of `count`, it costs O(1) for each row.
    ///
    /// It keeps all rows inside something that may be tried again, the dependencies and causes of rows that have not
    /// ended, and what was foreseen. The `cause` of a kept row that has ended is `itself` if the row it named is gone.
    package mutating func removeEnded() -> RowRenumbering {
        let readsNeeds = rowsThatReadTheirNeeds()
        let renumbering = RowRenumbering(keeping: rowsToKeep(readsNeeds))
        needs.renumber(by: renumbering) { from, _ in readsNeeds[from.row] }
        dependents.renumber(by: renumbering) { _, other in readsNeeds[other.row] }
        renumberGroups(by: renumbering)
        graph.table.renumber(by: renumbering)
        states.renumber(by: renumbering) { state, _ in state.cause = state.cause.renumbered(by: renumbering) }
        endedCount = 0
        ready.renumber(by: renumbering)
        readyGroups.renumber(by: renumbering)
        locks.renumber(by: renumbering)
        holders.renumber(by: renumbering)
        progress = progress.renumbered(by: renumbering).mapValues { progress in
            var progress = progress
            progress.held = progress.held.map { ($0.outcome, $0.cause.renumbered(by: renumbering)) }
            return progress
        }
        // A row that is kept without its root becomes its own root.
        roots = Dictionary(
            uniqueKeysWithValues: roots.compactMap { id, root in
                renumbering[id].map { ($0, renumbering[root] ?? $0) }
            })
        held = held.compactMap { renumbering[$0] }
        deadlines.renumber(by: renumbering)
        groupDeadlines.renumber(by: renumbering)
        return renumbering
    }

    /// Rows for which the outcomes of their dependencies still matter.
    private func rowsThatReadTheirNeeds() -> [Bool] {
        var mayBeReset = Array(repeating: false, count: states.count)
        return states.indices.map { row in
            let parent = parent(of: OperationID(row))
            mayBeReset[row] =
                row > 0
                && (mayBeReset[parent.row] || has(parent, .hasRetry) && states[parent.row].phase != .finished)
            let mayBeAsked = states[row].phase == .deciding || has(OperationID(row), .judgesMembers)
            let isAskedAboutThem =
                mayBeAsked && states[row].phase != .finished && has(OperationID(row), .waitsForAll)
            return mayBeReset[row] || states[row].phase == .blocked || isAskedAboutThem
        }
    }

    private func rowsToKeep(_ readsNeeds: [Bool]) -> [Bool] {
        var isKept = readsNeeds
        func keep(_ id: OperationID?) { if let id { isKept[id.row] = true } }
        func keep(_ ends: FirstEnds) { ends.rows.forEach(keep) }
        keep(.root)
        for (row, state) in states.enumerated() where readsNeeds[row] || state.phase != .finished {
            isKept[row] = true
            keep(state.cause.row)
            if readsNeeds[row] {
                needs.forEach(of: OperationID(row)) { keep($0.other) }
            }
            guard isGroup(OperationID(row)) else { continue }
            let group = groups[groupIndex(of: OperationID(row))]
            keep(group.ends)
            keep(group.verdict?.cause.row)
            keep(group.draining?.row)
            graph.table.hooks[OperationID(row)].map { [$0.onFailure, $0.finally].forEach(keep) }
            graph.table.foreseen[OperationID(row)]?.needs.forEach(keep)
            hookEnds[OperationID(row)].map(keep)
            sequences[OperationID(row)]?.rows.forEach(keep)
            keep(juries[OperationID(row)]?.verdict?.cause.row)
            keep(group.last?.cause.row)
        }
        // The root of a row that was kept is also the root of all that the row rules out.
        for row in isKept.indices where isKept[row] { keep(roots[OperationID(row)]) }
        // A kept row keeps the groups around it, which come before it.
        for row in isKept.indices.reversed() where isKept[row] { keep(parent(of: OperationID(row))) }
        return isKept
    }

    private mutating func renumberGroups(by renumbering: RowRenumbering) {
        var kept: [GroupState] = []
        for (index, var group) in groups.enumerated() where renumbering[graph.table.groups[index].id] != nil {
            group.renumber(by: renumbering)
            kept.append(group)
        }
        groups = kept
        hookEnds = hookEnds.renumbered(by: renumbering).mapValues { $0.renumbered(by: renumbering) }
        juries = juries.renumbered(by: renumbering).mapValues { $0.renumbered(by: renumbering) }
        sequences = sequences.renumbered(by: renumbering).mapValues { $0.renumbered(by: renumbering) }
    }
}
