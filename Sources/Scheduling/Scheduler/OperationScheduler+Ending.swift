// From executing to finished: ends of operations and groups, and what they mean for groups and dependents.

extension OperationScheduler {
    /// Ends an attempt of a started operation, and the operation if it is not tried again.
    mutating func end(_ id: OperationID, as reported: OperationOutcome, _ mayRetry: Bool) {
        let state = states[id.row]
        switch state.phase {
        case .executing:
            let isWorthAnother = mayRetry && (reported == .failure || reported == .timeout)
            if isWorthAnother, retry(id, after: reported, .itself) { return }
            if reported == .cancelled { states[id.row].isCancelled = true }
            finish(id, reported, reported == .cancelled ? .request : .itself)
        case .stopping:
            // The stop came first, so it decides, whatever the work answered.
            let isTimeout = state.cause == .deadline(id) || state.cause == .retryDeadline(id)
            if isTimeout, retry(id, after: .timeout, state.cause) { return }
            finish(id, isTimeout ? .timeout : .cancelled, state.cause)
        case .blocked, .deciding, .rejected, .ready, .backingOff, .finished:
            preconditionFailure("\(id) ended while \(state.phase)")
        }
    }

    /// Tells groups and dependents of everything that has ended, then starts groups and fills free slots.
    mutating func settle() {
        var next = 0
        while true {
            while next < ended.count {
                let id = ended[next]
                next += 1
                if id != .root { noteEnd(of: id) }
                // Also where it held nothing: it may have been let out of a queue, and another row takes that place.
                // Not before now, when whatever is to be stopped has been.
                passOn(id)
                for edge in dependents[id] where !dependents.isCut(edge, of: id) { tellEnd(to: edge.other) }
                for edge in dependents.lateEntries(of: id) where !dependents.isCut(edge, of: id) {
                    tellEnd(to: edge.other)
                }
            }
            if startReadyGroup() || dispatch() { continue }
            if next == ended.count, clocks.isSuspended || readyGroups.isEmpty { break }
        }
        ended.removeAll(keepingCapacity: true)
    }

    private mutating func tellEnd(to dependent: OperationID) {
        guard states[dependent.row].phase == .blocked else { return }
        states[dependent.row].pendingNeeds -= 1
        consider(dependent)
    }

    mutating func finish(_ id: OperationID, _ outcome: OperationOutcome, _ cause: OperationCause) {
        let phase = states[id.row].phase
        move(id, to: .finished)
        states[id.row].outcome = outcome
        states[id.row].cause = cause
        cancelDeadlines(id)
        if has(id, .isExternal) { unfinishedExternals -= 1 }
        if has(id, .judgesMembers) { juries[id] = nil }
        switch phase {
        case .executing, .stopping:
            releaseSlots(of: id)
            releaseLocks(id)
        case .ready:
            if has(id, .hasLocks) { locks.forget(id) }
        case .blocked, .deciding, .rejected, .backingOff, .finished:
            break
        }
        commands.append(.finished(id, outcome, cause))
        ended.append(id)
    }

    private mutating func noteEnd(of id: OperationID) {
        let parent = parent(of: id)
        let index = groupIndex(of: parent)
        let outcome = states[id.row].outcome
        let isTolerated = has(id, .toleratesFailure)
        if outcome == .notRun { noteRoot(of: id) }
        if has(id, .isHook), hasStarted(parent) || groups[index].verdict == nil {
            hookEnds[parent, default: FirstEnds()].note(id, outcome, isTolerated: false)
            if currentHook(of: parent) == id { advance(parent) }
            return
        }
        // Members that join too late do not concern the group any more.
        guard groups[index].stage == .body, states[parent.row].phase != .finished else { return }
        groups[index].ends.note(
            id, outcome, isTolerated: isTolerated,
            countsIfNotRun: outcome == .notRun && isRuledOut(id, besides: parent))
        // A member that fails before its group starts counts when the group starts.
        if !isTolerated, outcome == .failure || outcome == .timeout, hasStarted(parent) { failFast(after: id) }
        groups[index].unfinishedMembers -= 1
        if has(parent, .isSequence) { goOn(inSequence: parent, after: id) }
        if has(parent, .judgesMembers) { noteEnd(ofJudged: id, in: parent) }
        guard groups[index].unfinishedMembers == 0 else { return }
        // A group that has not started ends only by a verdict; otherwise it still has its needs to wait for.
        if hasStarted(parent) || groups[index].verdict != nil { advance(parent) }
    }

    // MARK: Causes of rows that were ruled out

    /// Notes the first link of the chain of causes that ruled a row out. Earlier links have been noted before.
    private mutating func noteRoot(of id: OperationID) {
        let cause = states[id.row].cause.row
        roots[id] = cause.map { roots[$0] ?? $0 } ?? id
    }

    /// True if a row was ruled out by something outside `group` or not known here at all, or by a request to cancel.
    /// One inside decides about the group itself, unless it came inside a group that is skipped.
    func isRuledOut(_ id: OperationID, besides group: OperationID) -> Bool {
        guard let root = roots[id] else { return false }
        let isExternal = has(root, .isExternal)
        if states[root.row].outcome == .cancelled, isExternal || states[root.row].cause == .request { return true }
        return isExternal && states[root.row].outcome == .notRun || !graph.isInside(root, group)
    }
}
