/// How a member of a compound operation, or an operation of a queue, ended.
public struct OperationReport: Sendable {
    /// The operation.
    public let id: AsyncOperationID
    /// Its name; empty if it has none. In `CompoundOperation.Failure.leaves`, after the names of the compound
    /// operations around it, as in `album.thumbnail`.
    public let name: String
    /// The error of its last attempt, also when it had been told to stop; a `CompoundOperation.Failure` for a compound
    /// operation. nil if it threw nothing.
    public let error: (any Error)?
    /// Whether the compound operation around it tolerates its failure.
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

    /// How it ended, without its value.
    public var outcome: OperationOutcome { end.outcome }

    /// Why it was cancelled; nil for other ends.
    public var reason: AsyncOperationContext.CancellationReason? {
        if case .cancelled(let reason) = end { reason } else { nil }
    }

    /// What kept it from running; nil for other ends.
    public var rootCause: AsyncOperationID? { if case .notRun(let rootCause) = end { rootCause } else { nil } }

    /// The time limit that passed; nil for other ends than a timeout.
    public var limit: Duration? { if case .timeout(let limit, _) = end { limit } else { nil } }

    /// Whose time limit passed: its own or that of a member. nil for other ends than a timeout.
    public var scope: AsyncOperationID? { if case .timeout(_, let scope) = end { scope } else { nil } }

    var isFailed: Bool { outcome == .failure || outcome == .timeout }
}

extension OperationReport: CustomStringConvertible {
    /// The name, or the id without one, and how it ended, in one line: `album.thumbnail: timed out after 10.0 seconds`,
    /// or `album: 2 failed, 1 not run` for a compound operation.
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
