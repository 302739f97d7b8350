// Attempts of operations and rounds of groups.

/// The progress of something that may be tried again, from its first start to its end.
struct RetryProgress: Sendable {
    /// The number of attempts or rounds that have begun.
    var begun = 0
    /// The time when the deadline of its policy passes, on its own clock; nil without a deadline.
    var limit: Duration?
    /// True if no other attempt follows, whatever the policy allows.
    var isOver = false
    /// The result of the last earlier round of a group in which any work had begun; nil if there is none.
    var held: (outcome: OperationOutcome, cause: OperationCause)?
}

extension OperationScheduler {
    /// Counts an attempt or round and returns its number, from 1.
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

    /// Undoes the last `noteStart` of an operation. Earlier attempts still count.
    mutating func forgetStart(of id: OperationID) {
        guard var known = progress[id] else { return }
        known.begun -= 1
        if known.begun == 0 {
            known.limit = nil
            deadlines.cancel(id, .retryDeadline)
        }
        progress[id] = known.begun > 0 || known.isOver ? known : nil
    }

    /// True if it has had an attempt or round and waits for the next.
    @inline(__always)  // A call would copy the scheduler.
    func isBetweenAttempts(_ id: OperationID) -> Bool {
        has(id, .hasRetry) && !hasStarted(id) && (progress[id]?.begun ?? 0) > 0
    }

    /// True if the policy has another attempt or round after the current one.
    func mayBeTriedAgain(_ id: OperationID) -> Bool {
        guard has(id, .hasRetry), let policy = graph.table.retries[id], let known = progress[id] else { return false }
        return !known.isOver && known.begun < policy.attempts
    }

    /// True if an enclosing group may be tried again, and the row with it.
    func mayBeReset(_ id: OperationID) -> Bool {
        var next = id
        while groupAround(&next) != nil { if has(next, .hasRetry), states[next.row].phase != .finished { return true } }
        return false
    }

    /// Returns the policy and the progress if another attempt or round may follow this outcome; otherwise nil.
    private func policy(
        for id: OperationID, after outcome: OperationOutcome
    ) -> (policy: RetryPolicy, progress: RetryProgress)? {
        guard has(id, .hasRetry), let policy = graph.table.retries[id], let known = progress[id] else { return nil }
        guard outcome != .timeout || policy.retriesTimeout else { return nil }
        return mayBeTriedAgain(id) && mayRetry(id) ? (policy, known) : nil
    }

    /// True if the next attempt would start after the deadline; it is then not waited for.
    private func isTooLate(_ id: OperationID, _ progress: RetryProgress, after delay: Duration) -> Bool {
        progress.limit.map { clock(of: id) + delay >= $0 } ?? false
    }

    /// True if another attempt or round could follow this outcome now, even after the longest random wait.
    func mayRetry(_ id: OperationID, after outcome: OperationOutcome) -> Bool {
        guard let (policy, known) = policy(for: id, after: outcome) else { return false }
        return !isTooLate(id, known, after: policy.delay(beforeAttempt: known.begun + 1))
    }

    /// Begins the wait for another attempt. Returns false if the policy allows none.
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

    /// Ends an operation or group with the outcome of the last attempt or round.
    mutating func giveUpRetrying(_ id: OperationID) {
        let (outcome, cause) = (states[id.row].outcome, states[id.row].cause)
        if isGroup(id) { settle(id, verdict: outcome, cause: cause) } else { finish(id, outcome, cause) }
    }

    /// Resets everything inside a group to its state before the first round. Drops members that joined by an
    /// expansion and keeps those that were added. Returns the rows that were cancelled before and must end so again.
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

    /// Makes dependents of a row that is reset wait for its next end, unless they have already gone on.
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

// Time limits of attempts and rounds, total limits of all attempts, and back-offs.

extension OperationScheduler {
    mutating func expireWhatIsDue() {
        // The caller has used up the announced wake; the next is announced even for the same time.
        announcedWake = nil
        while let (id, kind) = popDue() { expire(id, kind) }
    }

    /// Removes the earliest deadline of both clocks that is due. At the same time, a group's comes before a member's.
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

    /// Cancels the time limit of an attempt whose work has not begun.
    mutating func delay(_ id: OperationID) {
        if states[id.row].phase == .executing, !isGroup(id) { cancelTimeout(id) }
    }

    mutating func launch(_ id: OperationID) {
        guard states[id.row].phase == .executing, !isGroup(id), let timeout = timeout(of: id) else { return }
        deadlines.add(id, .timeout, at: clocks.now + timeout)
    }

    /// Cancels the time limits of an operation of which only the clean-up goes on.
    mutating func linger(_ id: OperationID) {
        guard hasStarted(id), !isGroup(id) else { return }
        cancelTimeout(id)
        if has(id, .hasRetry) { deadlines.cancel(id, .retryDeadline) }
    }

    mutating func cancelTimeout(_ id: OperationID) {
        guard has(id, .hasTimeout) else { return }
        if isGroup(id) { groupDeadlines.cancel(id, .timeout) } else { deadlines.cancel(id, .timeout) }
    }

    /// Removes all deadlines of an operation or group that has ended.
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

// Slots, and the limits of groups.

extension OperationScheduler {
    enum LimitKind { case members, operations, either }

    @inline(__always)  // A call would copy the scheduler.
    func isFull(_ index: Int, for kind: LimitKind) -> Bool {
        switch graph.table.groups[index].limit {
        case .unlimited: false
        case .members(let limit): kind != .operations && groups[index].active >= limit
        case .operations(let limit): kind != .members && groups[index].active >= limit
        }
    }

    /// The outermost limit that has no room for an operation; nil if all have room.
    @inline(__always)  // A call would copy the scheduler.
    func fullLimit(around id: OperationID) -> Int? {
        if isFull(parentGroup(of: id), for: .members) { return parentGroup(of: id) }
        var full: Int?
        var next = operationLimit(around: id)
        while let index = next {
            if isFull(index, for: .operations) { full = index }
            next = operationLimit(around: graph.table.groups[index].id)
        }
        return full
    }

    /// The nearest enclosing group of `id` that limits how many operations run inside it.
    @inline(__always)  // A call would copy the scheduler.
    private func operationLimit(around id: OperationID) -> Int? {
        id == .root ? nil : graph.table.groups[parentGroup(of: id)].operationLimit.map(Int.init)
    }

    mutating func takeMemberSlot(_ id: OperationID) { countMember(id, 1) }

    /// Releases the slot of an operation or group, and its share of the enclosing limits.
    mutating func releaseSlots(of id: OperationID) {
        if !isGroup(id) {
            running -= 1
            countOperation(id, -1)
        }
        countMember(id, -1)
    }

    mutating func countOperation(_ id: OperationID, _ change: Int) {
        var next = operationLimit(around: id)
        while let index = next {
            groups[index].active += change
            next = operationLimit(around: graph.table.groups[index].id)
        }
    }

    private mutating func countMember(_ id: OperationID, _ change: Int) {
        guard id != .root, !has(id, .isHook), case .members = graph.table.groups[parentGroup(of: id)].limit else {
            return
        }
        groups[parentGroup(of: id)].active += change
    }

    /// Makes a ready row wait for room in a limit.
    mutating func park(_ id: OperationID, in index: Int) {
        groups[index].parked.insert(id, priority: graph.table.priority(of: id))
        if tellsLocks { commands.append(.waiting(id, on: nil)) }
        passOn(id)
    }

    /// Passes the free locks, and the room in limits, that a row could have used on to other rows.
    mutating func passOn(_ id: OperationID) {
        releaseParked(around: id)
        wakeWaiters(after: id)
    }

    /// For each enclosing limit of `id` that has room, moves one waiting row back to where it can start. A limit on
    /// members applies to direct members only.
    mutating func releaseParked(around id: OperationID) {
        guard id != .root else { return }
        releaseParked(in: parentGroup(of: id))
        var next = operationLimit(around: id)
        while let index = next {
            if index != parentGroup(of: id) { releaseParked(in: index) }
            next = operationLimit(around: graph.table.groups[index].id)
        }
    }

    private mutating func releaseParked(in index: Int) {
        // Usually nothing waits.
        guard !groups[index].parked.isEmpty, !isFull(index, for: .either) else { return }
        while let waiting = groups[index].parked.pop() {
            guard states[waiting.row].phase == .ready, !isDecided(waiting) else { continue }
            return enqueue(waiting)
        }
    }
}

/// Random numbers for back-offs (SplitMix64), repeatable from a seed, so that a scheduler remains a pure value.
struct JitterGenerator: RandomNumberGenerator, Sendable {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
        return mixed ^ mixed >> 31
    }
}
