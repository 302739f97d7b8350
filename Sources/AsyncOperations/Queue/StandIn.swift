/// Stands in the scheduler of a queue for an operation that runs elsewhere or ended before: for all its dependents
/// there, or as a member of a compound operation. It is removed with its last dependent.
final class StandIn: Sendable {
    let core: OperationCore
    let queue: QueueCore
    /// nil once it has been removed. Guarded by the queue's lock, like `dependents`.
    nonisolated(unsafe) var row: OperationID?
    /// How many dependents have not ended.
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
    /// Makes `standIn` hear of the end, after all completions and waiting tasks. Returns the end if they have been
    /// told.
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

    /// Makes `standIn` no longer hear of the end. O(1).
    func unfollow(_ standIn: StandIn) {
        state.withLock { state in
            // The followers may just have been taken to be told.
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

/// What a row of a queue's scheduler stands for.
enum RowEntry {
    /// The outermost group, or something that has ended and is the cause of nothing.
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
