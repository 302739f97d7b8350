/// The reason why an operation has no value, or why a call did not wait for one.
///
/// If a request to cancel was accepted before the body ended, the failure is `cancelled`, whatever the body returned
/// or threw.
public enum OperationFailure<Failure: Error>: Error {
    /// The body threw this error in its last attempt.
    case failed(Failure)
    /// `limit` passed before the end. `scope` is the operation whose limit it was, the operation itself or a member;
    /// nil for the limit of `withTimeout`. `underlying` is the error of the last attempt, which was asked to stop, or
    /// the report of a compound operation on its members.
    case timedOut(limit: Duration, scope: AsyncOperationID?, underlying: Failure? = nil)
    /// The operation was cancelled, before or after its start, or the waiting task was (`waiter`). `underlying` is
    /// the error of the last attempt, or the report of a compound operation on its members.
    case cancelled(AsyncOperationContext.CancellationReason, underlying: Failure? = nil)
    /// A dependency did not end as required, though nothing failed.
    case skipped
    /// It did not run, because `rootCause`, on which it depends directly or indirectly, failed, timed out or was
    /// cancelled.
    case notRun(rootCause: AsyncOperationID)
    /// The call was a mistake; it did not wait.
    case refused(UsageError)

    /// The outcome of the operation; nil if only the wait failed: `refused`, or cancelled as `waiter`.
    public var outcome: OperationOutcome? {
        switch self {
        case .failed: .failure
        case .timedOut: .timeout
        case .cancelled(.waiter, _), .refused: nil
        case .cancelled: .cancelled
        case .skipped: .skipped
        case .notRun: .notRun
        }
    }
}

extension OperationFailure: Equatable where Failure: Equatable {}

extension OperationFailure: CustomStringConvertible {
    /// The failure in one line, such as `timed out after 10.0 seconds`. The failure of a compound operation describes
    /// itself, with one more line for each error.
    public var description: String {
        switch self {
        case .failed(let error as CompoundOperation.Failure): error.description
        case .failed(let error): "failed: \(error)"
        case .timedOut(let limit, let scope?, _): "\(scope) timed out after \(limit)"
        case .timedOut(let limit, nil, _): "timed out after \(limit)"
        case .cancelled(let reason, _): "cancelled: \(reason)"
        case .skipped: "skipped: a dependency did not end as required"
        case .notRun(let rootCause): "not run because of \(rootCause)"
        case .refused(let error): "refused: \(error)"
        }
    }
}
