// From blocked to executing: conditions, limits, locks, the ready queues.

extension OperationScheduler {
    /// Moves a row on if its group has started and all it needs has ended.
    mutating func consider(_ id: OperationID) {
        let state = states[id.row]
        guard state.phase == .blocked, state.pendingNeeds == 0, !isDecided(id), hasStarted(parent(of: id)) else {
            return
        }
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
            settle(id, verdict: .skipped, cause: .dependency(prerequisite))
        case .ruleOut(let prerequisite):
            settle(id, verdict: .notRun, cause: .dependency(prerequisite))
        }
    }

    /// A condition has been evaluated.
    mutating func decide(_ id: OperationID, _ decision: Decision) {
        // It may have been stopped meanwhile.
        guard states[id.row].phase == .deciding, !isDecided(id) else { return }
        switch decision {
        case .run: becomeReady(id)
        case .skip: settle(id, verdict: .skipped, cause: .condition)
        case .fail: settle(id, verdict: .failure, cause: .condition)
        }
    }

    mutating func becomeReady(_ id: OperationID) {
        move(id, to: .ready)
        if tellsLocks { commands.append(.ready(id)) }
        enqueue(id)
    }

    /// Puts something ready where it is taken up as soon as there is room.
    mutating func enqueue(_ id: OperationID) {
        if isGroup(id) {
            readyGroups.insert(id, priority: graph.table.rows[id.row].priority)
        } else {
            ready.insert(id, priority: graph.table.rows[id.row].priority)
        }
    }

    /// Starts one ready group, the best one; returns whether there was any. Groups take no slot of the width, but an
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
        let round = noteStart(of: id) - 1
        if round > 0 { resetMembers(of: id) }
        if let timeout = timeout(of: id) { groupDeadlines.add(id, .timeout, at: clocks.groupNow + timeout) }
        commands.append(.groupStarted(id, round: round))
        let index = groupIndex(of: id)
        if graph.table.groups[index].isExpandable {
            groups[index].isExpanding = true
            awaited += 1
            groups[index].unfinishedMembers += 1
            commands.append(.expand(id))
        }
        forEachMember(of: id) { scheduler, member in
            if !scheduler.has(member, .isHook) { scheduler.consider(member) }
        }
        if groups[index].unfinishedMembers == 0 { advance(id) }
    }

    /// Starts ready operations while there is room, best first.
    mutating func dispatch() {
        while !clocks.isSuspended, running < width, let id = ready.pop() {
            guard states[id.row].phase == .ready else {
                passOn(id)
                continue
            }
            if let full = fullLimit(around: id) {
                park(id, in: full)
            } else if let lock = missingLock(for: id) {
                park(id, for: lock)
            } else {
                start(id)
            }
        }
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

    /// O(1) but for the first operation in each group.
    private mutating func noteBegin(around id: OperationID) {
        var next = id
        while let index = groupAround(&next), !groups[index].hasBegun { groups[index].hasBegun = true }
    }

    func timeout(of id: OperationID) -> Duration? {
        has(id, .hasTimeout) ? graph.table.timeouts[id] : nil
    }
}
