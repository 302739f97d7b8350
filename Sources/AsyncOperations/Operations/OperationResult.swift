/// How an operation ended, with what it made. Set once.
///
/// A request to cancel that was accepted before the body ended decides: the result is `cancelled`, whatever the body
/// returned or threw.
public enum OperationResult<Success: Sendable, Failure: Error>: Sendable {
    /// What the body returned.
    case success(Success)
    /// What the body threw in its last attempt.
    case failure(Failure)
    /// The `limit` of `scope`, which is the operation itself or a member of it, passed before it ended. `underlying` is
    /// what is there all the same: what the body threw when it was told to stop, the reports of a compound operation.
    case timeout(limit: Duration, scope: AsyncOperationID, underlying: Failure?)
    /// A request reached it, started or not. `underlying` is what the body threw when it was told to stop,
    /// or the reports of a compound operation.
    case cancelled(CancellationReason, underlying: Failure?)
    /// The kind of a dependency did not come about though nothing failed.
    case skipped
    /// Something it needs failed, timed out or was cancelled: the first link of that chain.
    case notRun(rootCause: AsyncOperationID)

    /// The kind of end, without the values.
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

    /// What the body returned; throws for every other end.
    public func get() throws(OperationFailure<Failure>) -> Success {
        switch self {
        case .success(let value): return value
        case .failure(let error): throw .failed(error)
        case .timeout(let limit, _, _): throw .timedOut(limit)
        case .cancelled(let reason, _): throw .cancelled(reason)
        case .skipped: throw .skipped
        case .notRun(let rootCause): throw .notRun(rootCause)
        }
    }
}

extension OperationResult: Equatable where Success: Equatable, Failure: Equatable {}
