/// Why an operation was told to stop.
public enum CancellationReason: Hashable, Sendable {
    /// Somebody called `cancel`, or the body threw a `CancellationError`.
    case requested
    /// The compound operation around it was cancelled.
    case parent(AsyncOperationID)
    /// The failure of another member of a compound operation that fails fast.
    case sibling(AsyncOperationID)
    /// The limit of time of the operation itself or of a compound operation around it.
    case deadline(AsyncOperationID)
    /// The queue was shut down and its grace was over.
    case shutdown
    /// Nobody is left who could finish it: its `Completion` was dropped, or the operation itself before it was started.
    case abandoned
    /// Not the operation, but the task that waited for its value was cancelled.
    case waiter
    /// Not the operation, but the wait for its result was refused: the body that asked would have waited for itself.
    case wouldWaitForItself
}
