// Dependencies that come late.

extension OperationScheduler {
    /// Whether an attempt or round has begun, so that it is too late to wait for something else.
    package func hasBegun(_ id: OperationID) -> Bool {
        hasStarted(id) || isBetweenAttempts(id) || states[id.row].phase == .finished
    }

    /// What something that has not ended needs, and how: what it needed before may be gone. O(needs).
    package func needs(of dependent: OperationID) -> [(prerequisite: OperationID, kind: EdgeKind)] {
        needs.all(of: dependent).map { ($0.other, $0.kind) }
    }

    /// Lets something that has not begun wait for something else too. An edge that is there gets the kind. O(needs of
    /// the dependent).
    mutating func link(_ dependent: OperationID, on prerequisite: OperationID, _ kind: EdgeKind) {
        precondition(!hasBegun(dependent), "\(dependent) has begun, and cannot wait for \(prerequisite)")
        if needs.leads(from: dependent, to: prerequisite) {
            needs.setKind(kind, from: dependent, to: prerequisite)
        } else {
            addEdge(of: dependent, on: prerequisite, kind)
        }
        if states[dependent.row].phase == .ready {
            // Its entries in queues are passed over, or serve it when it is ready again.
            if has(dependent, .hasLocks) { locks.forget(dependent) }
            move(dependent, to: .blocked)
        }
        consider(dependent)
    }

    /// Adds an edge that is not there. What was taken away before comes back, so that nothing grows by doing both again
    /// and again.
    mutating func addEdge(of dependent: OperationID, on prerequisite: OperationID, _ kind: EdgeKind) {
        var count = 1
        if needs.restore(from: dependent, to: prerequisite) {
            count = needs.setKind(kind, from: dependent, to: prerequisite)
        } else {
            needs.append(prerequisite, kind, to: dependent)
        }
        if !dependents.restore(from: prerequisite, to: dependent) {
            dependents.append(dependent, kind, to: prerequisite)
        }
        if states[prerequisite.row].phase != .finished { states[dependent.row].pendingNeeds += UInt32(count) }
    }

    /// Takes a dependency away from something that has not started. O(needs of the dependent).
    mutating func unlink(_ dependent: OperationID, from prerequisite: OperationID) {
        let count = needs.cut(from: dependent, to: prerequisite)
        guard count > 0 else { return }
        dependents.hide(from: prerequisite, to: dependent)
        guard states[prerequisite.row].phase != .finished else { return }
        states[dependent.row].pendingNeeds -= UInt32(count)
        consider(dependent)
    }
}
