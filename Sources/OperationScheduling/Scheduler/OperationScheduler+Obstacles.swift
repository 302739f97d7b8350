// What keeps a row from starting, for the search for waits that form a cycle.

extension OperationScheduler {
    /// The dependencies of a row that have not ended, including those that it has because of its members.
    package func unendedNeeds(of id: OperationID) -> [OperationID] {
        needs.all(of: id).map(\.other).filter { states[$0.row].phase != .finished }
    }

    /// Everything that a row waits for, or has waited for.
    package func allNeeds(of id: OperationID) -> [OperationID] { needs.all(of: id).map(\.other) }

    /// What a row starts after although it does not depend on it, as far as the caller said so.
    package func outsideNeeds(of id: OperationID) -> [OperationID] {
        needs.all(of: id).filter { $0.reason == .outside }.map(\.other)
    }

    /// What a row takes when it starts.
    package func locks(of id: OperationID) -> [LockID] { has(id, .hasLocks) ? locks.names(of: id) : [] }

    /// The holders of the mutexes that a row asks for and cannot have now.
    package func holdersOfMissingLocks(for id: OperationID) -> [OperationID] {
        has(id, .hasLocks) ? locks.holdersOfMissing(for: id) : []
    }
}
