extension AsyncOperationQueue {
    /// Something that happened to an operation of a queue, a member of one, or the queue itself.
    public struct Event: Sendable, Hashable {
        /// What happened.
        public enum Kind: Sendable, Hashable {
            /// It was added by the body of this operation (`produce`); nil for a call from outside.
            case added(by: AsyncOperationID?)
            /// Everything that it depends on has ended; it waits for its turn only.
            case ready
            /// An attempt starts. They count from 1; in a compound operation that is tried again, on through all
            /// rounds.
            case started(attempt: Int)
            /// It was told to stop while it ran.
            case cancelRequested(AsyncOperationContext.CancellationReason)
            /// An attempt failed. The next starts after this long, or later.
            case retry(after: Duration)
            /// The queue was suspended.
            case suspended
            /// The queue was resumed.
            case resumed
            /// It has ended for good. This is its last event.
            case finished(OperationOutcome)
        }

        /// Its number among the events of the queue, from 0.
        public let sequence: UInt64
        /// The operation or queue that it is about.
        public let id: AsyncOperationID
        /// The time since the queue was made, on its clock.
        public let time: Duration
        /// What happened.
        public let kind: Kind
    }
}

extension AsyncOperationQueue.Event: CustomStringConvertible {
    /// What happened to whom, in one line, such as "`load`: started" or "`load`: ended: success".
    public var description: String { "\(id): \(kind)" }
}

extension AsyncOperationQueue.Event.Kind: CustomStringConvertible {
    /// What happened, as a phrase, such as `tried again after 5.0 seconds`.
    public var description: String {
        switch self {
        case .added(nil): "added"
        case .added(let producer?): "added by \(producer)"
        case .ready: "ready"
        case .started(1): "started"
        case .started(let attempt): "started, attempt \(attempt)"
        case .cancelRequested(let reason): "told to stop: \(reason)"
        case .retry(let delay): "tried again after \(delay)"
        case .suspended: "suspended"
        case .resumed: "resumed"
        case .finished(let outcome): "ended: \(outcome)"
        }
    }
}
