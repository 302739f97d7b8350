internal import OperationScheduling
internal import ProcessExecution
internal import RunEvents
internal import SourceDiagnostics
internal import WorkflowModel
internal import WorkflowPlanning

// What the scheduler decides, carried out and told.
extension WorkflowRunner {
    func carryOut(_ command: OperationScheduler.Command) {
        switch command {
        case .groupStarted(let id, let round):
            groupHasStarted(id.row, round)
        case .groupStopping(let id, let cause):
            groupIsStopping(id.row, cause)
        case .stop(let id, let cause):
            let traced = tracer.link(id.row, .cancelled, cause)
            record(
                .stepCancelRequested(step: book.id(id.row), attempt: attempts[id.row]?.number ?? 1, cause: traced),
                about: id.row)
            stopAttempt(of: id.row)
        case .retrying(let id, let ended, let delay):
            isRetrying(id.row, ended, delay)
        case .finished(let id, let outcome, let cause):
            results.note(id.row, outcome)
            if case .dependency(let prerequisite) = cause, outcome == .notRun {
                facts.noteBlame(id.row, on: prerequisite.row)
            }
            if case .failFast(let failed) = cause, outcome == .notRun { facts.noteDrain(id.row, after: failed.row) }
            if book.plan.nodes[id.row].role == .step {
                stepHasFinished(id.row, outcome, cause)
            } else if id != .root {
                groupHasFinished(id.row, outcome, cause)
            }
        case .acquired(let lock, let id): tell(.lockAcquired(name: locks.names[lock.index], by: subject(id.row)), id)
        case .released(let lock, let id): tell(.lockReleased(name: locks.names[lock.index], by: subject(id.row)), id)
        case .waiting(let id, let lock): tell(.waiting(subject(id.row), on: lock.map { locks.names[$0.index] }), id)
        case .ready(let id): tell(.ready(subject(id.row)), id)
        case .start(let id, let number): startAttempt(number, of: id.row)
        case .wake(let time): wakeUp(at: time)
        case .decide(let id): send(.decided(id, decide(id.row)))
        case .expand(let id): send(expand(id.row).map { .expanded(id, $0) } ?? .ended(id, .failure, mayRetry: false))
        case .conclude(let id, let outcome):
            let (outcome, mayRetry) = conclude(id.row, outcome)
            send(.ended(id, outcome, mayRetry: mayRetry))
        case .suspended: recordPause()
        case .resumed: noteResumption()
        }
    }

    private func tell(_ kind: RunEvent.Kind, _ id: OperationID) {
        if id != .root { record(kind, about: id.row) }
    }

    private func subject(_ row: Int) -> Subject {
        book.plan.nodes[row].role == .step ? .step(book.id(row)) : .group(book.id(row))
    }

    /// What happens to a group that may be tried again is of its own present round.
    private func record(_ kind: RunEvent.Kind, about row: Int) {
        recorder.record(kind, round: rounds[row] ?? round(of: row))
    }

    private func groupHasStarted(_ row: Int, _ round: Int) {
        if round > 0 { forgetLastRound(of: row) }
        if book.hasRounds(row) { rounds[row] = rounds[row] ?? 0 }
        guard row != 0 else { return }
        if round == 0 { groupStarts[row] = recorder.elapsed }
        record(.groupStarted(group: book.id(row)), about: row)
    }

    private func groupIsStopping(_ row: Int, _ cause: OperationCause) {
        let id = OperationID(row: row)
        let isOwnTimeout = cause == .deadline(id) || cause == .retryDeadline(id)
        facts.noteStop(row, as: isOwnTimeout ? .timeout : .cancelled)
        let traced = tracer.link(row, .cancelled, cause)
        if row == 0 {
            recorder.record(.runCancelRequested(source: source(of: cause), cause: traced))
        } else {
            record(.groupCancelRequested(group: book.id(row), cause: traced), about: row)
        }
        if row == 0 {
            steering.isStopping = true
            if cause == .request, signal == nil { result.outcome = .cancelled }
        }
        guard isOwnTimeout else { return }
        if row == 0 { result.outcome = .runTimeout }
        ledger.noteFailure(row) { failure(of: row, .timeout, traced) }
    }

    private func failure(of row: Int, _ outcome: StepOutcome, _ cause: Cause) -> RunFinished.Failure {
        let isStep = book.plan.nodes[row].role == .step
        let attempt = attempts[row]
        return RunFinished.Failure(
            step: isStep ? book.id(row) : nil, group: isStep || row == 0 ? nil : book.id(row), outcome: outcome,
            cause: cause, file: book.workflow.file.name, line: isStep ? book.line(of: row) : cause.line,
            status: attempt?.ending.map { ExitStatus($0.status) }, outputTail: attempt?.tail.lines ?? [])
    }

    private func source(of cause: OperationCause) -> String {
        switch cause {
        case .request: signal.map(SignalName.of) ?? "ctl"
        case .deadline, .retryDeadline: "timeout"
        default: "fail-fast"
        }
    }

    private func isRetrying(_ row: Int, _ ended: Int, _ delay: Duration) {
        guard book.plan.nodes[row].role == .step else {
            // What this round came to stands until the next one begins: the group may end before.
            let round = rounds[row] ?? ended
            return recorder.record(.groupRetry(group: book.id(row), round: round, delay: delay))
        }
        record(.stepRetry(step: book.id(row), attempt: ended, delay: delay), about: row)
    }

    /// Everything in the group happens once more, and what became of it before counts nowhere.
    private func forgetLastRound(of row: Int) {
        let inside = book.plan.rows(inside: row)
        let steps = inside.filter { book.plan.nodes[$0].role == .step }
        ledger.takeBack(row, outcomes: steps.compactMap { results.outcome(of: $0).map { StepOutcome($0) } })
        for member in inside + [row] {
            results.forget(member)
            tracer.forget(member)
            facts.forget(member)
            // Of groups inside, too, so that no step has the same round twice.
            if book.hasRounds(member) { rounds[member, default: 0] += 1 }
        }
        for member in inside { tracer.forgetRequest(for: member) }
        builder.forget(row)
    }

    private func stepHasFinished(_ row: Int, _ outcome: OperationOutcome, _ cause: OperationCause) {
        let traced = tracer.trace(row, outcome, cause)
        let outcome = StepOutcome(outcome)
        ledger.noteStep(row, outcome) {
            failure(of: row, outcome, traced ?? Cause(kind: .lost, message: "ended without a reason", subject: .run))
        }
        let attempt = attempts.removeValue(forKey: row)
        let ending = attempt?.ending
        record(
            .stepFinished(
                StepFinished(
                    step: book.id(row),
                    attempt: attempt.map { $0.hasStarted ? $0.number : $0.number - 1 } ?? 0,
                    outcome: outcome,
                    status: (ending?.status).map(ExitStatus.init), duration: ending?.duration, cause: traced,
                    outputs: outcome == .success ? results.details(of: row).outputs.map(logged) : [],
                    outputBytes: attempt?.outputBytes ?? 0,
                    usage: ending.map { ResourceUsage(maxResident: $0.maxResident, user: $0.user, system: $0.system) },
                    outputTruncated: ending?.isOutputTruncated == true ? "held_open" : nil,
                    containment: ending == nil ? nil : "session", escaped: ending?.escaped ?? 0,
                    errno: attempt?.refusal?.errno, isTolerated: ledger.isTolerated(row),
                    item: book.item(of: row).map(options.secrets.masked))),
            about: row)
    }

    private func groupHasFinished(_ row: Int, _ outcome: OperationOutcome, _ cause: OperationCause) {
        let traced = tracer.trace(row, outcome, cause)
        // It failed by itself: its condition, its instances or its outputs could not be told.
        if outcome == .failure, cause == .itself || cause == .condition, let traced {
            ledger.noteFailure(row) { failure(of: row, .failure, traced) }
        }
        let lists = ledger.close(row)
        let start = groupStarts.removeValue(forKey: row)
        record(
            .groupFinished(
                GroupFinished(
                    group: book.id(row), outcome: StepOutcome(outcome),
                    duration: start.map { recorder.elapsed - $0 } ?? .zero, cause: traced,
                    errors: lists.errors, cancelled: lists.cancelled, notRun: lists.notRun,
                    outputs: results.details(of: row).outputs.map(logged))),
            about: row)
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
