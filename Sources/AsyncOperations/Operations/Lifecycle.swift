/// The state of an operation: one value, so that contradictory states cannot be expressed.
///
/// The operation's lock guards it. Once the operation belongs to a queue, changes also require the queue's lock.
enum Lifecycle: Sendable {
    /// It belongs to no queue and no compound operation.
    case idle
    /// Cancelled before its start, as a compound operation or a member of one; members end first.
    case dissolving
    /// It is a member of a compound operation that belongs to no queue.
    case member
    /// A queue is about to add it. The next holder of the queue's lock finds it added or free again.
    case taken(by: QueueCore)
    /// It waits until the scheduler of its queue starts it.
    case waiting(Place, isReady: Bool)
    /// Its body runs.
    case running(BodyControl)
    /// A compound operation whose members may run; `hasStarted` once everything before its start has been reported.
    case open(Place, hasStarted: Bool)
    /// It has ended in this round of a compound operation that may be tried again. Rare, so indirect: it must not
    /// make the other cases larger.
    indirect case settled(Place, OperationEnd)
    /// It has ended for good.
    case ended(OperationEnd)
}

/// The queue of an operation, and its row in the queue's scheduler.
struct Place: Sendable {
    let queue: QueueCore
    /// The row; it changes when the queue removes rows that have ended.
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

    /// The final end; nil before.
    var end: OperationEnd? {
        if case .ended(let end) = self { end } else { nil }
    }

    /// The latest end: the final one, or that in the current round of an enclosing compound operation.
    var latestEnd: OperationEnd? {
        switch self {
        case .ended(let end), .settled(_, let end): end
        case .idle, .dissolving, .member, .taken, .waiting, .running, .open: nil
        }
    }

    /// The queue that it belongs to, or that is about to add it.
    var queue: QueueCore? {
        switch self {
        case .taken(let queue): queue
        case .waiting(let place, _), .open(let place, _), .settled(let place, _): place.queue
        case .running(let control): control.queue
        case .idle, .dissolving, .member, .ended: nil
        }
    }

    /// Its row in its queue. Requires the queue's lock.
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

/// The end of an operation, without its value or error.
@usableFromInline enum OperationEnd: Sendable, Hashable {
    case success
    case failure
    indirect case timeout(limit: Duration, scope: AsyncOperationID)
    indirect case cancelled(AsyncOperationContext.CancellationReason)
    case skipped
    indirect case notRun(rootCause: AsyncOperationID)

    var outcome: OperationOutcome {
        switch self {
        case .success: .success
        case .failure: .failure
        case .timeout: .timeout
        case .cancelled: .cancelled
        case .skipped: .skipped
        case .notRun: .notRun
        }
    }
}

/// The end of one attempt of a body.
@usableFromInline enum BodyEnd: Sendable {
    case success
    case failure(any Error)
    /// A time limit inside the body has passed.
    case timeout(Duration)
    /// The body neither returned a value nor threw an error.
    case stopped(AsyncOperationContext.CancellationReason)
}

/// The progress of an operation through its life.
///
/// The state only moves forward, with these exceptions. An operation that is tried again goes back to `ready`, and a
/// member of a compound operation that is tried again to `pending`. A dependency that is added late moves `ready`
/// back to `pending`.
public enum OperationState: UInt8, Sendable, Hashable, Comparable {
    /// It belongs to no queue yet, or one of its dependencies has not ended.
    case pending
    /// It waits only for its turn: for a place, mutexes, units of pools, or the end of a suspension or back-off.
    case ready
    /// Its body runs, or its members may.
    case executing
    /// It has ended for good.
    case finished

    /// True if the left state comes earlier in the life of an operation.
    public static func < (left: OperationState, right: OperationState) -> Bool { left.rawValue < right.rawValue }
}

extension OperationState: CustomStringConvertible {
    /// The state in one word, such as `executing`.
    public var description: String {
        switch self {
        case .pending: "pending"
        case .ready: "ready"
        case .executing: "executing"
        case .finished: "finished"
        }
    }
}

/// Rarely used state: completions, waiting tasks, a request to cancel, reported progress. Guarded by the operation's
/// lock. The properties that every end reads skip the check for exclusive access.
final class RareState {
    typealias Listener = @Sendable (OperationEnd) -> Void

    /// The first accepted request to cancel.
    @exclusivity(unchecked) var request: AsyncOperationContext.CancellationReason?
    /// True if its last handle was dropped while a queue was about to add it.
    var isAbandoned = false
    /// The number of announced attempts, in all rounds of the enclosing operations.
    var attempts = 0
    /// The context that begins its attempts for the task that waits for them; nil if its queue begins them.
    var context: TaskContext?
    /// The time limit of a waterfall's job that passed in the last attempt.
    var innerLimit: Duration?
    /// The queue of an operation that was started by itself and has been suspended: operations that it produced may
    /// outlast it.
    weak var ownQueue: QueueCore?
    /// The highest priority of the waiting tasks.
    @exclusivity(unchecked) var waiterPriority: Priority?
    /// The priority to which everything that it waits for was raised.
    @exclusivity(unchecked) private var raisedUpstreamTo: Priority?
    /// In the order in which they were added.
    @exclusivity(unchecked) var completions: [Listener] = []
    /// The progress that the body reported last.
    var progress: OperationProgress?
    @exclusivity(unchecked) var progressListeners = ProgressListeners()
    /// Its stand-ins in the queues of dependents; they get the end after completions and waiting tasks.
    @exclusivity(unchecked) var followers: [StandIn] = []
    /// Called last, to end enclosing operations after the end of this one.
    @exclusivity(unchecked) var outer: [Listener] = []
    @exclusivity(unchecked) var waiters = WaitingTasks()
    /// True if all completions have been called.
    @exclusivity(unchecked) var isTold: Bool

    init(isTold: Bool) { self.isTold = isTold }

    /// Records the priority. Returns true if everything that it waits for must be raised.
    func noteRaise(to priority: Priority) -> Bool {
        guard priority.mayRaise else { return false }
        if let raisedUpstreamTo, raisedUpstreamTo >= priority { return false }
        raisedUpstreamTo = priority
        return true
    }
}
