internal import Synchronization

/// Which operation each row of a scheduler is.
final class OperationTable: Sendable {
    enum Entry {
        /// The outermost group, or a row that was refused.
        case nothing
        case operation(OperationCore)
        /// Stands for an operation that the scheduler does not know, in one dependency on it.
        case standIn(OperationCore)
        case ended(AsyncOperationID, OperationEnd)
    }

    private struct State {
        var entries: [Entry] = [.nothing]
        var failedStandIns: Set<OperationID> = []
        var isRetired = false
    }

    private let state = Mutex(State())

    /// The number of rows so far: the next one's id.
    var count: Int { state.withLock { $0.entries.count } }

    /// Whether the queue is done with it.
    var isRetired: Bool { state.withLock { $0.isRetired } }

    func append(_ entry: Entry) { state.withLock { $0.entries.append(entry) } }
    func retire() { state.withLock { $0.isRetired = true } }

    subscript(id: OperationID) -> Entry { state.withLock { $0.entries[id.row] } }

    func operation(_ id: OperationID) -> OperationCore? {
        if case .operation(let core) = self[id] { core } else { nil }
    }

    /// The operation of a row, also when it has ended.
    func identity(of id: OperationID) -> AsyncOperationID? {
        switch self[id] {
        case .nothing: nil
        case .operation(let core), .standIn(let core): core.id
        case .ended(let id, _): id
        }
    }

    /// How the operation of a row ended; nil before.
    func end(of id: OperationID) -> OperationEnd? {
        switch self[id] {
        case .nothing: nil
        case .operation(let core), .standIn(let core): core.end
        case .ended(_, let end): end
        }
    }

    func note(_ end: OperationEnd, of id: OperationID, as identity: AsyncOperationID) {
        state.withLock { $0.entries[id.row] = .ended(identity, end) }
    }

    func failStandIn(_ id: OperationID) { state.withLock { _ = $0.failedStandIns.insert(id) } }
    func isFailedStandIn(_ id: OperationID) -> Bool { state.withLock { $0.failedStandIns.contains(id) } }

    /// All that have not ended, in the order of their rows.
    var operations: [OperationCore] {
        state.withLock { state in
            state.entries.compactMap { if case .operation(let core) = $0 { core } else { nil } }
        }
    }
}
