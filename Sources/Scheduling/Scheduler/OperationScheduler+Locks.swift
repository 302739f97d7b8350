// Locks. A row takes all that it asks for together when it starts, and holds none while it waits.

extension OperationScheduler {
    /// The locks that existing rows ask for. After `removeEnded`, no other lock is held. O(locks).
    package var locksAskedFor: Set<LockID> { locks.names }

    /// Forgets the pools that no row asks for; rows that join later must declare theirs. O(pools).
    package mutating func forgetPools() { graph.keepPools(in: locks.names) }

    /// The fewest units of a lock of the whole run that something ready waits for; nil if nothing does. O(different
    /// requests that wait).
    package mutating func leastAwaited(of lock: LockID) -> Int? { locks.leastAwaited(of: lock) }

    mutating func withhold(_ units: Int, of lock: LockID, _ keepsReleases: Bool) {
        for waiter in locks.withhold(units, of: lock, keepsReleases) { enqueue(waiter) }
    }

    @inline(__always)  // A call would copy the scheduler.
    func missingLock(for id: OperationID) -> LockTable.Index? {
        has(id, .hasLocks) ? locks.missing(for: id) : nil
    }

    /// Makes something that is ready wait for a lock, without a slot.
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

    /// Does not wake anybody yet.
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
