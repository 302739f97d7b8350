// Dependencies that come late.

extension OperationScheduler {
    /// Whether an attempt or round has begun, so that it is too late to wait for something else.
    package func hasBegun(_ id: OperationID) -> Bool {
        hasStarted(id) || isBetweenAttempts(id) || states[id.row].phase == .finished
    }

    /// Lets something that has not begun wait for something else too.
    mutating func link(_ dependent: OperationID, on prerequisite: OperationID, _ kind: EdgeKind) {
        precondition(!hasBegun(dependent), "\(dependent) has begun, and cannot wait for \(prerequisite)")
        needs.add(Adjacency.Entry(other: prerequisite, kind: kind), to: dependent)
        dependents.add(Adjacency.Entry(other: dependent, kind: kind), to: prerequisite)
        if states[prerequisite.row].phase != .finished { states[dependent.row].pendingNeeds += 1 }
        if states[dependent.row].phase == .ready {
            // Its entries in queues are passed over, or serve it when it is ready again.
            if has(dependent, .hasLocks) { locks.forget(dependent) }
            move(dependent, to: .blocked)
        }
        consider(dependent)
    }
}
