internal import Planning
internal import Processes
internal import RunLog
internal import Scheduling
internal import Syntax
internal import Workflow

// The ends of steps, groups and the run.
extension RunState {
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
        switch outcome {
        case .success, .skipped: break
        case .failure, .timeout:
            let cause = traced ?? Cause(kind: .lost, message: "ended without a reason", subject: .run)
            noteFailure(row, failure(of: row, outcome, cause, attempt))
        case .cancelled: forEachGroup(around: row) { $0.cancelled.append(row) }
        case .notRun: forEachGroup(around: row) { $0.notRun.append(row) }
        }
        let result = outcome == .success ? self.result(of: row) : RowResult()
        let outputs = result.outputs.map { logged($0) }
        let definition = attempt?.definition.flatMap { isClear(result, outputs) ? $0 : nil }
        let item = plan.loopItem(of: row).map(options.secrets.masked)
        if attempt?.isRestored == true, outcome == .success {
            return .stepRestored(
                StepRestored { step in
                    step.step = plan.nodes[row].id
                    step.outputs = outputs
                    step.item = item
                    step.name = plan.settings(of: row)?.name
                    step.definition = definition
                    step.standardOutput = result.standardOutput
                })
        }
        let ending = attempt?.ending
        return .stepFinished(
            StepFinished { step in
                step.step = plan.nodes[row].id
                step.attempt = attempt?.lastStarted ?? 0
                step.outcome = outcome
                step.status = ending?.exitStatus
                step.duration = attempt?.duration
                step.attemptDuration = ending?.duration
                step.cause = traced
                step.isTolerated = outcome.isFailure && isTolerated(row)
                step.outputs = outputs
                step.process = ProcessReport(ending, outputBytes: attempt?.outputBytes ?? 0, errno: attempt?.errno)
                step.item = item
                step.name = plan.settings(of: row)?.name
                step.definition = outcome == .success || step.isTolerated ? definition : nil
            })
    }

    /// Notes the end of a group. Returns nil for the run itself, whose end `runHasFinished` reports.
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
        let isExpanded = outcome == .success || !plan.isDynamicFanOut(row) || groups[row]?.isExpanded == true
        if !isExpanded { count(row, outcome) }
        let group = groups[row]
        groups[row] = group?.round.map { GroupProgress(round: $0) }
        return .groupFinished(
            GroupFinished { end in
                end.group = plan.nodes[row].id
                end.outcome = StepOutcome(outcome)
                end.duration = group?.start.map { time - $0 } ?? .zero
                end.cause = traced
                end.errors = ids(group?.errors.map(\.row).filter(plan.isStep))
                end.cancelled = ids(group?.cancelled)
                end.notRun = ids(group?.notRun)
                end.outputs = result(of: row).outputs.map { logged($0) }
                end.isExpanded = isExpanded
            })
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
    private mutating func count(_ fanOut: PlanIndex, _ outcome: OperationOutcome) {
        countedFanOuts.insert(fanOut)
        counts[StepOutcome(outcome)] += 1
        if outcome == .cancelled { forEachGroup(around: fanOut) { $0.cancelled.append(fanOut) } }
        if outcome == .notRun { forEachGroup(around: fanOut) { $0.notRun.append(fanOut) } }
    }

    /// Returns the last event of the run.
    func runHasFinished(at time: Duration) -> RunEvent.Kind {
        .runFinished(
            RunFinished { run in
                run.outcome = StepOutcome(outcomes[.root] ?? .cancelled)
                run.duration = time
                run.counts = counts
                run.errors = errors
                run.tolerated = tolerated
                run.cancelled = ids(groups[.root]?.cancelled)
                run.notRun = ids(groups[.root]?.notRun)
                run.outputs = result(of: .root).outputs.map { logged($0) }
            })
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

    private func ids(_ rows: [PlanIndex]?) -> [String] { rows?.map { plan.nodes[$0].id } ?? [] }

    /// Returns true if nothing in the results of a step has to be hidden, so that they can be kept.
    private func isClear(_ result: RowResult, _ outputs: [LoggedValue]) -> Bool {
        guard options.secrets.mask != nil else { return true }
        let text = result.standardOutput.map { String(decoding: $0, as: UTF8.self) } ?? ""
        return options.secrets.masked(text) == text && outputs.map(\.json) == result.outputs.map(\.value.json)
    }

    /// Returns a value as the log may show it.
    func logged(_ field: Value.Field) -> LoggedValue {
        LoggedValue(name: field.name, json: options.secrets.masked(field.value).json)
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

// Failures and timeouts, and their effects.
extension RunState {
    /// Returns the members of a group that have failed or timed out by themselves, without those tolerated there.
    func rootFailures(in group: PlanIndex) -> [RootFailure] { groups[group]?.errors ?? [] }

    var errors: [RunFinished.Failure] { failures.map(\.failure) }
    var tolerated: [String] { toleratedRows.map { plan.nodes[$0].id } }

    /// Returns true if a failure of this row stays inside something that continues on errors.
    func isTolerated(_ row: PlanIndex) -> Bool {
        var next = row
        while next != .root {
            if plan.toleratesFailure(of: next) { return true }
            next = plan.parent(of: next)
        }
        return false
    }

    /// Marks the run as lost, whatever the outcomes of its steps: nothing can happen any more.
    mutating func runIsLost(_ message: String) {
        noteFailure(.root, failure(of: .root, .cancelled, Cause(kind: .lost, message: message, subject: .run)))
    }

    func failure(
        of row: PlanIndex, _ outcome: StepOutcome, _ cause: Cause, _ attempt: AttemptEnd? = nil
    ) -> RunFinished.Failure {
        let isStep = plan.isStep(row)
        return RunFinished.Failure { failure in
            failure.step = isStep ? plan.nodes[row].id : nil
            failure.group = isStep || row == .root ? nil : plan.nodes[row].id
            failure.outcome = outcome
            failure.cause = cause
            failure.file = isStep ? plan.file(of: row) : cause.file ?? plan.workflow.file.name
            failure.line = isStep ? plan.line(of: row) : cause.line
            failure.status = (attempt?.ending?.status).map(ExitStatus.init)
            failure.command = outcome == .failure ? attempt?.command.map(masked) : nil
            failure.outputTail = (attempt?.tail ?? notes[row]?.tail)?.lines ?? []
            failure.script = attempt?.ending == nil ? nil : script(of: row)
            failure.outputBytes = attempt?.outputBytes ?? 0
        }
    }

    private func masked(_ command: FailedCommand) -> FailedCommand {
        FailedCommand(text: options.secrets.masked(command.text), file: command.file, line: command.line)
    }

    private func script(of row: PlanIndex) -> String? {
        guard case .script(let script) = plan.body(of: row) else { return nil }
        return options.secrets.masked(script.text(in: plan.workflow.file))
    }

    /// Notes a failure or timeout of a step, or of a group or the run that has one of its own.
    mutating func noteFailure(_ row: PlanIndex, _ failure: RunFinished.Failure) {
        if isTolerated(row) { toleratedRows.append(row) } else { failures.append((row, failure)) }
        guard row != .root, !plan.toleratesFailure(of: row) else { return }
        var next = row
        repeat {
            next = plan.parent(of: next)
            groups[next, default: GroupProgress()].errors.append(
                RootFailure(row: row, isTimeout: failure.outcome == .timeout))
        } while next != .root && !plan.toleratesFailure(of: next)
    }
}
