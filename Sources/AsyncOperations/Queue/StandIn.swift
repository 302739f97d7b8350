/// What stands in the scheduler of a queue for an operation that runs elsewhere or ended before: for all that need it, or
/// as a member of a compound operation. Those that need it keep it; when the last of them is gone, it goes too.
final class StandIn: Sendable {
    let core: OperationCore
    let queue: QueueCore
    /// nil when it stands for nothing any more. Under the lock of the queue, like the next.
    nonisolated(unsafe) var row: OperationID?
    /// How many that have not ended need it.
    nonisolated(unsafe) var dependents = 0
    /// Where it is among the followers of `core`. Under the lock of that.
    nonisolated(unsafe) var position = 0

    init(for core: OperationCore, in queue: QueueCore, row: OperationID) {
        self.core = core
        self.queue = queue
        self.row = row
    }
}

extension OperationCore {
    /// Lets `standIn` hear of the end, after all completions and waiting tasks; returns the end where those have been
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

    /// `standIn` is not to hear of the end any more. O(1).
    func unfollow(_ standIn: StandIn) {
        state.withLock { state in
            // They may be about to be told.
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
