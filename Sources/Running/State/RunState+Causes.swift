internal import Planning
internal import RunLog
internal import Scheduling
internal import Syntax
internal import Workflow

// Puts the scheduler's causes, which point from row to row, into words with places, secrets masked.
extension RunState {
    /// Makes one link for a cause that has just come up; `row` is the row that it affects.
    func link(_ row: PlanIndex, _ outcome: OperationOutcome, _ cause: OperationCause) -> Cause {
        switch cause {
        case .itself:
            return self.cause(of: row) ?? self.cause(.lost, "ended without a reason", row)
        case .dependency(let prerequisite) where outcome == .skipped:
            // Of a chain of them the first one is the root, as below.
            return self.cause(
                .condition, unmet(row, prerequisite.planIndex), row, self.cause(of: prerequisite.planIndex)?.root)
        case .dependency(let prerequisite):
            let root = blamed(for: prerequisite.planIndex) ?? prerequisite.planIndex
            var message = "ruled out by \(name(root))"
            if isOwnNeed(prerequisite.planIndex, of: row), let condition = plan.condition(of: row), condition.usesStatus
            {
                message = "`if: \(condition.text)` is false; \(message)"
            }
            return self.cause(.dependency, message, root, self.cause(of: root))
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

    /// True if a row itself waits for another one, not only a group around it.
    private func isOwnNeed(_ prerequisite: PlanIndex, of row: PlanIndex) -> Bool {
        let parent = plan.parent(of: plan.whole(of: row))
        return plan.edges(of: plan.whole(of: row)).contains { $0.target == prerequisite }
            || plan.isSequence(parent) && plan.parent(of: plan.whole(of: prerequisite)) == parent
    }

    /// Puts into words that a need of a row has not ended as it has to.
    private func unmet(_ row: PlanIndex, _ prerequisite: PlanIndex) -> String {
        let found = outcome(of: prerequisite).map { StepOutcome($0).rawValue } ?? "open"
        let wanted = plan.edges(of: plan.whole(of: row)).first { $0.target == prerequisite }?.kind.word
        guard let wanted else { return "\(name(prerequisite)) did not end as `needs` requires" }
        return "\(name(prerequisite)) ended with \(found), `needs` wants \(wanted)"
    }

    /// Makes one link about a row, at its line, or at that of a command inside its script.
    func cause(
        _ kind: Cause.Kind, _ message: String, _ row: PlanIndex, _ below: Cause? = nil, at command: FailedCommand? = nil
    ) -> Cause {
        Cause(
            kind: kind, message: message, subject: subject(of: row), file: command?.file ?? plan.file(of: row),
            line: command?.line ?? plan.line(of: row), next: below.map(CauseLink.because) ?? .root)
    }

    /// Makes one link about one of `vars`, at its line.
    func cause(_ kind: Cause.Kind, _ message: String, of key: SharedKey, _ below: Cause? = nil) -> Cause {
        let (file, line) = plan.workflow.place(of: key.id)
        return Cause(
            kind: kind, message: options.secrets.masked(message), subject: .sharedValue(plan.workflow[key.id].name),
            file: file, line: line, next: below.map(CauseLink.because) ?? .root)
    }

    /// Returns the condition that ruled a row out: its own, or that of the enclosing group whose fate it shares. Uses
    /// only noted decisions, so that the `if` of a member is not blamed for the group's.
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

    /// Makes the cause of a row whose `platforms` or `if` has been found false.
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

    /// Returns true if the end of a row was requested, or that of an enclosing group other than the run; a hook goes
    /// on when its group is stopped.
    func hasRequest(around row: PlanIndex) -> Bool {
        var next = row
        while next != .root {
            if request(for: next) != nil { return true }
            guard plan.nodes[next].hook == nil else { return false }
            next = plan.parent(of: next)
        }
        return false
    }

    private func timeout(_ row: PlanIndex, isOwn: Bool) -> Cause {
        let isCommandLine = row == .root && options.timeout != nil
        let limit = isCommandLine ? options.timeout : plan.timeout(of: row)
        let text = limit.map { " after \($0.asWritten)" } ?? ""
        let message = isOwn ? "timed out\(text)" : "\(name(row)) timed out\(text)"
        guard !isCommandLine else { return Cause(kind: .timeout, message: message, subject: .run) }
        let settings = plan.settings(of: row)
        return cause(.timeout, message, row, at: settings?.timeout?.range ?? settings?.computed(.timeout)?.range)
    }

    private func retryDeadline(_ row: PlanIndex, isOwn: Bool) -> Cause {
        let deadline = plan.retry(of: row)?.deadline
        let text = deadline.map { " after \($0.duration.asWritten)" } ?? ""
        let subject = isOwn ? "" : "\(name(row)) "
        return cause(
            .timeout, "\(subject)timed out\(text), the `deadline` of its `retry`", row, at: deadline?.range)
    }

    /// Makes a cause about a row at a place of its own; nil for the row's.
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

// The outcomes as conditions see them.
extension RunState {
    /// Returns the value of a status function when a row's condition is decided: about all its needs and, in a hook,
    /// about the body that the hook belongs to. An instance has the needs of its fan-out; members do not see the
    /// needs of their group.
    func status(_ function: StatusFunction, of row: PlanIndex) -> Bool {
        let harm = harmSeen(by: plan.whole(of: row))
        return switch function {
        case .always: true
        case .success: harm.isEmpty
        case .failure: harm.contains(.failure)
        case .cancelled: harm.contains(.cancel)
        }
    }

    private func harmSeen(by row: PlanIndex) -> Harm {
        let parent = plan.parent(of: row)
        var harm = plan.isSequence(parent) ? progress(of: parent)?.harm.before(row) ?? [] : []
        for edge in plan.edges(of: row) { harm.formUnion(self.harm(of: edge.target)) }
        if let body = hookedBody(around: row) { harm.formUnion(self.harm(ofBody: body)) }
        return harm
    }

    /// Returns the harm that a row's end does to its dependents; for a row that was not run, that of its roots.
    func harm(of row: PlanIndex) -> Harm {
        switch outcome(of: row) {
        case .success, .skipped, nil: []
        case .failure, .timeout: plan.toleratesFailure(of: row) ? [] : .failure
        case .cancelled: .cancel
        case .notRun: roots(of: row) ?? .failure
        }
    }

    private func harm(ofBody group: PlanIndex) -> Harm {
        switch bodyOutcome(of: group) {
        case .success, .skipped: []
        case .failure, .timeout: .failure
        case .cancelled: .cancel
        case .notRun: .absence
        }
    }

    /// Returns the harm of everything that has ruled out members of a group. O(members).
    private func rootsOfMembers(of group: PlanIndex) -> Harm {
        var roots: Harm = []
        for member in plan.members(of: group) where outcome(of: member) == .notRun {
            roots.formUnion(harm(of: member))
        }
        return roots
    }

    /// Returns the harm of everything that has ruled a row out, recorded at its end, so that nothing walks back.
    /// O(needs).
    func roots(of row: PlanIndex, ruledOutBy cause: OperationCause) -> Harm {
        switch cause {
        case .member: return rootsOfMembers(of: row)
        case .dependency(let prerequisite):
            var roots = harmOfUnmet(prerequisite.planIndex)
            for edge in plan.edges(of: row) where edge.kind == .ok || edge.kind == .success {
                roots.formUnion(harm(of: edge.target))
            }
            let parent = plan.parent(of: row)
            if plan.isSequence(parent) { roots.formUnion(progress(of: parent)?.harm.before(row) ?? []) }
            return roots
        case .itself, .failFast, .deadline, .retryDeadline, .request, .stall, .condition: return .failure
        }
    }

    /// Returns the harm of a need whose end was not accepted, even if others would tolerate it.
    private func harmOfUnmet(_ row: PlanIndex) -> Harm {
        outcome(of: row) == .failure || outcome(of: row) == .timeout ? .failure : harm(of: row)
    }

    /// Returns the outcome of a group's body. Failure precedes timeout, cancel, a member ruled out from outside, and
    /// success, as in the scheduler; hooks do not count. O(members).
    func bodyOutcome(of group: PlanIndex) -> OperationOutcome {
        var worst = stop(of: group) ?? .success
        for member in plan.members(of: group) {
            guard plan.nodes[member].hook == nil else { continue }
            switch outcome(of: member) {
            case .failure where !plan.toleratesFailure(of: member): return .failure
            case .timeout where !plan.toleratesFailure(of: member): worst = .timeout
            case .cancelled where worst != .timeout: worst = .cancelled
            case .notRun where worst == .success && isRuledOut(member, outside: group): worst = .notRun
            default: break
            }
        }
        return worst
    }

    private func isRuledOut(_ row: PlanIndex, outside group: PlanIndex) -> Bool {
        guard let blamed = blamed(for: row) else { return true }
        return !plan.isInside(blamed, group)
    }

    /// Returns the group in whose hook a row is, at any depth; nil outside of hooks.
    private func hookedBody(around row: PlanIndex) -> PlanIndex? {
        var next = row
        while next != .root {
            if plan.nodes[next].hook != nil { return plan.parent(of: next) }
            next = plan.parent(of: next)
        }
        return nil
    }
}
