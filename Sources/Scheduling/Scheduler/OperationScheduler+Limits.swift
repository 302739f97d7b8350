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

    /// The outermost limit that leaves no room for an operation; nil if there is none.
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

    /// The nearest group around `id` that limits how many operations run inside it.
    @inline(__always)  // A call would copy the scheduler.
    private func operationLimit(around id: OperationID) -> Int? {
        id == .root ? nil : graph.table.groups[parentGroup(of: id)].operationLimit.map(Int.init)
    }

    mutating func takeMemberSlot(_ id: OperationID) { countMember(id, 1) }

    /// Releases what an operation or group held of the width and of limits.
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

    /// Makes something that is ready wait for room in a limit.
    mutating func park(_ id: OperationID, in index: Int) {
        groups[index].parked.insert(id, priority: graph.table.priority(of: id))
        if tellsLocks { commands.append(.waiting(id, on: nil)) }
        passOn(id)
    }

    /// Passes on to others what a row could have had of limits with room and of free locks.
    mutating func passOn(_ id: OperationID) {
        releaseParked(around: id)
        wakeWaiters(after: id)
    }

    /// Moves one waiting row of each limit around `id` that has room back to where it can start. A limit of members
    /// concerns those directly inside it only.
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
