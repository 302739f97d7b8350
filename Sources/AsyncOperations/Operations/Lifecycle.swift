/// Where an operation stands in its life. One value, so that what excludes each other cannot be true at once.
///
/// Until a queue has it, it changes under the lock of the operation; from then on under the lock of the queue too.
enum Lifecycle: Sendable {
    /// It belongs to nobody.
    case idle
    /// A compound operation that was cancelled before its start: its members end first.
    case dissolving
    /// A member of a compound operation that no queue has.
    case member
    /// A queue is about to take it, under the queue's lock: what comes of it is known to whoever has that lock next.
    case taken(by: QueueCore)
    /// It waits, and the scheduler of a queue decides when it starts.
    case waiting(Place, isReady: Bool)
    /// Its body runs.
    case running(BodyControl)
    /// As a compound operation: its members may run, once everything before has been told.
    case open(Place, hasStarted: Bool)
    /// It has ended in this round of the compound operation around it, which may be tried again.
    case settled(Place, OperationEnd)
    /// It is over, for good.
    case ended(OperationEnd)
}

/// Where the scheduler of a queue finds an operation.
struct Place: Sendable {
    let queue: QueueCore
    /// Changes when the queue forgets rows that have ended.
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

    /// How it ended, for good.
    var end: OperationEnd? {
        if case .ended(let end) = self { end } else { nil }
    }

    /// How it ended last: for good, or in the present round of what is around it.
    var latestEnd: OperationEnd? {
        switch self {
        case .ended(let end), .settled(_, let end): end
        case .idle, .dissolving, .member, .taken, .waiting, .running, .open: nil
        }
    }

    /// The queue that has it or is about to.
    var queue: QueueCore? {
        switch self {
        case .taken(let queue): queue
        case .waiting(let place, _), .open(let place, _), .settled(let place, _): place.queue
        case .running(let control): control.queue
        case .idle, .dissolving, .member, .ended: nil
        }
    }

    /// Its row in the queue that has it; to be read with the lock of the queue held.
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
