internal import Planning
internal import Processes
package import RunLog
internal import Scheduling
internal import Syntax
internal import Workflow

/// The answer to a request to end a step, a group or the run.
package enum CancelAnswer: Sendable, Hashable {
    case accepted
    /// It has been asked to end before.
    case isEndingAlready
    case hasEnded(StepOutcome)
    /// The run has nothing of that name; the id that was probably meant, if one is near.
    case unknown(suggestion: String?)
}

/// Steers a live run. Everything here returns at once, before the scheduler handles the request; its events say when
/// it has. Once the run is over, nothing changes and nothing is recorded any more.
extension WorkflowRunner {
    /// Lets nothing new start. Running steps go on, unless they are to be frozen too (`freezing`), and with them all
    /// limits of time. Returns false if neither changes anything.
    @discardableResult
    package func pause(by source: String, freezing: Bool = false) -> Bool {
        guard outcome == nil else { return false }
        // The scheduler starts what is left of a run that ends, hooks, whatever is asked.
        guard !control.isStopping, !control.isWindingDown else { return false }
        let isNew = control.pause(by: source)
        if isNew { send(.suspend) }
        guard freezing, !control.isFrozen else { return isNew }
        control.isFrozen = true
        freezeTime()
        freezeSteps()
        return true
    }

    /// Ends a pause, and lets frozen steps go on. Returns false if the run is not paused.
    @discardableResult
    package func resume(by source: String) -> Bool {
        guard outcome == nil, !control.isWindingDown, control.resume(by: source) else { return false }
        unfreeze()
        send(.resume)
        return true
    }

    /// Winds the run down: starts nothing new, lets running steps end, and then ends the run with its hooks. For a
    /// flowrun that can no longer keep its promises, for the reason in `message`.
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

    /// Ends a step or a group by its id, or with nil the whole run, as a first signal would.
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

    /// Lets `jobs` steps, at least 1, run at once from here on; if more already do, they go on.
    package func setJobs(_ jobs: Int, by source: String) {
        guard outcome == nil else { return }
        control.jobs = jobs
        // Recorded before the starts that it allows.
        recorder.record(.runJobs(jobs: jobs, source: source))
        send(.width(jobs))
    }

    /// Whether nothing new starts until a resume.
    var isPaused: Bool { control.isPaused }

    /// Whether the whole run has been asked to end.
    package var isStopping: Bool { control.isStopping }

    /// How the run ended; nil before its end.
    package var outcome: StepOutcome? { outcome(of: .root) }

    /// O(rows).
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

    /// Whether a step or group of this id has ended, runs or waits; nil if the run has none.
    package func progress(of id: String) -> StepProgress? {
        guard let row = plan.row(ofID: id) else { return nil }
        if let outcome = outcome(of: row) { return .ended(outcome) }
        if let attempt = attempts[row], !attempt.isOver { return .running(attempt: attempt.number) }
        if !plan.isStep(row), let round = state.runningRound(of: row) { return .running(attempt: round + 1) }
        let awaited = plan.edges(of: row).map { $0.target }.filter { outcome(of: $0) == nil }
        return .waiting(for: awaited.map { plan.nodes[$0].id })
    }

    /// The id that somebody probably meant who wrote `id`, which the run does not have; nil if none is near.
    package func suggestion(for id: String) -> String? {
        Suggestion.nearest(to: id, among: plan.nodes.dropFirst().prefix(20_000).map(\.id))
    }

    /// The last lines of a step that has failed or timed out; nil for any other.
    package func outputTail(of step: String) -> [UInt8]? {
        state.errors.last { $0.step == step }?.outputTail
    }

    // MARK: Job control

    /// Freezes running steps and calls `stop`, which stops flowrun itself until it is continued; then thaws the steps
    /// and all limits of time. `source` and `end` are the names of the signals.
    package func standStill(by source: String, until end: String, _ stop: () -> Void) {
        let isTold = !control.isPaused && outcome == nil
        if isTold { recorder.record(.runPaused(source: source)) }
        // Frozen by a pause: everything stands still already, and stays so.
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

    /// Ends what a freezing pause began.
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

    // MARK: What the log tells

    /// The origin of a request: the signal that came, flowrun if it winds the run down by itself, otherwise ctl.
    var requester: String {
        if let signal { return SignalName.of(signal) }
        return control.isWindingDown && !control.isStopping ? "flowrun" : "ctl"
    }

    func recordPause() { recorder.record(.runPaused(source: control.pauser)) }

    /// Records the end of a pause. Its source is whoever resumed the run, or asked for its end.
    func noteResumption() {
        let isAsked = !control.resume(by: "")
        if !isAsked { unfreeze() }
        let source = (isAsked ? control.resumer : nil) ?? requester
        recorder.record(.runResumed(source: source))
        hasResumed = true
    }

    /// Starts what the pause has held back.
    func launchHeldSteps() {
        hasResumed = false
        context.pending.commands.startHeld()
        for attempt in attempts.values.sorted(by: { $0.row < $1.row }) { attempt.startHeld() }
        starts.resume()
    }
}

/// How far a step or group of a live run has come.
package enum StepProgress: Sendable, Hashable {
    /// Ids of what it needs that has not ended; empty if it waits for something else, such as a free slot.
    case waiting(for: [String])
    case running(attempt: Int)
    case ended(StepOutcome)
}
