internal import OperationScheduling
internal import WorkflowModel
internal import WorkflowPlanning

// What conditions ask about outcomes.
extension RunState {
    /// What a status function says where a row's condition is decided: about all it needs, or, in a hook, about the
    /// body the hook belongs to.
    func status(_ function: StatusFunction, of row: PlanIndex) -> Bool {
        // What a copy needs, its fan-out does.
        let row = plan.whole(of: row)
        let seen = hookedBody(around: row).map { [bodyOutcome(of: $0)] } ?? needs(of: row)
        switch function {
        case .always: return true
        case .success: return seen.allSatisfy { $0 == .success || $0 == .skipped }
        case .failure: return seen.contains { $0 == .failure || $0 == .timeout }
        case .cancelled: return seen.contains(.cancelled)
        }
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

    /// The outcomes of what a row needs; of something that was not run, what ruled it out.
    private func needs(of row: PlanIndex) -> [OperationOutcome] {
        plan.edges(of: row).map { edge in
            let target = edge.target
            let outcome = outcome(of: target) ?? .success
            if outcome == .notRun { return blamed(for: target).flatMap(self.outcome) ?? .failure }
            let isTolerated = plan.toleratesFailure(of: target) && (outcome == .failure || outcome == .timeout)
            return isTolerated ? .success : outcome
        }
    }

    /// The group whose hook a row without needs is in; nil outside of hooks.
    private func hookedBody(around row: PlanIndex) -> PlanIndex? {
        guard plan.edges(of: row).isEmpty else { return nil }
        var next = row
        while next != .root {
            if plan.nodes[next].hook != nil { return plan.parent(of: next) }
            next = plan.parent(of: next)
        }
        return nil
    }
}
