internal import Basics
internal import Planning
internal import RunLog
internal import Scheduling

// Carries out the scheduler's decisions and records them.
extension WorkflowRunner {
    func carryOut(_ command: OperationScheduler.Command) {
        switch command {
        case .start(let id, let number): startAttempt(number, of: id.planIndex)
        case .stop(let id, let cause):
            let traced = state.link(id.planIndex, .cancelled, cause)
            let attempt = attempts[id.planIndex]?.number ?? 1
            record(
                .stepCancelRequested(step: plan.nodes[id.planIndex].id, attempt: attempt, cause: traced),
                about: id.planIndex)
            stopAttempt(of: id.planIndex)
        case .wake(let time): loop.wakeUp(at: time)
        case .groupStarted(let id, let round): groupHasStarted(id.planIndex, round)
        case .groupStopping(let id, let cause): groupIsStopping(id.planIndex, cause)
        case .retrying(let id, let ended, let delay):
            attempts[id.planIndex]?.isToBeFollowed = true
            record(state.isRetried(id.planIndex, ended: ended, delay: delay), about: id.planIndex)
        case .finished(let id, let outcome, let cause): hasFinished(id.planIndex, outcome, cause)
        case .decide(let id): decide(id.planIndex)
        case .expand(let id): expand(id.planIndex)
        case .conclude(let id, let outcome): conclude(id.planIndex, outcome)
        case .weigh(let id, let outcome): weigh(id.planIndex, outcome)
        case .withdraw(let id): withdraw(id.planIndex)
        // Nothing to log: its hook starts.
        case .groupResumed: break
        case .startErrand(let errand): waits.start(errand)
        case .suspended: recordPause()
        case .resumed: noteResumption()
        case .acquired(let lock, let id):
            tell(.lockAcquired(name: locks.names[lock.index], by: subject(id.planIndex)), id)
        case .released(let lock, let id):
            tell(.lockReleased(name: locks.names[lock.index], by: subject(id.planIndex)), id)
        case .waiting(let id, let lock):
            tell(.waiting(subject(id.planIndex), on: lock.map { locks.names[$0.index] }), id)
        case .ready(let id): tell(.ready(subject(id.planIndex)), id)
        case .stalled(let waits): isStuck(waits)
        }
    }

    /// Marks the run as lost, whatever the outcomes of its steps. The commands that follow end everything.
    private func isStuck(_ waits: [OperationScheduler.Wait]) {
        let hops = waits.map { wait in
            wait.words(
                id: { $0 == .root ? "the run" : "`\(plan.nodes[$0.planIndex].id)`" },
                lock: { "`\(locks.names[$0.index])`" })
        }
        let message = "nothing can go on: " + hops.joined(separator: ", ")
        result.stall = message
        state.runIsLost(message)
    }

    private func tell(_ kind: RunEvent.Kind, _ id: OperationID) {
        if id != .root { record(kind, about: id.planIndex) }
    }

    private func subject(_ row: PlanIndex) -> Subject {
        plan.isStep(row) ? .step(plan.nodes[row].id) : .group(plan.nodes[row].id)
    }

    /// Records an event about a row. One about a group that may be tried again carries the round of that group.
    private func record(_ kind: consuming RunEvent.Kind, about row: PlanIndex) {
        recorder.record(kind, round: state.round(about: row))
    }

    private func groupHasStarted(_ row: PlanIndex, _ round: Int) {
        // A step without a command is a group to the scheduler.
        guard !plan.isStep(row) else { return }
        let event = state.groupHasStarted(row, round: round, at: recorder.elapsed)
        if round > 0 {
            // Expressions may have other values now.
            context.roundBegins(row)
            parts.builder.forget(row)
        }
        if let event { record(event, about: row) }
    }

    private func groupIsStopping(_ row: PlanIndex, _ cause: OperationCause) {
        guard !plan.isStep(row) else { return }
        let event = state.groupIsStopping(
            row, cause, by: source(of: cause), asking: row == .root ? stepsThatEndWithTheRun : [])
        guard row == .root else { return record(event, about: row) }
        recorder.record(event)
        control.isStopping = true
        if state.stop(of: .root) == .timeout {
            result.outcome = .runTimeout
        } else if cause == .request, signal == nil {
            result.outcome = .cancelled
        }
    }

    /// The steps with an attempt that is not over, in the order of the file; hooks go on.
    private var stepsThatEndWithTheRun: [PlanIndex] {
        attempts.filter { !$1.isOver && !plan.isInHook($0) }.keys.sorted()
    }

    private func source(of cause: OperationCause) -> String {
        switch cause {
        case .request: requester
        case .deadline, .retryDeadline: "timeout"
        case .stall: "flowrun"
        default: "fail-fast"
        }
    }

    private func hasFinished(_ row: PlanIndex, _ outcome: OperationOutcome, _ cause: OperationCause) {
        parts.terminal.withdrawQuestion(about: row)
        endWaitLimit(of: row)
        parts.resumption?.noteEnd(of: row, StepOutcome(outcome), in: plan)
        guard plan.isStep(row) else {
            waits.forget(row)
            let event = state.groupHasFinished(row, outcome, cause, at: recorder.elapsed)
            if let event { record(event, about: row) }
            removeCopy(of: row, after: StepOutcome(outcome))
            return
        }
        let attempt = attempts.removeValue(forKey: row)
        if attempt == nil { waits.forget(row) }
        record(state.stepHasFinished(row, outcome, cause, attempt?.end()), about: row)
    }
}

// The copies of the tree that isolated groups run in.
extension WorkflowRunner {
    /// Removes the copy of a group that has succeeded.
    private func removeCopy(of group: PlanIndex, after outcome: StepOutcome) {
        guard let copies = context.treeCopies, outcome == .success, plan.isIsolated(group), context.hasCopy(group)
        else { return }
        let id = plan.nodes[group].id
        copies.remove(id) { [weak self] error in
            if let error {
                self?.tellCopy("cannot remove the copy of the tree that `\(id)` ran in: \(error.words)")
            }
            self?.loop.checkEnd()
        }
    }

    /// Tells, before anything starts, which groups go on in a copy that has the tree as it was, and notes that in the
    /// copy.
    func tellKeptCopies() {
        for group in plan.rows where options.treeCopies?.starts[group] == .kept {
            let id = plan.nodes[group].id
            guard let copy = context.treeCopies?.lasting(id) else { continue }
            context.treeCopies?.noteUse(of: group, id)
            tellCopy("`\(id)` goes on in its copy of the tree, \(copy.tree); `--from \(id)` makes a new one")
        }
    }

    /// Tells, at the end, which copies are left.
    func tellLastingCopies() {
        guard let copies = context.treeCopies else { return }
        copies.removeEmptyFolder()
        for group in plan.rows where plan.isIsolated(group) && context.hasCopy(group) {
            let id = plan.nodes[group].id
            guard let copy = copies.lasting(id), copy.record != nil else { continue }
            tellCopy("the copy of the tree that `\(id)` ran in is kept: \(copy.tree)")
        }
    }

    private func tellCopy(_ message: String) { recorder.record(.warning(code: "isolate", message: message)) }
}
