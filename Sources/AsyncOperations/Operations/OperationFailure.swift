/// Why there is no value.
public enum OperationFailure<Failure: Error>: Error {
    /// The body threw.
    case failed(Failure)
    /// The limit passed.
    case timedOut(Duration)
    /// A request to cancel reached it.
    case cancelled(CancellationReason)
    /// The kind of a dependency did not come about though nothing failed.
    case skipped
    /// Something it needs failed, timed out or was cancelled.
    case notRun(AsyncOperationID)
    /// It was not waited for, or not even begun: the call was a mistake.
    case refused(UsageError)
}

extension OperationFailure: Equatable where Failure: Equatable {}
