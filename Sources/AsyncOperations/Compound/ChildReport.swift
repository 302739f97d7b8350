/// How a member of a compound operation, or an operation of a queue, ended.
public struct ChildReport: Sendable {
    /// The operation.
    public let id: AsyncOperationID
    /// Its name; in `CompoundFailure.leaves`, behind those of the compound operations around it with a dot between.
    public let name: String
    /// The kind of its end.
    public let outcome: OperationOutcome
    /// What it threw in its last attempt, a `CompoundFailure` for a compound operation; also where it threw because it
    /// was stopped.
    public let error: (any Error)?
    /// Why it was cancelled; nil for other ends.
    public let reason: CancellationReason?
    /// What kept it from running; nil for other ends.
    public let rootCause: AsyncOperationID?
    /// Whether the group around it tolerates its failure.
    public let isTolerated: Bool

    init(_ core: OperationCore, _ end: OperationEnd) {
        id = core.id
        name = core.name
        outcome = end.outcome
        error = core.error
        if case .cancelled(let reason) = end { self.reason = reason } else { reason = nil }
        if case .notRun(let rootCause) = end { self.rootCause = rootCause } else { rootCause = nil }
        isTolerated = core.toleratesFailure
    }

    init(_ report: ChildReport, inside group: ChildReport) {
        id = report.id
        name = "\(group.name).\(report.name)"
        outcome = report.outcome
        error = report.error
        reason = report.reason
        rootCause = report.rootCause
        isTolerated = report.isTolerated
    }

    var isFailed: Bool { outcome == .failure || outcome == .timeout }
}
