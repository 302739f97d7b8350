// What stands between a row and its start, for those who look for what waits for itself.

extension OperationScheduler {
    /// What a row that has not begun needs and what has not ended, what it awaits for the sake of its members included.
    package func unendedNeeds(of id: OperationID) -> [OperationID] {
        (needs[id] + needs.lateEntries(of: id)).lazy
            .filter { !$0.isCut && states[$0.other.row].phase != .finished }.map(\.other)
    }

    /// Who has the mutexes that a row asks for and cannot take now.
    package func holdersOfMissingLocks(for id: OperationID) -> [OperationID] {
        has(id, .hasLocks) ? locks.holdersOfMissing(for: id) : []
    }
}
