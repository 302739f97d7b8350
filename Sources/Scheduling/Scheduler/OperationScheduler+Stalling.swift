// A run that cannot go on: nothing runs, nothing is due, and not everything has ended. No graph of a plan gets there,
// but one with a cycle does, and so would a fault of the scheduler. It is reported at once.

extension OperationScheduler {
    /// Something that waits, and for what.
    package struct Wait: Sendable, Hashable {
        package enum Reason: Sendable, Hashable {
            /// The end of a dependency.
            case need(OperationID)
            /// A lock, and who has it; nil if nobody does.
            case lock(LockID, heldBy: OperationID?)
            /// Room in the limit of a group around it.
            case limit(of: OperationID)
            /// The start of the group around it.
            case start(of: OperationID)
            /// For a group that has started: the end of what is inside.
            case member(OperationID)
            /// Nothing: it was forgotten.
            case nothing
        }

        package let waiter: OperationID
        package let reason: Reason
    }

    /// Whether nothing can happen any more without a request from outside. Limits of groups are no way on: they would
    /// only end what never began. O(1).
    @inline(__always)  // A call would copy the scheduler.
    var isStalled: Bool {
        running == 0 && awaited == 0 && openGroups == 0 && unfinishedExternals == 0 && !clocks.isSuspended
            && states[0].phase != .blocked && !isFinished
    }

    /// Reports what waits for what, and ends everything.
    mutating func endAsStalled() {
        commands.append(.stalled(chainOfWaits()))
        isCancelled = true
        isAborted = true
        stop(.root, verdict: .cancelled, cause: .stall, reach: .everything)
        settle()
        // A group that has miscounted its members does not end with them.
        for row in states.indices.reversed() where states[row].phase != .finished && !isFinished {
            finish(OperationID(row), .cancelled, .stall)
        }
    }

    /// The chain from the run itself to something that waits for nothing, or for an earlier link. O(rows).
    func chainOfWaits() -> [Wait] {
        var chain: [Wait] = []
        var seen: Set<OperationID> = []
        var next: OperationID? = .root
        while let id = next, states[id.row].phase != .finished, seen.insert(id).inserted {
            let reason = reason(for: id)
            chain.append(Wait(waiter: id, reason: reason))
            next =
                switch reason {
                case .need(let other), .start(let other), .member(let other): other
                case .lock(_, let holder): holder
                case .limit(let group): unfinishedMember(of: group) { hasStarted($0) }
                case .nothing: nil
                }
        }
        return chain
    }

    private func reason(for id: OperationID) -> Wait.Reason {
        switch states[id.row].phase {
        case .blocked:
            if let need = needs.all(of: id).first(where: { states[$0.other.row].phase != .finished }) {
                return .need(need.other)
            }
            return hasStarted(parent(of: id)) ? .nothing : .start(of: parent(of: id))
        case .ready:
            if let lock = missingLock(for: id) { return .lock(locks.name(of: lock), heldBy: holder(of: lock)) }
            if waitsForTurn(id), let full = fullLimit(around: id) { return .limit(of: graph.table.groups[full].id) }
            let isFull = isFull(parentGroup(of: id), for: .members) && !has(id, .isHook)
            return isFull ? .limit(of: parent(of: id)) : .nothing
        case .executing, .stopping:
            let member = isGroup(id) ? currentHook(of: id) ?? unfinishedMember(of: id) { !has($0, .isHook) } : nil
            return member.map(Wait.Reason.member) ?? .nothing
        case .rejected:
            let other = unfinishedMember(of: parent(of: id)) { states[$0.row].phase != .rejected && !has($0, .isHook) }
            return other.map(Wait.Reason.need) ?? .nothing
        case .deciding, .backingOff, .finished:
            return .nothing
        }
    }

    private func holder(of lock: LockTable.Index) -> OperationID? {
        states.indices.lazy.map { OperationID($0) }
            .first { has($0, .hasLocks) && hasStarted($0) && locks.asks($0, for: lock) }
    }

    private func unfinishedMember(of group: OperationID, where isWanted: (OperationID) -> Bool) -> OperationID? {
        var walk = RowWalk(0..<0)
        enter(group, &walk)
        while let member = walk.next(graph.table.rows) {
            if states[member.row].phase != .finished, isWanted(member) { return member }
        }
        return nil
    }
}
