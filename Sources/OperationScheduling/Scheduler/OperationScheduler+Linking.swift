// Dependencies that are added or removed late.

extension OperationScheduler {
    /// Whether an attempt or round has begun, so that it is too late to wait for something else.
    package func hasBegun(_ id: OperationID) -> Bool {
        hasStarted(id) || isBetweenAttempts(id) || states[id.row].phase == .finished
    }

    /// The dependencies of something that has not ended, with their kinds, without removed ones. O(dependencies).
    package func needs(of dependent: OperationID) -> [(prerequisite: OperationID, kind: DependencyKind)] {
        needs.all(of: dependent).map { ($0.other, $0.kind) }
    }

    /// Adds a dependency to something that has not begun, or changes the kind of one. O(dependencies).
    mutating func link(_ dependent: OperationID, on prerequisite: OperationID, _ kind: DependencyKind) {
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

    /// Adds a new edge. One that was removed before comes back, so that adding and removing do not make anything grow.
    mutating func addEdge(of dependent: OperationID, on prerequisite: OperationID, _ kind: DependencyKind) {
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

    /// Removes a dependency from something that has not started. O(dependencies).
    mutating func unlink(_ dependent: OperationID, from prerequisite: OperationID) {
        let count = needs.cut(from: dependent, to: prerequisite)
        guard count > 0 else { return }
        dependents.hide(from: prerequisite, to: dependent)
        guard states[prerequisite.row].phase != .finished else { return }
        states[dependent.row].pendingNeeds -= UInt32(count)
        consider(dependent)
    }
}
