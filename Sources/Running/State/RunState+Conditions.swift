internal import Planning
internal import Scheduling
internal import Workflow

// What conditions ask about outcomes.
extension RunState {
    /// The value of a status function when a row's condition is decided: about all its needs and, in a hook, about the
    /// body that the hook belongs to. A copy has the needs of its fan-out; members do not see the needs of their group.
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
        var harm = plan.isSequence(parent) ? groups[parent]?.harm.before(row) ?? [] : []
        for edge in plan.edges(of: row) { harm.formUnion(self.harm(of: edge.target)) }
        if let body = hookedBody(around: row) { harm.formUnion(self.harm(ofBody: body)) }
        return harm
    }

    /// The harm that a row's end does to its dependents; for a row that was not run, that of its roots.
    func harm(of row: PlanIndex) -> Harm {
        switch outcome(of: row) {
        case .success, .skipped, nil: []
        case .failure, .timeout: plan.toleratesFailure(of: row) ? [] : .failure
        case .cancelled: .cancel
        case .notRun: notes[row]?.roots ?? .failure
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

    /// The harm of everything that has ruled out members of a group. O(members).
    private func rootsOfMembers(of group: PlanIndex) -> Harm {
        var roots: Harm = []
        for member in plan.members(of: group) where outcome(of: member) == .notRun {
            roots.formUnion(harm(of: member))
        }
        return roots
    }

    /// The harm of everything that has ruled a row out, recorded at its end, so that nothing walks back. O(needs).
    func roots(of row: PlanIndex, ruledOutBy cause: OperationCause) -> Harm {
        switch cause {
        case .member: return rootsOfMembers(of: row)
        case .dependency(let prerequisite):
            var roots = harmOfUnmet(prerequisite.planIndex)
            for edge in plan.edges(of: row) where edge.kind == .ok || edge.kind == .success {
                roots.formUnion(harm(of: edge.target))
            }
            let parent = plan.parent(of: row)
            if plan.isSequence(parent) { roots.formUnion(groups[parent]?.harm.before(row) ?? []) }
            return roots
        case .itself, .failFast, .deadline, .retryDeadline, .request, .stall, .condition: return .failure
        }
    }

    /// The harm of a need whose end was not accepted, even if others would tolerate it.
    private func harmOfUnmet(_ row: PlanIndex) -> Harm {
        outcome(of: row) == .failure || outcome(of: row) == .timeout ? .failure : harm(of: row)
    }

    /// Failure before timeout before cancel before a member that something outside ruled out before success, as in the
    /// scheduler; hooks do not count. O(members).
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

    /// The group in whose hook a row is, however deep; nil outside of hooks.
    private func hookedBody(around row: PlanIndex) -> PlanIndex? {
        var next = row
        while next != .root {
            if plan.nodes[next].hook != nil { return plan.parent(of: next) }
            next = plan.parent(of: next)
        }
        return nil
    }
}

/// How a bad end affects the status functions of dependents.
struct Harm: OptionSet {
    let rawValue: UInt8

    /// A row has failed or timed out.
    static let failure = Harm(rawValue: 1)
    static let cancel = Harm(rawValue: 2)
    /// A row was ruled out; the cause does not matter.
    static let absence = Harm(rawValue: 4)
}

/// The first members of a sequence, in file order, that have done harm; all later members see it.
struct SequenceHarm {
    private var failed: PlanIndex?
    private var cancelled: PlanIndex?

    mutating func note(_ row: PlanIndex, _ harm: Harm) {
        if harm.contains(.failure) { failed = min(failed ?? row, row) }
        if harm.contains(.cancel) { cancelled = min(cancelled ?? row, row) }
    }

    func before(_ row: PlanIndex) -> Harm {
        var harm: Harm = []
        if let failed, failed < row { harm.insert(.failure) }
        if let cancelled, cancelled < row { harm.insert(.cancel) }
        return harm
    }
}
