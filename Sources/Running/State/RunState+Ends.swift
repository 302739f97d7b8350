internal import Planning
internal import Processes
internal import RunLog
internal import Scheduling
internal import Syntax
internal import Workflow

// The events that report the ends of attempts, steps, groups and the run.
extension RunState {
    /// Returns the event for the end of an attempt of a step or a round of a group, number `ended`, that another one
    /// follows.
    func isRetried(_ row: PlanIndex, ended: Int, delay: Duration) -> RunEvent.Kind {
        // The results of this round stay until the next one begins, because the group may end before that.
        guard plan.isStep(row) else {
            return .groupRetry(
                GroupRetry { retry in
                    retry.group = plan.nodes[row].id
                    retry.round = progress(of: row)?.round ?? ended
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

    /// Returns the last event of a step. `cause` is that of its end, nil for a success; `attempt` is nil if there was
    /// none.
    func stepEnd(
        _ row: PlanIndex, _ outcome: StepOutcome, _ cause: Cause?, _ attempt: AttemptEnd?
    ) -> RunEvent.Kind {
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
                step.cause = cause
                step.isTolerated = outcome.isFailure && isTolerated(row)
                step.outputs = outputs
                step.process = ProcessReport(
                    ending, outputBytes: attempt?.outputBytes ?? 0, errno: attempt?.error?.errno)
                step.item = item
                step.name = plan.settings(of: row)?.name
                step.definition = outcome == .success || step.isTolerated ? definition : nil
            })
    }

    /// Returns the last event of a group, which has made the given progress.
    func groupEnd(
        _ row: PlanIndex, _ outcome: StepOutcome, _ cause: Cause?, _ progress: GroupProgress?, at time: Duration
    ) -> RunEvent.Kind {
        .groupFinished(
            GroupFinished { end in
                end.group = plan.nodes[row].id
                end.outcome = outcome
                end.duration = progress?.start.map { time - $0 } ?? .zero
                end.cause = cause
                end.errors = ids(progress?.errors.map(\.row).filter(plan.isStep))
                end.cancelled = ids(progress?.cancelled)
                end.notRun = ids(progress?.notRun)
                end.outputs = result(of: row).outputs.map { logged($0) }
                end.isExpanded = isExpanded(row, outcome, progress)
            })
    }

    /// Returns false for a fan-out that ended before its instances were known.
    func isExpanded(_ row: PlanIndex, _ outcome: StepOutcome, _ progress: GroupProgress?) -> Bool {
        outcome == .success || !plan.isDynamicFanOut(row) || progress?.isExpanded == true
    }

    /// Returns the last event of the run.
    func runHasFinished(at time: Duration) -> RunEvent.Kind {
        .runFinished(
            RunFinished { run in
                run.outcome = StepOutcome(outcome(of: .root) ?? .cancelled)
                run.duration = time
                run.counts = counts
                run.errors = errors
                run.tolerated = tolerated
                run.cancelled = ids(progress(of: .root)?.cancelled)
                run.notRun = ids(progress(of: .root)?.notRun)
                run.outputs = result(of: .root).outputs.map { logged($0) }
            })
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

// Failures and timeouts in the log.
extension RunState {
    /// Returns true if a failure of this row stays inside something that continues on errors.
    func isTolerated(_ row: PlanIndex) -> Bool {
        var next = row
        while next != .root {
            if plan.toleratesFailure(of: next) { return true }
            next = plan.parent(of: next)
        }
        return false
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
            failure.outputTail = (attempt?.tail ?? tail(of: row))?.lines ?? []
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
}
