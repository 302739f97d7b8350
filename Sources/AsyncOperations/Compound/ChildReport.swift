/// How a member of a compound operation, or an operation of a queue, ended.
public struct ChildReport: Sendable {
    /// The operation, with its name.
    public let id: AsyncOperationID
    /// Its name; in `CompoundFailure.leaves`, behind those of the compound operations around it with a dot between.
    public let name: String
    /// What it threw in its last attempt, a `CompoundFailure` for a compound operation; also where it threw because it
    /// was stopped.
    public let error: (any Error)?
    /// Whether the group around it tolerates its failure.
    public let isTolerated: Bool
    private let end: OperationEnd

    init(_ core: OperationCore, _ end: OperationEnd) {
        id = core.id
        name = core.id.name
        error = end == .success ? nil : core.error
        isTolerated = !core.hasDefaultOptions && core.options.toleratesFailure
        self.end = end
    }

    init(_ report: ChildReport, inside group: ChildReport) {
        id = report.id
        name = "\(group.name).\(report.name)"
        error = report.error
        isTolerated = report.isTolerated
        end = report.end
    }

    /// The kind of its end.
    public var outcome: OperationOutcome { end.outcome }

    /// Why it was cancelled; nil for other ends.
    public var reason: CancellationReason? { if case .cancelled(let reason) = end { reason } else { nil } }

    /// What kept it from running; nil for other ends.
    public var rootCause: AsyncOperationID? { if case .notRun(let rootCause) = end { rootCause } else { nil } }

    var isFailed: Bool { outcome == .failure || outcome == .timeout }
}
