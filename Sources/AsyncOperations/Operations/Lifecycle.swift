/// The state of an operation: one value, so that contradictory states cannot be expressed.
///
/// The operation's lock guards it. Once the operation belongs to a queue, changes are made under the queue's lock too.
enum Lifecycle: Sendable {
    /// It belongs to no queue and no compound operation.
    case idle
    /// Cancelled before its start, as a compound operation or a member of one; members end first.
    case dissolving
    /// It is a member of a compound operation that belongs to no queue.
    case member
    /// A queue is about to take it. Whoever gets the queue's lock next finds it taken or free again.
    case taken(by: QueueCore)
    /// It waits until the scheduler of its queue starts it.
    case waiting(Place, isReady: Bool)
    /// Its body runs.
    case running(BodyControl)
    /// A compound operation whose members may run; `hasStarted` once everything before its start has been told.
    case open(Place, hasStarted: Bool)
    /// It has ended in this round of a compound operation that may be tried again. Rare, so it makes no other case larger.
    indirect case settled(Place, OperationEnd)
    /// It has ended for good.
    case ended(OperationEnd)
}

/// The queue of an operation, and its row in the queue's scheduler.
struct Place: Sendable {
    let queue: QueueCore
    /// Changes when the queue removes rows that have ended.
    var row: OperationID
}

extension Lifecycle {
    var progress: OperationState {
        switch self {
        case .idle, .dissolving, .member, .taken, .waiting(_, isReady: false): .pending
        case .waiting(_, isReady: true): .ready
        case .running(let control): control.progress
        case .open(_, hasStarted: false): .ready
        case .open(_, hasStarted: true), .settled: .executing
        case .ended: .finished
        }
    }

    /// How it ended for good; nil before.
    var end: OperationEnd? {
        if case .ended(let end) = self { end } else { nil }
    }

    /// How it ended last: for good, or in the current round of what is around it.
    var latestEnd: OperationEnd? {
        switch self {
        case .ended(let end), .settled(_, let end): end
        case .idle, .dissolving, .member, .taken, .waiting, .running, .open: nil
        }
    }

    /// The queue that it belongs to, or that is about to take it.
    var queue: QueueCore? {
        switch self {
        case .taken(let queue): queue
        case .waiting(let place, _), .open(let place, _), .settled(let place, _): place.queue
        case .running(let control): control.queue
        case .idle, .dissolving, .member, .ended: nil
        }
    }

    /// Its row in its queue. Read it with the queue's lock held.
    var row: OperationID? {
        get {
            switch self {
            case .waiting(let place, _), .open(let place, _), .settled(let place, _): place.row
            case .running(let control): control.row
            case .idle, .dissolving, .member, .taken, .ended: nil
            }
        }
        set {
            guard let newValue else { return }
            switch self {
            case .waiting(let place, let isReady):
                self = .waiting(Place(queue: place.queue, row: newValue), isReady: isReady)
            case .open(let place, let hasStarted):
                self = .open(Place(queue: place.queue, row: newValue), hasStarted: hasStarted)
            case .settled(let place, let end): self = .settled(Place(queue: place.queue, row: newValue), end)
            case .running(let control): control.row = newValue
            case .idle, .dissolving, .member, .taken, .ended: break
            }
        }
    }
}
