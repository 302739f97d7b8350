extension AsyncOperationContext {
    /// Why an operation was told to stop.
    public enum CancellationReason: Hashable, Sendable {
        /// A call of `cancel` asked for it. A `CancellationError` of a body that was not asked is a failure.
        case requested
        /// The compound operation around it was cancelled.
        case parent(AsyncOperationID)
        /// Another member of a compound operation that fails fast has failed.
        case sibling(AsyncOperationID)
        /// The time limit of the operation, or of a compound operation around it, has passed.
        case deadline(AsyncOperationID)
        /// Its queue was shut down, and the grace period is over.
        case shutdown
        /// It was never started, and its last handle is gone.
        case neverStarted
        /// Nothing is left that could finish it: its `Completion` was dropped, or its last handle while it was
        /// suspended.
        case abandoned
        /// It waited for itself, over places and mutexes that others had taken when they started. Each of these
        /// operations waited for the next; the first is also the last. What is bound to come to that is refused before,
        /// as `UsageError.cycle`. Where a limit of time will end one of them it is waited for, but not where only a
        /// failure could.
        case stuck([AsyncOperationID])
        /// The task that waited for its value was cancelled, not the operation.
        case waiter
    }
}

extension AsyncOperationContext.CancellationReason: CustomStringConvertible {
    /// The reason as a phrase, such as `its queue was shut down`.
    public var description: String {
        switch self {
        case .requested: "on request"
        case .parent(let id): "\(id) around it was cancelled"
        case .sibling(let id): "\(id) beside it has failed"
        case .deadline(let id): "the time limit of \(id) has passed"
        case .shutdown: "its queue was shut down"
        case .neverStarted: "it was never started"
        case .abandoned: "nothing was left that could finish it"
        case .stuck(let path): "it waited for itself: \(path.map(\.description).joined(separator: " -> "))"
        case .waiter: "the waiting task was cancelled"
        }
    }
}
