/// A report on the end of a member of a compound operation, or of an operation of a queue.
public struct OperationReport: Sendable {
    /// The id of the operation.
    public let id: AsyncOperationID
    /// The name of the operation; empty if there is none. In `CompoundOperation.Failure.leaves`, preceded by the
    /// names of the enclosing compound operations, as in `album.thumbnail`.
    public let name: String
    /// The error of the last attempt, also if that was asked to stop; a `CompoundOperation.Failure` for a compound
    /// operation. nil if there was no error.
    public let error: (any Error)?
    /// True if the enclosing compound operation tolerates its failure.
    public let isTolerated: Bool
    private let end: OperationEnd

    init(_ core: OperationCore, _ end: OperationEnd) {
        id = core.id
        name = core.id.name
        error = end == .success ? nil : core.error
        isTolerated = !core.hasDefaultOptions && core.options.toleratesFailure
        self.end = end
    }

    init(_ report: OperationReport, inside group: OperationReport) {
        id = report.id
        name = [group.name, report.name].filter { !$0.isEmpty }.joined(separator: ".")
        error = report.error
        isTolerated = report.isTolerated
        end = report.end
    }

    /// The outcome, without a value.
    public var outcome: OperationOutcome { end.outcome }

    /// The reason why it was cancelled; nil for other ends.
    public var reason: AsyncOperationContext.CancellationReason? {
        if case .cancelled(let reason) = end { reason } else { nil }
    }

    /// The operation that kept it from running; nil for other ends.
    public var rootCause: AsyncOperationID? { if case .notRun(let rootCause) = end { rootCause } else { nil } }

    /// The time limit that passed; nil for other ends.
    public var limit: Duration? { if case .timeout(let limit, _) = end { limit } else { nil } }

    /// The operation whose time limit passed, this one or a member; nil for other ends.
    public var scope: AsyncOperationID? { if case .timeout(_, let scope) = end { scope } else { nil } }

    var isFailed: Bool { outcome == .failure || outcome == .timeout }
}

extension OperationReport: CustomStringConvertible {
    /// The name (or the id if there is none) and the end in one line:
    /// `album.thumbnail: timed out after 10.0 seconds`, or `album: 2 failed, 1 not run` for a compound operation.
    public var description: String { "\(name.isEmpty ? id.description : name): \(account)" }

    private var account: String {
        switch end {
        case .success: "success"
        case .failure: (error as? CompoundOperation.Failure)?.account ?? error.map { "\($0)" } ?? "failure"
        case .timeout(let limit, let scope) where scope == id: "timed out after \(limit)"
        case .timeout(let limit, let scope): "\(scope) timed out after \(limit)"
        case .cancelled(let reason): "cancelled: \(reason)"
        case .skipped: "skipped"
        case .notRun(let rootCause): "not run because of \(rootCause)"
        }
    }
}

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
