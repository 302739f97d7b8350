internal import AsyncOperations
internal import Glibc
internal import ProcessExecution
internal import RunEvents
internal import WorkflowModel

/// One attempt of one step: its process, what it writes, what it hands on, and how it ended.
@EventLoopActor
final class StepRun: ProcessObserver {
    /// What an attempt is given beside its command.
    struct Frame {
        let row: Int
        let step: String
        /// From 1.
        let attempt: Int
        let round: Int?
        /// Where the step stands in the file.
        let line: Int
        let item: String?
        let view: OutputView?
        let declarations: [OutputDeclaration]
        /// Whether somebody may ask for what it writes to standard output.
        let keepsStandardOutput: Bool
    }

    let frame: Frame
    private(set) var process: (any RunningProcess)?
    private(set) var outputBytes = 0
    private(set) var tail = OutputTail()
    /// How the process ended; nil where there was none.
    private(set) var ending: ProcessEnding?
    /// Why there was no process, or why what it handed on cannot be taken.
    private(set) var refusal: Refusal?
    /// What it hands on; only after a success.
    private(set) var outputs: [Value.Field] = []
    private(set) var standardOutput: [UInt8]?
    private(set) var isFrozen = false
    /// Called when the start is in the log.
    var onStart: (@EventLoopActor () -> Void)?

    private let began = EventLoopClock().now

    private let recorder: EventRecorder
    private let files: OutputFiles
    private let secrets: RunSecrets
    private var streams: (output: StepStream, error: StepStream)
    private var isOverfull = false
    /// Set as soon as the process has ended, so before `ending`.
    private var early: ProcessEnding?
    private var waiter: UnsafeContinuation<ProcessEnding, Never>?
    private var onLinger: (@EventLoopActor () -> Void)?

    init(_ frame: Frame, recorder: EventRecorder, files: OutputFiles, secrets: RunSecrets) {
        self.frame = frame
        self.recorder = recorder
        self.files = files
        self.secrets = secrets
        streams = (StepStream(mask: secrets.mask), StepStream(mask: secrets.mask))
        if frame.keepsStandardOutput || frame.declarations.contains(where: \.isOfStandardOutput) {
            standardOutput = []
        }
    }

    /// How long a step is tried while the machine has no processes, memory or descriptors left (reliability F22, F23).
    private static let patience = Duration.seconds(30)
    /// The most that is kept of standard output for others to read.
    private static let captureLimit = 64 << 20

    /// Runs the attempt to its end; returns whether it succeeded.
    func run(in context: OperationContext, with builder: CommandBuilder) async -> Bool {
        var file: String?
        defer { if let file { files.drop(file) } }
        let settings: StepSettings
        let words: StepStarted.Command
        let command: ProcessCommand
        do {
            words = try builder.words(of: frame.row)
            file = frame.declarations.contains(where: \.isInFile) ? try files.make() : nil
            settings = try builder.settings(
                of: frame.row, attempt: frame.attempt, adding: file.map { [("FLOWRUN_OUTPUT", $0)] } ?? [])
            command = try builder.command(
                for: frame.row, words, with: settings, separatesStreams: standardOutput != nil)
            process = try await spawn(command, in: context)
        } catch {
            refusal = error
            return false
        }
        guard let process else { return false }
        let ending = await attend(process, words, settings, in: context)
        if case .notStarted(let error) = ending.status {
            refusal = Refusal(error, of: command)
            return false
        }
        self.ending = ending
        guard ending.status == .exited(0) else { return false }
        do {
            outputs = try takeOutputs(file)
            return true
        } catch {
            refusal = error
            return false
        }
    }

    /// Whether another attempt is worth it, for an end that counts as a failure.
    func isWorthAnother(_ reasons: [Retry.Reason]) -> Bool {
        reasons.isEmpty || reasons.include(ending.map { ExitStatus($0.status) })
    }

    /// Ends everything of the attempt now, without grace.
    func kill() {
        if ending == nil { process?.killAll() }
    }

    private func attend(
        _ process: any RunningProcess, _ words: StepStarted.Command, _ settings: StepSettings,
        in context: OperationContext
    ) async -> ProcessEnding {
        let (step, attempt) = (frame.step, frame.attempt)
        record(
            .stepStarted(
                StepStarted(
                    step: step, attempt: attempt, pid: process.pid, command: masked(words), line: frame.line,
                    item: frame.item.map(secrets.masked), view: frame.view)))
        onStart?()
        onStart = nil
        onLinger = { context.endTimeLimit() }
        if isFrozen { process.freeze() }
        let (signal, grace) = (settings.killSignal.number, settings.grace)
        context.onStop { _ in
            EventLoopActor.assumeIsolated { process.terminate(with: signal, grace: grace) }
        }
        let ending =
            if let early = self.early { early } else { await withUnsafeContinuation { waiter = $0 } }
        streams.output.finish { write($0, $1, to: standardOutput == nil ? .output : .stdout) }
        streams.error.finish { write($0, $1, to: .stderr) }
        return ending
    }

    /// Whether the attempt has ended, so that the step only waits for another.
    var isOver: Bool { ending != nil || refusal != nil }

    /// Since the attempt began.
    var duration: Duration { began.duration(to: EventLoopClock().now) }

    /// Stops the step's processes where they are; those of a start that is under way once they are there.
    func freeze() {
        isFrozen = true
        process?.freeze()
    }

    func thaw() {
        isFrozen = false
        process?.thaw()
    }

    /// Nil where the step was stopped before there was a process.
    private func spawn(
        _ command: ProcessCommand, in context: OperationContext
    ) async throws(Refusal) -> (any RunningProcess)? {
        let clock = EventLoopClock()
        let deadline = clock.now.advanced(by: Self.patience)
        var delay = Duration.milliseconds(20)
        while context.stopCause == nil {
            do {
                return try ProcessSpawner.shared.start(command, for: self)
            } catch {
                let isPassing = [EAGAIN, ENOMEM, EMFILE, ENFILE].contains(error.errno)
                guard isPassing, clock.now < deadline else {
                    throw Refusal(error, of: command, isOutOfProcesses: isPassing)
                }
                try? await clock.sleep(until: clock.now.advanced(by: delay))
                delay = min(delay * 2, .milliseconds(200))
            }
        }
        return nil
    }

    // MARK: What its process tells

    var mayTakeOutput: Bool { recorder.mayTakeOutput() }

    func process(exited status: ProcessEnding.Status) {
        record(.stepAttempt(step: frame.step, attempt: frame.attempt, status: ExitStatus(status)))
    }

    func processLingers() { onLinger?() }

    func process(sent signal: Int32) {
        record(.stepSignal(step: frame.step, attempt: frame.attempt, signal: SignalName.of(signal)))
    }

    func process(ended ending: ProcessEnding) {
        early = ending
        onLinger = nil
        waiter.take()?.resume(returning: ending)
    }

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

    private func keep(_ bytes: UnsafeRawBufferPointer) {
        guard let count = standardOutput?.count, !isOverfull else { return }
        if count + bytes.count > Self.captureLimit {
            isOverfull = true
            standardOutput = []
        } else {
            standardOutput?.append(contentsOf: bytes)
        }
    }

    private func write(_ bytes: [UInt8], _ isPartial: Bool, to stream: StepOutput.Stream) {
        tail.append(bytes)
        record(
            .stepOutput(
                StepOutput(
                    step: frame.step, attempt: frame.attempt, stream: stream, bytes: bytes, isPartial: isPartial)))
    }

    private func record(_ kind: RunEvent.Kind) { recorder.record(kind, round: frame.round) }

    private func masked(_ words: StepStarted.Command) -> StepStarted.Command {
        guard secrets.mask != nil else { return words }
        return switch words {
        case .script(let script): .script(secrets.masked(script))
        case .arguments(let arguments): .arguments(arguments.map(secrets.masked))
        }
    }

    // MARK: What it hands on

    private func takeOutputs(_ file: String?) throws(Refusal) -> [Value.Field] {
        if isOverfull {
            throw Refusal("wrote more to standard output than the 64 MiB that can be kept for others", kind: .output)
        }
        guard !frame.declarations.isEmpty else { return [] }
        var written: [UInt8] = []
        if let file { written = try files.take(file, limit: OutputDeclaration.Kind.sizeLimit) }
        do {
            return try frame.declarations.values(
                inFile: written, standardOutput: standardOutput ?? [], hiding: secrets)
        } catch {
            throw Refusal(error.message, kind: .output)
        }
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
            case .notStarted: .exited(127)
            }
    }
}
