internal import Basics
internal import Planning
internal import Processes
internal import RunLog
internal import Scheduling
internal import Workflow

/// One attempt of one step: from the command to the process, what it writes, what it hands on, and how it ended.
@EventLoopActor
final class StepAttempt {
    let row: PlanIndex
    /// The step's id.
    let step: String
    /// From 1.
    let number: Int
    /// Which round of the group around it, from 0; nil if there is only one.
    let round: Int?
    var process: (any RunningProcess)?
    var outputBytes = 0
    var tail = OutputTail()
    /// How the process ended; nil if there was none.
    var ending: ProcessEnding?
    /// Why there was no process, or why what it handed on cannot be taken.
    private(set) var error: StepError?
    /// What it hands on; only after a success.
    var outputs: [Value.Field] = []
    /// nil where nobody reads it.
    var keptOutput: KeptOutput?
    /// The command at which its script failed; nil if that is not known.
    var failedCommand: FailedCommand?
    /// Whether the log says that it has started.
    var hasStarted = false
    /// True once the journal has all that it must have before a process starts.
    var isWrittenAhead = false
    /// Whether the machine has refused the process, and is asked again.
    var isRefused = false
    /// Whether it was stopped before it had a process.
    var isLeaving = false
    /// Whether its result is that of the run that this one resumes.
    var isRestored = false
    /// A digest of what decides what it does; nil where nobody asks.
    var definition: String?
    /// True if another attempt was to follow this one.
    var isToBeFollowed = false
    /// The start of the first process of the step, in this attempt or one before; nil if there was none.
    var firstStart: EventLoopClock.Instant?
    /// Whether the attempt is over: the step has ended, or only waits for another attempt.
    private(set) var isOver = false

    // The runner holds its attempts and outlives them.
    unowned let runner: WorkflowRunner
    private let began: EventLoopClock.Instant
    private let startedBefore: Int
    /// A command that has been made and not been started yet.
    var launch: Launch?
    /// Whether the scheduler knows that there is no process yet, so that the limit of the attempt does not run.
    var isDelayed = false
    /// What was started, for the words of an error.
    var command: ProcessCommand?
    var streams: (output: StepStream, error: StepStream)
    /// Whether standard output has a pipe of its own.
    var separatesStreams = false
    /// `$FLOWRUN_OUTPUT`; nil if the step declares no output that comes from it.
    var outputFile: String?
    /// The script for its own interpreter; nil for one that a shell reads.
    var scriptFile: String?
    var notes: NoteFile?

    /// `previous` is the attempt of the same step before this one.
    init(of row: PlanIndex, number: Int, after previous: StepAttempt?, by runner: WorkflowRunner) {
        self.row = row
        self.number = number
        startedBefore = previous?.lastStarted ?? 0
        firstStart = previous?.firstStart
        self.runner = runner
        let plan = runner.plan
        step = plan.nodes[row].id
        round = runner.state.round(of: row)
        began = runner.clock.now
        streams = (StepStream(mask: runner.options.secrets.mask), StepStream(mask: runner.options.secrets.mask))
        if runner.keepsStandardOutput(of: row) || declarations.contains(where: \.isOfStandardOutput) {
            keptOutput = KeptOutput()
        }
    }

    var declarations: [OutputDeclaration] { runner.plan.settings(of: row)?.outputs ?? [] }

    /// The number of the last attempt that had a process, this one or one before; 0 if none had.
    private var lastStarted: Int { hasStarted ? number : startedBefore }

    /// What the log tells of it at its end.
    var end: AttemptEnd {
        AttemptEnd(
            lastStarted: lastStarted, ending: ending, duration: stepDuration, errno: error?.errno,
            outputBytes: outputBytes,
            tail: tail, command: failedCommand, isRestored: isRestored, definition: definition)
    }

    /// From the first start of a process for the step to its end: that of this attempt, or now if another was to come.
    private var stepDuration: Duration? {
        guard number > 1 || isToBeFollowed, let firstStart else { return ending?.duration }
        return max(firstStart.duration(to: runner.clock.now), ending?.duration ?? .zero)
    }

    /// How its process ended; nil if there was none.
    var exitStatus: ExitStatus? { isRestored ? .exited(0) : ending.map { ExitStatus($0.status) } }

    /// How it ended, as a shell shows it; nil if it failed before there was a program to start.
    var status: ExitStatus? { exitStatus ?? error?.shellStatus }

    /// Since the attempt began.
    var duration: Duration { began.duration(to: runner.clock.now) }

    func record(_ kind: RunEvent.Kind) { runner.recorder.record(kind, round: round) }

    // MARK: Stop

    /// Ends the attempt, with the step's own signal and grace; if there is no process yet, at once.
    func stop() {
        if let process {
            let plan = runner.plan
            return process.terminate(with: plan.killSignal(of: row).number, grace: plan.grace(of: row))
        }
        if let timer = launch?.timer { runner.clock.cancel(timer) }
        runner.starts.withdraw(self)
        guard !isOver, !isLeaving else { return }
        isLeaving = true
        runner.context.pending.leave(row) { [self] in end(isSuccess: false) }
    }

    /// Ends the attempt without grace.
    func kill() { if let process { process.killAll() } else { stop() } }

    func freeze() { process?.freeze() }

    func thaw() { process?.thaw() }

    // MARK: End

    /// An attempt that is never to begin.
    func giveUp() { end(isSuccess: false) }

    func fail(_ error: StepError) {
        self.error = error
        if let tail = error.failure?.tail { self.tail = tail }
        end(isSuccess: false)
    }

    func end(isSuccess: Bool) {
        runner.takeBackTerminal(from: row)
        launch = nil
        process = nil
        isOver = true
        if !hasStarted { runner.context.pending.forget(row) }
        if let outputFile = outputFile.take() { runner.files.drop(outputFile) }
        if let scriptFile = scriptFile.take() { runner.files.drop(scriptFile) }
        notes.take()?.drop()
        runner.attemptHasEnded(self, isSuccess: isSuccess)
    }
}

extension OutputDeclaration {
    var isInFile: Bool { if case .file = source { true } else { false } }
    var isOfStandardOutput: Bool { if case .standardOutput = source { true } else { false } }
}
