/// Why a call that waits for a value throws.
public enum OperationFailure<Failure: Error>: Error {
    /// The body threw this error.
    case failed(Failure)
    /// `limit` passed. `scope` is the operation whose limit it was; nil for the limit of `withTimeout`.
    case timedOut(limit: Duration, scope: AsyncOperationID?)
    /// The operation was cancelled, or the waiting task was (`waiter`).
    case cancelled(CancellationReason)
    /// A dependency did not end as required, though nothing failed.
    case skipped
    /// It did not run, because this operation, which it depends on directly or not, failed, timed out or was cancelled.
    case notRun(AsyncOperationID)
    /// The call was a mistake; nothing was waited for.
    case refused(UsageError)
}

extension OperationFailure: Equatable where Failure: Equatable {}

extension OperationFailure: CustomStringConvertible {
    /// What happened, in one line, such as `timed out after 10.0 seconds`. The failure of a compound operation
    /// describes itself, with one more line for each error.
    public var description: String {
        switch self {
        case .failed(let error as CompoundFailure): error.description
        case .failed(let error): "failed: \(error)"
        case .timedOut(let limit, let scope?): "\(scope) timed out after \(limit)"
        case .timedOut(let limit, nil): "timed out after \(limit)"
        case .cancelled(let reason): "cancelled: \(reason)"
        case .skipped: "skipped: a dependency did not end as required"
        case .notRun(let rootCause): "not run because of \(rootCause)"
        case .refused(let error): "refused: \(error)"
        }
    }
}
