internal import Glibc
internal import Planning
internal import Processes
internal import RunLog
internal import Scheduling
internal import Workflow

/// The command of one of `vars` while it runs, or waits for its slot.
///
/// It counts in `-j` like a step. It waits for a slot of its own, before any step that is ready, unless a step that
/// holds a slot waits for the value; then it runs in the slot of that step. So a step that waits for a value either
/// holds nothing that the command needs, or lends it. Once the command runs, it waits for nothing.
@EventLoopActor
final class SharedCommand {
    /// The slot that it runs in.
    private enum Slot {
        case none, awaited, own
        /// The slot of a step that waits for it.
        case lent
    }

    let errand: Errand
    private unowned let runner: WorkflowRunner
    private let key: SharedKey
    private let launch: SharedLaunch
    /// Called once, when nothing of the command is left: with its result, or nil if it was stopped.
    private let whenEnded: (Result<Value, SharedFailure>?) -> Void
    private var slot = Slot.none
    private var process: (any RunningProcess)?
    private var started: EventLoopClock.Instant?
    private var output: [UInt8] = []
    private var outputBytes = 0
    private var tail = OutputTail()
    private var streams: (output: StepStream, error: StepStream)
    private var limit: Countdown?
    /// True while the machine is asked for the process.
    private var isWaiting = false
    private var isStopped = false
    private var hasTimedOut = false

    init(
        _ launch: SharedLaunch, for key: SharedKey, _ errand: Errand, by runner: WorkflowRunner,
        whenEnded: @escaping (Result<Value, SharedFailure>?) -> Void
    ) {
        self.launch = launch
        self.key = key
        self.errand = errand
        self.runner = runner
        self.whenEnded = whenEnded
        streams = (StepStream(mask: runner.options.secrets.mask), StepStream(mask: runner.options.secrets.mask))
    }

    private var definition: SharedValue { runner.plan.workflow[key.id] }
    private var timeout: Duration? {
        definition.command?.timeout?.duration
            ?? runner.plan.workflow.defaults(for: key.id.scope, isInside: true)?.timeout?.duration
    }

    /// Its name in the log.
    private var value: ValueID {
        ValueID(name: definition.name, group: key.group == .root ? nil : runner.plan.nodes[key.group].id)
    }

    /// nil if there is no process yet.
    var status: RunStatus.RunningValue? {
        guard let process, let started else { return nil }
        return RunStatus.RunningValue { status in
            status.value = value
            status.pid = process.pid
            status.duration = started.duration(to: runner.clock.now)
            status.state = process.isStopping ? .stopping : runner.control.isFrozen ? .frozen : .running
        }
    }

    // MARK: Start

    /// Waits for a slot and then starts the process.
    func askForSlot() {
        slot = .awaited
        runner.send(.errand(errand))
    }

    func hasItsSlot() {
        guard slot == .awaited else { return }
        slot = .own
        start()
    }

    /// Starts the process in the slot of a step that waits for the value.
    func takeLentSlot() {
        guard slot == .none || slot == .awaited else { return }
        if slot == .awaited { runner.send(.errandEnded(errand)) }
        slot = .lent
        start()
    }

    /// Called when the step that has lent its slot ends or goes on.
    func returnLentSlot() {
        guard slot == .lent else { return }
        slot = .own
        runner.send(.errandGoesOn(errand))
    }

    /// Starts the process once it may, unless the run is paused; a resume of the run calls this again. Waits like a
    /// step while the machine has no process.
    func start() {
        guard slot == .own || slot == .lent, process == nil, !isWaiting, !isStopped, !runner.isPaused else { return }
        isWaiting = true
        runner.starts.start(self)
    }

    func tryStart() -> SpawnError? {
        do {
            process = try runner.spawner.start(launch.command, for: self)
        } catch {
            guard !error.isPassing else { return error }
            startHasFailed(error)
            return nil
        }
        isWaiting = false
        started = runner.clock.now
        runner.starts.processHasStarted()
        record(
            .valueStarted(
                ValueStarted { start in
                    start.value = value
                    start.pid = process?.pid ?? 0
                    start.command = launch.words
                    start.line = runner.plan.workflow.place(of: key.id).line
                }))
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
        let error = StepError(error, of: launch.command)
        end(.failure(failure(.spawn, error.message)), errno: error.errno)
    }

    // MARK: Stop

    /// Stops a command whose value no step waits for any more.
    func stop() {
        guard !isStopped else { return }
        isStopped = true
        guard process == nil else { return terminate() }
        runner.starts.withdraw(self)
        release(nil)
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

    /// True if the command writes more than is allowed. It is stopped then, and its result is an error.
    private var isTooLong: Bool { output.count > OutputDeclaration.Kind.sizeLimit }

    private func terminate() {
        guard !runner.isAborted else { return kill() }
        process?.terminate(
            with: runner.plan.killSignal(of: key.group, isInside: true).number,
            grace: runner.plan.grace(of: key.group, isInside: true))
    }

    // MARK: End

    /// Reports the end to the log, and then to the rows that wait.
    private func end(_ result: Result<Value, SharedFailure>?, _ ending: ProcessEnding? = nil, errno: Int32? = nil) {
        let cause: Cause? =
            switch result {
            case .success: nil
            case .failure(let failure): failure.cause
            case nil: runner.state.cause(.interrupt, "nothing that runs reads it any more", of: key)
            }
        let outcome: StepOutcome =
            cause.map { result == nil ? .cancelled : $0.kind == .timeout ? .timeout : .failure } ?? .success
        record(
            .valueFinished(
                ValueFinished { end in
                    end.value = value
                    end.outcome = outcome
                    end.status = ending?.exitStatus
                    end.duration = ending?.duration
                    end.cause = cause
                    end.process = ProcessReport(ending, outputBytes: outputBytes, errno: errno)
                }))
        release(result)
    }

    private func release(_ result: Result<Value, SharedFailure>?) {
        process = nil
        limit.take()?.cancel()
        whenEnded(result)
        // After the waiting rows, so that the best of everything that is ready gets the slot.
        if slot == .awaited || slot == .own { runner.send(.errandEnded(errand)) }
        slot = .none
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
            return .failure(failure(.spawn, StepError.describe(error, of: launch.command)))
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

    private func record(_ kind: RunEvent.Kind) {
        runner.recorder.record(kind, round: key.group == .root ? nil : runner.state.round(about: key.group))
    }
}

extension SharedCommand: Starter {}

extension SharedCommand: ProcessObserver {
    var mayTakeOutput: Bool { runner.recorder.mayTakeOutput() }

    func process(wrote bytes: UnsafeRawBufferPointer, to stream: OutputStream) {
        outputBytes += bytes.count
        switch stream {
        case .standardOutput, .combined:
            // One byte more than is allowed, so that the excess is noticed.
            guard !isTooLong else { return }
            output.append(contentsOf: bytes.prefix(OutputDeclaration.Kind.sizeLimit + 1 - output.count))
            streams.output.append(bytes) { write($0, $1, to: .stdout) }
            if isTooLong { terminate() }
        case .standardError:
            streams.error.append(bytes) { write($0, $1, to: .stderr) }
        }
    }

    private func write(_ bytes: UnsafeRawBufferPointer, _ isPartial: Bool, to stream: StepOutput.Stream) {
        tail.append(bytes)
        record(.stepOutput(StepOutput(.value(value), stream: stream, bytes: bytes, isPartial: isPartial)))
    }

    func process(exited status: ProcessEnding.Status) {}
    func processLingers() { limit.take()?.cancel() }
    func process(sent signal: Int32) {}

    func process(ended ending: ProcessEnding) {
        defer { runner.starts.processHasEnded() }
        streams.output.finish { write($0, $1, to: .stdout) }
        streams.error.finish { write($0, $1, to: .stderr) }
        if let remaining = ending.remaining {
            let message = StepError(losing: remaining).message
            runner.recorder.record(.warning(code: "lost", message: "`\(value.words)`: \(message)"))
            runner.ruleOutRounds(around: key.group)
        }
        end(isStopped ? nil : result(of: ending), ending)
    }
}
