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
    private let parts: RunParts
    private let key: SharedKey
    private let launch: SharedLaunch
    /// Called once, when nothing of the command is left: with its result, or nil if it was stopped.
    private let whenEnded: (Result<Value, SharedFailure>?) -> Void
    private var life = Attempt()
    private var slot = Slot.none
    private var process: (any RunningProcess)?
    private var started: EventLoopClock.Instant?
    private var output: AttemptOutput
    private var limit: Countdown?
    private var hasTimedOut = false
    /// True once nothing that runs waits for its value.
    private var isUnwanted = false
    /// nil before its end, and for a command that was stopped.
    private var result: Result<Value, SharedFailure>?
    private var ending: ProcessEnding?
    /// The failed system call's error number if the process could not be started.
    private var errno: Int32?

    init(
        _ launch: SharedLaunch, for key: SharedKey, _ errand: Errand, _ parts: RunParts,
        whenEnded: @escaping (Result<Value, SharedFailure>?) -> Void
    ) {
        self.launch = launch
        self.key = key
        self.errand = errand
        self.parts = parts
        self.whenEnded = whenEnded
        let isRead = parts.plan.workflow[key.id].purpose != .precondition
        output = AttemptOutput(
            mask: parts.context.options.secrets.mask,
            capturing: isRead ? CapturedOutput(limit: OutputDeclaration.Kind.sizeLimit) : nil)
    }

    private var definition: SharedValue { parts.plan.workflow[key.id] }
    private var timeout: Duration? {
        definition.command?.timeout?.duration
            ?? parts.plan.workflow.defaults(for: key.id.scope, isInside: true)?.timeout?.duration
    }

    /// Its name in the log.
    private var value: ValueID {
        ValueID(name: definition.name, group: key.group == .root ? nil : parts.plan.nodes[key.group].id)
    }

    var hasProcess: Bool { life.hasProcess }

    /// nil if there is no process yet.
    var status: RunStatus.RunningValue? {
        guard let process, let started else { return nil }
        return RunStatus.RunningValue { status in
            status.value = value
            status.pid = process.pid
            status.duration = started.duration(to: parts.loop.clock.now)
            status.state =
                life.state == .stopping ? .stopping : parts.context.control.isFrozen ? .frozen : .running
        }
    }

    // MARK: Slot

    /// Waits for a slot and then starts the process.
    func askForSlot() {
        slot = .awaited
        parts.loop.send(.errand(errand))
    }

    func hasItsSlot() {
        guard slot == .awaited else { return }
        slot = .own
        handle(.start)
    }

    /// Starts the process in the slot of a step that waits for the value.
    func takeLentSlot() {
        guard slot == .none || slot == .awaited else { return }
        if slot == .awaited { parts.loop.send(.errandEnded(errand)) }
        slot = .lent
        handle(.start)
    }

    /// Called when the step that has lent its slot ends or goes on.
    func returnLentSlot() {
        guard slot == .lent else { return }
        slot = .own
        parts.loop.send(.errandGoesOn(errand))
    }

    // MARK: Inputs

    /// Starts what a pause of the run has held back.
    func resume() { handle(.resumed) }

    /// Stops a command whose value no step waits for any more.
    func stop() {
        isUnwanted = true
        handle(.stop)
    }

    /// Kills the process, if there is one.
    func kill() { if life.hasProcess { handle(.kill) } }

    func freeze() {
        process?.freeze()
        limit?.freeze()
    }

    func thaw() {
        process?.thaw()
        limit?.thaw()
    }

    private func handle(_ input: Attempt.Input) {
        let actions = life.handle(input)
        if actions.contains(.ask) { parts.starts.start(self) }
        if actions.contains(.leave) {
            parts.starts.withdraw(self)
            handle(.left)
        }
        if actions.contains(.terminate) { terminate() }
        if actions.contains(.kill) { process?.killAll() }
        if actions.contains(.finish) { finish() }
    }

    private func terminate() {
        guard !parts.context.control.isAborted else { return handle(.kill) }
        process?.terminate(
            with: parts.plan.killSignal(of: key.group, isInside: true).number,
            grace: parts.plan.grace(of: key.group, isInside: true))
    }

    // MARK: End

    private func finish() {
        process = nil
        limit.take()?.cancel()
        if life.hadProcess || result != nil { recordEnd() }
        whenEnded(result)
        // After the waiting rows, so that the best of everything that is ready gets the slot.
        if slot == .awaited || slot == .own { parts.loop.send(.errandEnded(errand)) }
        slot = .none
    }

    private func recordEnd() {
        let cause: Cause? =
            switch result {
            case .success: nil
            case .failure(let failure): failure.cause
            case nil: parts.context.state.cause(.interrupt, "nothing that runs reads it any more", of: key)
            }
        record(
            .valueFinished(
                ValueFinished { end in
                    end.value = value
                    end.outcome =
                        cause.map { result == nil ? .cancelled : $0.kind == .timeout ? .timeout : .failure } ?? .success
                    end.status = ending?.exitStatus
                    end.duration = ending?.duration
                    end.cause = cause
                    end.process = ProcessReport(ending, outputBytes: output.byteCount, errno: errno)
                }))
    }

    private func result(of ending: ProcessEnding) -> Result<Value, SharedFailure> {
        if let remaining = ending.remaining {
            return .failure(failure(.lost, StepError(losing: remaining).message))
        }
        guard !hasTimedOut else {
            return .failure(failure(.timeout, "timed out after \((timeout ?? .zero).asWritten)"))
        }
        // As for a step: output that is lost comes before the status.
        if let error = StepError(ofOutput: ending) { return .failure(failure(.output, error.message)) }
        let kind = definition.command?.kind ?? .string
        switch ending.status {
        case _ where output.captured?.isOverfull == true:
            return .failure(failure(.output, OutputDeclaration.Kind.excess(of: "it").message))
        case .exited(0): break
        case .notStarted(let error):
            return .failure(failure(.spawn, StepError.describe(error, of: launch.command)))
        case .signalled: return .failure(failure(.signal, "\(ExitStatus(ending.status))"))
        case .exited: return .failure(failure(.exit, "\(ExitStatus(ending.status))"))
        }
        guard definition.purpose != .precondition else { return .success(.bool(true)) }
        do {
            let bytes = output.captured?.bytes ?? []
            return .success(
                try kind.value(ofStandardOutput: bytes, for: "it", hiding: parts.context.options.secrets))
        } catch {
            return .failure(failure(.output, error.message))
        }
    }

    private func failure(_ kind: Cause.Kind, _ message: String) -> SharedFailure {
        SharedFailure(cause: parts.context.state.cause(kind, message, of: key), tail: output.tail)
    }

    private func record(_ kind: consuming RunEvent.Kind) {
        parts.recorder.record(kind, round: key.group == .root ? nil : parts.context.state.round(about: key.group))
    }
}

extension SharedCommand: Starter {
    func tryStart() -> SpawnError? {
        guard !parts.context.control.isPaused else {
            handle(.paused)
            return nil
        }
        // It may have been stopped before.
        launch.command.standardInput?.rewind()
        do {
            note(try parts.starts.spawn(launch.command, for: self))
        } catch {
            guard !error.isPassing else { return error }
            startHasFailed(error)
        }
        return nil
    }

    private func note(_ process: any RunningProcess) {
        self.process = process
        started = parts.loop.clock.now
        record(
            .valueStarted(
                ValueStarted { start in
                    start.value = value
                    start.pid = process.pid
                    start.command = launch.words
                    start.line = parts.plan.workflow.place(of: key.id).line
                }))
        handle(.started)
        guard let timeout else { return }
        limit = Countdown(timeout, by: parts.loop.clock) { [weak self] in
            self?.hasTimedOut = true
            self?.handle(.stop)
        }
    }

    func startIsRefused() { handle(.refused) }

    func startHasFailed(_ error: SpawnError) {
        errno = error.errno
        result = .failure(failure(.spawn, StepError(error, of: launch.command).message))
        handle(.settled)
    }
}

extension SharedCommand: ProcessObserver {
    var mayTakeOutput: Bool { parts.recorder.mayTakeOutput() }

    func process(wrote bytes: UnsafeRawBufferPointer, to stream: OutputStream) {
        if !output.append(bytes, to: stream, write) { handle(.stop) }
        guard stream == .standardError else { return }
        parts.recorder.show(unfinished: output.unfinishedLine(of: stream), of: .value(value))
    }

    private func write(_ bytes: UnsafeRawBufferPointer, _ isPartial: Bool, to stream: StepOutput.Stream) {
        record(.stepOutput(StepOutput(.value(value), stream: stream, bytes: bytes, isPartial: isPartial)))
    }

    func process(exited status: ProcessEnding.Status) {}
    func processLingers() { limit.take()?.cancel() }
    func process(sent signal: Int32) {}

    func process(ended ending: ProcessEnding) {
        defer { parts.starts.processHasEnded() }
        output.finish(write)
        if let remaining = ending.remaining {
            let message = StepError(losing: remaining).message
            parts.recorder.record(.warning(code: "lost", message: "`\(value.words)`: \(message)"))
            parts.ruleOutRetries(of: key.group)
        }
        self.ending = ending
        if !isUnwanted { result = result(of: ending) }
        handle(.ended)
    }
}
