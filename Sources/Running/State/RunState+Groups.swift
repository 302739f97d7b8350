internal import Planning
internal import RunLog
internal import Scheduling
internal import Workflow

// Groups from their start to their stop, and their rounds.
extension RunState {
    /// A group begins its round number `round`, counted by the scheduler; nil for the run itself.
    mutating func groupHasStarted(_ row: PlanIndex, round: Int, at time: Duration) -> RunEvent.Kind? {
        if round > 0 {
            beginRound(of: row)
        } else {
            groups[row, default: GroupProgress()].start = time
            if plan.hasRounds(row), groups[row]?.round == nil { groups[row]?.round = 0 }
        }
        return row == .root ? nil : .groupStarted(group: plan.nodes[row].id)
    }

    /// The one reset: a new round begins, and nothing of the rounds before it counts any more.
    private mutating func beginRound(of group: PlanIndex) {
        let inside = plan.rows(inside: group)
        for row in inside where plan.isStep(row) || countedFanOuts.remove(row) != nil {
            if let outcome = outcomes[row] { counts[StepOutcome(outcome)] -= 1 }
        }
        let isGone: (PlanIndex) -> Bool = { [plan] in $0 == group || plan.isInside($0, group) }
        let failed = failures.filter { isGone($0.row) }
        let before = failed.isEmpty ? groups[group]?.failuresBefore ?? [] : failed
        failures.removeAll { isGone($0.row) }
        toleratedRows.removeAll(where: isGone)
        var next = group
        while next != .root {
            next = plan.parent(of: next)
            groups[next]?.errors.removeAll { isGone($0.row) }
            groups[next]?.cancelled.removeAll(where: isGone)
            groups[next]?.notRun.removeAll(where: isGone)
        }
        let request = notes[group]?.request
        let start = groups[group]?.start
        for row in inside + [group] {
            outcomes[row] = nil
            notes[row] = nil
            // Of groups inside, too, so that no step has the same round twice.
            let round = plan.hasRounds(row) ? (groups[row]?.round ?? 0) + 1 : nil
            groups[row] = round.map { GroupProgress(round: $0) }
            if let round, row >= firstAdded { nextRounds[plan.nodes[row].id] = round }
        }
        if let request { notes[group] = RowNote(request: request) }
        groups[group, default: GroupProgress()].start = start
        groups[group]?.failuresBefore = before
    }

    /// The round of a group was stopped before anything in it began, so that the one before was the last. Returns the
    /// cause of that one's end if a member was it.
    mutating func holdRoundBefore(of group: PlanIndex, failedBy cause: OperationCause) -> Cause? {
        let before = groups[group]?.failuresBefore ?? []
        for (row, failure) in before { noteFailure(row, failure) }
        guard case .member(let member) = cause, let first = before.first else { return nil }
        let row = member.planIndex
        let own = before.first { $0.row == row || plan.isInside($0.row, row) } ?? first
        let verb = own.failure.outcome == .timeout ? "timed out" : "failed"
        return self.cause(.member, verb, row, own.failure.cause)
    }

    /// A group is stopped as a whole; of the run, `source` says who stops it and `asked` which steps are asked to end.
    mutating func groupIsStopping(
        _ row: PlanIndex, _ cause: OperationCause, by source: String, asking asked: [PlanIndex]
    ) -> RunEvent.Kind {
        let isOwnTimeout = cause.isTimeout(of: row)
        let known = groups[row]?.stop
        groups[row, default: GroupProgress()].stop = known ?? (isOwnTimeout ? .timeout : .cancelled)
        let traced = link(row, .cancelled, cause)
        if isOwnTimeout { noteFailure(row, failure(of: row, .timeout, traced)) }
        guard row == .root else { return .groupCancelRequested(group: plan.nodes[row].id, cause: traced) }
        return .runCancelRequested(
            RunStopping { stopping in
                stopping.source = source
                stopping.cause = traced
                stopping.steps = asked.map { plan.nodes[$0].id }
                stopping.grace = asked.map { plan.grace(of: $0) }.max()
            })
    }

    /// An attempt of a step or a round of a group, number `ended`, is over, and there will be another.
    func isRetried(_ row: PlanIndex, ended: Int, delay: Duration) -> RunEvent.Kind {
        // The results of this round stay until the next one begins, because the group may end before that.
        plan.isStep(row)
            ? .stepRetry(step: plan.nodes[row].id, attempt: ended, delay: delay)
            : .groupRetry(group: plan.nodes[row].id, round: groups[row]?.round ?? ended, delay: delay)
    }

    /// Which time the nearest group around a row that may be retried runs; nil if there is none.
    func round(of row: PlanIndex) -> Int? {
        guard hasRounds else { return nil }
        var next = row
        while next != .root {
            next = plan.parent(of: next)
            if let round = groups[next]?.round { return round }
        }
        return nil
    }

    /// The round that an event about a row belongs to: of a group that may be tried again, its own.
    func round(about row: PlanIndex) -> Int? { hasRounds ? groups[row]?.round ?? round(of: row) : nil }

    /// Makes the instances of a dynamic fan-out; returns their rows. `isHidden` as in `FanOut.instances`.
    mutating func expand(
        _ row: PlanIndex, over items: Value, isHidden: (String) -> Bool
    ) throws(FanOut.ItemError) -> Range<PlanIndex> {
        guard let fanOut = plan.settings(of: row)?.fanOut else { return .root ..< .root }
        let rows = plan.expand(row, into: try fanOut.instances(over: items, isHidden: isHidden))
        groups[row, default: GroupProgress()].isExpanded = true
        outcomes.append(contentsOf: repeatElement(nil, count: rows.count))
        if hasRounds {
            for row in rows where plan.hasRounds(row) {
                groups[row] = GroupProgress(round: nextRounds[plan.nodes[row].id] ?? 0)
            }
        }
        return rows
    }
}

extension OperationCause {
    fileprivate func isTimeout(of row: PlanIndex) -> Bool {
        self == .deadline(OperationID(row)) || self == .retryDeadline(OperationID(row))
    }
}
