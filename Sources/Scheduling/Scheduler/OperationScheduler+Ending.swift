// From executing to finished: the ends of operations and groups, and their effect on groups and dependents.

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
            // The stop came first, so it decides, whatever the work reported.
            let isTimeout = state.cause == .deadline(id) || state.cause == .retryDeadline(id)
            if isTimeout, retry(id, after: .timeout, state.cause) { return }
            finish(id, isTimeout ? .timeout : .cancelled, state.cause)
        case .blocked, .deciding, .rejected, .ready, .backingOff, .finished:
            preconditionFailure("\(id) ended while \(state.phase)")
        }
    }

    /// Reports each end to groups and dependents, then starts groups and fills free slots.
    mutating func settle() {
        var next = 0
        while true {
            while next < ended.count {
                let id = ended[next]
                next += 1
                if id != .root { noteEnd(of: id) }
                // Also for a row that held no lock: its place in a queue is free, and another row moves up. After
                // `noteEnd`, so that fail-fast stops a row before a free lock can start it.
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
        // Members that join too late no longer affect the group.
        guard groups[index].stage == .body, states[parent.row].phase != .finished else { return }
        groups[index].ends.note(
            id, outcome, isTolerated: isTolerated,
            countsIfNotRun: outcome == .notRun && isRuledOut(id, besides: parent))
        // A member that failed before its group started counts when the group starts.
        if !isTolerated, outcome == .failure || outcome == .timeout, hasStarted(parent) { failFast(after: id) }
        groups[index].unfinishedMembers -= 1
        if has(parent, .isSequence) { goOn(inSequence: parent, after: id) }
        if has(parent, .judgesMembers) { noteEnd(ofJudged: id, in: parent) }
        guard groups[index].unfinishedMembers == 0 else { return }
        // A group that has not started ends only by a verdict; without one it still waits for its needs.
        if hasStarted(parent) || groups[index].verdict != nil { advance(parent) }
    }

    // MARK: Causes of ruled-out rows

    /// Records the first link of the chain of causes that ruled a row out. Earlier links have been recorded before.
    private mutating func noteRoot(of id: OperationID) {
        let cause = states[id.row].cause.row
        roots[id] = cause.map { roots[$0] ?? $0 } ?? id
    }

    /// True if a row was ruled out by something outside `group`, by an external operation that was cancelled or not
    /// run, or by a request to cancel. A cause inside the group decides the outcome of the group itself, unless it
    /// was inside a group that is skipped.
    func isRuledOut(_ id: OperationID, besides group: OperationID) -> Bool {
        guard let root = roots[id] else { return false }
        let isExternal = has(root, .isExternal)
        if states[root.row].outcome == .cancelled, isExternal || states[root.row].cause == .request { return true }
        return isExternal && states[root.row].outcome == .notRun || !graph.isInside(root, group)
    }
}

// Members whose conditions are judged together: the instances of a fan-out that each have one.

/// The conditions of such members, as far as they are known.
struct Jury: Sendable {
    /// Members whose condition is false while not all others are known.
    var rejected: Set<OperationID> = []
    /// True if a member has ended without a false condition.
    var hasOthers = false
    /// True once the result is certain: one condition is true, or all are known.
    var isOver = false
    /// The outcome of the group if no condition was true; nil if one was, or if some members ended otherwise.
    var verdict: (outcome: OperationOutcome, cause: OperationCause)?

    func renumbered(by renumbering: RowRenumbering) -> Jury {
        var jury = self
        jury.rejected = Set(rejected.compactMap { renumbering[$0] })
        if let (outcome, cause) = verdict { jury.verdict = (outcome, cause.renumbered(by: renumbering)) }
        return jury
    }
}

extension OperationScheduler {
    /// Records a member without a condition, with a true one, or with one that fails it. From then on a false
    /// condition skips only its own row.
    mutating func accept(_ id: OperationID) {
        let group = parent(of: id)
        guard juries[group]?.isOver != true else { return }
        let rejected = juries[group]?.rejected ?? []
        juries[group] = Jury(isOver: true)
        for id in rejected.sorted() { settle(id, verdict: .skipped, cause: .condition) }
    }

    /// Holds a member whose condition is false until another is true or all are known.
    mutating func reject(_ id: OperationID) {
        let group = parent(of: id)
        guard juries[group]?.isOver != true else { return settle(id, verdict: .skipped, cause: .condition) }
        move(id, to: .rejected)
        juries[group, default: Jury()].rejected.insert(id)
        judge(group)
    }

    /// Records the end of a member, possibly before its condition was asked.
    mutating func noteEnd(ofJudged id: OperationID, in group: OperationID) {
        guard juries[group]?.isOver != true else { return }
        juries[group, default: Jury()].hasOthers = true
        juries[group]?.rejected.remove(id)
        judge(group)
    }

    /// If all remaining members have a false condition, ends them as the group would end with one.
    mutating func judge(_ group: OperationID) {
        let index = groupIndex(of: group)
        guard let jury = juries[group], !jury.rejected.isEmpty, states[group.row].phase == .executing,
            groups[index].verdict == nil, jury.rejected.count == groups[index].unfinishedMembers
        else { return }
        let (outcome, cause) = verdictIfFalse(of: group)
        juries[group] = Jury(isOver: true, verdict: jury.hasOthers ? nil : (outcome, cause))
        for id in jury.rejected.sorted() { settle(id, verdict: outcome, cause: cause) }
    }

    /// The outcome of a group if no member has a true condition. For a group without members, nil unless one of its
    /// needs has failed.
    func judgement(of group: OperationID) -> (outcome: OperationOutcome, cause: OperationCause)? {
        guard has(group, .judgesMembers), hasStarted(group) else { return nil }
        if let jury = juries[group] { return jury.verdict }
        let (outcome, cause) = verdictIfFalse(of: group)
        return outcome == .notRun ? (outcome, cause) : nil
    }
}

// Groups whose members run one after another: each depends on all before it.

/// The ends of a sequence's members, so that each member can be checked against all before it without an edge for
/// each pair.
struct SequenceMemory: Sendable {
    /// The row of the first member that has not ended, or the end of the group.
    var next: Int
    /// Members whose end an `.ok` edge would not accept, in the order of their ends.
    var failed: [OperationID] = []
    var timedOut: [OperationID] = []
    var ruledOut: [OperationID] = []

    init(of group: OperationID) { next = group.row + 1 }

    var rows: [OperationID] { failed + timedOut + ruledOut }

    mutating func note(_ id: OperationID, _ outcome: OperationOutcome, isTolerated: Bool) {
        switch outcome {
        case .failure where !isTolerated: failed.append(id)
        case .timeout where !isTolerated: timedOut.append(id)
        case .cancelled, .notRun: ruledOut.append(id)
        case .success, .skipped, .failure, .timeout: break
        }
    }

    func renumbered(by renumbering: RowRenumbering) -> SequenceMemory {
        var memory = self
        memory.next = renumbering.position(of: next)
        memory.failed = failed.compactMap { renumbering[$0] }
        memory.timedOut = timedOut.compactMap { renumbering[$0] }
        memory.ruledOut = ruledOut.compactMap { renumbering[$0] }
        return memory
    }
}

extension OperationScheduler {
    /// True if all members before a row in its sequence have ended, or if it is not in a sequence.
    @inline(__always)  // A call would copy the scheduler.
    func isItsTurn(_ id: OperationID) -> Bool {
        let group = parent(of: id)
        guard has(group, .isSequence), !has(id, .isHook) else { return true }
        return sequences[group]?.next ?? group.row + 1 >= id.row
    }

    /// Records the end of a member and moves on the member whose turn it is now.
    mutating func goOn(inSequence group: OperationID, after id: OperationID) {
        sequences[group, default: SequenceMemory(of: group)]
            .note(id, states[id.row].outcome, isTolerated: has(id, .toleratesFailure))
        guard let next = passEnded(inSequence: group) else { return }
        consider(next)
    }

    /// Returns the first member that has not ended; nil if all have. O(members passed).
    @discardableResult
    mutating func passEnded(inSequence group: OperationID) -> OperationID? {
        let end = Int(graph.table.rows[group.row].subtreeEnd)
        var next = sequences[group]?.next ?? group.row + 1
        while next < end, states[next].phase == .finished { next = Int(graph.table.rows[next].subtreeEnd) }
        sequences[group, default: SequenceMemory(of: group)].next = next
        return next < end && !has(OperationID(next), .isHook) ? OperationID(next) : nil
    }

    /// The earlier member whose end rules the row out, a failure first, then a timeout; nil if there is none. For
    /// members on which the row itself depends, only those edges count. O(edges of the row).
    func harm(inSequenceBefore id: OperationID) -> (id: OperationID, rank: Int)? {
        // A hook runs whatever happened.
        guard id != .root, !has(id, .isHook), has(parent(of: id), .isSequence), let memory = sequences[parent(of: id)]
        else { return nil }
        for (members, rank) in [(memory.failed, 3), (memory.timedOut, 2), (memory.ruledOut, 1)] {
            // A member that was cancelled before its turn may come after the row.
            let first = members.first { $0.row < id.row && !needs.leads(from: id, to: $0, .dependency) }
            if let first { return (first, rank) }
        }
        return nil
    }
}
