internal import Planning
internal import Processes
package import RunLog
internal import Scheduling
internal import Syntax
internal import Workflow

/// The answer to a request to end a step, a group or the run.
package enum CancelAnswer: Sendable, Hashable {
    case accepted
    /// It has already been requested to end.
    case isEndingAlready
    case hasEnded(StepOutcome)
    /// The run has no step or group of that name; the suggestion is the id that was probably meant, nil if none is
    /// near.
    case unknown(suggestion: String?)
}

/// Steers a live run. Everything here returns at once, before the scheduler handles the request; the run's events
/// report when it has. Once the run is over, nothing changes and nothing is recorded any more.
extension WorkflowRunner {
    /// Lets nothing new start. Running steps go on, unless `freezing` freezes them too, and with them all time
    /// limits. Returns false if neither changes anything.
    @discardableResult
    package func pause(by source: String, freezing: Bool = false) -> Bool {
        guard outcome == nil else { return false }
        // In a run that ends, the scheduler starts the remaining hooks even during a pause.
        guard !control.isStopping, !control.isWindingDown else { return false }
        let isNew = control.pause(by: source)
        if isNew { send(.suspend) }
        guard freezing, !control.isFrozen else { return isNew }
        control.isFrozen = true
        freezeTime()
        freezeSteps()
        return true
    }

    /// Ends a pause and continues frozen steps. Returns false if the run is not paused.
    @discardableResult
    package func resume(by source: String) -> Bool {
        guard outcome == nil, !control.isWindingDown, control.resume(by: source) else { return false }
        unfreeze()
        send(.resume)
        return true
    }

    /// Winds the run down: starts nothing new, lets running steps end, and then ends the run with its hooks. For a
    /// flowrun that can no longer keep its promises; `message` is the reason.
    package func windDown(because message: String) {
        guard outcome == nil, !control.isWindingDown else { return }
        recorder.record(.warning(code: "journal", message: message))
        state.noteRequest(for: .root, message)
        pause(by: "flowrun")
        control.isWindingDown = true
        endIfIdle()
    }

    /// Ends a run that winds down once no process is left: only hooks start from here on, as after a cancel.
    func endIfIdle() {
        guard control.isWindingDown, !control.hasWoundDown, !attempts.values.contains(where: { $0.process != nil })
        else { return }
        control.hasWoundDown = true
        send(.cancel(.root))
    }

    /// Adds a warning to the log.
    package func warn(code: String, _ message: String) {
        if outcome == nil { recorder.record(.warning(code: code, message: message)) }
    }

    /// Ends a step or a group by its id, or the whole run for nil, as a first signal would.
    package func cancel(_ id: String?) -> CancelAnswer {
        guard let id else { return cancelAll() }
        guard let row = plan.row(ofID: id) else { return .unknown(suggestion: suggestion(for: id)) }
        if let outcome = outcome(of: row) { return .hasEnded(outcome) }
        // A hook goes on when everything is cancelled, and can still be cancelled by its own id.
        guard !control.isStopping || plan.isInHook(row), !state.hasRequest(around: row) else {
            return .isEndingAlready
        }
        state.noteRequest(for: row, Self.request)
        send(.cancel(OperationID(row)))
        return .accepted
    }

    private func cancelAll() -> CancelAnswer {
        if let outcome = outcome(of: .root) { return .hasEnded(outcome) }
        guard !control.isStopping else { return .isEndingAlready }
        control.isStopping = true
        state.noteRequest(for: .root, Self.request)
        send(.cancel(.root))
        return .accepted
    }

    private static var request: String { "cancelled by `flowrun ctl`" }

    /// Lets `jobs` steps, at least 1, run at once from here on; if more are running, they go on.
    package func setJobs(_ jobs: Int, by source: String) {
        guard outcome == nil else { return }
        control.jobs = jobs
        // Recorded before the starts that it allows.
        recorder.record(.runJobs(jobs: jobs, source: source))
        send(.width(jobs))
    }

    /// True if nothing new starts until a resume.
    var isPaused: Bool { control.isPaused }

    /// True once the whole run has been requested to end.
    package var isStopping: Bool { control.isStopping }

    /// The outcome of the run; nil before its end.
    package var outcome: StepOutcome? { outcome(of: .root) }

    /// The current status of the run. O(rows).
    package var status: RunStatus {
        let steps = plan.currentSteps
        let running = attempts.values.filter { !$0.isOver }.sorted { ($1.duration, $0.row) < ($0.duration, $1.row) }
        return RunStatus { status in
            status.run = options.run
            status.file = plan.workflow.file.name
            status.name = plan.workflow.name
            status.outcome = outcome
            status.elapsed = recorder.elapsed
            status.jobs = control.jobs
            status.steps = steps.count
            status.isPaused = control.isPaused
            status.isStopping = control.isStopping
            status.counts = state.counts
            status.running = running.map { attempt in
                RunStatus.RunningStep {
                    $0.step = attempt.step
                    $0.attempt = attempt.number
                    $0.pid = attempt.process?.pid
                    $0.duration = attempt.duration
                    $0.state = state(of: attempt)
                }
            }
            status.values = context.pending.commands.statuses
            status.waiting = steps.filter { self.outcome(of: $0) == nil && attempts[$0]?.isOver ?? true }
                .map { plan.nodes[$0].id }
        }
    }

    private func state(of attempt: StepAttempt) -> RunStatus.State {
        if attempt.process?.isStopping ?? false { return .stopping }
        return control.isFrozen ? .frozen : .running
    }

    /// nil before the end.
    private func outcome(of row: PlanIndex) -> StepOutcome? { state.outcome(of: row).map { StepOutcome($0) } }

    /// Returns the progress of the step or group with this id; nil if the run has none.
    package func progress(of id: String) -> StepProgress? {
        guard let row = plan.row(ofID: id) else { return nil }
        if let outcome = outcome(of: row) { return .ended(outcome) }
        if let attempt = attempts[row], !attempt.isOver { return .running(attempt: attempt.number) }
        if !plan.isStep(row), let round = state.runningRound(of: row) { return .running(attempt: round + 1) }
        let awaited = plan.edges(of: row).map { $0.target }.filter { outcome(of: $0) == nil }
        return .waiting(for: awaited.map { plan.nodes[$0].id })
    }

    /// Returns the id that was probably meant by `id`, which the run does not have; nil if none is near.
    package func suggestion(for id: String) -> String? {
        Suggestion.nearest(to: id, among: plan.nodes.dropFirst().prefix(20_000).map(\.id))
    }

    /// Returns the last lines of a step that has failed or timed out without being tolerated; nil for any other.
    package func outputTail(of step: String) -> [UInt8]? {
        state.errors.last { $0.step == step }?.outputTail
    }

    // MARK: Job control

    /// Freezes running steps and all time limits and calls `stop`, which stops flowrun itself until it is continued;
    /// then thaws them. `source` and `end` are the names of the signals.
    package func standStill(by source: String, until end: String, _ stop: () -> Void) {
        let isTold = !control.isPaused && outcome == nil
        if isTold { recorder.record(.runPaused(source: source)) }
        // If a pause has already frozen everything, it stays frozen.
        defer { clock.refresh() }
        guard !control.isFrozen, outcome == nil else { return stop() }
        freezeTime()
        freezeSteps()
        stop()
        clock.refresh()
        thawTime()
        thawSteps()
        if isTold { recorder.record(.runResumed(source: end)) }
    }

    private func freezeSteps() {
        for attempt in attempts.values.sorted(by: { $0.row < $1.row }) { attempt.freeze() }
        context.pending.commands.freeze()
        for limit in waitLimits.values { limit.freeze() }
    }

    /// Thaws what a freezing pause has frozen.
    private func unfreeze() {
        guard control.isFrozen else { return }
        control.isFrozen = false
        thawTime()
        thawSteps()
    }

    private func thawSteps() {
        for attempt in attempts.values.sorted(by: { $0.row < $1.row }) { attempt.thaw() }
        context.pending.commands.thaw()
        for limit in waitLimits.values { limit.thaw() }
    }

    // MARK: Log

    /// The origin of a request: the signal that came, flowrun if it winds the run down by itself, otherwise ctl.
    var requester: String {
        if let signal { return SignalName.of(signal) }
        return control.isWindingDown && !control.isStopping ? "flowrun" : "ctl"
    }

    func recordPause() { recorder.record(.runPaused(source: control.pauser)) }

    /// Records the end of a pause. Its source is that of the resume, or of the request to end the run.
    func noteResumption() {
        let isAsked = !control.resume(by: "")
        if !isAsked { unfreeze() }
        let source = (isAsked ? control.resumer : nil) ?? requester
        recorder.record(.runResumed(source: source))
        hasResumed = true
    }

    /// Starts everything that the pause has held back.
    func launchHeldSteps() {
        hasResumed = false
        context.pending.commands.startHeld()
        for attempt in attempts.values.sorted(by: { $0.row < $1.row }) { attempt.startHeld() }
        starts.resume()
    }
}

/// The progress of a step or group of a live run.
package enum StepProgress: Sendable, Hashable {
    /// The ids of its needs that have not ended; empty if it waits for something else, such as a free slot.
    case waiting(for: [String])
    case running(attempt: Int)
    case ended(StepOutcome)
}

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
        case .wake(let time): wakeUp(at: time)
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
        case .startErrand(let errand): context.pending.commands.start(errand)
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
    private func record(_ kind: RunEvent.Kind, about row: PlanIndex) {
        recorder.record(kind, round: state.round(about: row))
    }

    private func groupHasStarted(_ row: PlanIndex, _ round: Int) {
        // A step without a command is a group to the scheduler.
        guard !plan.isStep(row) else { return }
        let event = state.groupHasStarted(row, round: round, at: recorder.elapsed)
        if round > 0 {
            // Expressions may have other values now.
            context.roundBegins(row)
            builder.forget(row)
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
        withdrawQuestion(about: row)
        endWaitLimit(of: row)
        resumption?.noteEnd(of: row, StepOutcome(outcome), in: plan)
        guard plan.isStep(row) else {
            context.pending.forget(row)
            let event = state.groupHasFinished(row, outcome, cause, at: recorder.elapsed)
            if let event { record(event, about: row) }
            return
        }
        let attempt = attempts.removeValue(forKey: row)
        if attempt == nil { context.pending.forget(row) }
        record(state.stepHasFinished(row, outcome, cause, attempt?.end), about: row)
    }
}
