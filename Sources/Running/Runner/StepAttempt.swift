internal import Basics
internal import Glibc
internal import Planning
internal import Processes
internal import RunLog
internal import Scheduling
internal import Workflow

/// One attempt of one step: from the command to the process, its output, its results and its end.
@EventLoopActor
final class StepAttempt {
    let row: PlanIndex
    /// The step's id.
    let step: String
    /// From 1.
    let number: Int
    /// The round of the enclosing group, from 0; nil if there is only one.
    let round: Int?
    var process: (any RunningProcess)?
    var outputBytes = 0
    var tail = OutputTail()
    /// The end of the process; nil if there was none.
    var ending: ProcessEnding?
    /// The reason why there was no process, or why its outputs cannot be used; nil if there is none.
    private(set) var error: StepError?
    /// The outputs of the step; only after a success.
    var outputs: [Value.Field] = []
    /// nil if it is not read.
    var capturedOutput: CapturedOutput?
    /// The command at which its script failed; nil if that is not known.
    var failedCommand: FailedCommand?
    /// True if the log reports its start.
    var hasStarted = false
    /// True once the journal has everything that it must have before a process starts.
    var isWrittenAhead = false
    /// True if the machine has refused the process, and is asked again.
    var isRefused = false
    /// True if it was stopped before it had a process.
    var isLeaving = false
    /// True if its result is that of the run that this one resumes.
    var isRestored = false
    /// The digest of the step's definition; nil if there is none.
    var definition: String?
    /// True if another attempt was to follow this one.
    var isToBeFollowed = false
    /// The start of the first process of the step, in this attempt or an earlier one; nil if there was none.
    var firstStart: EventLoopClock.Instant?
    /// True once the attempt is over: the step has ended, or only waits for another attempt.
    private(set) var isOver = false

    // The runner holds its attempts and outlives them.
    unowned let runner: WorkflowRunner
    private let began: EventLoopClock.Instant
    private let startedBefore: Int
    /// A command that has been made and not yet started.
    var launch: Launch?
    /// True if the scheduler knows that there is no process yet, so that the limit of the attempt does not run.
    var isDelayed = false
    /// The command that was started, for error messages.
    var command: ProcessCommand?
    var streams: (output: StepStream, error: StepStream)
    /// True if standard output has a pipe of its own.
    var separatesStreams = false
    /// `$FLOWRUN_OUTPUT`; nil if the step declares no output that comes from it.
    var outputFile: String?
    /// The file of a script for its own interpreter; nil if a shell reads the script.
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
            capturedOutput = CapturedOutput()
        }
    }

    var declarations: [OutputDeclaration] { runner.plan.settings(of: row)?.outputs ?? [] }

    /// The number of the last attempt that had a process, this one or an earlier one; 0 if none had.
    private var lastStarted: Int { hasStarted ? number : startedBefore }

    /// The end of the attempt, for the log.
    var end: AttemptEnd {
        AttemptEnd(
            lastStarted: lastStarted, ending: ending, duration: stepDuration, errno: error?.errno,
            outputBytes: outputBytes,
            tail: tail, command: failedCommand, isRestored: isRestored, definition: definition)
    }

    /// The time from the first start of a process of the step to now; for a single attempt, that of its process. nil
    /// if there was no process.
    private var stepDuration: Duration? {
        guard number > 1 || isToBeFollowed, let firstStart else { return ending?.duration }
        return max(firstStart.duration(to: runner.clock.now), ending?.duration ?? .zero)
    }

    /// The status of its process, 0 if restored; nil if there was no process.
    var exitStatus: ExitStatus? { isRestored ? .exited(0) : ending.map { ExitStatus($0.status) } }

    /// Its status as a shell shows it; nil if it failed before there was a program to start.
    var status: ExitStatus? { exitStatus ?? error?.shellStatus }

    /// The time since the attempt began.
    var duration: Duration { began.duration(to: runner.clock.now) }

    func record(_ kind: RunEvent.Kind) { runner.recorder.record(kind, round: round) }

    // MARK: Stop

    /// Ends the attempt, with the step's own signal and grace. Without a process it ends at once, or with the command
    /// of one of `vars` that is stopped because of it.
    func stop() {
        if let process {
            let plan = runner.plan
            return process.terminate(with: plan.killSignal(of: row).number, grace: plan.grace(of: row))
        }
        if let timer = launch?.timer { runner.clock.cancel(timer) }
        runner.starts.withdraw(self)
        guard !isOver, !isLeaving else { return }
        isLeaving = true
        runner.leaveWait(of: row) { [self] in end(isSuccess: false) }
    }

    /// Ends the attempt without grace.
    func kill() { if let process { process.killAll() } else { stop() } }

    func freeze() { process?.freeze() }

    func thaw() { process?.thaw() }

    // MARK: End

    /// Ends an attempt that is never to begin.
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
        if !hasStarted { runner.forgetWait(of: row) }
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

// Records and keeps what its process does.
extension StepAttempt: ProcessObserver {
    var mayTakeOutput: Bool { runner.recorder.mayTakeOutput() }

    func process(wrote bytes: UnsafeRawBufferPointer, to stream: OutputStream) {
        outputBytes += bytes.count
        switch stream {
        case .combined:
            streams.output.append(bytes) { write($0, $1, to: .output) }
        case .standardOutput:
            // It may write without end.
            if capturedOutput?.append(bytes) == false { stop() }
            streams.output.append(bytes) { write($0, $1, to: .stdout) }
        case .standardError:
            streams.error.append(bytes) { write($0, $1, to: .stderr) }
        }
    }

    private func write(_ bytes: UnsafeRawBufferPointer, _ isPartial: Bool, to stream: StepOutput.Stream) {
        // Of many bytes only the last ones matter; they are checked first.
        let end = UnsafeRawBufferPointer(rebasing: bytes.suffix(OutputTail.limit))
        if OverwrittenLines.lastStates(of: end) != nil, let states = OverwrittenLines.lastStates(of: bytes) {
            states.withUnsafeBytes { tail.append($0) }
        } else {
            tail.append(bytes)
        }
        record(
            .stepOutput(
                StepOutput(.step(step), attempt: number, stream: stream, bytes: bytes, isPartial: isPartial)))
    }

    func process(exited status: ProcessEnding.Status) {
        runner.takeBackTerminal(from: row)
        record(
            .stepAttempt(
                AttemptExit { end in
                    end.step = step
                    end.attempt = number
                    end.status = ExitStatus(status)
                }))
        // Ctrl-C reaches only the step that has the terminal; a step that does not catch it ends the run by it.
        if command?.isInteractive == true, process?.isStopping == false, case .signalled(let signal) = status,
            [SIGINT, SIGQUIT].contains(signal)
        {
            runner.interrupt(by: signal)
        }
    }

    func process(stopped signal: Int32) { runner.stepHasStopped(self, by: signal) }

    func processLingers() { runner.send(.lingering(OperationID(row))) }

    func process(sent signal: Int32) {
        record(.stepSignal(step: step, attempt: number, signal: SignalName.of(signal)))
    }

    func process(ended ending: ProcessEnding) {
        defer { runner.starts.processHasEnded() }
        streams.output.finish { write($0, $1, to: separatesStreams ? .stdout : .output) }
        streams.error.finish { write($0, $1, to: .stderr) }
        if case .notStarted(let error) = ending.status, let command { return fail(StepError(error, of: command)) }
        self.ending = ending
        if let remaining = ending.remaining {
            let error = StepError(losing: remaining)
            record(.warning(code: "lost", message: "`\(step)`: \(error.message)"))
            return fail(error)
        }
        if let error = StepError(ofOutput: ending) { return fail(error) }
        if capturedOutput?.isOverfull == true {
            return fail(
                StepError("wrote more to standard output than the 64 MiB that can be kept for others", kind: .output))
        }
        guard ending.status == .exited(0) else {
            failedCommand = findFailedCommand()
            return end(isSuccess: false)
        }
        do {
            outputs = try takeOutputs()
        } catch {
            return fail(error)
        }
        end(isSuccess: true)
    }

    private func takeOutputs() throws(StepError) -> [Value.Field] {
        let declarations = declarations
        guard !declarations.isEmpty else { return [] }
        var written: [UInt8] = []
        if let outputFile { written = try runner.files.take(outputFile, limit: OutputDeclaration.Kind.sizeLimit) }
        do {
            return try declarations.values(
                inFile: written, standardOutput: capturedOutput?.bytes ?? [], hiding: runner.options.secrets)
        } catch {
            throw StepError(error.message, kind: .output)
        }
    }

    /// Returns the command that its shell has noted; a script of one command needs no note.
    private func findFailedCommand() -> FailedCommand? {
        let plan = runner.plan
        guard scriptFile == nil, let process, case .script(let script) = plan.body(of: row),
            let text = ScriptText(script, in: plan.workflow.file)
        else { return nil }
        guard let notes else { return text.onlyCommand }
        return notes.take().culprit(of: process.pid).flatMap(text.command)
    }
}

/// The standard output of a process, kept whole for expressions and outputs.
struct CapturedOutput {
    private(set) var bytes: [UInt8] = []
    /// True if there was more than can be kept; then nothing is.
    private(set) var isOverfull = false

    /// The largest size in bytes.
    private static let limit = 64 << 20

    init(_ bytes: [UInt8] = []) { self.bytes = bytes }

    /// Returns false once, when the limit is exceeded.
    mutating func append(_ new: UnsafeRawBufferPointer) -> Bool {
        guard !isOverfull else { return true }
        guard bytes.count + new.count > Self.limit else {
            bytes.append(contentsOf: new)
            return true
        }
        isOverfull = true
        bytes = []
        return false
    }
}

extension KillSignal {
    var number: Int32 {
        switch self {
        case .term: SIGTERM
        case .int: SIGINT
        case .hup: SIGHUP
        case .quit: SIGQUIT
        case .usr1: SIGUSR1
        case .usr2: SIGUSR2
        case .kill: SIGKILL
        }
    }
}
