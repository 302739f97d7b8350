internal import OperationScheduling
internal import ProcessExecution
internal import RunEvents
internal import SourceDiagnostics
internal import WorkflowModel
internal import WorkflowPlanning

/// Puts the scheduler's causes, which point from row to row, into words with places, secrets masked.
@EventLoopActor
final class CauseTracer {
    private let book: RunBook
    private let options: RunOptions
    /// Of everything that has ended otherwise than in success.
    private var known: [Int: Cause] = [:]
    /// For a row that was not run: the row to blame, so that a chain of a thousand victims stays two links long.
    private var blamed: [Int: Int] = [:]
    /// Who asked for the end of a step, a group or, at 0, the run.
    private var requests: [Int: String] = [:]

    init(book: RunBook, options: RunOptions) {
        self.book = book
        self.options = options
    }

    /// Notes who asks for the end of a row; the first one counts.
    func noteRequest(for row: Int, _ message: String) {
        requests[row] = requests[row] ?? message
    }

    /// Notes how the work of a step, or a group by itself, failed.
    func noteFailure(of row: Int, _ kind: Cause.Kind, _ message: String) {
        known[row] = cause(kind, options.secrets.masked(message), row)
    }

    /// Forgets a row whose group runs once more.
    func forget(_ row: Int) {
        known[row] = nil
        blamed[row] = nil
    }

    func forgetRequest(for row: Int) { requests[row] = nil }

    /// Whether somebody asked for the end of a row, or of a group around it short of the run; a hook goes on when its
    /// group is stopped.
    func hasRequest(around row: Int) -> Bool {
        guard !requests.isEmpty else { return false }
        var next = row
        while next != 0 {
            if requests[next] != nil { return true }
            guard book.plan.nodes[next].hook == nil else { return false }
            next = book.parent(of: next)
        }
        return false
    }

    /// The chain for something that has ended; nil for a success. Called once for each row, in the order of the ends.
    func trace(_ row: Int, _ outcome: OperationOutcome, _ cause: OperationCause) -> Cause? {
        guard outcome != .success else { return nil }
        if outcome == .failure, cause == .itself || cause == .condition { return known[row] }
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
            return timeout(limited.row, isOwn: limited.row == row)
        case .retryDeadline(let limited):
            return retryDeadline(limited.row, isOwn: limited.row == row)
        case .condition:
            return condition(row)
        case .request:
            return request(row)
        }
    }

    /// A condition that was false, of the row itself or of the group around it whose fate it shares.
    private func condition(_ row: Int) -> Cause {
        var next = row
        while next != 0 {
            if let known = known[next], next != row { return known }
            let settings = book.whole(of: next) == next ? book.settings(of: next) : nil
            if let platforms = settings?.platforms, !platforms.allow() {
                let wanted = platforms.map(\.rawValue).joined(separator: ", ")
                let found = Platform.current.map(\.rawValue).joined(separator: " on ")
                return cause(.condition, "is for \(wanted), this is \(found)", next)
            }
            if let condition = settings?.condition {
                return Cause(
                    kind: .condition, message: "`if: \(condition.text)` is false", subject: book.subject(of: next),
                    file: book.workflow.file.name,
                    line: book.workflow.file.line(at: condition.range.lowerOffset))
            }
            if book.plan.nodes[next].hook == .onFailure {
                return cause(.condition, "nothing failed", next)
            }
            next = book.parent(of: next)
        }
        return cause(.condition, "its condition is false", row)
    }

    private func request(_ row: Int) -> Cause {
        var next = row
        while true {
            if let message = requests[next] {
                guard next != 0 else { return Cause(kind: .interrupt, message: message, subject: .run) }
                return cause(.interrupt, message, next)
            }
            if next == 0 { return Cause(kind: .interrupt, message: "cancelled", subject: .run) }
            next = book.parent(of: next)
        }
    }

    private func timeout(_ row: Int, isOwn: Bool) -> Cause {
        let settings = book.settings(of: row)
        let isCommandLine = row == 0 && options.timeout != nil
        let limit = isCommandLine ? options.timeout : book.timeout(of: row)
        let text = limit.map { " after \($0.asWritten)" } ?? ""
        let message = isOwn ? "timed out\(text)" : "\(name(row)) timed out\(text)"
        guard !isCommandLine else { return Cause(kind: .timeout, message: message, subject: .run) }
        let line = settings?.timeout.map { book.workflow.file.line(at: $0.range.lowerOffset) }
        return Cause(
            kind: .timeout, message: message, subject: book.subject(of: row), file: book.workflow.file.name,
            line: line ?? book.line(of: row))
    }

    private func retryDeadline(_ row: Int, isOwn: Bool) -> Cause {
        let isStep = book.plan.nodes[row].role == .step
        let deadline = (book.settings(of: row)?.retry ?? (isStep ? book.workflow.defaults.retry : nil))?.deadline
        let text = deadline.map { " after \($0.duration.asWritten)" } ?? ""
        let subject = isOwn ? "" : "\(name(row)) "
        return Cause(
            kind: .timeout, message: "\(subject)timed out\(text), the `deadline` of its `retry`",
            subject: book.subject(of: row), file: book.workflow.file.name,
            line: deadline.map { book.workflow.file.line(at: $0.range.lowerOffset) } ?? book.line(of: row))
    }

    private func cause(_ kind: Cause.Kind, _ message: String, _ row: Int, _ below: Cause? = nil) -> Cause {
        Cause(
            kind: kind, message: message, subject: book.subject(of: row), file: book.workflow.file.name,
            line: book.line(of: row), next: below.map(CauseLink.because) ?? .root)
    }

    private func name(_ row: Int) -> String { row == 0 ? "the run" : "`\(book.id(row))`" }

    private func verb(_ row: Int) -> String {
        switch known[row]?.kind {
        case .timeout: "timed out"
        case .interrupt, .failFast: "was cancelled"
        default: "failed"
        }
    }
}
