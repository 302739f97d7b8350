internal import OperationScheduling
internal import ProcessExecution
internal import RunEvents
internal import SourceDiagnostics
internal import WorkflowModel
internal import WorkflowPlanning

/// How far a run has come: the plan, which grows while the run goes on, and the outcome of every row.
///
/// Its methods take what the scheduler decides and answer with the event to record. A value: nothing else of a run
/// knows an outcome, a cause or a round. A row takes one byte; only one that has more to say than its outcome, or is a
/// group that runs, has an entry in one of the side tables.
struct RunState {
    /// What a step or group hands on beside its outcome, as expressions read it.
    struct Result {
        /// Of a step's last attempt; nil if no process ended.
        var status: ExitStatus?
        /// What a shell would show of it, which knows a program that could not be started, too.
        var shellStatus: ExitStatus?
        var outputs: [Value.Field] = []
        /// Kept only where an expression names it; nil elsewhere.
        var standardOutput: [UInt8]?

        /// Whether it is what every plain success has, so that it need not be kept.
        var isPlain: Bool { status == .exited(0) && outputs.isEmpty && standardOutput == nil }
    }

    /// How the last attempt of a step ended, for the log.
    struct AttemptEnd {
        /// The number of the last attempt that had a process, this one or one before; 0 if none had.
        let lastStarted: Int
        /// nil if there was no process.
        let ending: ProcessEnding?
        /// The failed system call's error number if the process could not be started.
        let errno: Int32?
        let outputBytes: Int
        let tail: OutputTail
        /// The command at which its script failed; nil if that is not known.
        let command: FailedCommand?
        /// Whether its result is that of an earlier run.
        let isRestored: Bool
        /// A digest of what decides what it does; nil where nobody asks.
        let definition: String?
    }

    /// What a row has to say beside its outcome.
    private struct Note {
        /// Who asked for its end; of the whole run at the root.
        var request: String?
        /// Why it did not succeed. Before its end: how its work failed.
        var cause: Cause?
        /// Of a row that was not run: the row to blame, so that a chain of a thousand victims stays two links long.
        var blamed: PlanIndex?
        var result = Result()
        /// The end of what was written by the command of `vars` that failed it.
        var tail: OutputTail?
    }

    /// A group from its start to its end, and after it if it may be tried again.
    private struct Group {
        /// Which time it runs, from 0; nil if it runs once.
        var round: Int?
        /// nil before its start.
        var start: Duration?
        /// The outcome that it was stopped with as a whole; nil if it was not.
        var stop: OperationOutcome?
        /// Whether `drain` has ruled something out in it, though what failed stands outside.
        var isDrained = false
        /// Of a dynamic fan-out: whether its copies are known.
        var isExpanded = false
        /// Steps inside, at any depth, in the order of their ends.
        var errors: [PlanIndex] = []
        var cancelled: [PlanIndex] = []
        var notRun: [PlanIndex] = []
    }

    private(set) var plan: Plan
    let options: RunOptions
    /// Whether any group may be tried again.
    private let hasRounds: Bool
    /// By row; nil before the end.
    private var outcomes: [OperationOutcome?]
    private var notes: [PlanIndex: Note] = [:]
    private var groups: [PlanIndex: Group] = [:]
    /// The first row that the run has added.
    private let firstAdded: PlanIndex
    /// By the id of an added copy that is a new row in each round around it: its next round.
    private var nextRounds: [String: Int] = [:]
    /// How many steps have ended, by outcome, and fan-outs before their copies were known.
    private(set) var counts = OutcomeCounts()
    /// The fan-outs that count like a step, because they ended before their copies were known.
    private var countedFanOuts: Set<PlanIndex> = []
    private var failures: [(row: PlanIndex, failure: RunFinished.Failure)] = []
    private var toleratedRows: [PlanIndex] = []

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

    func result(of row: PlanIndex) -> Result { notes.isEmpty ? Result() : notes[row]?.result ?? Result() }

    /// Why a row did not succeed, or how its work has failed; nil otherwise.
    func cause(of row: PlanIndex) -> Cause? { notes[row]?.cause }

    /// Of a row that was not run: the row that ruled it out; nil elsewhere, and where `drain` did.
    func blamed(for row: PlanIndex) -> PlanIndex? { notes[row]?.blamed }

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

    /// Who asked for the end of a row; nil if nobody did.
    func request(for row: PlanIndex) -> String? { notes[row]?.request }

    /// Whether somebody asked for the end of a row, or of a group around it short of the run; a hook goes on when its
    /// group is stopped.
    func hasRequest(around row: PlanIndex) -> Bool {
        var next = row
        while next != .root {
            if request(for: next) != nil { return true }
            guard plan.nodes[next].hook == nil else { return false }
            next = plan.parent(of: next)
        }
        return false
    }

    /// How a group was stopped as a whole; nil if it was not.
    func stop(of group: PlanIndex) -> OperationOutcome? { groups[group]?.stop }

    /// Whether something in a group has not run though nothing in the group failed: it was not chosen, or drained. What
    /// is manual counts as there: whoever reads it knows that it may be missing. O(rows inside).
    func isIncomplete(_ group: PlanIndex) -> Bool {
        groups[group]?.isDrained == true
            || ([group] + plan.rows(inside: group)).contains { row in
                plan.nodes[row].role == .group
                    && plan.leftOut(of: row).contains { plan.workflow.settings(of: $0)?.isManual != true }
            }
    }

    /// The first step inside a group that failed or timed out; nil if none did.
    func firstError(in group: PlanIndex) -> PlanIndex? { groups[group]?.errors.first }

    var errors: [RunFinished.Failure] { failures.map(\.failure) }
    var tolerated: [String] { toleratedRows.map { plan.nodes[$0].id } }

    /// Whether a failure of this row stays inside something that continues on errors.
    func isTolerated(_ row: PlanIndex) -> Bool {
        var next = row
        while next != .root {
            if plan.toleratesFailure(of: next) { return true }
            next = plan.parent(of: next)
        }
        return false
    }

    // MARK: What is noted on the way

    /// Notes who asks for the end of a row; the first one counts.
    mutating func noteRequest(for row: PlanIndex, _ message: String) {
        let known = notes[row]?.request
        notes[row, default: Note()].request = known ?? message
    }

    /// Notes how the work of a step, or a group by itself, failed.
    /// `command` is the place to blame, where that is known better than by the row; `failure` is that of one of `vars`.
    mutating func noteFailure(
        of row: PlanIndex, _ kind: Cause.Kind, _ message: String, at command: FailedCommand? = nil,
        because failure: SharedFailure? = nil, place: SourceRange? = nil
    ) {
        let message = options.secrets.masked(message)
        notes[row, default: Note()].cause =
            place.map { cause(kind, message, row, at: $0) } ?? cause(kind, message, row, failure?.cause, at: command)
        notes[row]?.tail = failure?.tail
    }

    /// Notes which condition is false before anything inside the row shares its fate.
    mutating func noteFalseCondition(of row: PlanIndex) {
        notes[row, default: Note()].cause = falseCondition(of: row)
    }

    mutating func noteResult(of row: PlanIndex, _ result: Result) {
        if result.isPlain, notes.isEmpty || notes[row] == nil { return }
        notes[row, default: Note()].result = result
    }

    /// Makes the instances of a dynamic fan-out; returns their rows. `isHidden` as in `FanOut.instances`.
    mutating func expand(
        _ row: PlanIndex, over items: Value, isHidden: (String) -> Bool
    ) throws(FanOut.ItemError) -> Range<PlanIndex> {
        guard let fanOut = plan.settings(of: row)?.fanOut else { return .root ..< .root }
        let rows = plan.expand(row, into: try fanOut.instances(over: items, isHidden: isHidden))
        groups[row, default: Group()].isExpanded = true
        outcomes.append(contentsOf: repeatElement(nil, count: rows.count))
        if hasRounds {
            for row in rows where plan.hasRounds(row) {
                groups[row] = Group(round: nextRounds[plan.nodes[row].id] ?? 0)
            }
        }
        return rows
    }

    // MARK: What happens

    /// A group begins its round number `round`, counted by the scheduler; nil for the run itself.
    mutating func groupHasStarted(_ row: PlanIndex, round: Int, at time: Duration) -> RunEvent.Kind? {
        if round > 0 {
            beginRound(of: row)
        } else {
            groups[row, default: Group()].start = time
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
        failures.removeAll { isGone($0.row) }
        toleratedRows.removeAll(where: isGone)
        var next = group
        while next != .root {
            next = plan.parent(of: next)
            groups[next]?.errors.removeAll(where: isGone)
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
            groups[row] = round.map { Group(round: $0) }
            if let round, row >= firstAdded { nextRounds[plan.nodes[row].id] = round }
        }
        if let request { notes[group] = Note(request: request) }
        groups[group, default: Group()].start = start
    }

    /// A group is stopped as a whole; of the run, `source` says who stops it and `asked` which steps are asked to end.
    mutating func groupIsStopping(
        _ row: PlanIndex, _ cause: OperationCause, by source: String, asking asked: [PlanIndex]
    ) -> RunEvent.Kind {
        let isOwnTimeout = cause.isTimeout(of: row)
        let known = groups[row]?.stop
        groups[row, default: Group()].stop = known ?? (isOwnTimeout ? .timeout : .cancelled)
        let traced = link(row, .cancelled, cause)
        if isOwnTimeout { noteFailure(row, failure(of: row, .timeout, traced)) }
        guard row == .root else { return .groupCancelRequested(group: plan.nodes[row].id, cause: traced) }
        return .runCancelRequested(
            RunStopping(
                source: source, cause: traced, steps: asked.map { plan.nodes[$0].id },
                grace: asked.map { plan.grace(of: $0) }.max()))
    }

    /// An attempt of a step or a round of a group, number `ended`, is over, and there will be another.
    func isRetried(_ row: PlanIndex, ended: Int, delay: Duration) -> RunEvent.Kind {
        // The results of this round stay until the next one begins, because the group may end before that.
        plan.isStep(row)
            ? .stepRetry(step: plan.nodes[row].id, attempt: ended, delay: delay)
            : .groupRetry(group: plan.nodes[row].id, round: groups[row]?.round ?? ended, delay: delay)
    }

    mutating func stepHasFinished(
        _ row: PlanIndex, _ outcome: OperationOutcome, _ cause: OperationCause, _ attempt: AttemptEnd?
    ) -> RunEvent.Kind {
        var traced = finish(row, outcome, cause)
        if let remaining = attempt?.ending?.remaining, outcome != .failure, let reason = traced {
            // It was asked to end, for a reason that stands below, and did not.
            traced = self.cause(.lost, StepError(losing: remaining).message, row, reason)
            notes[row, default: Note()].cause = traced
        }
        let outcome = StepOutcome(outcome)
        counts[outcome] += 1
        switch outcome {
        case .success, .skipped: break
        case .failure, .timeout:
            let cause = traced ?? Cause(kind: .lost, message: "ended without a reason", subject: .run)
            noteFailure(row, failure(of: row, outcome, cause, attempt))
        case .cancelled: forEachGroup(around: row) { $0.cancelled.append(row) }
        case .notRun: forEachGroup(around: row) { $0.notRun.append(row) }
        }
        let result = outcome == .success ? self.result(of: row) : Result()
        let outputs = result.outputs.map { logged($0) }
        let definition = attempt?.definition.flatMap { isClear(result, outputs) ? $0 : nil }
        let item = plan.loopItem(of: row).map(options.secrets.masked)
        if attempt?.isRestored == true, outcome == .success {
            return .stepRestored(
                StepRestored(
                    step: plan.nodes[row].id, outputs: outputs, item: item, name: plan.settings(of: row)?.name,
                    definition: definition, standardOutput: result.standardOutput))
        }
        let ending = attempt?.ending
        return .stepFinished(
            StepFinished(
                step: plan.nodes[row].id,
                attempt: attempt?.lastStarted ?? 0,
                outcome: outcome, status: ending.flatMap { $0.isReaped ? ExitStatus($0.status) : nil },
                duration: ending?.duration,
                cause: traced, outputs: outputs,
                outputBytes: attempt?.outputBytes ?? 0,
                usage: ending.map { ResourceUsage(maxResident: $0.maxResident, user: $0.user, system: $0.system) },
                outputTruncated: ending?.outputError != nil
                    ? "unreadable" : ending?.isOutputTruncated == true ? "held_open" : nil,
                droppedBytes: ending?.droppedBytes ?? 0,
                containment: ending?.layer, escaped: ending?.escaped ?? 0,
                leftBehind: ending?.leftBehind ?? 0, errno: attempt?.errno,
                isTolerated: (outcome == .failure || outcome == .timeout) && isTolerated(row),
                item: item, name: plan.settings(of: row)?.name, definition: outcome == .success ? definition : nil))
    }

    /// nil for the run itself, whose end is not the last thing to be told.
    mutating func groupHasFinished(
        _ row: PlanIndex, _ outcome: OperationOutcome, _ cause: OperationCause, at time: Duration
    ) -> RunEvent.Kind? {
        let isOwnFailure = outcome == .failure && (cause == .itself || cause == .condition)
        guard row != .root else {
            outcomes[.root] = outcome
            return nil
        }
        let traced = finish(row, outcome, cause)
        // Its condition, its instances or its outputs could not be told.
        if isOwnFailure, let traced { noteFailure(row, failure(of: row, .failure, traced)) }
        let isExpanded = outcome == .success || !plan.isDynamicFanOut(row) || groups[row]?.isExpanded == true
        if !isExpanded { count(row, outcome) }
        let group = groups[row]
        groups[row] = group?.round.map { Group(round: $0) }
        return .groupFinished(
            GroupFinished(
                group: plan.nodes[row].id, outcome: StepOutcome(outcome),
                duration: group?.start.map { time - $0 } ?? .zero, cause: traced,
                errors: ids(group?.errors), cancelled: ids(group?.cancelled), notRun: ids(group?.notRun),
                outputs: result(of: row).outputs.map { logged($0) }, isExpanded: isExpanded))
    }

    /// A fan-out that ended before its copies were known stands for them.
    private mutating func count(_ fanOut: PlanIndex, _ outcome: OperationOutcome) {
        countedFanOuts.insert(fanOut)
        counts[StepOutcome(outcome)] += 1
        if outcome == .cancelled { forEachGroup(around: fanOut) { $0.cancelled.append(fanOut) } }
        if outcome == .notRun { forEachGroup(around: fanOut) { $0.notRun.append(fanOut) } }
    }

    /// Nothing can happen any more: the run is lost, whatever the outcomes of its steps.
    mutating func runIsLost(_ message: String) {
        noteFailure(.root, failure(of: .root, .cancelled, Cause(kind: .lost, message: message, subject: .run)))
    }

    /// The last event of all.
    func runHasFinished(at time: Duration) -> RunEvent.Kind {
        .runFinished(
            RunFinished(
                outcome: StepOutcome(outcomes[.root] ?? .cancelled), duration: time, counts: counts, errors: errors,
                tolerated: tolerated, cancelled: ids(groups[.root]?.cancelled), notRun: ids(groups[.root]?.notRun),
                outputs: result(of: .root).outputs.map { logged($0) }))
    }

    // MARK: -

    /// Notes the end of a step or group; returns its cause, nil for a success.
    private mutating func finish(_ row: PlanIndex, _ outcome: OperationOutcome, _ cause: OperationCause) -> Cause? {
        outcomes[row] = outcome
        guard outcome != .success else {
            if !notes.isEmpty, notes[row]?.cause != nil { notes[row]?.cause = nil }
            return nil
        }
        if case .failFast(let failed) = cause, outcome == .notRun { noteDrain(of: row, after: failed.planIndex) }
        if outcome == .failure, cause == .itself || cause == .condition { return notes[row]?.cause }
        if case .dependency(let prerequisite) = cause, outcome == .notRun {
            notes[row, default: Note()].blamed = blamed(for: prerequisite.planIndex) ?? prerequisite.planIndex
        }
        if case .member(let member) = cause, outcome == .notRun {
            notes[row, default: Note()].blamed = blamed(for: member.planIndex)
        }
        let traced = link(row, outcome, cause)
        notes[row, default: Note()].cause = traced
        return traced
    }

    private mutating func noteDrain(of row: PlanIndex, after failed: PlanIndex) {
        var group = plan.parent(of: row)
        while group != .root, !plan.isInside(failed, group), groups[group]?.isDrained != true {
            groups[group, default: Group()].isDrained = true
            group = plan.parent(of: group)
        }
    }

    private func failure(
        of row: PlanIndex, _ outcome: StepOutcome, _ cause: Cause, _ attempt: AttemptEnd? = nil
    ) -> RunFinished.Failure {
        let isStep = plan.isStep(row)
        return RunFinished.Failure(
            step: isStep ? plan.nodes[row].id : nil, group: isStep || row == .root ? nil : plan.nodes[row].id,
            outcome: outcome, cause: cause, file: isStep ? plan.file(of: row) : cause.file ?? plan.workflow.file.name,
            line: isStep ? plan.line(of: row) : cause.line,
            status: (attempt?.ending?.status).map(ExitStatus.init),
            outputTail: (attempt?.tail ?? notes[row]?.tail)?.lines ?? [],
            command: outcome == .failure ? attempt?.command.map(masked) : nil,
            script: attempt?.ending == nil ? nil : script(of: row), outputBytes: attempt?.outputBytes ?? 0)
    }

    private func masked(_ command: FailedCommand) -> FailedCommand {
        FailedCommand(text: options.secrets.masked(command.text), file: command.file, line: command.line)
    }

    private func script(of row: PlanIndex) -> String? {
        guard case .script(let script) = plan.body(of: row) else { return nil }
        return options.secrets.masked(script.text(in: plan.workflow.file))
    }

    /// Notes a failure or timeout of a step, or of a group or the run that has one of its own.
    private mutating func noteFailure(_ row: PlanIndex, _ failure: RunFinished.Failure) {
        if isTolerated(row) { toleratedRows.append(row) } else { failures.append((row, failure)) }
        guard plan.isStep(row), !plan.toleratesFailure(of: row) else { return }
        var next = row
        repeat {
            next = plan.parent(of: next)
            groups[next, default: Group()].errors.append(row)
        } while next != .root && !plan.toleratesFailure(of: next)
    }

    private mutating func forEachGroup(around row: PlanIndex, _ body: (inout Group) -> Void) {
        var next = row
        repeat {
            next = plan.parent(of: next)
            body(&groups[next, default: Group()])
        } while next != .root
    }

    private func ids(_ rows: [PlanIndex]?) -> [String] { rows?.map { plan.nodes[$0].id } ?? [] }

    /// Whether nothing that a step hands on has to be hidden, so that it can be kept.
    private func isClear(_ result: Result, _ outputs: [LoggedValue]) -> Bool {
        guard options.secrets.mask != nil else { return true }
        let text = result.standardOutput.map { String(decoding: $0, as: UTF8.self) } ?? ""
        return options.secrets.masked(text) == text && outputs.map(\.json) == result.outputs.map(\.value.json)
    }

    /// A value as the log may show it.
    func logged(_ field: Value.Field) -> LoggedValue {
        LoggedValue(name: field.name, json: options.secrets.masked(field.value).json)
    }
}

extension OperationCause {
    fileprivate func isTimeout(of row: PlanIndex) -> Bool {
        self == .deadline(OperationID(row)) || self == .retryDeadline(OperationID(row))
    }
}

extension StepOutcome {
    init(_ outcome: OperationOutcome) {
        self =
            switch outcome {
            case .success: .success
            case .failure: .failure
            case .timeout: .timeout
            case .cancelled: .cancelled
            case .skipped: .skipped
            case .notRun: .notRun
            }
    }
}
