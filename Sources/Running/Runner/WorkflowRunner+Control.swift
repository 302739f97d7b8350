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
        if isNew { loop.send(.suspend) }
        guard freezing, !control.isFrozen else { return isNew }
        control.isFrozen = true
        freeze()
        return true
    }

    /// Ends a pause and continues frozen steps. Returns false if the run is not paused.
    @discardableResult
    package func resume(by source: String) -> Bool {
        guard outcome == nil, !control.isWindingDown, control.resume(by: source) else { return false }
        unfreeze()
        loop.send(.resume)
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
        // What is frozen would never end, and nothing could continue it.
        unfreeze()
        endIfIdle()
    }

    /// Ends a run that winds down once no process is left: only hooks start from here on, as after a cancel.
    func endIfIdle() {
        guard control.isWindingDown, !control.hasWoundDown, !waits.haveProcess,
            !attempts.values.contains(where: \.hasProcess)
        else { return }
        control.hasWoundDown = true
        loop.send(.cancel(.root))
    }

    /// Adds a warning to the log.
    package func warn(code: String, _ message: String) {
        if outcome == nil { recorder.record(.warning(code: code, message: message)) }
    }

    /// Ends a step or a group by its id, or the whole run for nil, as a first signal would.
    package func cancel(_ id: String?) -> CancelAnswer {
        guard let id else { return cancelAll() }
        guard let row = plan.row(ofID: id) ?? plan.row(ofID: plan.workflow.withoutAliases(id)) else {
            return .unknown(suggestion: suggestion(for: id))
        }
        if let outcome = outcome(of: row) { return .hasEnded(outcome) }
        // A hook goes on when everything is cancelled, and can still be cancelled by its own id.
        guard !control.isStopping || plan.isInHook(row), !state.hasRequest(around: row) else {
            return .isEndingAlready
        }
        state.noteRequest(for: row, Self.request)
        loop.send(.cancel(OperationID(row)))
        return .accepted
    }

    private func cancelAll() -> CancelAnswer {
        if let outcome = outcome(of: .root) { return .hasEnded(outcome) }
        guard !control.isStopping else { return .isEndingAlready }
        control.isStopping = true
        state.noteRequest(for: .root, Self.request)
        loop.send(.cancel(.root))
        return .accepted
    }

    private static var request: String { "cancelled by `flowrun ctl`" }

    /// Lets `jobs` steps, at least 1, run at once from here on; if more are running, they go on.
    package func setJobs(_ jobs: Int, by source: String) {
        guard outcome == nil else { return }
        control.jobs = jobs
        // Recorded before the starts that it allows.
        recorder.record(.runJobs(jobs: jobs, source: source))
        if let slots = parts.slots { slots.setLimit(jobs) } else { loop.send(.width(jobs)) }
    }

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
                    $0.pid = attempt.pid
                    $0.duration = attempt.duration
                    $0.state = state(of: attempt)
                }
            }
            status.values = waits.statuses
            status.waiting = steps.filter { self.outcome(of: $0) == nil && attempts[$0]?.isOver ?? true }
                .map { plan.nodes[$0].id }
        }
    }

    private func state(of attempt: StepAttempt) -> RunStatus.State {
        if attempt.isStopping { return .stopping }
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
        // Everything is written before flowrun stops, and also before it freezes: a program that sees the pause may
        // continue flowrun at once.
        recorder.writeAhead?()
        // If a pause has already frozen everything, it stays frozen.
        defer { loop.clock.refresh() }
        guard !control.isFrozen, outcome == nil else { return stop() }
        freeze()
        recorder.writeAhead?()
        stop()
        loop.clock.refresh()
        thaw()
        if isTold { recorder.record(.runResumed(source: end)) }
    }

    /// The last attempt of each step that has begun and not ended, in the order of the file.
    private var attemptsInOrder: [StepAttempt] { attempts.values.sorted { $0.row < $1.row } }

    /// Freezes all time limits and everything that runs.
    private func freeze() {
        loop.freeze()
        for attempt in attemptsInOrder { attempt.freeze() }
        waits.freeze()
        for limit in waitLimits.values { limit.freeze() }
    }

    /// Thaws what a freezing pause has frozen.
    private func unfreeze() {
        guard control.isFrozen else { return }
        control.isFrozen = false
        thaw()
    }

    private func thaw() {
        loop.thaw()
        for attempt in attemptsInOrder { attempt.thaw() }
        waits.thaw()
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
        let resumer = control.takeResume()
        if resumer == nil { unfreeze() }
        let source = resumer ?? requester
        recorder.record(.runResumed(source: source))
        hasResumed = true
    }

    /// Starts everything that the pause has held back.
    func startHeldSteps() {
        hasResumed = false
        waits.resume()
        for attempt in attemptsInOrder { attempt.resume() }
        parts.starts.resume()
    }
}

/// The progress of a step or group of a live run.
package enum StepProgress: Sendable, Hashable {
    /// The ids of its needs that have not ended; empty if it waits for something else, such as a free slot.
    case waiting(for: [String])
    case running(attempt: Int)
    case ended(StepOutcome)
}
