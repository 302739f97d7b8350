// Members whose conditions are judged together: the copies of a fan-out that have one each.

/// The conditions of such members, as far as they are known.
struct Jury: Sendable {
    /// Members whose condition is false while the others are not all known.
    var rejected: Set<OperationID> = []
    /// True if a member has ended without a false condition.
    var hasOthers = false
    /// True once the result is certain: one condition is true, or all are known.
    var isOver = false
    /// The end of the group if no condition was true; nil if one was, or if some members ended otherwise.
    var verdict: (outcome: OperationOutcome, cause: OperationCause)?

    func renumbered(by renumbering: RowRenumbering) -> Jury {
        var jury = self
        jury.rejected = Set(rejected.compactMap { renumbering[$0] })
        if let (outcome, cause) = verdict { jury.verdict = (outcome, cause.renumbered(by: renumbering)) }
        return jury
    }
}

extension OperationScheduler {
    /// Called for a member without a condition, with a true one, or with one that fails it: from then on a false
    /// condition skips only its own row.
    mutating func accept(_ id: OperationID) {
        let group = parent(of: id)
        guard juries[group]?.isOver != true else { return }
        let rejected = juries[group]?.rejected ?? []
        juries[group] = Jury(isOver: true)
        for id in rejected.sorted() { settle(id, verdict: .skipped, cause: .condition) }
    }

    /// Keeps a member whose condition is false until another is true or all are known.
    mutating func reject(_ id: OperationID) {
        let group = parent(of: id)
        guard juries[group]?.isOver != true else { return settle(id, verdict: .skipped, cause: .condition) }
        move(id, to: .rejected)
        juries[group, default: Jury()].rejected.insert(id)
        judge(group)
    }

    /// A member has ended, perhaps before its condition was asked.
    mutating func noteEnd(ofJudged id: OperationID, in group: OperationID) {
        guard juries[group]?.isOver != true else { return }
        juries[group, default: Jury()].hasOthers = true
        juries[group]?.rejected.remove(id)
        judge(group)
    }

    /// If all remaining members have a false condition, they end as the group would with one.
    mutating func judge(_ group: OperationID) {
        let index = groupIndex(of: group)
        guard let jury = juries[group], !jury.rejected.isEmpty, states[group.row].phase == .executing,
            groups[index].verdict == nil, jury.rejected.count == groups[index].unfinishedMembers
        else { return }
        let (outcome, cause) = verdictIfFalse(of: group)
        juries[group] = Jury(isOver: true, verdict: jury.hasOthers ? nil : (outcome, cause))
        for id in jury.rejected.sorted() { settle(id, verdict: outcome, cause: cause) }
    }

    /// The end of a group if no member has a true condition; nil for a group without members, unless one of its needs
    /// has failed.
    func judgement(of group: OperationID) -> (outcome: OperationOutcome, cause: OperationCause)? {
        guard has(group, .judgesMembers), hasStarted(group) else { return nil }
        if let jury = juries[group] { return jury.verdict }
        let (outcome, cause) = verdictIfFalse(of: group)
        return outcome == .notRun ? (outcome, cause) : nil
    }
}
