// Time limits of attempts and rounds and of all attempts together, and back-offs.

extension OperationScheduler {
    mutating func expireWhatIsDue() {
        // The caller has used up the wake it was told of; it is told the next, even if the time is the same.
        announcedWake = nil
        while let (id, kind) = popDue() { expire(id, kind) }
    }

    /// The earliest deadline of both clocks that has come; at the same time, a group's comes before that of a member.
    private mutating func popDue() -> (OperationID, DeadlineQueue.Kind)? {
        let own = deadlines.earliest()
        let group = groupDeadlines.earliest().flatMap { clocks.time(ofGroupDeadline: $0) }
        if let group, group <= clocks.now, group <= own ?? group { return groupDeadlines.pop() }
        guard let own, own <= clocks.now else { return nil }
        return deadlines.pop()
    }

    private mutating func expire(_ id: OperationID, _ kind: DeadlineQueue.Kind) {
        switch kind {
        case .timeout:
            stop(id, verdict: .timeout, cause: .deadline(id))
        case .backoff:
            if states[id.row].phase == .backingOff { becomeReady(id) }
        case .retryDeadline:
            progress[id]?.isOver = true
            if isBetweenAttempts(id) {
                giveUpRetrying(id)
            } else {
                stop(id, verdict: .timeout, cause: .retryDeadline(id))
            }
        }
    }

    /// Cancels the limit of an attempt whose work has not begun.
    mutating func delay(_ id: OperationID) {
        if states[id.row].phase == .executing, !isGroup(id) { cancelTimeout(id) }
    }

    mutating func launch(_ id: OperationID) {
        guard states[id.row].phase == .executing, !isGroup(id), let timeout = timeout(of: id) else { return }
        deadlines.add(id, .timeout, at: clocks.now + timeout)
    }

    /// Cancels the limits of an operation of which only the clean-up goes on.
    mutating func linger(_ id: OperationID) {
        guard hasStarted(id), !isGroup(id) else { return }
        cancelTimeout(id)
        if has(id, .hasRetry) { deadlines.cancel(id, .retryDeadline) }
    }

    mutating func cancelTimeout(_ id: OperationID) {
        guard has(id, .hasTimeout) else { return }
        if isGroup(id) { groupDeadlines.cancel(id, .timeout) } else { deadlines.cancel(id, .timeout) }
    }

    /// Removes all deadlines of something that has ended.
    mutating func cancelDeadlines(_ id: OperationID) {
        cancelTimeout(id)
        guard has(id, .hasRetry) else { return }
        progress[id] = nil
        deadlines.cancel(id, .backoff)
        if isGroup(id) { groupDeadlines.cancel(id, .retryDeadline) } else { deadlines.cancel(id, .retryDeadline) }
    }

    mutating func announceWake() {
        if deadlines.isEmpty, groupDeadlines.isEmpty {
            nextDeadline = nil
            return
        }
        let own = deadlines.earliest()
        let group = groupDeadlines.earliest().flatMap { clocks.time(ofGroupDeadline: $0) }
        nextDeadline = isFinished ? nil : own.map { min($0, group ?? $0) } ?? group
        guard let time = nextDeadline, time != announcedWake else { return }
        announcedWake = time
        commands.append(.wake(at: time))
    }
}
