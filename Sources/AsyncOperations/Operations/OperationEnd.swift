/// How an operation ended, without what it made.
@usableFromInline enum OperationEnd: Sendable, Hashable {
    case success
    case failure
    indirect case timeout(limit: Duration, scope: AsyncOperationID)
    indirect case cancelled(CancellationReason)
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

/// What a body says at its end.
enum BodyEnd: Sendable {
    case success
    case failure(any Error)
    /// A limit inside the body has passed.
    case timeout(Duration)
    /// It neither made nor threw anything.
    case stopped(CancellationReason)
}
