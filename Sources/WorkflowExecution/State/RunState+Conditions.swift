internal import OperationScheduling
internal import WorkflowModel
internal import WorkflowPlanning

// What conditions ask about outcomes.
extension RunState {
    /// What a status function says where a row's condition is decided: about all it needs and, in a hook, about the
    /// body that the hook belongs to. What a copy needs, its fan-out does; what a group needs, its members do not see.
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

    /// What the end of a row means to what needs it; of one that was not run, what its roots do.
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

    /// The harm of what has ruled out members of a group. O(members).
    private func rootsOfMembers(of group: PlanIndex) -> Harm {
        var roots: Harm = []
        for member in plan.members(of: group) where outcome(of: member) == .notRun {
            roots.formUnion(harm(of: member))
        }
        return roots
    }

    /// The harm of everything that has ruled a row out, noted when it ends, so that nothing walks back. O(needs).
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

    /// That of something whose end was not accepted, though another would tolerate it.
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
