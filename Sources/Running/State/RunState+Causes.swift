internal import Planning
internal import RunLog
internal import Scheduling
internal import Syntax
internal import Workflow

// The scheduler's causes, which point from row to row, in words with places, secrets masked.
extension RunState {
    /// One link for a cause that has just come up; `row` is what it happens to.
    func link(_ row: PlanIndex, _ outcome: OperationOutcome, _ cause: OperationCause) -> Cause {
        switch cause {
        case .itself:
            return self.cause(of: row) ?? self.cause(.lost, "ended without a reason", row)
        case .dependency(let prerequisite) where outcome == .skipped:
            return self.cause(.condition, "\(name(prerequisite.planIndex)) did not end as `needs` requires", row)
        case .dependency(let prerequisite):
            let root = blamed(for: prerequisite.planIndex) ?? prerequisite.planIndex
            return self.cause(.dependency, "ruled out by \(name(root))", root, self.cause(of: root))
        case .member(let member):
            let row = member.planIndex
            return self.cause(.member, verb(row), row, self.cause(of: row))
        case .failFast(let failed):
            return self.cause(.failFast, "ended by `fail-fast`", failed.planIndex, self.cause(of: failed.planIndex))
        case .deadline(let limited):
            return timeout(limited.planIndex, isOwn: limited.planIndex == row)
        case .retryDeadline(let limited):
            return retryDeadline(limited.planIndex, isOwn: limited.planIndex == row)
        case .condition:
            return condition(row)
        case .request:
            return request(row)
        case .stall:
            return Cause(kind: .lost, message: "nothing could go on", subject: .run)
        }
    }

    /// One link about a row, at its line, or at that of a command inside its script.
    func cause(
        _ kind: Cause.Kind, _ message: String, _ row: PlanIndex, _ below: Cause? = nil, at command: FailedCommand? = nil
    ) -> Cause {
        Cause(
            kind: kind, message: message, subject: subject(of: row), file: command?.file ?? plan.file(of: row),
            line: command?.line ?? plan.line(of: row), next: below.map(CauseLink.because) ?? .root)
    }

    /// One link about one of `vars`, at its line.
    func cause(_ kind: Cause.Kind, _ message: String, of key: SharedKey, _ below: Cause? = nil) -> Cause {
        let (file, line) = plan.workflow.place(of: key.id)
        return Cause(
            kind: kind, message: options.secrets.masked(message), subject: .sharedValue(plan.workflow[key.id].name),
            file: file, line: line, next: below.map(CauseLink.because) ?? .root)
    }

    /// The condition that ruled a row out: its own, or that of the group around it whose fate it shares. Only what was
    /// decided is noted, so that the `if` of a member is not blamed for the group's.
    private func condition(_ row: PlanIndex) -> Cause {
        var next = row
        var hook: PlanIndex?
        while true {
            if let known = cause(of: next) { return known }
            guard next != .root else { break }
            if plan.nodes[next].hook == .onFailure { hook = hook ?? next }
            next = plan.parent(of: next)
        }
        return hook.map { cause(.condition, "nothing failed", $0) } ?? cause(.condition, "its condition is false", row)
    }

    /// What `platforms` or `if` of a row says, which has been found false.
    func falseCondition(of row: PlanIndex) -> Cause {
        let platforms = plan.platforms(of: row)
        guard platforms.allow() else {
            let wanted = platforms.map(\.rawValue).joined(separator: ", ")
            let found = Platform.current.map(\.rawValue).joined(separator: " on ")
            return cause(.condition, "`platforms` names \(wanted), this is \(found)", row)
        }
        guard let condition = plan.condition(of: row) else { return cause(.condition, "its condition is false", row) }
        return cause(.condition, "`if: \(condition.text)` is false", row, at: condition.range)
    }

    private func request(_ row: PlanIndex) -> Cause {
        var next = row
        while true {
            if let message = request(for: next) {
                guard next != .root else { return Cause(kind: .interrupt, message: message, subject: .run) }
                return cause(.interrupt, message, next)
            }
            if next == .root { return Cause(kind: .interrupt, message: "cancelled", subject: .run) }
            next = plan.parent(of: next)
        }
    }

    private func timeout(_ row: PlanIndex, isOwn: Bool) -> Cause {
        let isCommandLine = row == .root && options.timeout != nil
        let limit = isCommandLine ? options.timeout : plan.timeout(of: row)
        let text = limit.map { " after \($0.asWritten)" } ?? ""
        let message = isOwn ? "timed out\(text)" : "\(name(row)) timed out\(text)"
        guard !isCommandLine else { return Cause(kind: .timeout, message: message, subject: .run) }
        return cause(.timeout, message, row, at: plan.settings(of: row)?.timeout?.range)
    }

    private func retryDeadline(_ row: PlanIndex, isOwn: Bool) -> Cause {
        let deadline = plan.retry(of: row)?.deadline
        let text = deadline.map { " after \($0.duration.asWritten)" } ?? ""
        let subject = isOwn ? "" : "\(name(row)) "
        return cause(
            .timeout, "\(subject)timed out\(text), the `deadline` of its `retry`", row, at: deadline?.range)
    }

    /// A cause about a row at a place of its own; nil for the row's.
    func cause(_ kind: Cause.Kind, _ message: String, _ row: PlanIndex, at range: SourceRange?) -> Cause {
        guard let range else { return cause(kind, message, row) }
        let file = plan.workflow.file.file(at: range.lowerOffset)
        return Cause(
            kind: kind, message: message, subject: subject(of: row), file: file.name,
            line: file.line(at: range.lowerOffset))
    }

    private func name(_ row: PlanIndex) -> String { row == .root ? "the run" : "`\(plan.nodes[row].id)`" }

    private func subject(of row: PlanIndex) -> Cause.Subject {
        row == .root ? .run : plan.isStep(row) ? .step(plan.nodes[row].id) : .group(plan.nodes[row].id)
    }

    private func verb(_ row: PlanIndex) -> String {
        switch cause(of: row)?.kind {
        case _ where outcome(of: row) == .notRun: "was not run"
        case .timeout: "timed out"
        case .interrupt, .failFast: "was cancelled"
        default: "failed"
        }
    }
}
