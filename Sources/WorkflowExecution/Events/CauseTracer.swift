internal import AsyncOperations
internal import RunEvents
internal import SourceDiagnostics
internal import WorkflowModel
internal import WorkflowPlanning

/// Puts the scheduler's causes, which point from row to row, into words with places.
struct CauseTracer {
    private let plan: Plan
    private let options: RunOptions
    /// Of everything that has ended otherwise than in success.
    private var known: [Int: Cause] = [:]
    /// For a row that was not run: the row to blame, so that a chain of a thousand victims stays two links long.
    private var blamed: [Int: Int] = [:]
    /// What asked for the end of the run.
    var request = "cancelled"

    init(plan: Plan, options: RunOptions) {
        self.plan = plan
        self.options = options
    }

    /// Notes how the work of a step failed by itself.
    mutating func noteFailure(of row: Int, _ kind: Cause.Kind, _ message: String) {
        known[row] = cause(kind, message, row)
    }

    /// The chain for something that has ended; nil for a success. Called once for each row, in the order of the ends.
    mutating func trace(_ row: Int, _ outcome: OperationOutcome, _ cause: OperationCause) -> Cause? {
        guard outcome != .success else { return nil }
        if outcome == .failure, cause == .itself { return known[row] }
        if case .dependency(let prerequisite) = cause, outcome == .notRun {
            blamed[row] = blamed[prerequisite.row] ?? prerequisite.row
        }
        let traced = link(row, outcome, cause)
        known[row] = traced
        return traced
    }

    /// One link for a cause that has just come up; `row` is what it happens to.
    func link(_ row: Int, _ outcome: OperationOutcome, _ cause: OperationCause) -> Cause {
        switch cause {
        case .itself:
            return known[row] ?? self.cause(.lost, "ended without a reason", row)
        case .dependency(let prerequisite) where outcome == .skipped:
            return self.cause(.condition, "\(name(prerequisite.row)) did not end as `needs` asks", row)
        case .dependency(let prerequisite):
            let root = blamed[prerequisite.row] ?? prerequisite.row
            return self.cause(.dependency, "ruled out by \(name(root))", root, known[root])
        case .member(let member):
            return self.cause(.member, "a member \(verb(member.row))", member.row, known[member.row])
        case .failFast(let failed):
            return self.cause(
                .failFast, "ended by `fail-fast`", failed.row, known[failed.row])
        case .deadline(let limited):
            return deadline(limited.row, isOwn: limited.row == row)
        case .condition:
            return self.cause(.condition, "its condition does not hold", row)
        case .request:
            return Cause(kind: .interrupt, message: request, subject: .run)
        }
    }

    /// Where a row stands in the file, from 1.
    func line(of row: Int) -> Int {
        plan.workflow.file.line(at: plan.workflow.range(of: plan.nodes[row].definition).lowerOffset)
    }

    private func deadline(_ row: Int, isOwn: Bool) -> Cause {
        let settings = plan.workflow.settings(of: plan.nodes[row].definition)
        let isCommandLine = row == 0 && options.timeout != nil
        let limit =
            isCommandLine ? options.timeout : settings?.timeout?.duration ?? plan.workflow.defaults.timeout
        let text = limit.map { " after \($0.asWritten)" } ?? ""
        let message = isOwn ? "timed out\(text)" : "\(name(row)) timed out\(text)"
        guard !isCommandLine else { return Cause(kind: .timeout, message: message, subject: .run) }
        let line = settings?.timeout.map { plan.workflow.file.line(at: $0.range.lowerOffset) }
        return Cause(
            kind: .timeout, message: message, subject: subject(row), file: plan.workflow.file.name,
            line: line ?? self.line(of: row))
    }

    private func cause(_ kind: Cause.Kind, _ message: String, _ row: Int, _ below: Cause? = nil) -> Cause {
        Cause(
            kind: kind, message: message, subject: subject(row), file: plan.workflow.file.name, line: line(of: row),
            next: below.map(CauseLink.because) ?? .root)
    }

    private func subject(_ row: Int) -> Cause.Subject {
        row == 0 ? .run : plan.nodes[row].role == .step ? .step(plan.nodes[row].id) : .group(plan.nodes[row].id)
    }

    private func name(_ row: Int) -> String { row == 0 ? "the run" : "`\(plan.nodes[row].id)`" }

    private func verb(_ row: Int) -> String {
        switch known[row]?.kind {
        case .timeout: "timed out"
        case .interrupt, .failFast: "was cancelled"
        default: "failed"
        }
    }
}
