/// How an operation ended, without its value or error.
@usableFromInline enum OperationEnd: Sendable, Hashable {
    case success
    case failure
    indirect case timeout(limit: Duration, scope: AsyncOperationID)
    indirect case cancelled(AsyncOperationContext.CancellationReason)
    case skipped
    indirect case notRun(rootCause: AsyncOperationID)

    var outcome: OperationOutcome {
        switch self {
        case .success: .success
        case .failure: .failure
        case .timeout: .timeout
        case .cancelled: .cancelled
        case .skipped: .skipped
        case .notRun: .notRun
        }
    }
}

/// How an attempt of a body ended.
enum BodyEnd: Sendable {
    case success
    case failure(any Error)
    /// A limit inside the body has passed.
    case timeout(Duration)
    /// It neither returned a value nor threw an error.
    case stopped(AsyncOperationContext.CancellationReason)
}
