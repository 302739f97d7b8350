// What keeps a row from starting, for the search for waits that form a cycle.

extension OperationScheduler {
    /// Everything that a row waits for, or has waited for, and why, also because of its members; the same row more than
    /// once if for several reasons.
    package func needs(of id: OperationID) -> [(need: OperationID, reason: EdgeReason)] {
        needs.all(of: id).map { ($0.other, $0.reason) }
    }

    package func hasEnded(_ id: OperationID) -> Bool { states[id.row].phase == .finished }

    /// What a row starts after although it does not depend on it, as far as the caller said so.
    package func outsideNeeds(of id: OperationID) -> [OperationID] {
        needs(of: id).filter { $0.reason == .outside }.map(\.need)
    }

    /// What a row takes when it starts.
    package func locks(of id: OperationID) -> [LockID] { has(id, .hasLocks) ? locks.names(of: id) : [] }

    /// The holders of the mutexes that a row asks for and cannot have now.
    package func holdersOfMissingLocks(for id: OperationID) -> [OperationID] {
        has(id, .hasLocks) ? locks.holdersOfMissing(for: id) : []
    }
}
