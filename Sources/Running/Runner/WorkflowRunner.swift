internal import Glibc
package import Planning
package import Processes
package import RunLog
internal import Scheduling
internal import Syntax
internal import Workflow

/// Runs a plan: carries out the decisions of the scheduler at once, and reports everything to the reporters.
///
/// It uses no tasks: a step starts during the call that decides it, unless the start has to wait (for a value, the
/// terminal, the log or the machine), and its end arrives as a callback of its process.
@EventLoopActor
package final class WorkflowRunner {
    let parts: RunParts
    let waits: ValueWaits
    let locks: RunLocks
    /// The last attempt of each step that has begun and not ended.
    var attempts: [PlanIndex: StepAttempt] = [:]
    var result = RunResult(outcome: .success)
    /// The limits of steps in hooks that wait for a value before they are decided.
    var waitLimits: [PlanIndex: Countdown] = [:]
    /// True if a pause is over and what it has held back is still to start. That happens after everything else that
    /// the end of the pause causes, because a cancel of everything ends a pause, too.
    var hasResumed = false
    private var whenDone: ((RunResult) -> Void)?
    private var knownClaims: RunClaims?
    /// True if the run was requested to end before it began; then no process is started.
    private var isEndedEarly = false

    /// With `tokens`, the run has one slot, and one more for each token; `jobs` is the most. `mayTakeOutput` is asked
    /// before steps' output is read; while it returns false, the steps wait.
    package init(
        _ plan: Plan, options: RunOptions, reporters: [any Reporter], spawner: any Spawner = ProcessSpawner.shared,
        clock: any RunClock = MachineClock(), fileReader: any FileReader = FileThread(),
        prompt: (any Prompt)? = nil, tokens: (any TokenPool)? = nil,
        mayTakeOutput: @escaping @EventLoopActor () -> Bool = { true }
    ) {
        var locks = RunLocks()
        let graph = OperationGraph(plan, options: options, locks: &locks)
        let sharesJobs = tokens != nil || Self.hasParticipants(plan, options)
        var scheduler = OperationScheduler(
            graph, width: sharesJobs ? 1 : options.jobs, seed: .random(in: .min ... .max))
        scheduler.tellsLocks = options.tellsLocks
        self.locks = locks
        parts = RunParts(
            RunContext(plan, options: options, fileReader: fileReader), loop: RunLoop(scheduler, clock: clock),
            recorder: EventRecorder(reporters, clock: clock, mayTakeOutput: mayTakeOutput), spawner: spawner,
            terminal: TerminalTurns(prompt: prompt))
        waits = ValueWaits(parts)
        guard sharesJobs else { return }
        let fifo = Self.hasParticipants(plan, options) ? Self.makeFIFO(for: parts) : nil
        guard let pool = tokens ?? fifo.map({ OwnJobserver($0, jobs: options.jobs) }) else {
            loop.send(.width(options.jobs))
            return
        }
        if let fifo { pool.share(through: fifo) }
        parts.context.jobserver = fifo
        parts.slots = TokenSlots(pool, for: parts.loop, limit: options.jobs)
    }

    /// True if steps take part in the jobs of the run, and there is more than one at a time.
    private static func hasParticipants(_ plan: Plan, _ options: RunOptions) -> Bool {
        options.jobs > 1 && options.temporaryFolder != nil && plan.workflow.has(.jobserver)
    }

    /// Returns nil if the machine has none, so that no step takes part.
    private static func makeFIFO(for parts: RunParts) -> JobserverFIFO? {
        guard let folder = try? parts.context.files.runFolder() else { return nil }
        return try? JobserverFIFO(at: "\(folder)/jobs")
    }

    var context: RunContext { parts.context }
    var loop: RunLoop { parts.loop }
    var recorder: EventRecorder { parts.recorder }
    var options: RunOptions { parts.context.options }

    // Yielded, because a copy costs more than the row that is asked for.
    var plan: Plan { _read { yield parts.context.state.plan } }

    var state: RunState {
        _read { yield parts.context.state }
        _modify { yield &parts.context.state }
    }

    var control: ControlState {
        _read { yield parts.context.control }
        _modify { yield &parts.context.control }
    }

    /// The first signal that requested the end, of the run or of what follows it; nil if none did.
    package var signal: Int32? { control.signal }

    /// Hands everything recorded so far to the kernel, so that it survives a kill; nil if it is not stored.
    package var writeAhead: (@EventLoopActor () -> Void)? {
        get { recorder.writeAhead }
        set { recorder.writeAhead = newValue }
    }

    /// The claims of this run, for other runs of the file.
    package var claims: RunClaims {
        if let knownClaims { return knownClaims }
        let claims = RunClaims(of: self)
        knownClaims = claims
        return claims
    }

    /// nil if no step can have the terminal.
    package var terminalHost: (any TerminalHost)? {
        get { parts.terminal.host }
        set { parts.terminal.host = newValue }
    }

    /// Calls `tell` with the path of the run's temporary folder before that is made, and with nil once it is gone, so
    /// that another process can remove it if the run cannot.
    package func tellTemporaryFolder(to tell: @escaping (String?) -> Void) { context.files.tell = tell }

    /// Runs the plan to its end. Called once.
    package func run() async -> RunResult {
        await withUnsafeContinuation { continuation in start { continuation.resume(returning: $0) } }
    }

    /// Starts the run and calls `whenDone` at its end, perhaps during this call. Called once, instead of `run`.
    package func start(_ whenDone: @escaping (RunResult) -> Void) {
        self.whenDone = whenDone
        recordStart()
        recorder.startTicking()
        let isPaused = options.startsPaused && control.pause(by: "--paused")
        // A signal may have come before there was anything to cancel.
        Signals.hear()
        isEndedEarly = signal != nil
        loop.begin(for: self, with: isPaused ? [.suspend, .begin] : [.begin])
    }

    private func recordStart() {
        recorder.record(
            .runStarted(
                RunStarted { run in
                    run.run = options.run
                    run.file = plan.workflow.file.name
                    run.name = plan.workflow.name
                    run.steps = plan.stepCount
                    run.fanOuts = plan.fanOutsOfRun.map { plan.nodes[$0].id }
                    run.jobs = options.jobs
                    run.version = options.version
                    run.params = options.parameters.all.map(state.logged)
                    run.arguments = options.arguments.map(options.secrets.masked)
                    run.resumes = options.past?.run
                    run.durationsFrom = options.durationSources
                }))
        if let note = options.note { recorder.record(.warning(code: "resume", message: note)) }
        tellUndoingHooks()
        tellKeptCopies()
    }

    /// Ends the run as two signals do: no step gets a grace, and no hook runs.
    package func abort(by signal: Int32) {
        interrupt(by: signal)
        if !control.isAborted { interrupt(by: signal) }
    }

    func startAttempt(_ number: Int, of row: PlanIndex) {
        let attempt = StepAttempt(of: row, number: number, after: attempts[row], parts, waits)
        attempts[row] = attempt
        if isEndedEarly, !plan.isInHook(row) { attempt.giveUp() } else { attempt.start() }
    }

    /// Ends a started step, without grace once the run is aborted.
    func stopAttempt(of row: PlanIndex) {
        if control.isAborted { attempts[row]?.kill() } else { attempts[row]?.stop() }
    }
}

extension WorkflowRunner: RunLoopDelegate {
    /// Handles a signal to flowrun. The first one cancels everything but hooks and leaves steps their grace; the next
    /// one takes both away.
    package func interrupt(by signal: Int32) {
        guard control.signal == nil else {
            control.isAborted = true
            loop.send(.abort)
            for attempt in attempts.values where attempt.isStopping { attempt.kill() }
            waits.killAll()
            return
        }
        control.signal = signal
        parts.terminal.withdrawQuestions()
        state.noteRequest(for: .root, "interrupted by \(SignalName.of(signal))")
        loop.send(.cancel(.root))
    }

    func eventIsHandled() { if hasResumed { startHeldSteps() } }

    func eventsAreHandled() {
        isEndedEarly = false
        context.pending.files.beginNext()
        parts.slots?.balance()
        endIfIdle()
        knownClaims?.noteEnds()
        // The commands of `vars` belong to the run.
        guard outcome != nil, waits.isIdle, context.treeCopies?.isIdle != false || control.isAborted,
            let whenDone = whenDone.take()
        else { return }
        end(whenDone)
    }

    private func end(_ whenDone: (RunResult) -> Void) {
        let outcome = loop.outcome(of: .root) ?? .cancelled
        loop.end()
        parts.slots?.end()
        parts.terminal.withdrawQuestions()
        // That may take a while.
        recorder.writeAhead?()
        if let message = context.files.removeFolder() { recorder.record(.warning(code: "temp", message: message)) }
        result.isOutOfProcesses = parts.starts.isOutOfProcesses
        if outcome != .success, result.outcome == .success { result.outcome = .failure }
        tellLastingCopies()
        // From here on the outcome is final, whatever else arrives.
        if outcome != .success { result.signal = signal }
        recorder.record(state.runHasFinished(at: recorder.elapsed))
        whenDone(result)
    }
}
