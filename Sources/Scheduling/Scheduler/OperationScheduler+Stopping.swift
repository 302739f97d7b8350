// Cancels, timeouts and verdicts, and their effect on running, waiting and future rows.

extension OperationScheduler {
    /// The reach of a stop.
    enum Reach {
        /// Excludes the hooks of groups that have started.
        case body
        case everything
    }

    mutating func cancel(_ id: OperationID) {
        if id == .root { stopSuspending() }
        guard states[id.row].phase != .finished else { return }
        states[id.row].isCancelled = true
        stop(id, verdict: .cancelled, cause: .request)
    }

    /// Ends the suspension for good, because stopping everything must not wait for a resume.
    mutating func stopSuspending() {
        isCancelled = true
        resume()
    }

    mutating func abort() {
        stopSuspending()
        isAborted = true
        stop(.root, verdict: .cancelled, cause: .request, reach: .everything)
    }

    /// Stops an operation, or a group with its contents. The first cause counts.
    mutating func stop(
        _ id: OperationID, verdict: OperationOutcome, cause: OperationCause, reach: Reach = .body
    ) {
        guard states[id.row].phase != .finished else { return }
        if isGroup(id) {
            let group = groups[groupIndex(of: id)]
            // Also if only its hooks are left: no other round follows.
            if cause == .request { progress[id]?.isOver = true }
            let canBeStopped = group.verdict == nil && group.stage.canBeStopped
            let waitsForRound = isBetweenAttempts(id) && group.stage != .owing
            guard reach == .everything || canBeStopped || waitsForRound else { return }
            if group.verdict == nil { commands.append(.groupStopping(id, cause)) }
        }
        settle(id, verdict: verdict, cause: cause, reach: reach)
    }

    /// Applies a verdict to a whole subtree: stops what runs and ends what waits at once. Members of a timed-out
    /// group are cancelled, those of a group that fails by its own condition are not run; others share the group's
    /// outcome.
    mutating func settle(
        _ id: OperationID, verdict: OperationOutcome, cause: OperationCause, reach: Reach = .body
    ) {
        let memberVerdict: OperationOutcome =
            switch verdict {
            case .timeout: .cancelled
            case .failure: .notRun
            case .success, .cancelled, .skipped, .notRun: verdict
            }
        var walk = walk(from: id)
        while let row = walk.next(graph.table.rows) {
            if !isGroup(row) {
                settleOperation(row, verdict: row == id && verdict == .failure ? .failure : memberVerdict, cause: cause)
            } else if settleGroup(row, (row == id ? verdict : memberVerdict, cause), reach, isTop: row == id) {
                enter(row, &walk)
            }
        }
    }

    private mutating func settleOperation(_ id: OperationID, verdict: OperationOutcome, cause: OperationCause) {
        switch states[id.row].phase {
        case .blocked where has(id, .outlastsStops):
            break
        case .blocked, .deciding, .rejected, .ready, .backingOff:
            finish(id, verdict, cause)
        case .executing:
            move(id, to: .stopping)
            states[id.row].cause = cause
            commands.append(.stop(id, cause))
        case .stopping:
            // Its own limit stopped it, and it would be tried again.
            if cause == .request, mayBeginAnew(id) { states[id.row].cause = cause }
        case .finished:
            break
        }
    }

    /// True if nothing new may start in a group because it, or an enclosing group, is being stopped or drained.
    package func isBeingStopped(_ group: OperationID) -> Bool {
        if groups[groupIndex(of: group)].verdict != nil || groups[groupIndex(of: group)].draining != nil { return true }
        return !mayRetry(group)
    }

    /// True if a limit of its own is stopping it and another attempt may follow, which a cancel would rule out.
    package func mayBeginAnew(_ id: OperationID) -> Bool {
        states[id.row].phase == .stopping && states[id.row].cause == .deadline(id) && mayBeTriedAgain(id)
            && mayRetry(id) && graph.table.retries[id]?.retriesTimeout == true
    }

    /// Applies a verdict to a group. Returns true if it applies to the members too.
    private mutating func settleGroup(
        _ id: OperationID, _ verdict: (outcome: OperationOutcome, cause: OperationCause), _ reach: Reach, isTop: Bool
    ) -> Bool {
        guard states[id.row].phase != .finished else { return false }
        let index = groupIndex(of: id)
        if !isTop, reach == .body, has(id, .isHook), hasStarted(parent(of: id)) { return false }
        if isBetweenAttempts(id) { return settleBetweenRounds(id) }
        if hasStarted(id) {
            guard groups[index].verdict == nil, groups[index].stage.canBeStopped else { return reach == .everything }
            move(id, to: .stopping)
            if groups[index].isAsked { commands.append(.withdraw(id)) }
        } else {
            guard groups[index].verdict == nil else { return false }
            // It never starts, so its hooks end like its members.
            if let hooks = graph.table.hooks[id] {
                groups[index].unfinishedMembers += [hooks.onFailure, hooks.finally].count {
                    $0.map { states[$0.row].phase != .finished } ?? false
                }
            }
        }
        groups[index].verdict = verdict
        shut(index)
        if groups[index].unfinishedMembers == 0, !groups[index].isAsked { advance(id) }
        return true
    }

    /// Ends a group that waits for its next round with the outcome of the last one, after members that joined since
    /// and the `onFailure` hook. Returns true if there are such members.
    private mutating func settleBetweenRounds(_ id: OperationID) -> Bool {
        let index = groupIndex(of: id)
        guard groups[index].verdict == nil else { return false }
        if groups[index].stage == .owing {
            if isAborted { endBetweenRounds(id) }
            return false
        }
        var unfinished = 0
        forEachMember(of: id) { scheduler, member in
            if scheduler.states[member.row].phase != .finished, !scheduler.has(member, .isHook) { unfinished += 1 }
        }
        if unfinished == 0 {
            endBetweenRounds(id)
            return false
        }
        shut(index)
        groups[index].stage = .body
        groups[index].verdict = (states[id.row].outcome, states[id.row].cause)
        groups[index].unfinishedMembers = unfinished
        return true
    }

    /// Applies the policy of the nearest enclosing group of a failed operation that has one. It reaches no further:
    /// the next group reacts only to the end of that group. The search also ends at a group that tolerates its
    /// failure, and at one that may be tried again, because that failure is not final.
    mutating func failFast(after id: OperationID) {
        var next = id
        while let index = bodyGroupAround(&next) {
            switch graph.table.groups[index].failFast {
            case .off: return
            case .cancel: return stop(next, verdict: .cancelled, cause: .failFast(id))
            case .drain: return drain(next, after: id)
            case nil: if has(next, .toleratesFailure) || mayBeTriedAgain(next) { return }
            }
        }
    }

    /// Starts nothing new in the group: ready rows end now, blocked ones when their needs have ended. Rows that wait
    /// for another attempt end with the outcome of the last one.
    private mutating func drain(_ group: OperationID, after id: OperationID) {
        guard groups[groupIndex(of: group)].draining == nil else { return }
        let cause = OperationCause.failFast(id)
        groups[groupIndex(of: group)].draining = cause
        var walk = RowWalk(0..<0)
        enter(group, &walk)
        while let row = walk.next(graph.table.rows) {
            guard !has(row, .isHook), states[row.row].phase != .finished, !isDecided(row) else { continue }
            if isBetweenAttempts(row) {
                giveUpRetrying(row)
            } else if [.ready, .deciding, .rejected].contains(states[row.row].phase) {
                settle(row, verdict: .notRun, cause: cause)
            } else if isGroup(row) {
                groups[groupIndex(of: row)].draining = cause
                enter(row, &walk)
            }
        }
    }
}

// Detects a run that cannot go on: nothing runs, nothing is due, and not everything has ended. No graph of a plan
// gets there, but one with a cycle does, and so would a fault of the scheduler. It is reported at once.

extension OperationScheduler {
    /// A waiting row, and the reason.
    package struct Wait: Sendable, Hashable {
        package enum Reason: Sendable, Hashable {
            /// The end of a dependency.
            case need(OperationID)
            /// A lock and its holder; nil if it has none.
            case lock(LockID, heldBy: OperationID?)
            /// Room in the limit of an enclosing group.
            case limit(of: OperationID)
            /// The start of the enclosing group.
            case start(of: OperationID)
            /// For a group that has started: the end of a member or hook.
            case member(OperationID)
            /// Nothing: a fault of the scheduler.
            case nothing
        }

        package let waiter: OperationID
        package let reason: Reason
    }

    /// True if nothing can happen any more without a request from outside. Pending limits of groups do not count:
    /// they would only end work that never began. O(1).
    @inline(__always)  // A call would copy the scheduler.
    var isStalled: Bool {
        running == 0 && awaited == 0 && openGroups == 0 && unfinishedExternals == 0 && !clocks.isSuspended
            && states[0].phase != .blocked && !isFinished
    }

    /// Reports the chain of waits and ends everything.
    mutating func endAsStalled() {
        commands.append(.stalled(chainOfWaits()))
        isCancelled = true
        isAborted = true
        stop(.root, verdict: .cancelled, cause: .stall, reach: .everything)
        settle()
        // A group that has miscounted its members does not end with them.
        for row in states.indices.reversed() where states[row].phase != .finished && !isFinished {
            finish(OperationID(row), .cancelled, .stall)
        }
    }

    /// Returns the chain from the run itself to a row that waits for nothing, or for an earlier link. O(rows).
    func chainOfWaits() -> [Wait] {
        var chain: [Wait] = []
        var seen: Set<OperationID> = []
        var next: OperationID? = .root
        while let id = next, states[id.row].phase != .finished, seen.insert(id).inserted {
            let reason = reason(for: id)
            chain.append(Wait(waiter: id, reason: reason))
            next =
                switch reason {
                case .need(let other), .start(let other), .member(let other): other
                case .lock(_, let holder): holder
                case .limit(let group): unfinishedMember(of: group) { hasStarted($0) }
                case .nothing: nil
                }
        }
        return chain
    }

    private func reason(for id: OperationID) -> Wait.Reason {
        switch states[id.row].phase {
        case .blocked:
            if let need = needs.all(of: id).first(where: { states[$0.other.row].phase != .finished }) {
                return .need(need.other)
            }
            return hasStarted(parent(of: id)) ? .nothing : .start(of: parent(of: id))
        case .ready:
            if let lock = missingLock(for: id) { return .lock(locks.name(of: lock), heldBy: holder(of: lock)) }
            if waitsForTurn(id), let full = fullLimit(around: id) { return .limit(of: graph.table.groups[full].id) }
            let isFull = isFull(parentGroup(of: id), for: .members) && !has(id, .isHook)
            return isFull ? .limit(of: parent(of: id)) : .nothing
        case .executing, .stopping:
            let member = isGroup(id) ? currentHook(of: id) ?? unfinishedMember(of: id) { !has($0, .isHook) } : nil
            return member.map(Wait.Reason.member) ?? .nothing
        case .rejected:
            let other = unfinishedMember(of: parent(of: id)) { states[$0.row].phase != .rejected && !has($0, .isHook) }
            return other.map(Wait.Reason.need) ?? .nothing
        case .deciding, .backingOff, .finished:
            return .nothing
        }
    }

    private func holder(of lock: LockTable.Index) -> OperationID? {
        states.indices.lazy.map { OperationID($0) }
            .first { has($0, .hasLocks) && hasStarted($0) && locks.asks($0, for: lock) }
    }

    private func unfinishedMember(of group: OperationID, where isWanted: (OperationID) -> Bool) -> OperationID? {
        var walk = RowWalk(0..<0)
        enter(group, &walk)
        while let member = walk.next(graph.table.rows) {
            if states[member.row].phase != .finished, isWanted(member) { return member }
        }
        return nil
    }
}

// Removes rows that have ended, so that a scheduler that is never idle does not grow.

extension OperationScheduler {
    /// Removes rows that have ended and on which nothing depends any more, and returns the new ids of the others. Use
    /// the new ids from now on, also in answers to earlier commands. O(rows + edges): amortized O(1) per row if
    /// called when `endedCount` is more than half of `count`.
    ///
    /// Keeps all rows inside anything that may be tried again, the dependencies and causes of unfinished rows, and
    /// foreseen rows. The `cause` of a kept, ended row becomes `itself` if the row it named is gone.
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

    /// The rows for which the outcomes of their dependencies still matter.
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
        // The root of a kept row is also the root of all rows that it rules out.
        for row in isKept.indices where isKept[row] { keep(roots[OperationID(row)]) }
        // A kept row keeps its enclosing groups, which come before it.
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
