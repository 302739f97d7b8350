internal import Glibc
internal import ProcessExecution
internal import RunEvents
internal import WorkflowModel
internal import WorkflowPlanning

/// The command of one of `vars` while it runs.
@EventLoopActor
final class SharedCommand {
    private unowned let runner: WorkflowRunner
    private let key: SharedKey
    private let command: ProcessCommand
    /// Called once, when nothing of the command is left: with what it came to, or nil if it was stopped.
    private let whenEnded: (Result<Value, SharedFailure>?) -> Void
    private var process: (any RunningProcess)?
    private var output: [UInt8] = []
    private var tail = OutputTail()
    private var streams: (output: StepStream, error: StepStream)
    private var limit: Countdown?
    /// Whether the machine is asked for the process.
    private var isWaiting = false
    private var isStopped = false
    private var hasTimedOut = false

    init(
        _ command: ProcessCommand, for key: SharedKey, by runner: WorkflowRunner,
        whenEnded: @escaping (Result<Value, SharedFailure>?) -> Void
    ) {
        self.command = command
        self.key = key
        self.runner = runner
        self.whenEnded = whenEnded
        streams = (StepStream(mask: runner.options.secrets.mask), StepStream(mask: runner.options.secrets.mask))
    }

    private var definition: SharedValue { runner.plan.workflow[key.id] }
    private var timeout: Duration? {
        definition.command?.timeout?.duration
            ?? runner.plan.workflow.defaults(for: key.id.scope, isInside: true).timeout
    }

    /// Starts the process, unless the run is paused: then a resume calls this again. Waits as a step does while the
    /// machine has no process.
    func start() {
        guard process == nil, !isWaiting, !isStopped, !runner.isPaused else { return }
        isWaiting = true
        runner.starts.start(self)
    }

    func tryStart() -> SpawnError? {
        do {
            process = try runner.spawner.start(command, for: self)
        } catch {
            guard !error.isPassing else { return error }
            startHasFailed(error)
            return nil
        }
        isWaiting = false
        runner.starts.processHasStarted()
        guard let timeout else { return nil }
        limit = Countdown(timeout, by: runner.clock) { [weak self] in
            self?.hasTimedOut = true
            self?.terminate()
        }
        return nil
    }

    func startIsDelayed() {}

    func startHasFailed(_ error: SpawnError) {
        isWaiting = false
        end(.failure(failure(.spawn, StepError(error, of: command).message)))
    }

    /// Nobody waits for the value any more.
    func stop() {
        guard !isStopped else { return }
        isStopped = true
        guard process == nil else { return terminate() }
        runner.starts.withdraw(self)
        end(nil)
    }

    func kill() { process?.killAll() }

    func freeze() {
        process?.freeze()
        limit?.freeze()
    }

    func thaw() {
        process?.thaw()
        limit?.thaw()
    }

    /// A command that writes without end is stopped; what it came to is an error.
    private var isTooLong: Bool { output.count > OutputDeclaration.Kind.sizeLimit }

    private func terminate() {
        guard !runner.isAborted else { return kill() }
        process?.terminate(
            with: runner.plan.killSignal(of: key.group, isInside: true).number,
            grace: runner.plan.grace(of: key.group, isInside: true))
    }

    private func end(_ result: Result<Value, SharedFailure>?) {
        process = nil
        limit.take()?.cancel()
        whenEnded(result)
    }

    private func result(of ending: ProcessEnding) -> Result<Value, SharedFailure> {
        if let remaining = ending.remaining {
            return .failure(failure(.lost, StepError(losing: remaining).message))
        }
        switch ending.status {
        case _ where hasTimedOut:
            return .failure(failure(.timeout, "timed out after \((timeout ?? .zero).asWritten)"))
        case _ where isTooLong: break
        case .exited(0): break
        case .notStarted(let error):
            return .failure(failure(.spawn, StepError.describe(error, of: command)))
        case .signalled: return .failure(failure(.signal, "\(ExitStatus(ending.status))"))
        case .exited: return .failure(failure(.exit, "\(ExitStatus(ending.status))"))
        }
        if let error = StepError(ofOutput: ending) { return .failure(failure(.output, error.message)) }
        let kind = definition.command?.kind ?? .string
        do {
            return .success(
                try kind.value(
                    ofStandardOutput: output, for: "it", hiding: runner.options.secrets))
        } catch {
            return .failure(failure(.output, error.message))
        }
    }

    private func failure(_ kind: Cause.Kind, _ message: String) -> SharedFailure {
        SharedFailure(cause: runner.state.cause(kind, message, of: key), tail: tail)
    }
}

extension SharedCommand: Starter {}

extension SharedCommand: ProcessObserver {
    var mayTakeOutput: Bool { true }

    func process(wrote bytes: UnsafeRawBufferPointer, to stream: OutputStream) {
        switch stream {
        case .standardOutput, .combined:
            // One more than is allowed, so that it is seen.
            guard !isTooLong else { return }
            output.append(contentsOf: bytes.prefix(OutputDeclaration.Kind.sizeLimit + 1 - output.count))
            streams.output.append(bytes) { bytes, _ in tail.append(bytes) }
            if isTooLong { terminate() }
        case .standardError:
            streams.error.append(bytes) { bytes, _ in tail.append(bytes) }
        }
    }

    func process(exited status: ProcessEnding.Status) {}
    func processLingers() {}
    func process(sent signal: Int32) {}

    func process(ended ending: ProcessEnding) {
        defer { runner.starts.processHasEnded() }
        streams.output.finish { bytes, _ in tail.append(bytes) }
        streams.error.finish { bytes, _ in tail.append(bytes) }
        end(isStopped ? nil : result(of: ending))
    }
}
