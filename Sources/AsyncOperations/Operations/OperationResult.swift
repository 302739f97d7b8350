/// How an operation ended, with its value or error.
///
/// If a request to cancel was accepted before the body ended, the result is `cancelled`, whatever the body returned or
/// threw.
public enum OperationResult<Success: Sendable, Failure: Error>: Sendable {
    /// The body returned this value.
    case success(Success)
    /// The body threw this error in its last attempt.
    case failure(Failure)
    /// The `limit` of `scope`, the operation itself or a member, passed before it ended. `underlying` is what the body
    /// threw in the last attempt, which was told to stop, or what a compound operation knows of its members.
    case timeout(limit: Duration, scope: AsyncOperationID, underlying: Failure?)
    /// It was cancelled, before or after its start. `underlying` is what the body threw in the last attempt, or what a
    /// compound operation knows of its members.
    case cancelled(CancellationReason, underlying: Failure?)
    /// A dependency did not end as required, though nothing failed.
    case skipped
    /// It did not run, because `rootCause`, which it depends on directly or not, failed, timed out or was cancelled.
    case notRun(rootCause: AsyncOperationID)

    /// The result without its values.
    public var outcome: OperationOutcome {
        switch self {
        case .success: .success
        case .failure: .failure
        case .timeout: .timeout
        case .cancelled: .cancelled
        case .skipped: .skipped
        case .notRun: .notRun
        }
    }

    /// What the body returned. Throws for every other end.
    public func get() throws(OperationFailure<Failure>) -> Success {
        switch self {
        case .success(let value): return value
        case .failure(let error): throw .failed(error)
        case .timeout(let limit, let scope, _): throw .timedOut(limit: limit, scope: scope)
        case .cancelled(let reason, _): throw .cancelled(reason)
        case .skipped: throw .skipped
        case .notRun(let rootCause): throw .notRun(rootCause)
        }
    }
}

extension OperationResult: Equatable where Success: Equatable, Failure: Equatable {}
