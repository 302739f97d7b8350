internal import Basics
internal import Glibc
internal import Planning
internal import Processes
internal import RunLog
internal import Scheduling
internal import Workflow

/// One attempt of one step, from its command to its process, its output, its results and its end: `Attempt` decides
/// what it does next, this class does it.
@EventLoopActor
final class StepAttempt {
    let row: PlanIndex
    /// The step's id.
    let step: String
    /// From 1.
    let number: Int
    /// True if another attempt was to follow this one.
    var isToBeFollowed = false

    /// The round of the enclosing group, from 0; nil if there is only one.
    private let round: Int?
    private let parts: RunParts
    private let waits: ValueWaits
    private let began: EventLoopClock.Instant
    /// The number of the last attempt before this one that had a process; 0 if none had.
    private let startedBefore: Int
    /// The start of the first process of the step, in this attempt or an earlier one; nil if there was none.
    private var firstStart: EventLoopClock.Instant?
    private var life = Attempt()
    private var launch: StepLaunch?
    /// Set while the attempt is postponed.
    private var timer: Timers.Token?
    /// True once the journal has everything that it must have before a process starts.
    private var isWrittenAhead = false
    /// True once it is decided that its result is not that of the run that this one resumes.
    private var isDecided = false
    private var process: (any RunningProcess)?
    /// The command that was started, for error messages.
    private var command: ProcessCommand?
    private var output: AttemptOutput
    private var files: AttemptFiles
    private var result = AttemptEnd()

    /// `previous` is the attempt of the same step before this one.
    init(of row: PlanIndex, number: Int, after previous: StepAttempt?, _ parts: RunParts, _ waits: ValueWaits) {
        self.row = row
        self.number = number
        self.parts = parts
        self.waits = waits
        startedBefore = previous?.lastStarted ?? 0
        firstStart = previous?.firstStart
        let context = parts.context
        step = context.plan.nodes[row].id
        files = AttemptFiles(in: context.files)
        round = context.state.round(of: row)
        began = parts.loop.clock.now
        let isCaptured =
            context.keepsStandardOutput(of: row)
            || context.plan.settings(of: row)?.outputs.contains(where: \.isOfStandardOutput) ?? false
        output = AttemptOutput(mask: context.options.secrets.mask, capturing: isCaptured ? CapturedOutput() : nil)
    }

    private var plan: Plan { _read { yield parts.plan } }
    private var id: OperationID { OperationID(row) }
    private var declarations: [OutputDeclaration] { plan.settings(of: row)?.outputs ?? [] }

    // MARK: Reading

    /// True once it has ended: the step has ended, too, or only waits for another attempt.
    var isOver: Bool { life.state == .over }

    /// True if its process has been asked to end.
    var isStopping: Bool { life.state == .stopping }

    var hasProcess: Bool { life.hasProcess }
    /// True once this attempt or an earlier one has had a process.
    var hadProcess: Bool { lastStarted > 0 }
    private var isLent: Bool { !parts.context.control.loans.isEmpty && parts.context.control.lends(row, of: plan) }

    /// nil if it has no process.
    var pid: Int32? { process?.pid }

    /// The time since the attempt began.
    var duration: Duration { began.duration(to: parts.loop.clock.now) }

    /// The number of the last attempt that had a process, this one or an earlier one; 0 if none had.
    private var lastStarted: Int { life.hadProcess ? number : startedBefore }

    /// Returns the end of the attempt, up to now.
    func end() -> AttemptEnd {
        result.lastStarted = lastStarted
        result.duration = stepDuration
        result.outputBytes = output.byteCount
        result.tail = result.error?.failure?.tail ?? output.tail
        return result
    }

    /// The time from the first start of a process of the step to now; for a single attempt, that of its process. nil
    /// if there was no process.
    private var stepDuration: Duration? {
        guard number > 1 || isToBeFollowed, let firstStart else { return result.ending?.duration }
        return max(firstStart.duration(to: parts.loop.clock.now), result.ending?.duration ?? .zero)
    }

    // MARK: Inputs

    /// Makes the command and starts it: at once, once the files and `vars` that its expressions read are available,
    /// or once the machine has a process for it. If that fails, the attempt ends, perhaps during this call.
    func start() { handle(.start) }

    /// Starts what a pause of the run, or a loan to a run inside of one of its steps, has held back.
    func resume() { handle(.resumed) }

    /// Ends the attempt, with the step's own signal and grace. Without a process it ends at once, or with the command
    /// of one of `vars` that is stopped because of it.
    func stop() { handle(.stop) }

    /// Ends the attempt without grace.
    func kill() { handle(.kill) }

    /// Ends an attempt that is never to begin.
    func giveUp() { handle(.settled) }
    func freeze() { process?.freeze() }
    func thaw() { process?.thaw() }

    private func handle(_ input: Attempt.Input) {
        let actions = life.handle(input)
        if actions.contains(.reportDelay) { parts.loop.send(.delayed(id)) }
        if actions.contains(.reportStart) { parts.loop.send(.launched(id)) }
        if actions.contains(.ask) { parts.starts.start(self) }
        if actions.contains(.leave) { leave() }
        if actions.contains(.terminate) {
            process?.terminate(with: plan.killSignal(of: row).number, grace: plan.grace(of: row))
        }
        if actions.contains(.kill) { process?.killAll() }
        if actions.contains(.finish) { finish() }
    }

    private func leave() {
        if let timer = timer.take() { parts.loop.clock.cancel(timer) }
        parts.starts.withdraw(self)
        waits.leave(row) { [self] in handle(.left) }
    }

    private func fail(_ error: StepError) {
        result.error = error
        handle(life.hasProcess ? .ended : .settled)
    }

    private func record(_ kind: consuming RunEvent.Kind) { parts.recorder.record(kind, round: round) }

    // MARK: End

    private func finish() {
        parts.terminal.takeBack(from: row)
        launch = nil
        process = nil
        if !life.hadProcess { waits.forget(row) }
        files.drop()
        let isRead = parts.context.keepsStandardOutput(of: row)
        parts.context.state.attemptHasEnded(row, result, standardOutput: isRead ? output.captured?.bytes : nil)
        guard !result.isSuccess else { return parts.loop.send(.ended(id, .success, mayRetry: false)) }
        if result.error?.kind == .lost { parts.ruleOutRetries(of: row) }
        let reasons = plan.retry(of: row)?.reasons ?? []
        parts.loop.send(.ended(id, .failure, mayRetry: reasons.isEmpty || reasons.include(result.shellStatus)))
    }
}

// From the words of a step to its process.
extension StepAttempt: Starter {
    func tryStart() -> SpawnError? {
        if launch == nil {
            var failure: StepError?
            let made: Void? = parts.context.pending.evaluate(for: row) {
                do throws(StepError) {
                    launch = try StepLaunch(
                        of: row, attempt: number, round: round, isRead: output.captured != nil, &files, parts)
                } catch { failure = error }
            }
            guard made != nil else {
                launch = nil
                let missing = parts.context.pending.takeMissing()
                handle(.lacksValue)
                // The report of the delay may have ended it.
                guard life.state == .lacking else { return nil }
                waits.wait(for: missing, in: row, holdingSlot: true) { self.handle(.start) }
                return nil
            }
            if failure == nil {
                result.definition = launch?.definition
                if restore() { return nil }
                failure = parts.context.obstacle(row)
            }
            if let failure {
                fail(failure)
                return nil
            }
        }
        return tryLaunch()
    }

    func startIsRefused() { handle(.refused) }
    func startHasFailed(_ error: SpawnError) {
        fail(StepError("no process for it: \(StepError.reason(error))", errno: error.errno))
    }

    /// Restores the result of the run that this one resumes, if it is still current. Returns true if it did;
    /// otherwise records the reason, if there is one.
    private func restore() -> Bool {
        guard number == 1, !isDecided, parts.resumption != nil else { return false }
        isDecided = true
        switch parts.resumption!.decide(row, definition: result.definition, round: round, in: plan) {
        case .run(let reason):
            if let reason { recordRerun(because: reason) }
            return false
        case .restore(let past):
            if output.captured != nil, parts.context.keepsStandardOutput(of: row) {
                let kept = parts.resumption!.past.standardOutput(of: step)
                guard case .known(let bytes) = kept else {
                    parts.resumption?.runsAfterAll(row)
                    recordRerun(because: kept == .changed ? .damage : .result)
                    return false
                }
                output.restore(bytes)
            }
            result.outputs = past.outputs
            (result.isRestored, result.isSuccess) = (true, true)
            handle(.settled)
            return true
        }
    }

    private func recordRerun(because reason: RerunReason) {
        var rerun = StepRerun()
        (rerun.step, rerun.reason) = (step, reason)
        record(.stepRerun(rerun))
    }

    private func tryLaunch() -> SpawnError? {
        if parts.context.control.isPaused || isLent {
            handle(.paused)
            return nil
        }
        // Its output would only add to what the reader of the log has not taken.
        guard mayTakeOutput else {
            postpone(by: .milliseconds(20))
            return nil
        }
        if launch?.command.attributes.isInteractive == true {
            guard !parts.terminal.isAsking else {
                postpone(by: .milliseconds(50))
                return nil
            }
            parts.recorder.writeAhead?()  // Without the terminal, flowrun stops.
            do throws(TerminalError) {
                launch?.command.terminal = try parts.terminal.lend(to: row)
            } catch {
                fail(StepError(error.message))
                return nil
            }
        }
        writeAhead()
        // Recording may have stopped it.
        guard life.state == .starting, let launch = launch.take() else { return nil }
        do {
            note(try parts.starts.spawn(launch.command, for: self), of: launch)
        } catch {
            parts.terminal.takeBack(from: row)
            // Kept for the next try, unless the descriptors of its files are what is missing.
            if ![EMFILE, ENFILE].contains(error.errno) { self.launch = launch }
            guard !error.isPassing else { return error }
            fail(StepError(error, of: launch.command))
        }
        return nil
    }

    private func postpone(by time: Duration) {
        handle(.postponed)
        guard life.state == .postponed else { return }
        timer = parts.loop.clock.schedule(at: parts.loop.clock.now.advanced(by: time)) { [weak self] in
            self?.timer = nil
            self?.handle(.start)
        }
    }

    /// Writes the records through to the journal before a process makes older ones wrong: that a hook undoes something,
    /// that a step with an earlier result runs again, and that what it needs has ended.
    private func writeAhead() {
        guard !isWrittenAhead else { return }
        isWrittenAhead = true
        if number == 1, var undoing = plan.undoing(by: row) {
            undoing.command = launch?.command(in: parts.context)
            record(.stepUndoes(step: step, undoing))
        } else if !plan.followsOthers(row), round ?? 0 == 0, parts.resumption?.past.steps[step] == nil {
            return
        }
        parts.recorder.writeAhead?()
    }

    private func note(_ process: any RunningProcess, of launch: StepLaunch) {
        self.process = process
        command = launch.command
        files.notes = launch.notes
        parts.slots?.begins(launch.command)
        firstStart = firstStart ?? parts.loop.clock.now
        record(launch.event(for: row, attempt: number, pid: process.pid, in: parts.context))
        handle(.started)
    }
}

// Records and keeps what its process does.
extension StepAttempt: ProcessObserver {
    var mayTakeOutput: Bool { parts.recorder.mayTakeOutput() }
    func process(wrote bytes: UnsafeRawBufferPointer, to stream: OutputStream) {
        // It may write without end.
        if !output.append(bytes, to: stream, write) { stop() }
        parts.recorder.show(unfinished: output.unfinishedLine(of: stream), of: .step(step))
    }

    private func write(_ bytes: UnsafeRawBufferPointer, _ isPartial: Bool, to stream: StepOutput.Stream) {
        let output = StepOutput(.step(step), attempt: number, stream: stream, bytes: bytes, isPartial: isPartial)
        record(.stepOutput(output))
    }

    func process(exited status: ProcessEnding.Status) {
        parts.terminal.takeBack(from: row)
        record(
            .stepAttempt(
                AttemptExit { end in
                    end.step = step
                    end.attempt = number
                    end.status = ExitStatus(status)
                }))
        // Ctrl-C reaches only the step that has the terminal; a step that does not catch it ends the run by it.
        if command?.attributes.isInteractive == true, !isStopping, case .signalled(let signal) = status,
            [SIGINT, SIGQUIT].contains(signal)
        {
            parts.loop.interrupt(by: signal)
        }
    }

    func process(stopped signal: Int32) {
        guard parts.terminal.stepHasStopped(by: signal) else { return }
        freeze()
        thaw()
    }

    func processLingers() { parts.loop.send(.lingering(id)) }

    func process(sent signal: Int32) {
        record(.stepSignal(step: step, attempt: number, signal: SignalName.of(signal)))
    }

    func process(ended ending: ProcessEnding) {
        parts.slots?.hasEnded(command)
        defer { parts.starts.processHasEnded() }
        output.finish(write)
        if case .notStarted(let error) = ending.status, let command { return fail(StepError(error, of: command)) }
        result.ending = ending
        do throws(StepError) {
            try checkEnding(ending)
            if ending.status == .exited(0) {
                result.outputs = try takeOutputs()
                result.isSuccess = true
            } else {
                result.command = process.flatMap {
                    files.failedCommand(of: $0.pid, running: plan.body(of: row), in: plan.workflow.file)
                }
            }
            handle(.ended)
        } catch {
            fail(error)
        }
    }

    /// Throws if the attempt has failed, whatever its status.
    private func checkEnding(_ ending: ProcessEnding) throws(StepError) {
        if let remaining = ending.remaining {
            let error = StepError(losing: remaining)
            record(.warning(code: "lost", message: "`\(step)`: \(error.message)"))
            throw error
        }
        if let error = StepError(ofOutput: ending) { throw error }
        if output.captured?.isOverfull == true {
            throw StepError("wrote more to standard output than the 64 MiB that can be kept for others", kind: .output)
        }
    }

    private func takeOutputs() throws(StepError) -> [Value.Field] {
        guard !declarations.isEmpty else { return [] }
        let written = try files.takeOutput()
        do {
            return try declarations.values(
                inFile: written, standardOutput: output.captured?.bytes ?? [], hiding: parts.context.options.secrets)
        } catch {
            throw StepError(error.message, kind: .output)
        }
    }
}
