// From blocked to executing: conditions, limits, locks, the ready queues.

extension OperationScheduler {
    /// Moves a row on if its group has started and all its dependencies have ended.
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
            // A condition that is never asked does not replace the plain edges: they apply again.
            if case .ruleOut(let harm) = dependencyResult(for: id, afterFalse: true) {
                settle(id, verdict: .notRun, cause: .dependency(harm))
            } else {
                settle(id, verdict: .skipped, cause: .dependency(prerequisite))
            }
        case .ruleOut(let prerequisite):
            settle(id, verdict: .notRun, cause: .dependency(prerequisite))
        }
    }

    /// Starts the outermost group, which depends on nothing.
    mutating func begin() {
        guard has(.root, .isConditional) else {
            move(.root, to: .ready)
            return startGroup(.root)
        }
        move(.root, to: .deciding)
        // Its limit includes its condition, because no enclosing group has one.
        limitRound(of: .root)
        commands.append(.decide(.root))
    }

    private mutating func limitRound(of group: OperationID) {
        if let timeout = timeout(of: group) { groupDeadlines.add(group, .timeout, at: clocks.groupNow + timeout) }
    }

    /// Applies the value of a condition.
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

    /// The end of a row whose condition is false, or of a group whose members' conditions all are. Its dependents
    /// must not run as if nothing had failed.
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

    /// Queues a ready row until there is room for it.
    mutating func enqueue(_ id: OperationID) {
        if waitsForTurn(id) {
            ready.insert(id, priority: graph.table.priority(of: id))
        } else {
            readyGroups.insert(id, priority: graph.table.priority(of: id))
        }
    }

    /// True for a ready row that waits until there is room for an operation. A hook does not: its group has had its
    /// turn.
    @inline(__always)  // A call would copy the scheduler.
    func waitsForTurn(_ id: OperationID) -> Bool {
        !isGroup(id) || groupsWaitForTheirTurn && !has(id, .isHook)
    }

    /// Starts the first ready group. Returns false if there is none. Groups take no slot of the width, but an
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

    /// Starts ready rows while there is room, best first. Stops after a group, whose start may have ended rows that
    /// must be reported before anything else starts; then returns true.
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
                // It has had its turn and leaves the room to its contents and to rows after it.
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

    /// Marks the enclosing groups as begun, except the owner of a hook: work in a hook is not work of the body. O(1),
    /// except for the first operation in each group.
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

// Places in groups that limit their members, for groups that existed before the rows they must await (`PlaceNeeds`).

extension OperationScheduler {
    /// Makes groups that have not started await what a row that joined them needs from outside, as if it had been
    /// there from the beginning. O(depth), or O(rows + edges) if there is something to await.
    mutating func awaitForPlaces(_ need: OperationID, for dependent: OperationID, joinedAt firstRow: Int) {
        guard knowsAllNeeds, graph.table.limitsMembers, states[need.row].phase != .finished else { return }
        var next = parent(of: dependent)
        while next != .root, !graph.isInside(need, next) {
            let group = next
            next = parent(of: next)
            guard case .members = graph.table.groups[groupIndex(of: next)].limit, graph.isInside(need, next),
                group.row < firstRow, states[group.row].phase == .blocked || states[group.row].phase == .ready,
                !has(group, .isConditional), !has(group, .isHook), !needs.leads(from: group, to: need, .inside),
                !hasNeeds(need, inside: group)
            else { continue }
            addEdge(of: group, on: need, .done, .inside)
            guard states[group.row].phase == .ready else { continue }
            if has(group, .hasLocks) { locks.forget(group) }
            move(group, to: .blocked)
        }
    }

    /// True if a row ends only after the group or something inside it has begun.
    private func hasNeeds(_ id: OperationID, inside group: OperationID) -> Bool {
        var starts: Set<OperationID> = []
        var ends: Set<OperationID> = [id]
        var pending: [(id: OperationID, isEnd: Bool)] = [(id, true)]
        while let (id, isEnd) = pending.popLast() {
            guard states[id.row].phase != .finished else { continue }
            if id == group || graph.isInside(id, group) { return true }
            if isEnd, isGroup(id) {
                var walk = RowWalk(0..<0)
                enter(id, &walk)
                while let member = walk.next(graph.table.rows) {
                    if ends.insert(member).inserted { pending.append((member, true)) }
                }
            }
            guard !hasStarted(id), id != .root else { continue }
            if starts.insert(parent(of: id)).inserted { pending.append((parent(of: id), false)) }
            for need in needs.all(of: id) {
                if ends.insert(need.other).inserted { pending.append((need.other, true)) }
            }
        }
        return false
    }
}

// Locks. A row takes all locks that it requests together when it starts, and holds none while it waits.

extension OperationScheduler {
    /// The locks that existing rows request. After `removeEnded`, no other lock is held. O(locks).
    package var locksAskedFor: Set<LockID> { locks.names }

    /// Drops the pools that no row requests; rows that join later must declare theirs. O(pools).
    package mutating func forgetPools() { graph.keepPools(in: locks.names) }

    /// The fewest units of a lock of the whole run that a ready row waits for; nil if none waits. O(different waiting
    /// requests).
    package mutating func leastAwaited(of lock: LockID) -> Int? { locks.leastAwaited(of: lock) }

    mutating func withhold(_ units: Int, of lock: LockID, _ keepsReleases: Bool) {
        for waiter in locks.withhold(units, of: lock, keepsReleases) { enqueue(waiter) }
    }

    @inline(__always)  // A call would copy the scheduler.
    func missingLock(for id: OperationID) -> LockTable.Index? {
        has(id, .hasLocks) ? locks.missing(for: id) : nil
    }

    /// Makes a ready row wait for a lock, without a slot.
    mutating func park(_ id: OperationID, for lock: LockTable.Index) {
        let isNew = locks.park(id, for: lock)
        if isNew, tellsLocks { commands.append(.waiting(id, on: locks.name(of: lock))) }
        passOn(id)
    }

    mutating func takeLocks(_ id: OperationID) {
        guard has(id, .hasLocks) else { return }
        locks.take(id)
        if tellsLocks { commands += locks.names(of: id).map { .acquired($0, by: id) } }
    }

    /// Releases the locks of a row. Wakes no other row yet.
    mutating func releaseLocks(_ id: OperationID) {
        guard has(id, .hasLocks) else { return }
        locks.release(id)
        if tellsLocks { commands += locks.names(of: id).map { .released($0, by: id) } }
    }

    mutating func wakeWaiters(after id: OperationID) {
        guard has(id, .hasLocks) else { return }
        for waiter in locks.wake(after: id) { enqueue(waiter) }
    }
}

// The obstacles to a row's start, for the search for cycles of waits.

extension OperationScheduler {
    /// All rows that a row waits for or has waited for, also because of its members, with the reasons. A row appears
    /// once per reason.
    package func needs(of id: OperationID) -> [(need: OperationID, reason: EdgeReason)] {
        needs.all(of: id).map { ($0.other, $0.reason) }
    }

    package func hasEnded(_ id: OperationID) -> Bool { states[id.row].phase == .finished }

    /// The rows that a row starts after without depending on them, as far as the caller declared them.
    package func outsideNeeds(of id: OperationID) -> [OperationID] {
        needs(of: id).filter { $0.reason == .outside }.map(\.need)
    }

    /// The locks that a row takes when it starts.
    package func locks(of id: OperationID) -> [LockID] { has(id, .hasLocks) ? locks.names(of: id) : [] }

    /// The holders of locks that a row requests and cannot take now; for a pool, one of them.
    package func holdersOfMissingLocks(for id: OperationID) -> [OperationID] {
        has(id, .hasLocks) ? locks.holdersOfMissing(for: id) : []
    }
}

/// The combined effect of all dependencies of a row after their ends.
enum DependencyResult {
    case run
    /// A dependency did not end as required, though nothing failed.
    case skip(OperationID)
    /// Something upstream failed, timed out or was cancelled.
    case ruleOut(OperationID)
}

extension OperationScheduler {
    /// Evaluates the ended dependencies of a row. Of several that rule it out, a failure is blamed first, then a
    /// timeout, then a cancel. If the row waits for all, its condition replaces its `.ok` dependencies, unless the
    /// condition was false.
    @inline(__always)  // A call would copy the scheduler.
    func dependencyResult(for id: OperationID, afterFalse: Bool = false) -> DependencyResult {
        let isLeftToCondition = has(id, .waitsForAll) && !afterFalse
        var skippedBy: OperationID?
        var blamed: (rank: Int, id: OperationID)?
        var (entries, late) = (needs[id], needs.lateEntries(of: id)[...])
        while true {
            for need in entries where !needs.isCut(need, of: id) {
                let outcome = states[need.other.row].outcome
                switch (need.kind, outcome) {
                case (.ok, _) where isLeftToCondition: continue
                case (.done, _), (.ok, .success), (.ok, .skipped), (.success, .success), (.failure, .failure),
                    (.failure, .timeout):
                    continue
                case (.ok, .failure) where has(need.other, .toleratesFailure),
                    (.ok, .timeout) where has(need.other, .toleratesFailure):
                    continue
                case (.success, .skipped), (.failure, .success), (.failure, .skipped):
                    skippedBy = skippedBy ?? need.other
                case (_, .failure): blame(need.other, 3)
                case (_, .timeout): blame(need.other, 2)
                case (_, .cancelled), (_, .notRun): blame(need.other, 1)
                }
            }
            if late.isEmpty { break }
            (entries, late) = (late, [])
        }
        if !isLeftToCondition, has(parent(of: id), .isSequence), let harm = harm(inSequenceBefore: id) {
            blame(harm.id, harm.rank)
        }
        func blame(_ id: OperationID, _ rank: Int) {
            if rank > blamed?.rank ?? 0 { blamed = (rank, id) }
        }
        if let blamed { return .ruleOut(blamed.id) }
        return skippedBy.map(DependencyResult.skip) ?? .run
    }

    /// The reason why nothing new starts in the group that encloses a row; nil if new rows may start.
    @inline(__always)  // A call would copy the scheduler.
    func drain(around id: OperationID) -> OperationCause? {
        id == .root || has(id, .isHook) ? nil : groups[parentGroup(of: id)].draining
    }

    /// True if something inside all these groups may be tried again: none of them is being stopped or drained.
    func mayRetry(_ id: OperationID) -> Bool {
        guard !isAborted else { return false }
        var next = id
        while let index = bodyGroupAround(&next) {
            if groups[index].verdict != nil || groups[index].draining != nil { return false }
        }
        return true
    }
}
