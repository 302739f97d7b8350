// Dependencies that are added or removed late.

extension OperationScheduler {
    /// Whether an attempt or round has begun, so that it is too late to wait for something else.
    package func hasBegun(_ id: OperationID) -> Bool {
        hasStarted(id) || isBetweenAttempts(id) || states[id.row].phase == .finished
    }

    /// The dependencies that something that has not ended was given, with their kinds. O(dependencies).
    package func dependencies(of dependent: OperationID) -> [(prerequisite: OperationID, kind: DependencyKind)] {
        needs.all(of: dependent).filter { $0.reason == .dependency }.map { ($0.other, $0.kind) }
    }

    /// What was given a row as a dependency. O(dependents).
    package func dependents(on prerequisite: OperationID) -> [OperationID] {
        dependents.all(of: prerequisite).filter { $0.reason == .dependency }.map(\.other)
    }

    /// Adds a dependency to something that has not begun, or changes the kind of one. O(dependencies).
    mutating func link(
        _ dependent: OperationID, on prerequisite: OperationID, _ kind: DependencyKind, _ reason: EdgeReason
    ) {
        precondition(!hasBegun(dependent), "\(dependent) has begun, and cannot wait for \(prerequisite)")
        if needs.leads(from: dependent, to: prerequisite, reason) {
            needs.setKind(kind, from: dependent, to: prerequisite, reason)
        } else {
            addEdge(of: dependent, on: prerequisite, kind, reason)
        }
        if states[dependent.row].phase == .ready {
            // Its entries in queues are passed over, or serve it when it is ready again.
            if has(dependent, .hasLocks) { locks.forget(dependent) }
            move(dependent, to: .blocked)
        }
        consider(dependent)
    }

    /// Adds a new edge. One that was removed before comes back, so that adding and removing do not make anything grow.
    mutating func addEdge(
        of dependent: OperationID, on prerequisite: OperationID, _ kind: DependencyKind, _ reason: EdgeReason
    ) {
        var count = 1
        if needs.restore(from: dependent, to: prerequisite, reason) {
            count = needs.setKind(kind, from: dependent, to: prerequisite, reason)
        } else {
            needs.append(prerequisite, kind, reason, to: dependent)
        }
        if !dependents.restore(from: prerequisite, to: dependent, reason) {
            dependents.append(dependent, kind, reason, to: prerequisite)
        }
        if states[prerequisite.row].phase != .finished { states[dependent.row].pendingNeeds += UInt32(count) }
    }

    /// Removes a dependency from something that has not started, and what it meant for the groups around it.
    /// O(dependencies, and times the depth, what depends on the same).
    mutating func unlink(_ dependent: OperationID, from prerequisite: OperationID, _ reason: EdgeReason) {
        guard removeEdge(of: dependent, on: prerequisite, reason) else { return }
        var next = dependent
        while groupAround(&next) != nil, next != .root {
            guard needs.leads(from: next, to: prerequisite, .inside) else { continue }
            let isNeededInside = dependents.all(of: prerequisite).contains { edge in
                (edge.reason == .dependency || edge.reason == .rounds) && graph.isInside(edge.other, next)
            }
            if !isNeededInside, removeEdge(of: next, on: prerequisite, .inside) { consider(next) }
        }
        consider(dependent)
    }

    /// Returns whether there was one.
    private mutating func removeEdge(
        of dependent: OperationID, on prerequisite: OperationID, _ reason: EdgeReason
    ) -> Bool {
        let count = needs.cut(from: dependent, to: prerequisite, reason)
        guard count > 0 else { return false }
        dependents.hide(from: prerequisite, to: dependent, reason)
        if states[prerequisite.row].phase != .finished { states[dependent.row].pendingNeeds -= UInt32(count) }
        return true
    }
}
