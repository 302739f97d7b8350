internal import Glibc
package import Planning
package import Processes
package import RunLog
internal import Scheduling
internal import Syntax
internal import Workflow

/// Runs a plan: feeds events to the scheduler, carries out its decisions at once, and reports everything to the
/// reporters.
///
/// It uses no tasks: a step starts during the call that decides it, unless the start has to wait (for a value, the
/// terminal, the log or the machine), and its end arrives as a callback of its process. Whatever happens while an event
/// is handled waits in a queue, so that the scheduler is never entered twice.
@EventLoopActor
package final class WorkflowRunner {
    let options: RunOptions
    let context: RunContext
    let recorder: EventRecorder
    let builder: CommandBuilder
    let spawner: any Spawner
    private(set) lazy var starts = StartQueue(of: self)
    private(set) lazy var commands = SharedCommands(of: self)
    let clock: any RunClock
    var control: ControlState
    /// The last attempt of each step that has begun and not ended.
    var attempts: [PlanIndex: StepAttempt] = [:]
    var locks = RunLocks()
    /// nil for a run that begins afresh.
    var resumption: Resumption?
    var result = RunResult(outcome: .success)
    /// The first signal that requested the end, of the run or of what follows it; nil if none did.
    package internal(set) var signal: Int32?
    /// True once a second signal came, so that nothing gets a grace any more.
    private(set) var isAborted = false

    /// The definitions whose standard output may be read.
    private let standardOutputReads: Set<NodeIndex>

    /// Hands everything recorded so far to the kernel, so that it survives a kill; nil if it is not stored.
    package var writeAhead: (() -> Void)?
    /// nil if questions cannot be asked.
    let prompt: (any Prompt)?
    /// nil if no step can have the terminal.
    package var terminalHost: (any TerminalHost)?
    /// The step that has the terminal.
    var terminalUser: PlanIndex?
    /// Questions to be answered before their rows start, in the order in which they are asked.
    var questions: [(row: PlanIndex, text: String)] = []
    /// The limits of steps in hooks that wait for a value before they are decided.
    var waitLimits: [PlanIndex: Countdown] = [:]
    private var scheduler: OperationScheduler
    /// True if a pause is over and what it has held back is still to start. That happens after everything else that
    /// the end of the pause causes, because a cancel of everything ends a pause, too.
    var hasResumed = false
    /// Events that are still to be handled, oldest first.
    private var events: [OperationScheduler.Event] = []
    private var isHandlingEvents = false
    private var whenDone: ((RunResult) -> Void)?
    /// True if the run was requested to end before it began; then no process is started.
    private var isEndedEarly = false
    /// The start of the run, and the time that measures its limits, which is paused while everything is frozen.
    private var began: EventLoopClock.Instant
    private var time = PausableTime()
    /// The time at which the scheduler wants to check its deadlines.
    private var wakeTime: Duration?
    private var timer: (token: Timers.Token, due: EventLoopClock.Instant)?

    /// `mayTakeOutput` is asked before steps' output is read; while it returns false, the steps wait.
    package init(
        _ plan: Plan, options: RunOptions, reporters: [any Reporter], spawner: any Spawner = ProcessSpawner.shared,
        clock: any RunClock = MachineClock(), fileReader: any FileReader = FileThread(),
        prompt: (any Prompt)? = nil,
        mayTakeOutput: @escaping @EventLoopActor () -> Bool = { true }
    ) {
        self.options = options
        self.spawner = spawner
        self.prompt = prompt
        self.clock = clock
        context = RunContext(plan, options: options, fileReader: fileReader)
        recorder = EventRecorder(reporters, clock: clock, mayTakeOutput: mayTakeOutput)
        builder = CommandBuilder(context)
        control = ControlState(jobs: options.jobs)
        standardOutputReads = plan.standardOutputReads
        resumption = options.past.map { Resumption($0, again: options.again, in: plan) }
        let graph = OperationGraph(plan, options: options, locks: &locks)
        scheduler = OperationScheduler(graph, width: options.jobs, seed: .random(in: .min ... .max))
        scheduler.tellsLocks = options.tellsLocks
        began = clock.now
    }

    /// Calls `tell` with the path of the run's temporary folder before that is made, and with nil once it is gone, so
    /// that another process can remove it if the run cannot.
    package func tellTemporaryFolder(to tell: @escaping (String?) -> Void) { files.tell = tell }

    /// Runs the plan to its end. Called once.
    package func run() async -> RunResult {
        await withUnsafeContinuation { continuation in start { continuation.resume(returning: $0) } }
    }

    /// Starts the run and calls `whenDone` at its end, perhaps during this call. Called once, instead of `run`.
    package func start(_ whenDone: @escaping (RunResult) -> Void) {
        self.whenDone = whenDone
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
                    run.params = options.parameters.fields.map(state.logged)
                    run.arguments = options.arguments.map(options.secrets.masked)
                    run.resumes = options.past?.run
                    run.durationsFrom = options.durationSources
                }))
        if let note = options.note { recorder.record(.warning(code: "resume", message: note)) }
        tellUndoingHooks()
        recorder.startTicking()
        clock.refresh()
        began = clock.now
        isHandlingEvents = true
        // A signal may have come before there was anything to cancel.
        let early = events
        events = []
        if options.startsPaused { pause(by: "--paused") }
        events.append(.begin)
        events += early
        Signals.hear()
        isEndedEarly = signal != nil
        isHandlingEvents = false
        handleEvents()
    }

    /// Handles a signal to flowrun. The first one cancels everything but hooks and leaves steps their grace; the next
    /// one takes both away.
    package func interrupt(by signal: Int32) {
        guard self.signal == nil else {
            isAborted = true
            send(.abort)
            for attempt in attempts.values where attempt.process?.isStopping ?? false { attempt.kill() }
            commands.killAll()
            return
        }
        self.signal = signal
        withdrawQuestions()
        state.noteRequest(for: .root, "interrupted by \(SignalName.of(signal))")
        send(.cancel(.root))
    }

    /// Ends the run as two signals do: no step gets a grace, and no hook runs.
    package func abort(by signal: Int32) {
        interrupt(by: signal)
        if !isAborted { interrupt(by: signal) }
    }

    var files: StepFiles { context.files }

    var state: RunState {
        _read { yield context.state }
        _modify { yield &context.state }
    }

    // Yielded, because a copy costs more than the row that is asked for.
    var plan: Plan { _read { yield context.state.plan } }

    // MARK: Events and commands

    /// Hands an event to the scheduler: at once, or after the one being handled. Ignored after the end.
    func send(_ event: OperationScheduler.Event) {
        events.append(event)
        if whenDone != nil { handleEvents() }
    }

    private func handleEvents() {
        guard !isHandlingEvents else { return }
        isHandlingEvents = true
        var next = 0
        // The list grows meanwhile.
        while next < events.count {
            let event = events[next]
            next += 1
            for command in scheduler.handle(event, at: runTime) { carryOut(command) }
            if hasResumed { launchHeldSteps() }
        }
        events.removeAll(keepingCapacity: true)
        isHandlingEvents = false
        isEndedEarly = false
        context.pending.files.beginNext()
        mayHaveEnded()
    }

    /// The run is over once everything has ended, the commands of `vars` included.
    func mayHaveEnded() {
        guard outcome != nil, commands.isIdle, !isHandlingEvents else { return }
        if let whenDone = whenDone.take() { end(whenDone) }
    }

    private func end(_ whenDone: (RunResult) -> Void) {
        if let timer { clock.cancel(timer.token) }
        withdrawQuestions()
        if let message = files.removeFolder() { recorder.record(.warning(code: "temp", message: message)) }
        let outcome = scheduler.outcome(of: .root) ?? .cancelled
        if outcome != .success, result.outcome == .success { result.outcome = .failure }
        // From here on the outcome is final, whatever else arrives.
        if outcome != .success { result.signal = signal }
        recorder.record(state.runHasFinished(at: recorder.elapsed))
        whenDone(result)
    }

    func startAttempt(_ number: Int, of row: PlanIndex) {
        let attempt = StepAttempt(of: row, number: number, after: attempts[row], by: self)
        attempts[row] = attempt
        if isEndedEarly, !plan.isInHook(row) { attempt.giveUp() } else { attempt.start() }
    }

    /// Ends a started step, without grace once the run is aborted.
    func stopAttempt(of row: PlanIndex) {
        if isAborted { attempts[row]?.kill() } else { attempts[row]?.stop() }
    }

    func attemptHasEnded(_ attempt: StepAttempt, isSuccess: Bool) {
        defer { endIfIdle() }
        noteResult(of: attempt)
        let id = OperationID(attempt.row)
        guard !isSuccess else { return send(.ended(id, .success, mayRetry: false)) }
        noteFailure(of: attempt)
        if attempt.error?.kind == .lost {
            send(.lastAttempt(id))
            ruleOutRounds(around: plan.parent(of: attempt.row))
        }
        let reasons = plan.retry(of: attempt.row)?.reasons ?? []
        send(.ended(id, .failure, mayRetry: reasons.isEmpty || reasons.include(attempt.status)))
    }

    /// Rules out retries of a group and of the enclosing ones, while processes in it are still alive.
    func ruleOutRounds(around group: PlanIndex) {
        send(.lastAttempt(OperationID(group)))
        var next = group
        while next != .root {
            next = plan.parent(of: next)
            send(.lastAttempt(OperationID(next)))
        }
    }

    // MARK: Time

    private var runTime: Duration { began.duration(to: time.reading(at: clock.now)) }

    /// Wakes the scheduler to check its deadlines at a time of the run; replaces an earlier request.
    func wakeUp(at runTime: Duration) {
        wakeTime = runTime
        setTimer()
    }

    /// Sets the one timer: if the time was postponed, it fires too early and is set again.
    private func setTimer() {
        guard let wakeTime, let due = time.time(of: began.advanced(by: wakeTime)) else { return }
        if let timer {
            guard due < timer.due else { return }
            clock.cancel(timer.token)
        }
        timer = (clock.schedule(at: due) { [weak self] in self?.timerHasRung() }, due)
    }

    private func timerHasRung() {
        timer = nil
        guard let wakeTime, !time.isPaused else { return }
        guard runTime >= wakeTime else { return setTimer() }
        self.wakeTime = nil
        send(.time)
    }

    /// Pauses all time limits until `thawTime`.
    func freezeTime() { time.pause(at: clock.now) }

    func thawTime() {
        time.resume(at: clock.now)
        setTimer()
    }

    // MARK: Results of steps

    private func noteResult(of attempt: StepAttempt) {
        var result = RowResult(status: attempt.exitStatus, outputs: attempt.outputs)
        if result.status != .exited(0) { result.shellStatus = attempt.status }
        if keepsStandardOutput(of: attempt.row) { result.standardOutput = attempt.capturedOutput?.bytes }
        state.noteResult(of: attempt.row, result)
    }

    private func noteFailure(of attempt: StepAttempt) {
        let row = attempt.row
        if let error = attempt.error {
            state.noteFailure(of: row, error.kind, error.message, because: error.failure)
        } else if let ending = attempt.ending {
            let status = ExitStatus(ending.status)
            let command = attempt.failedCommand
            let words = ending.isOutOfMemory ? "\(status), out of memory" : "\(status)"
            state.noteFailure(
                of: row, status.exitCode == nil ? .signal : .exit,
                command.flatMap(\.words).map { "\(words) \($0)" } ?? words, at: command)
        }
    }

    /// Returns true if the standard output of a step may be read.
    func keepsStandardOutput(of row: PlanIndex) -> Bool {
        !standardOutputReads.isEmpty && standardOutputReads.contains(plan.nodes[row].definition)
    }

    /// Returns the view in which a step's output is to be shown; nil if the file does not say.
    func view(of row: PlanIndex) -> OutputView? { plan.logView(of: row).map(OutputView.init) }
}

extension OutputView {
    fileprivate init(_ view: LogView) {
        self =
            switch view {
            case .live: .live
            case .grouped: .grouped
            case .quiet: .quiet
            }
    }
}

// Questions and interactive steps take turns with the terminal.
extension WorkflowRunner {
    /// True if the terminal shows a question.
    var isAsking: Bool { terminalUser == nil && !questions.isEmpty }

    /// Lends the terminal to a step.
    func lendTerminal(to row: PlanIndex) throws(StepError) -> ControllingTerminal {
        let terminal: ControllingTerminal
        do throws(TerminalError) {
            guard let terminalHost else { throw TerminalError("needs a terminal, and there is none") }
            terminal = try terminalHost.lend()
        } catch {
            throw StepError(error.message)
        }
        terminalUser = row
        return terminal
    }

    /// Takes the terminal back; does nothing if the step does not have it.
    func takeBackTerminal(from row: PlanIndex) {
        guard terminalUser == row else { return }
        terminalUser = nil
        terminalHost?.takeBack()
        askNext()
    }

    /// Called when a step that has the terminal was stopped, not by flowrun.
    func stepHasStopped(_ attempt: StepAttempt, by signal: Int32) {
        guard let terminalHost, !terminalHost.stop(with: signal) else { return }
        attempt.freeze()
        attempt.thaw()
    }
}
