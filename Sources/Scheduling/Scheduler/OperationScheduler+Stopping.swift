// Cancels, timeouts and verdicts, and what they mean for what runs, waits or is still to come.

extension OperationScheduler {
    /// How far a stop goes.
    enum Reach {
        /// Not to the hooks of groups that have started.
        case body
        case everything
    }

    mutating func cancel(_ id: OperationID) {
        if id == .root { stopSuspending() }
        guard states[id.row].phase != .finished else { return }
        states[id.row].isCancelled = true
        stop(id, verdict: .cancelled, cause: .request)
    }

    mutating func abort() {
        stopSuspending()
        isAborted = true
        stop(.root, verdict: .cancelled, cause: .request, reach: .everything)
    }

    /// Stops an operation, or a group with everything inside. The first cause counts.
    mutating func stop(
        _ id: OperationID, verdict: OperationOutcome, cause: OperationCause, reach: Reach = .body
    ) {
        guard states[id.row].phase != .finished else { return }
        if isGroup(id) {
            let group = groups[groupIndex(of: id)]
            // Also if only its hooks are left: there is no other round.
            if cause == .request { progress[id]?.isOver = true }
            let canBeStopped = group.verdict == nil && group.stage.canBeStopped
            let waitsForRound = isBetweenAttempts(id) && group.stage != .owing
            guard reach == .everything || canBeStopped || waitsForRound else { return }
            if group.verdict == nil { commands.append(.groupStopping(id, cause)) }
        }
        settle(id, verdict: verdict, cause: cause, reach: reach)
    }

    /// Gives a whole subtree its verdict: what runs is told to stop, what waits ends at once. Members of a timed-out
    /// group are cancelled, those of one that fails by its own condition are not run; others share the group's outcome.
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
            // Its limit has passed, and it would be tried again.
            if cause == .request, mayBeginAnew(id) { states[id.row].cause = cause }
        case .finished:
            break
        }
    }

    /// Whether nothing new may start in a group, because it, or one around it, is being stopped or drained.
    package func isBeingStopped(_ group: OperationID) -> Bool {
        if groups[groupIndex(of: group)].verdict != nil || groups[groupIndex(of: group)].draining != nil { return true }
        return !mayRetry(group)
    }

    /// Whether it is being stopped by a limit of its own and another attempt may follow, which a cancel would rule out.
    package func mayBeginAnew(_ id: OperationID) -> Bool {
        states[id.row].phase == .stopping && states[id.row].cause == .deadline(id) && mayBeTriedAgain(id)
            && mayRetry(id) && graph.table.retries[id]?.retriesTimeout == true
    }

    /// Returns whether the verdict concerns what is inside.
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

    /// Ends a group that waits for its next round with the outcome of the last one, after members that joined since and
    /// the hook for failures. Returns true if there are such members.
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

    /// Applies the policy of the nearest group around a failed operation that has one. It never reaches further out by
    /// itself: that group's own end is what the next one hears of. A group that tolerates its failure stops it too, and
    /// one that may be tried again, because then there was no failure.
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

    /// Nothing new starts in the group: what is ready ends now, what is blocked when its needs have ended. What waits
    /// for another attempt ends with what the last one came to.
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
