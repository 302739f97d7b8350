/// What few operations have: somebody who listens or waits, a request, progress that they report. Guarded by the lock
/// of the operation.
final class RareState {
    typealias Listener = @Sendable (OperationEnd) -> Void

    /// The first request to cancel that was accepted.
    var request: CancellationReason?
    /// The limit inside the body that the last attempt ran into.
    var innerLimit: Duration?
    /// The queue of an operation that was started by itself and has been suspended: what it produced may outlast it.
    weak var ownQueue: QueueCore?
    /// The highest priority of a task that waits.
    var waiterPriority: Priority?
    /// In the order of their registration.
    var completions: [Listener] = []
    /// What the body said last of its progress.
    var progress: OperationProgress?
    var progressListeners = ProgressListeners()
    /// What waits elsewhere for the operation; told after completions and waiting tasks.
    var followers: [Listener] = []
    var waiters = WaitingTasks()
    /// Whether everybody who asked before the end has been told of it.
    var isTold = false
}
