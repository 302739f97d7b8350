internal import Basics
internal import Glibc
internal import OperationScheduling
internal import ProcessExecution
internal import RunEvents
internal import WorkflowModel
internal import WorkflowPlanning

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
    private(set) var process: (any RunningProcess)?
    private(set) var outputBytes = 0
    private(set) var tail = OutputTail()
    /// How the process ended; nil if there was none.
    private(set) var ending: ProcessEnding?
    /// Why there was no process, or why what it handed on cannot be taken.
    private(set) var error: StepError?
    /// What it hands on; only after a success.
    private(set) var outputs: [Value.Field] = []
    private(set) var standardOutput: [UInt8]?
    /// The command at which its script failed; nil if that is not known.
    private(set) var failedCommand: FailedCommand?
    /// Whether the log says that it has started.
    private(set) var hasStarted = false
    /// Whether the machine has refused the process, and is asked again.
    private var isRefused = false
    /// Whether it was stopped before it had a process.
    private var isLeaving = false
    /// Whether its result is that of the run that this one resumes.
    private(set) var isRestored = false
    /// A digest of what decides what it does; nil where nobody asks.
    private var definition: String?
    /// Whether the attempt is over: the step has ended, or only waits for another attempt.
    private(set) var isOver = false

    // The runner holds its attempts and outlives them.
    private unowned let runner: WorkflowRunner
    private let began: EventLoopClock.Instant
    private let startedBefore: Int
    private var launch: Launch?
    /// Whether the scheduler knows that there is no process yet, so that the limit of the attempt does not run.
    private var isDelayed = false
    /// What was started, for the words of an error.
    private var command: ProcessCommand?
    private var streams: (output: StepStream, error: StepStream)
    /// Whether standard output has a pipe of its own.
    private var separatesStreams = false
    /// `$FLOWRUN_OUTPUT`; nil if the step declares no output that comes from it.
    private var outputFile: String?
    /// The script for its own interpreter; nil for one that a shell reads.
    private var scriptFile: String?
    private var notes: NoteFile?
    private var isOverfull = false

    /// A command that has been made and not been started yet.
    private struct Launch {
        let command: ProcessCommand
        let notes: NoteFile?
        let words: StepStarted.Command
        var timer: Timers.Token?
    }

    /// The most that is kept of standard output for others to read.
    private static let captureLimit = 64 << 20

    /// `previous` is the attempt of the same step before this one.
    init(of row: PlanIndex, number: Int, after previous: StepAttempt?, by runner: WorkflowRunner) {
        self.row = row
        self.number = number
        startedBefore = previous?.lastStarted ?? 0
        self.runner = runner
        let plan = runner.plan
        step = plan.nodes[row].id
        round = runner.state.round(of: row)
        began = runner.clock.now
        streams = (StepStream(mask: runner.options.secrets.mask), StepStream(mask: runner.options.secrets.mask))
        if runner.keepsStandardOutput(of: row) || declarations.contains(where: \.isOfStandardOutput) {
            standardOutput = []
        }
    }

    private var declarations: [OutputDeclaration] { runner.plan.settings(of: row)?.outputs ?? [] }

    /// The number of the last attempt that had a process, this one or one before; 0 if none had.
    private var lastStarted: Int { hasStarted ? number : startedBefore }

    /// What the log tells of it at its end.
    var end: RunState.AttemptEnd {
        RunState.AttemptEnd(
            lastStarted: lastStarted, ending: ending, errno: error?.errno, outputBytes: outputBytes,
            tail: tail, command: failedCommand, isRestored: isRestored, definition: definition)
    }

    /// How its process ended; nil if there was none.
    var exitStatus: ExitStatus? { isRestored ? .exited(0) : ending.map { ExitStatus($0.status) } }

    /// How it ended, as a shell shows it; nil if it failed before there was a program to start.
    var status: ExitStatus? { exitStatus ?? error?.shellStatus }

    /// Since the attempt began.
    var duration: Duration { began.duration(to: runner.clock.now) }

    // MARK: Start

    /// Makes the command and starts it: on the spot, once the files are hashed that its expressions name, or once the
    /// machine has a process for it. If that fails, the attempt ends, perhaps during this call.
    func start() { runner.starts.start(self) }

    func tryStart() -> SpawnError? {
        if launch != nil { return tryLaunch() }
        var failure: StepError?
        let made: Void? = runner.context.pending.evaluate(for: row) {
            do throws(StepError) { launch = try makeLaunch() } catch { failure = error }
        }
        guard made != nil else {
            launch = nil
            startIsDelayed()
            runner.context.pending.wait(for: row) { self.start() }
            return nil
        }
        if let failure {
            fail(failure)
            return nil
        }
        return restore() ? nil : tryLaunch()
    }

    /// Takes over what the run that this one resumes has left, if that is still what it would come to. Returns whether
    /// it did; if not, tells why.
    private func restore() -> Bool {
        guard number == 1, runner.resumption != nil else { return false }
        switch runner.resumption!.decide(row, definition: definition, round: round, in: runner.plan) {
        case .run(let reason):
            if let reason { record(.stepRerun(step: step, reason: reason)) }
            return false
        case .restore(let past):
            if standardOutput != nil, runner.keepsStandardOutput(of: row) {
                guard let output = runner.resumption?.past.standardOutput(step) else {
                    runner.resumption?.noteRun(row, in: runner.plan)
                    record(.stepRerun(step: step, reason: .result))
                    return false
                }
                standardOutput = output
            }
            outputs = past.outputs
            isRestored = true
            end(isSuccess: true)
            return true
        }
    }

    private func makeLaunch() throws(StepError) -> Launch {
        let words = try runner.builder.words(of: row)
        if outputFile == nil, declarations.contains(where: \.isInFile) { outputFile = try runner.files.make() }
        if scriptFile == nil, case .script(let script) = words, Shebang(script) != nil {
            scriptFile = try runner.files.make(holding: script, of: step)
        }
        let command: ProcessCommand
        let notes: NoteFile?
        (command, notes, definition) = try runner.builder.command(
            for: row, words,
            CommandBuilder.Attempt(
                number: number, round: round, outputFile: outputFile, scriptFile: scriptFile,
                isRead: standardOutput != nil))
        return Launch(command: command, notes: notes, words: words)
    }

    /// Starts what a pause has held back; what the machine has refused waits in the queue of starts.
    func startHeld() { if launch != nil, !isRefused { start() } }

    /// The limit of the attempt is for the process, and there is none.
    func startIsDelayed() {
        guard !isDelayed else { return }
        isDelayed = true
        runner.send(.delayed(OperationID(row)))
    }

    private func tryLaunch() -> SpawnError? {
        guard let launch else { return nil }
        isRefused = false
        if let timer = self.launch?.timer.take() { runner.clock.cancel(timer) }
        // A resume tries again.
        guard !runner.isPaused else {
            startIsDelayed()
            return nil
        }
        // What it does would only add to what the reader of the log has not taken.
        guard mayTakeOutput else {
            startLater(after: .milliseconds(20))
            return nil
        }
        let process: any RunningProcess
        do {
            process = try runner.spawner.start(launch.command, for: self)
        } catch {
            // Its files would be among the descriptors that are missing.
            if [EMFILE, ENFILE].contains(error.errno) { self.launch = nil }
            isRefused = error.isPassing
            guard !isRefused else { return error }
            fail(StepError(error, of: launch.command))
            return nil
        }
        runner.starts.processHasStarted()
        self.process = process
        command = launch.command
        separatesStreams = launch.command.separatesStreams
        notes = launch.notes
        self.launch = nil
        hasStarted = true
        record(
            .stepStarted(
                StepStarted(
                    step: step, attempt: number, pid: process.pid, command: masked(launch.words),
                    line: runner.plan.line(of: row),
                    item: runner.plan.loopItem(of: row).map(runner.options.secrets.masked),
                    view: runner.view(of: row), name: runner.plan.settings(of: row)?.name)))
        if isDelayed { runner.send(.launched(OperationID(row))) }
        return nil
    }

    private func startLater(after time: Duration) {
        startIsDelayed()
        launch?.timer = runner.clock.schedule(at: runner.clock.now.advanced(by: time)) { [weak self] in
            self?.launch?.timer = nil
            self?.start()
        }
    }

    func startHasFailed(_ error: SpawnError) {
        fail(StepError("no process for it: \(StepError.reason(error))", errno: error.errno))
    }

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

    private func fail(_ error: StepError) {
        self.error = error
        if let tail = error.failure?.tail { self.tail = tail }
        end(isSuccess: false)
    }

    private func end(isSuccess: Bool) {
        launch = nil
        process = nil
        isOver = true
        if !hasStarted { runner.context.pending.forget(row) }
        if let outputFile = outputFile.take() { runner.files.drop(outputFile) }
        if let scriptFile = scriptFile.take() { runner.files.drop(scriptFile) }
        runner.attemptHasEnded(self, isSuccess: isSuccess)
    }

    private func takeOutputs() throws(StepError) -> [Value.Field] {
        let declarations = declarations
        guard !declarations.isEmpty else { return [] }
        var written: [UInt8] = []
        if let outputFile { written = try runner.files.take(outputFile, limit: OutputDeclaration.Kind.sizeLimit) }
        do {
            return try declarations.values(
                inFile: written, standardOutput: standardOutput ?? [], hiding: runner.options.secrets)
        } catch {
            throw StepError(error.message, kind: .output)
        }
    }

    /// What its shell has noted; a script of one command tells it by itself.
    private func findFailedCommand() -> FailedCommand? {
        let plan = runner.plan
        guard scriptFile == nil, let process, case .script(let script) = plan.body(of: row),
            let text = ScriptText(script, in: plan.workflow.file)
        else { return nil }
        guard let notes else { return text.onlyCommand }
        return notes.notes.culprit(of: process.pid).flatMap(text.command)
    }

    // MARK: What it writes

    private func keep(_ bytes: UnsafeRawBufferPointer) {
        guard let count = standardOutput?.count, !isOverfull else { return }
        guard count + bytes.count > Self.captureLimit else {
            standardOutput?.append(contentsOf: bytes)
            return
        }
        isOverfull = true
        standardOutput = []
        // It may write without end.
        stop()
    }

    private func write(_ bytes: UnsafeRawBufferPointer, _ isPartial: Bool, to stream: StepOutput.Stream) {
        if let states = OverwrittenLines.lastStates(of: bytes) {
            states.withUnsafeBytes { tail.append($0) }
        } else {
            tail.append(bytes)
        }
        record(
            .stepOutput(
                StepOutput(step: step, attempt: number, stream: stream, bytes: bytes, isPartial: isPartial)))
    }

    private func record(_ kind: RunEvent.Kind) { runner.recorder.record(kind, round: round) }

    private func masked(_ words: StepStarted.Command) -> StepStarted.Command {
        let secrets = runner.options.secrets
        guard secrets.mask != nil else { return words }
        return switch words {
        case .script(let script): .script(secrets.masked(script))
        case .arguments(let arguments): .arguments(arguments.map(secrets.masked))
        }
    }
}

extension StepAttempt: Starter {}

extension StepAttempt: ProcessObserver {
    var mayTakeOutput: Bool { runner.recorder.mayTakeOutput() }

    func process(wrote bytes: UnsafeRawBufferPointer, to stream: OutputStream) {
        outputBytes += bytes.count
        switch stream {
        case .combined:
            streams.output.append(bytes) { write($0, $1, to: .output) }
        case .standardOutput:
            keep(bytes)
            streams.output.append(bytes) { write($0, $1, to: .stdout) }
        case .standardError:
            streams.error.append(bytes) { write($0, $1, to: .stderr) }
        }
    }

    func process(exited status: ProcessEnding.Status) {
        record(.stepAttempt(step: step, attempt: number, status: ExitStatus(status)))
    }

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
        if isOverfull {
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
}

extension OutputDeclaration {
    fileprivate var isInFile: Bool { if case .file = source { true } else { false } }
    fileprivate var isOfStandardOutput: Bool { if case .standardOutput = source { true } else { false } }
}

extension ExitStatus {
    init(_ status: ProcessEnding.Status) {
        self =
            switch status {
            case .exited(let code): .exited(code)
            case .signalled(let number): .signalled(number)
            // As a shell would say it.
            case .notStarted(let error): .exited([ENOENT, ENOTDIR].contains(error.errno) ? 127 : 126)
            }
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
