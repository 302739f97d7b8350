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
    private(set) var plan: Plan
    let options: RunOptions
    /// True if any group may be tried again.
    private let hasRounds: Bool
    /// By row; nil before the end.
    private var outcomes: [OperationOutcome?]
    private var notes: [PlanIndex: RowNote] = [:]
    private var groups: [PlanIndex: GroupProgress] = [:]
    /// The first row that the run has added.
    private let firstAdded: PlanIndex
    /// By the id of an added instance that is a new row in each enclosing round: its next round.
    private var nextRounds: [String: Int] = [:]
    /// The numbers of ended steps by outcome, including fan-outs that ended before their instances were known.
    private(set) var counts = OutcomeCounts()
    /// The fan-outs that count like a step, because they ended before their instances were known.
    private var countedFanOuts: Set<PlanIndex> = []
    private var failures: [(row: PlanIndex, failure: RunFinished.Failure)] = []
    private var toleratedRows: [PlanIndex] = []

    init(_ plan: Plan, options: RunOptions) {
        self.plan = plan
        self.options = options
        hasRounds = plan.workflow.nodes.contains { $0.isGroup && $0.settings?.keys.contains(.retry) == true }
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

    /// Returns the progress of a group that runs or may be tried again; nil for any other.
    func progress(of group: PlanIndex) -> GroupProgress? { groups[group] }

    /// Returns the end of the output of the command of `vars` that made a row fail; nil if none did.
    func tail(of row: PlanIndex) -> OutputTail? { notes[row]?.tail }

    /// Returns the harm of everything that ruled a row out; nil for a row about which nothing is noted.
    func roots(of row: PlanIndex) -> Harm? { notes[row]?.roots }

    /// Returns the members of a group that have failed or timed out by themselves, without those tolerated there.
    func rootFailures(in group: PlanIndex) -> [RootFailure] { groups[group]?.errors ?? [] }

    var errors: [RunFinished.Failure] { failures.map(\.failure) }
    var tolerated: [String] { toleratedRows.map { plan.nodes[$0].id } }
}

// The ends of steps and groups.
extension RunState {
    /// Notes the end of a step; returns the event that reports it. `attempt` is nil if there was none.
    mutating func stepHasFinished(
        _ row: PlanIndex, _ outcome: OperationOutcome, _ cause: OperationCause, _ attempt: AttemptEnd?
    ) -> RunEvent.Kind {
        var traced = finish(row, outcome, cause)
        if let remaining = attempt?.ending?.remaining, outcome != .failure, let reason = traced {
            // It was asked to end, for the reason in the next link, and did not.
            traced = self.cause(.lost, StepError(losing: remaining).message, row, reason)
            notes[row, default: RowNote()].cause = traced
        }
        let outcome = StepOutcome(outcome)
        counts[outcome] += 1
        if outcome.isFailure {
            let cause = traced ?? Cause(kind: .lost, message: "ended without a reason", subject: .run)
            noteFailure(row, failure(of: row, outcome, cause, attempt))
        } else {
            noteAbsence(of: row, outcome)
        }
        return stepEnd(row, outcome, traced, attempt)
    }

    /// Notes the end of a group; returns the event that reports it. Returns nil for the run itself, whose end
    /// `runHasFinished` reports.
    mutating func groupHasFinished(
        _ row: PlanIndex, _ outcome: OperationOutcome, _ cause: OperationCause, at time: Duration
    ) -> RunEvent.Kind? {
        let isOwnFailure = outcome == .failure && (cause == .itself || cause == .condition)
        guard row != .root else {
            outcomes[.root] = outcome
            if isOwnFailure, let cause = self.cause(of: .root) {
                noteFailure(.root, failure(of: .root, .failure, cause))
            }
            return nil
        }
        var traced = finish(row, outcome, cause)
        if isHeld(row, outcome, cause) {
            traced = holdRoundBefore(of: row, failedBy: cause) ?? traced
            notes[row, default: RowNote()].cause = traced
        }
        // Its condition, its instances or its outputs could not be determined.
        if isOwnFailure, let traced { noteFailure(row, failure(of: row, .failure, traced)) }
        let outcome = StepOutcome(outcome)
        if !isExpanded(row, outcome, groups[row]) { countFanOut(row, outcome) }
        let progress = groups[row]
        groups[row] = progress?.round.map { GroupProgress(round: $0) }
        return groupEnd(row, outcome, traced, progress, at: time)
    }

    /// Returns true if a group ends like its previous round: nothing inside has failed in this one.
    private func isHeld(_ group: PlanIndex, _ outcome: OperationOutcome, _ cause: OperationCause) -> Bool {
        guard outcome == .failure || outcome == .timeout, groups[group]?.failuresBefore.isEmpty == false else {
            return false
        }
        switch cause {
        case .member(let member):
            let end = outcomes[member.planIndex]
            return end != .failure && end != .timeout
        case .deadline, .retryDeadline: return groups[group]?.stop != .timeout
        default: return false
        }
    }

    /// Counts a fan-out that ended before its instances were known, in their place.
    private mutating func countFanOut(_ row: PlanIndex, _ outcome: StepOutcome) {
        countedFanOuts.insert(row)
        counts[outcome] += 1
        noteAbsence(of: row, outcome)
    }

    /// Notes, in each enclosing group, a row that was cancelled or not run.
    private mutating func noteAbsence(of row: PlanIndex, _ outcome: StepOutcome) {
        if outcome == .cancelled { forEachGroup(around: row) { $0.cancelled.append(row) } }
        if outcome == .notRun { forEachGroup(around: row) { $0.notRun.append(row) } }
    }

    /// Notes the end of a step or group; returns its cause, nil for a success.
    private mutating func finish(_ row: PlanIndex, _ outcome: OperationOutcome, _ cause: OperationCause) -> Cause? {
        outcomes[row] = outcome
        guard outcome != .success else {
            if !notes.isEmpty, notes[row]?.cause != nil { notes[row]?.cause = nil }
            return nil
        }
        defer { noteHarm(of: row) }
        if case .failFast(let failed) = cause, outcome == .notRun { noteDrain(of: row, after: failed.planIndex) }
        if outcome == .notRun { notes[row, default: RowNote()].roots = roots(of: row, ruledOutBy: cause) }
        if outcome == .failure, cause == .itself || cause == .condition { return notes[row]?.cause }
        if case .dependency(let prerequisite) = cause, outcome == .notRun {
            notes[row, default: RowNote()].blamed = blamed(for: prerequisite.planIndex) ?? prerequisite.planIndex
        }
        if case .member(let member) = cause, outcome == .notRun {
            notes[row, default: RowNote()].blamed = blamed(for: member.planIndex)
        }
        let traced = link(row, outcome, cause)
        notes[row, default: RowNote()].cause = traced
        return traced
    }

    /// Records the row's harm in its sequence, for all later members.
    private mutating func noteHarm(of row: PlanIndex) {
        let parent = plan.parent(of: row)
        guard plan.isSequence(parent), plan.nodes[row].hook == nil else { return }
        let harm = harm(of: row)
        if !harm.isEmpty { groups[parent, default: GroupProgress()].harm.note(row, harm) }
    }

    private mutating func noteDrain(of row: PlanIndex, after failed: PlanIndex) {
        var group = plan.parent(of: row)
        while group != .root, !plan.isInside(failed, group), groups[group]?.isDrained != true {
            groups[group, default: GroupProgress()].isDrained = true
            group = plan.parent(of: group)
        }
    }

    private mutating func forEachGroup(around row: PlanIndex, _ body: (inout GroupProgress) -> Void) {
        var next = row
        repeat {
            next = plan.parent(of: next)
            body(&groups[next, default: GroupProgress()])
        } while next != .root
    }

    /// Notes a failure or timeout of a step, or of a group or the run that has one of its own.
    private mutating func noteFailure(_ row: PlanIndex, _ failure: RunFinished.Failure) {
        if isTolerated(row) { toleratedRows.append(row) } else { failures.append((row, failure)) }
        guard row != .root, !plan.toleratesFailure(of: row) else { return }
        var next = row
        repeat {
            next = plan.parent(of: next)
            groups[next, default: GroupProgress()].errors.append(
                RootFailure(row: row, isTimeout: failure.outcome == .timeout))
        } while next != .root && !plan.toleratesFailure(of: next)
    }

    /// Marks the run as lost, whatever the outcomes of its steps: nothing can happen any more.
    mutating func runIsLost(_ message: String) {
        noteFailure(.root, failure(of: .root, .cancelled, Cause(kind: .lost, message: message, subject: .run)))
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
    private mutating func holdRoundBefore(of group: PlanIndex, failedBy cause: OperationCause) -> Cause? {
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
                stopping.finally = plan.rows.contains { plan.nodes[$0].hook == .finally && outcome(of: $0) == nil }
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
        return expand(row, into: try fanOut.instances(over: items, isHidden: isHidden))
    }

    mutating func expand(_ row: PlanIndex, into instances: [FanOut.Instance]) -> Range<PlanIndex> {
        let rows = plan.expand(row, into: instances)
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

    /// Notes the results of an attempt, and the reason of its failure. `standardOutput` is nil if nothing reads it.
    mutating func attemptHasEnded(_ row: PlanIndex, _ end: AttemptEnd, standardOutput: [UInt8]?) {
        var result = RowResult(status: end.exitStatus, outputs: end.outputs)
        if result.status != .exited(0) { result.shellStatus = end.shellStatus }
        result.standardOutput = standardOutput
        noteResult(of: row, result)
        if let error = end.error {
            noteFailure(of: row, error.kind, error.message, because: error.failure)
        } else if let ending = end.ending, !end.isSuccess {
            let status = ExitStatus(ending.status)
            let words = ending.isOutOfMemory ? "\(status), out of memory" : "\(status)"
            noteFailure(
                of: row, status.exitCode == nil ? .signal : .exit,
                end.command.flatMap(\.words).map { "\(words) \($0)" } ?? words, at: end.command)
        }
    }

    mutating func noteResult(of row: PlanIndex, _ result: RowResult) {
        if result.isPlain, notes.isEmpty || notes[row] == nil { return }
        notes[row, default: RowNote()].result = result
    }
}
