/// Something that happened to an operation of a queue, or to the queue itself.
public struct OperationEvent: Sendable, Hashable {
    /// What happened.
    public enum Kind: Sendable, Hashable {
        /// It was added, for the sake of an operation that produced it or by somebody outside.
        case added(by: AsyncOperationID?)
        /// All it needs has ended; only places and mutexes stand between it and its start.
        case ready
        /// An attempt begins, counted from 1.
        case started(attempt: Int)
        /// It runs and is told to stop.
        case cancelRequested(CancellationReason)
        /// An attempt has failed and another one begins not before so long a time.
        case retry(after: Duration)
        /// The queue starts nothing any more.
        case suspended
        /// The queue starts things again.
        case resumed
        /// It is over: the last of its events.
        case finished(OperationOutcome)
    }

    /// Counts the events of the queue, from 0, without a gap.
    public let sequence: UInt64
    /// The operation, or the queue, with its name.
    public let id: AsyncOperationID
    /// Since the queue was made, on its clock.
    public let time: Duration
    /// What happened.
    public let kind: Kind
}
