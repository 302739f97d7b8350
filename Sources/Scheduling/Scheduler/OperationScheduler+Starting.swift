// From blocked to executing: conditions, limits, locks, the ready queues.

extension OperationScheduler {
    /// Moves a row on if its group has started and everything that it depends on has ended.
    mutating func consider(_ id: OperationID) {
        let state = states[id.row]
        guard state.phase == .blocked, state.pendingNeeds == 0, !isDecided(id), hasStarted(parent(of: id)),
            !has(id, .isExternal), isItsTurn(id)
        else { return }
        switch dependencyResult(for: id) {
        case .run:
            if let cause = drain(around: id) {
                settle(id, verdict: .notRun, cause: cause)
            } else if !has(id, .isConditional) {
                becomeReady(id)
            } else if clocks.isSuspended {
                held.append(id)
            } else {
                move(id, to: .deciding)
                commands.append(.decide(id))
            }
        case .skip(let prerequisite):
            // A condition that is never asked does not replace the plain edges: they rule again.
            if case .ruleOut(let harm) = dependencyResult(for: id, afterFalse: true) {
                settle(id, verdict: .notRun, cause: .dependency(harm))
            } else {
                settle(id, verdict: .skipped, cause: .dependency(prerequisite))
            }
        case .ruleOut(let prerequisite):
            settle(id, verdict: .notRun, cause: .dependency(prerequisite))
        }
    }

    /// Starts the outermost group, which nothing has to end for.
    mutating func begin() {
        guard has(.root, .isConditional) else {
            move(.root, to: .ready)
            return startGroup(.root)
        }
        move(.root, to: .deciding)
        // Its limit holds for its condition, too: nothing around it has one.
        limitRound(of: .root)
        commands.append(.decide(.root))
    }

    private mutating func limitRound(of group: OperationID) {
        if let timeout = timeout(of: group) { groupDeadlines.add(group, .timeout, at: clocks.groupNow + timeout) }
    }

    /// Takes the value of a condition.
    mutating func decide(_ id: OperationID, _ decision: Decision) {
        // It may have been stopped meanwhile.
        guard states[id.row].phase == .deciding, !isDecided(id) else { return }
        switch decision {
        case .run: becomeReady(id)
        case .skip:
            guard !has(parent(of: id), .judgesMembers) else { return reject(id) }
            let (verdict, cause) = verdictIfFalse(of: id)
            settle(id, verdict: verdict, cause: cause)
        case .fail:
            if has(parent(of: id), .judgesMembers) { accept(id) }
            settle(id, verdict: .failure, cause: .condition)
        }
    }

    /// The end of a row whose condition is false, or of a group whose members' conditions all are. Its dependents must
    /// not run as if nothing had failed.
    func verdictIfFalse(of id: OperationID) -> (outcome: OperationOutcome, cause: OperationCause) {
        if has(id, .waitsForAll), case .ruleOut(let prerequisite) = dependencyResult(for: id, afterFalse: true) {
            return (.notRun, .dependency(prerequisite))
        }
        return (.skipped, .condition)
    }

    mutating func becomeReady(_ id: OperationID) {
        if has(parent(of: id), .judgesMembers) { accept(id) }
        move(id, to: .ready)
        if tellsLocks { commands.append(.ready(id)) }
        enqueue(id)
    }

    /// Queues something that is ready until there is room for it.
    mutating func enqueue(_ id: OperationID) {
        if waitsForTurn(id) {
            ready.insert(id, priority: graph.table.priority(of: id))
        } else {
            readyGroups.insert(id, priority: graph.table.priority(of: id))
        }
    }

    /// True while a ready row waits for room for an operation in its place. A hook belongs to a group that has
    /// had its turn.
    @inline(__always)  // A call would copy the scheduler.
    func waitsForTurn(_ id: OperationID) -> Bool {
        !isGroup(id) || groupsWaitForTheirTurn && !has(id, .isHook)
    }

    /// Starts the first of the ready groups. Returns whether there was one. Groups take no slot of the width, but an
    /// instance of a fan-out counts against the fan-out's own limit.
    mutating func startReadyGroup() -> Bool {
        guard !clocks.isSuspended, let id = readyGroups.pop() else { return false }
        guard states[id.row].phase == .ready, !isDecided(id) else {
            passOn(id)
            return true
        }
        if isFull(parentGroup(of: id), for: .members), !has(id, .isHook) {
            park(id, in: parentGroup(of: id))
        } else if let lock = missingLock(for: id) {
            park(id, for: lock)
        } else {
            startGroup(id)
        }
        return true
    }

    mutating func startGroup(_ id: OperationID) {
        takeMemberSlot(id)
        takeLocks(id)
        move(id, to: .executing)
        if groups[groupIndex(of: id)].stage == .owing { return beginOwedHook(of: id) }
        let round = noteStart(of: id) - 1
        let cancelled = round > 0 ? resetMembers(of: id) : []
        if id != .root || !has(id, .isConditional) { limitRound(of: id) }
        commands.append(.groupStarted(id, round: round))
        for row in cancelled { settle(row, verdict: .cancelled, cause: .request) }
        let index = groupIndex(of: id)
        if graph.table.groups[index].isExpandable {
            groups[index].isExpanding = true
            awaited += 1
            groups[index].unfinishedMembers += 1
            commands.append(.expand(id))
        }
        if let failed = groups[index].ends.failure ?? groups[index].ends.timeout { failFast(after: failed) }
        if has(id, .isSequence) { passEnded(inSequence: id) }
        forEachMember(of: id) { scheduler, member in
            if !scheduler.has(member, .isHook) { scheduler.consider(member) }
        }
        // A member that had failed before may have stopped the group by now.
        if groups[index].unfinishedMembers == 0, groups[index].stage == .body { advance(id) }
    }

    /// Starts what is ready while there is room, best first, up to a group, by which something may have ended that has
    /// to be told before anything else starts. Returns whether it came to one.
    mutating func dispatch() -> Bool {
        startErrands()
        while !clocks.isSuspended, running < width, let id = ready.pop() {
            guard states[id.row].phase == .ready, !isDecided(id) else {
                passOn(id)
                continue
            }
            if let full = fullLimit(around: id) {
                park(id, in: full)
            } else if let lock = missingLock(for: id) {
                park(id, for: lock)
            } else if isGroup(id) {
                startGroup(id)
                // It has had its turn, and leaves the room to what is inside it or comes after it.
                releaseParked(around: id)
                return true
            } else {
                start(id)
            }
        }
        return false
    }

    private mutating func start(_ id: OperationID) {
        running += 1
        takeMemberSlot(id)
        countOperation(id, 1)
        noteBegin(around: id)
        takeLocks(id)
        move(id, to: .executing)
        let attempt = noteStart(of: id)
        if let timeout = timeout(of: id) { deadlines.add(id, .timeout, at: clocks.now + timeout) }
        commands.append(.start(id, attempt: attempt))
    }

    /// Undoes a start whose work has not begun.
    mutating func takeBack(_ id: OperationID) {
        guard states[id.row].phase == .executing else { return }
        releaseSlots(of: id)
        releaseLocks(id)
        cancelTimeout(id)
        forgetStart(of: id)
        move(id, to: .ready)
        enqueue(id)
        passOn(id)
    }

    /// What a hook does is no work of the body that it belongs to. O(1) but for the first operation in each group.
    private mutating func noteBegin(around id: OperationID) {
        var next = id
        var isOwner = false
        while let index = groupAround(&next) {
            if !isOwner {
                if groups[index].hasBegun { return }
                groups[index].hasBegun = true
            }
            isOwner = has(next, .isHook)
        }
    }

    @inline(__always)  // A call would copy the scheduler.
    func timeout(of id: OperationID) -> Duration? {
        has(id, .hasTimeout) ? graph.table.timeouts[id] : nil
    }
}
