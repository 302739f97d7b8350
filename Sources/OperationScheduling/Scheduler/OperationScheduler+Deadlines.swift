// Limits of time: of attempts and rounds, of all attempts together, and back-offs.

extension OperationScheduler {
    mutating func expireWhatIsDue() {
        // The caller may have lost the wake that it was told of; it is told again.
        announcedWake = nil
        while let (id, kind) = popDue() { expire(id, kind) }
    }

    /// The earlier of both clocks' deadlines; a group's before that of what is inside it.
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

    /// The limit of an attempt is for its work, which has not begun.
    mutating func delay(_ id: OperationID) {
        if states[id.row].phase == .executing, !isGroup(id) { cancelTimeout(id) }
    }

    mutating func launch(_ id: OperationID) {
        guard states[id.row].phase == .executing, !isGroup(id), let timeout = timeout(of: id) else { return }
        deadlines.add(id, .timeout, at: clocks.now + timeout)
    }

    /// The work is over, and only its clean-up goes on.
    mutating func linger(_ id: OperationID) {
        guard hasStarted(id), !isGroup(id) else { return }
        cancelTimeout(id)
        if has(id, .hasRetry) { deadlines.cancel(id, .retryDeadline) }
    }

    mutating func cancelTimeout(_ id: OperationID) {
        guard has(id, .hasTimeout) else { return }
        if isGroup(id) { groupDeadlines.cancel(id, .timeout) } else { deadlines.cancel(id, .timeout) }
    }

    /// Frees every timer of something that has ended.
    mutating func cancelDeadlines(_ id: OperationID) {
        cancelTimeout(id)
        guard has(id, .hasRetry) else { return }
        progress[id] = nil
        deadlines.cancel(id, .backoff)
        if isGroup(id) { groupDeadlines.cancel(id, .retryDeadline) } else { deadlines.cancel(id, .retryDeadline) }
    }

    mutating func announceWake() {
        let own = deadlines.earliest()
        let group = groupDeadlines.earliest().flatMap { clocks.time(ofGroupDeadline: $0) }
        nextDeadline = isFinished ? nil : own.map { min($0, group ?? $0) } ?? group
        guard let time = nextDeadline, time != announcedWake else { return }
        announcedWake = time
        commands.append(.wake(at: time))
    }
}
