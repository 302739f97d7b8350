// Attempts of operations and rounds of groups.

/// What is known of something that may be tried again, from its first start to its end.
struct RetryProgress: Sendable {
    /// How many attempts or rounds have begun.
    var begun = 0
    /// When its policy's deadline passes, on its own clock.
    var limit: Duration?
    /// Whether there is no other attempt, whatever the policy says.
    var isOver = false
    /// The end of the last round of a group before the current one in which anything had begun; nil if none had.
    var held: (outcome: OperationOutcome, cause: OperationCause)?
}

extension OperationScheduler {
    /// Counts an attempt or round; returns its number, from 1.
    mutating func noteStart(of id: OperationID) -> Int {
        guard has(id, .hasRetry), let policy = graph.table.retries[id] else { return 1 }
        var known = progress[id] ?? RetryProgress()
        known.begun += 1
        if known.begun == 1 { known.limit = policy.deadline.map { clock(of: id) + $0 } }
        progress[id] = known
        if let limit = known.limit {
            if isGroup(id) {
                groupDeadlines.add(id, .retryDeadline, at: limit)
            } else {
                deadlines.add(id, .retryDeadline, at: limit)
            }
        }
        return known.begun
    }

    /// Takes the last `noteStart` of an operation back. The attempts before it count on.
    mutating func forgetStart(of id: OperationID) {
        guard var known = progress[id] else { return }
        known.begun -= 1
        if known.begun == 0 {
            known.limit = nil
            deadlines.cancel(id, .retryDeadline)
        }
        progress[id] = known.begun > 0 || known.isOver ? known : nil
    }

    /// Whether it has had an attempt or round and waits for the next.
    @inline(__always)  // A call would copy the scheduler.
    func isBetweenAttempts(_ id: OperationID) -> Bool {
        has(id, .hasRetry) && !hasStarted(id) && (progress[id]?.begun ?? 0) > 0
    }

    /// Whether another attempt or round may follow the current one.
    func mayBeTriedAgain(_ id: OperationID) -> Bool {
        guard has(id, .hasRetry), let policy = graph.table.retries[id], let known = progress[id] else { return false }
        return !known.isOver && known.begun < policy.attempts
    }

    /// Whether a group around it may be tried again, and the row with it.
    func mayBeReset(_ id: OperationID) -> Bool {
        var next = id
        while groupAround(&next) != nil { if has(next, .hasRetry), states[next.row].phase != .finished { return true } }
        return false
    }

    /// The policy that allows another attempt or round after this outcome, with the attempts so far.
    private func policy(
        for id: OperationID, after outcome: OperationOutcome
    ) -> (policy: RetryPolicy, progress: RetryProgress)? {
        guard has(id, .hasRetry), let policy = graph.table.retries[id], let known = progress[id] else { return nil }
        guard outcome != .timeout || policy.retriesTimeout else { return nil }
        return mayBeTriedAgain(id) && mayRetry(id) ? (policy, known) : nil
    }

    /// An attempt that would start after the deadline is not waited for.
    private func isTooLate(_ id: OperationID, _ progress: RetryProgress, after delay: Duration) -> Bool {
        progress.limit.map { clock(of: id) + delay >= $0 } ?? false
    }

    /// True if another attempt or round may follow this outcome if it came now, even after the longest random wait.
    func mayRetry(_ id: OperationID, after outcome: OperationOutcome) -> Bool {
        guard let (policy, known) = policy(for: id, after: outcome) else { return false }
        return !isTooLate(id, known, after: policy.delay(beforeAttempt: known.begun + 1))
    }

    /// Begins the wait for another attempt, if the policy has one left. Returns whether it has.
    mutating func retry(_ id: OperationID, after outcome: OperationOutcome, _ cause: OperationCause) -> Bool {
        guard let (policy, known) = policy(for: id, after: outcome) else { return false }
        let delay = policy.delay(beforeAttempt: known.begun + 1, using: &jitter)
        guard !isTooLate(id, known, after: delay) else { return false }
        releaseSlots(of: id)
        releaseLocks(id)
        states[id.row].outcome = outcome
        states[id.row].cause = cause
        move(id, to: .backingOff)
        cancelTimeout(id)
        if isGroup(id) {
            if groups[groupIndex(of: id)].hasBegun { progress[id]?.held = (outcome, cause) }
            // It may be stopped or drained again before the next round begins.
            groups[groupIndex(of: id)].verdict = nil
            groups[groupIndex(of: id)].draining = nil
        }
        commands.append(.retrying(id, ended: isGroup(id) ? known.begun - 1 : known.begun, delay: delay))
        if delay > .zero {
            deadlines.add(id, .backoff, at: clocks.now + delay)
        } else {
            becomeReady(id)
        }
        passOn(id)
        return true
    }

    /// Ends it with the outcome of the last attempt or round.
    mutating func giveUpRetrying(_ id: OperationID) {
        let (outcome, cause) = (states[id.row].outcome, states[id.row].cause)
        if isGroup(id) { settle(id, verdict: outcome, cause: cause) } else { finish(id, outcome, cause) }
    }

    /// Resets everything inside a group to its state before the first round. Members that joined by an expansion are
    /// dropped, those that were added stay. Returns the rows that were cancelled before, and are still to end so.
    mutating func resetMembers(of id: OperationID) -> [OperationID] {
        var rows: [OperationID] = []
        var walk = RowWalk(0..<0)
        resetGroup(id)
        enter(id, &walk)
        while let row = walk.next(graph.table.rows) {
            if has(row, .isExternal) {
                let outcome = states[row.row].outcome
                groups[parentGroup(of: row)].unfinishedMembers -= 1
                groups[parentGroup(of: row)].ends.note(
                    row, outcome, isTolerated: has(row, .toleratesFailure),
                    countsIfNotRun: outcome == .notRun && isRuledOut(row, besides: parent(of: row)))
                continue
            }
            rows.append(row)
            waitAnew(for: row)
            states[row.row] = State(isCancelled: states[row.row].isCancelled)
            progress[row] = nil
            if !roots.isEmpty { roots[row] = nil }
            guard isGroup(row) else { continue }
            resetGroup(row)
            enter(row, &walk)
        }
        for row in rows {
            let pending = needs.all(of: row).count { states[$0.other.row].phase != .finished }
            states[row.row].pendingNeeds = UInt32(pending)
        }
        return rows.filter { states[$0.row].isCancelled }
    }

    /// Makes dependents of a row that is reset wait for its next end, unless they have gone on already.
    private mutating func waitAnew(for id: OperationID) {
        guard states[id.row].phase == .finished else { return }
        endedCount = max(0, endedCount - 1)
        for edge in dependents.all(of: id) where states[edge.other.row].phase == .blocked {
            states[edge.other.row].pendingNeeds += 1
        }
    }

    private mutating func resetGroup(_ id: OperationID) {
        let index = groupIndex(of: id)
        let isClosed = graph.table.groups[index].isOpen && !groups[index].isOpen
        if graph.table.groups[index].isOpen, !groups[index].isOpen { openGroups += 1 }
        let additions = groups[index].additions
        groups[index] = GroupState(graph.table.groups[index])
        groups[index].additions = additions.filter { !$0.isExpansion }
        if isClosed { shut(index) }
        hookEnds[id] = nil
        juries[id] = nil
        sequences[id] = nil
    }

    private func clock(of id: OperationID) -> Duration { isGroup(id) ? clocks.groupNow : clocks.now }
}
