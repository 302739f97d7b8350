// Members whose conditions are judged together: the copies of a fan-out that have one each.

/// What is known of the conditions of such members.
struct Jury: Sendable {
    /// Those whose condition is false, while it is not known what that means.
    var rejected: Set<OperationID> = []
    /// Whether one of them has ended without having been found false.
    var hasOthers = false
    /// Whether it is known: one is true, or all have been told.
    var isOver = false
    /// What the group comes to because none was true; nil where one was, or some ended otherwise.
    var verdict: (outcome: OperationOutcome, cause: OperationCause)?

    func renumbered(by renumbering: RowRenumbering) -> Jury {
        var jury = self
        jury.rejected = Set(rejected.compactMap { renumbering[$0] })
        if let (outcome, cause) = verdict { jury.verdict = (outcome, cause.renumbered(by: renumbering)) }
        return jury
    }
}

extension OperationScheduler {
    /// A member has no condition or a true one, or one that cannot be told, which fails it: then a false one skips its
    /// own row only.
    mutating func accept(_ id: OperationID) {
        let group = parent(of: id)
        guard juries[group]?.isOver != true else { return }
        let rejected = juries[group]?.rejected ?? []
        juries[group] = Jury(isOver: true)
        for id in rejected.sorted() { settle(id, verdict: .skipped, cause: .condition) }
    }

    /// A condition is false: it is seen what that means when one of the others is true, or all are known.
    mutating func reject(_ id: OperationID) {
        let group = parent(of: id)
        guard juries[group]?.isOver != true else { return settle(id, verdict: .skipped, cause: .condition) }
        move(id, to: .rejected)
        juries[group, default: Jury()].rejected.insert(id)
        judge(group)
    }

    /// A member has ended, perhaps without having been asked.
    mutating func noteEnd(ofJudged id: OperationID, in group: OperationID) {
        guard juries[group]?.isOver != true else { return }
        juries[group, default: Jury()].hasOthers = true
        juries[group]?.rejected.remove(id)
        judge(group)
    }

    /// Where all members that are left are known to be false, they end as the group would by such a condition.
    mutating func judge(_ group: OperationID) {
        let index = groupIndex(of: group)
        guard let jury = juries[group], !jury.rejected.isEmpty, states[group.row].phase == .executing,
            groups[index].verdict == nil, jury.rejected.count == groups[index].unfinishedMembers
        else { return }
        let (outcome, cause) = verdictIfFalse(of: group)
        juries[group] = Jury(isOver: true, verdict: jury.hasOthers ? nil : (outcome, cause))
        for id in jury.rejected.sorted() { settle(id, verdict: outcome, cause: cause) }
    }

    /// What a group comes to none of whose members has a true condition. One without members has had nothing to do,
    /// unless something that it needs has failed.
    func judgement(of group: OperationID) -> (outcome: OperationOutcome, cause: OperationCause)? {
        guard has(group, .judgesMembers), hasStarted(group) else { return nil }
        if let jury = juries[group] { return jury.verdict }
        let (outcome, cause) = verdictIfFalse(of: group)
        return outcome == .notRun ? (outcome, cause) : nil
    }
}
