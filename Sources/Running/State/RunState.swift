internal import Planning
internal import Processes
internal import RunLog
internal import Scheduling
internal import Syntax
internal import Workflow

/// The progress of a run: the plan, which grows while the run goes on, and the outcome of every row.
///
/// Its methods take the scheduler's decisions and answer with the event to record. A value: nothing else of a run
/// knows an outcome, a cause or a round. A row takes one byte; only one with more than its outcome, or a group that
/// runs, has an entry in one of the side tables.
struct RunState {
    var plan: Plan
    let options: RunOptions
    /// True if any group may be tried again.
    let hasRounds: Bool
    /// By row; nil before the end.
    var outcomes: [OperationOutcome?]
    var notes: [PlanIndex: RowNote] = [:]
    var groups: [PlanIndex: GroupProgress] = [:]
    /// The first row that the run has added.
    let firstAdded: PlanIndex
    /// By the id of an added instance that is a new row in each enclosing round: its next round.
    var nextRounds: [String: Int] = [:]
    /// The numbers of ended steps by outcome, including fan-outs that ended before their instances were known.
    var counts = OutcomeCounts()
    /// The fan-outs that count like a step, because they ended before their instances were known.
    var countedFanOuts: Set<PlanIndex> = []
    var failures: [(row: PlanIndex, failure: RunFinished.Failure)] = []
    var toleratedRows: [PlanIndex] = []

    init(_ plan: Plan, options: RunOptions) {
        self.plan = plan
        self.options = options
        hasRounds = plan.workflow.nodes.contains { $0.isGroup && $0.settings?.retry != nil }
        outcomes = Array(repeating: nil, count: plan.nodes.count)
        firstAdded = PlanIndex(plan.nodes.count)
    }

    // MARK: Reading

    /// nil before the end.
    func outcome(of row: PlanIndex) -> OperationOutcome? { outcomes[row] }

    func result(of row: PlanIndex) -> RowResult { notes.isEmpty ? RowResult() : notes[row]?.result ?? RowResult() }

    /// Returns the reason why a row did not succeed, or how its work has failed; nil otherwise.
    func cause(of row: PlanIndex) -> Cause? { notes[row]?.cause }

    /// Returns the row that ruled out a row that was not run; nil for others, and if `drain` did.
    func blamed(for row: PlanIndex) -> PlanIndex? { notes[row]?.blamed }

    /// Returns the request to end a row, in words; nil if there is none.
    func request(for row: PlanIndex) -> String? { notes[row]?.request }

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

    /// Returns the outcome with which a group was stopped as a whole; nil if it was not.
    func stop(of group: PlanIndex) -> OperationOutcome? { groups[group]?.stop }

    /// Returns the current round of a group, from 0; nil before its start and after its end.
    func runningRound(of group: PlanIndex) -> Int? { groups[group].flatMap { $0.start == nil ? nil : $0.round ?? 0 } }

    /// Returns true if something in a group has not run though nothing in the group failed: it was not chosen, or
    /// drained. Manual members count as present: their readers know that they may be missing. O(rows inside).
    func isIncomplete(_ group: PlanIndex) -> Bool {
        groups[group]?.isDrained == true
            || ([group] + plan.rows(inside: group)).contains { row in
                plan.nodes[row].role == .group
                    && plan.leftOut(of: row).contains { plan.workflow.settings(of: $0)?.isManual != true }
            }
    }
}

// Groups from their start to their stop, and their rounds.
extension RunState {
    /// Notes that a group begins its round number `round`, counted by the scheduler. Returns nil for the run itself.
    mutating func groupHasStarted(_ row: PlanIndex, round: Int, at time: Duration) -> RunEvent.Kind? {
        if round > 0 {
            beginRound(of: row)
        } else {
            groups[row, default: GroupProgress()].start = time
            if plan.hasRounds(row), groups[row]?.round == nil { groups[row]?.round = 0 }
        }
        return row == .root ? nil : .groupStarted(GroupStarted { $0.group = plan.nodes[row].id })
    }

    /// Begins a new round. This is the only reset: nothing of earlier rounds counts any more.
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
            // Groups inside, too, so that no step has the same round twice.
            let round = plan.hasRounds(row) ? (groups[row]?.round ?? 0) + 1 : nil
            groups[row] = round.map { GroupProgress(round: $0) }
            if let round, row >= firstAdded { nextRounds[plan.nodes[row].id] = round }
        }
        if let request { notes[group] = RowNote(request: request) }
        groups[group, default: GroupProgress()].start = start
        groups[group]?.failuresBefore = before
    }

    /// Notes the failures of the previous round again: this one was stopped before anything in it began, so that the
    /// previous one was the last. Returns the cause of its end if a member was it.
    mutating func holdRoundBefore(of group: PlanIndex, failedBy cause: OperationCause) -> Cause? {
        let before = groups[group]?.failuresBefore ?? []
        for (row, failure) in before { noteFailure(row, failure) }
        guard case .member(let member) = cause, let first = before.first else { return nil }
        let row = member.planIndex
        let own = before.first { $0.row == row || plan.isInside($0.row, row) } ?? first
        let verb = own.failure.outcome == .timeout ? "timed out" : "failed"
        return self.cause(.member, verb, row, own.failure.cause)
    }

    /// Notes that a group is stopped as a whole. For the run, `source` is the origin of the stop, and `asked` are the
    /// steps that are asked to end.
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

    /// Returns the event for the end of an attempt of a step or a round of a group, number `ended`, that another one
    /// follows.
    func isRetried(_ row: PlanIndex, ended: Int, delay: Duration) -> RunEvent.Kind {
        // The results of this round stay until the next one begins, because the group may end before that.
        guard plan.isStep(row) else {
            return .groupRetry(
                GroupRetry { retry in
                    retry.group = plan.nodes[row].id
                    retry.round = groups[row]?.round ?? ended
                    retry.delay = delay
                })
        }
        return .stepRetry(
            StepRetry { retry in
                retry.step = plan.nodes[row].id
                retry.attempt = ended
                retry.delay = delay
            })
    }

    /// Returns the round of the nearest enclosing group that may be retried; nil if there is none.
    func round(of row: PlanIndex) -> Int? {
        guard hasRounds else { return nil }
        var next = row
        while next != .root {
            next = plan.parent(of: next)
            if let round = groups[next]?.round { return round }
        }
        return nil
    }

    /// Returns the round that an event about a row belongs to: of a group that may be tried again, its own.
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

// Notes taken during the run.
extension RunState {
    /// Notes the request to end a row; the first one counts.
    mutating func noteRequest(for row: PlanIndex, _ message: String) {
        let known = notes[row]?.request
        notes[row, default: RowNote()].request = known ?? message
    }

    /// Notes the failure of the work of a step, or of a group by itself. `command` is the place to blame, if it is
    /// known better than by the row; `failure` is that of one of `vars`.
    mutating func noteFailure(
        of row: PlanIndex, _ kind: Cause.Kind, _ message: String, at command: FailedCommand? = nil,
        because failure: SharedFailure? = nil, place: SourceRange? = nil
    ) {
        let message = options.secrets.masked(message)
        notes[row, default: RowNote()].cause =
            place.map { cause(kind, message, row, at: $0) } ?? cause(kind, message, row, failure?.cause, at: command)
        notes[row]?.tail = failure?.tail
    }

    /// Notes the false condition of a row before anything inside the row shares its fate.
    mutating func noteFalseCondition(of row: PlanIndex) {
        notes[row, default: RowNote()].cause = falseCondition(of: row)
    }

    mutating func noteResult(of row: PlanIndex, _ result: RowResult) {
        if result.isPlain, notes.isEmpty || notes[row] == nil { return }
        notes[row, default: RowNote()].result = result
    }
}

/// A step or group that has failed or timed out by itself.
struct RootFailure {
    let row: PlanIndex
    let isTimeout: Bool
}

/// A group from its start to its end, and beyond if it may be tried again.
struct GroupProgress {
    /// The current round, from 0; nil if it runs once.
    var round: Int?
    /// nil before its start.
    var start: Duration?
    /// The outcome with which it was stopped as a whole; nil if it was not.
    var stop: OperationOutcome?
    /// True if `drain` has ruled something out in it, although the failure is outside.
    var isDrained = false
    /// True if the instances of a dynamic fan-out are known.
    var isExpanded = false
    /// For a sequence: the effect of its members on later ones.
    var harm = SequenceHarm()
    /// Steps inside, at any depth, and groups with a failure of their own, in the order of their ends.
    var errors: [RootFailure] = []
    var cancelled: [PlanIndex] = []
    var notRun: [PlanIndex] = []
    /// The failures inside in the previous round, tolerated ones excluded: they count again if this round is stopped
    /// before anything in it begins.
    var failuresBefore: [(row: PlanIndex, failure: RunFinished.Failure)] = []
}

/// The facts about a row besides its outcome.
struct RowNote {
    /// The request to end it, in words; at the root, to end the whole run.
    var request: String?
    /// The reason why it did not succeed. Before its end: the failure of its work.
    var cause: Cause?
    /// For a row that was not run: the row to blame, so that a chain of a thousand victims stays two links long.
    var blamed: PlanIndex?
    /// For a row that was not run: the harm of everything that ruled it out.
    var roots: Harm = []
    var result = RowResult()
    /// The end of the output of the command of `vars` that made it fail.
    var tail: OutputTail?
}

/// The results of a step or group besides its outcome, as expressions read them.
struct RowResult {
    /// The status of a step's last attempt; nil if no process ended.
    var status: ExitStatus?
    /// The status that a shell would show, which also covers a program that could not be started.
    var shellStatus: ExitStatus?
    var outputs: [Value.Field] = []
    /// Kept only if an expression names it; otherwise nil.
    var standardOutput: [UInt8]?

    /// True if it is the result of every plain success, so that it need not be kept.
    var isPlain: Bool { status == .exited(0) && outputs.isEmpty && standardOutput == nil }
}
