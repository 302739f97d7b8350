/// What stands in the scheduler of a queue for an operation that runs elsewhere or ended before: in one dependency on it,
/// or as a member of a compound operation.
final class StandIn: Sendable {
    let core: OperationCore
    /// The busy period of the queue that it belongs to.
    let period: UInt64
    /// Under the lock of the queue.
    nonisolated(unsafe) var row: OperationID

    init(for core: OperationCore, period: UInt64, row: OperationID) {
        self.core = core
        self.period = period
        self.row = row
    }
}

/// What a row of a queue's scheduler is.
enum RowEntry {
    /// The outermost group, or what has ended and cannot be the cause of anything.
    case nothing
    case operation(OperationCore)
    case standIn(StandIn)
    case ended(EndRecord)
}

/// An end that may have to be named as the cause of others.
final class EndRecord: Sendable {
    let id: AsyncOperationID
    let end: OperationEnd

    init(_ id: AsyncOperationID, _ end: OperationEnd) {
        self.id = id
        self.end = end
    }
}

extension RowEntry {
    var operation: OperationCore? {
        if case .operation(let core) = self { core } else { nil }
    }

    /// The operation of a row, also when it has ended.
    var id: AsyncOperationID? {
        switch self {
        case .nothing: nil
        case .operation(let core): core.id
        case .standIn(let standIn): standIn.core.id
        case .ended(let record): record.id
        }
    }

    /// How the operation of a row ended; nil before.
    var end: OperationEnd? {
        switch self {
        case .nothing: nil
        case .operation(let core): core.lifecycle.latestEnd
        case .standIn(let standIn): standIn.core.end
        case .ended(let record): record.end
        }
    }
}
