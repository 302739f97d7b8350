internal import AsyncOperations
internal import Glibc
internal import ProcessExecution
internal import RunEvents

/// One attempt of one step: its process, what it writes, and how it ended.
@EventLoopActor
final class StepRun {
    enum End {
        case ended(ProcessEnding)
        case refused(CommandBuilder.Refusal)
        /// Stopped before there was a process.
        case stopped
    }

    let row: Int
    let step: String
    let attempt = 1
    private(set) var process: ChildProcess?
    private(set) var outputBytes = 0
    private(set) var tail = OutputTail()
    private(set) var end: End?
    private let recorder: EventRecorder
    private var lines = (output: OutputLines(), error: OutputLines())

    init(row: Int, step: String, recorder: EventRecorder) {
        self.row = row
        self.step = step
        self.recorder = recorder
    }

    /// How long a step is tried while the machine has no processes, memory or descriptors left (reliability F22, F23).
    static let patience = Duration.seconds(30)

    /// Runs the attempt to its end; returns whether it succeeded.
    func run(
        in context: OperationContext, with builder: CommandBuilder, started command: StepStarted.Command, line: Int,
        item: String?
    ) async -> Bool {
        let settings: StepSettings
        do {
            settings = try builder.settings(of: row, attempt: attempt)
            let command = try builder.command(for: row, with: settings)
            process = try await spawn(command, in: context)
        } catch {
            end = .refused(error)
            return false
        }
        guard let process else {
            end = .stopped
            return false
        }
        recorder.record(
            .stepStarted(
                StepStarted(
                    step: step, attempt: attempt, pid: process.pid, command: command, line: line, item: item)))
        process.mayRead = recorder.mayTakeOutput
        process.onExit = { status in
            self.recorder.record(.stepAttempt(step: self.step, attempt: self.attempt, status: ExitStatus(status)))
        }
        process.onLinger = { context.endTimeLimit() }
        process.onSignal = { signal in
            self.recorder.record(
                .stepSignal(step: self.step, attempt: self.attempt, signal: SignalName.of(signal)))
        }
        let (signal, grace) = (settings.killSignal.number, settings.grace)
        context.onStop { _ in
            EventLoopActor.assumeIsolated { process.terminate(with: signal, grace: grace) }
        }
        let ending = await process.wait()
        lines.output.finish { write($0, $1, to: .stdout) }
        lines.error.finish { write($0, $1, to: .stderr) }
        end = .ended(ending)
        return ending.status == .exited(0)
    }

    /// Nil where the step was stopped before there was a process.
    private func spawn(
        _ command: ProcessCommand, in context: OperationContext
    ) async throws(CommandBuilder.Refusal) -> ChildProcess? {
        let clock = EventLoopClock()
        let deadline = clock.now.advanced(by: Self.patience)
        var delay = Duration.milliseconds(20)
        while context.stopCause == nil {
            do {
                return try ChildProcess(command) { stream, bytes in self.take(bytes, from: stream) }
            } catch {
                let isPassing = [EAGAIN, ENOMEM, EMFILE, ENFILE].contains(error.errno)
                guard isPassing, clock.now < deadline else {
                    throw CommandBuilder.Refusal(
                        message: CommandBuilder.describe(
                            error, program: command.arguments.first ?? "", folder: command.workingDirectory),
                        errno: error.errno, isOutOfProcesses: isPassing)
                }
                try? await clock.sleep(until: clock.now.advanced(by: delay))
                delay = min(delay * 2, .milliseconds(200))
            }
        }
        return nil
    }

    private func take(_ bytes: UnsafeRawBufferPointer, from stream: OutputStream) {
        outputBytes += bytes.count
        switch stream {
        case .standardOutput: lines.output.append(bytes) { write($0, $1, to: .stdout) }
        case .standardError: lines.error.append(bytes) { write($0, $1, to: .stderr) }
        }
    }

    private func write(_ bytes: [UInt8], _ isPartial: Bool, to stream: StepOutput.Stream) {
        tail.append(bytes)
        recorder.record(
            .stepOutput(StepOutput(step: step, attempt: attempt, stream: stream, bytes: bytes, isPartial: isPartial)))
    }
}

extension ExitStatus {
    init(_ status: ProcessEnding.Status) {
        self =
            switch status {
            case .exited(let code): .exited(code)
            case .signalled(let number): .signalled(number)
            }
    }
}
