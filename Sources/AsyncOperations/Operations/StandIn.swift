/// Represents an operation that runs elsewhere, or ended before, in the scheduler of a queue: for all its dependents
/// there, or as a member of a compound operation. It is removed with its last dependent.
final class StandIn: Sendable {
    let core: OperationCore
    let queue: QueueCore
    /// nil once it has been removed. Guarded by the queue's lock, like `dependents`.
    nonisolated(unsafe) var row: OperationID?
    /// The number of dependents that have not ended.
    nonisolated(unsafe) var dependents = 0
    /// Its index in the followers of `core`. Guarded by the lock of `core`.
    nonisolated(unsafe) var position = 0

    init(for core: OperationCore, in queue: QueueCore, row: OperationID) {
        self.core = core
        self.queue = queue
        self.row = row
    }
}

extension OperationCore {
    /// Reports the end to `standIn` after all completions and waiting tasks. Returns the end if it has been reported
    /// to those already.
    func follow(_ standIn: StandIn) -> OperationEnd? {
        state.withLock { state in
            if let end = state.toldEnd { return end }
            state.withRare { rare in
                standIn.position = rare.followers.count
                rare.followers.append(standIn)
            }
            return nil
        }
    }

    /// Makes `standIn` no longer follow the operation. O(1).
    func unfollow(_ standIn: StandIn) {
        state.withLock { state in
            // The followers may just have been removed to report the end to them.
            guard let rare = state.rare, standIn.position < rare.followers.count,
                rare.followers[standIn.position] === standIn
            else { return }
            let last = rare.followers.removeLast()
            guard last !== standIn else { return }
            rare.followers[standIn.position] = last
            last.position = standIn.position
        }
    }
}

/// The content of a row in a queue's scheduler.
enum RowEntry {
    /// The outermost group, or an ended operation that is never a cause.
    case nothing
    case operation(OperationCore)
    case standIn(StandIn)
    case ended(EndRecord)
}

/// The end of an operation that may have to be named as a cause.
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

    /// The operation of a row, also after its end.
    var id: AsyncOperationID? {
        switch self {
        case .nothing: nil
        case .operation(let core): core.id
        case .standIn(let standIn): standIn.core.id
        case .ended(let record): record.id
        }
    }

    /// The end of a row's operation; nil before.
    var end: OperationEnd? {
        switch self {
        case .nothing: nil
        case .operation(let core): core.lifecycle.latestEnd
        case .standIn(let standIn): standIn.core.end
        case .ended(let record): record.end
        }
    }
}
