internal import Basics
internal import Glibc
internal import Planning
internal import Processes
internal import RunLog
internal import Scheduling
internal import Workflow

// From the words of a step to its process.
extension StepAttempt: Starter {
    /// A command that has been made and not yet started.
    struct Launch {
        let command: ProcessCommand
        let notes: NoteFile?
        let words: StepStarted.Command
        var timer: Timers.Token?
    }

    /// Makes the command and starts it: at once, once the files and `vars` that its expressions read are available,
    /// or once the machine has a process for it. If that fails, the attempt ends, perhaps during this call.
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
            runner.wait(for: row, holdingSlot: true) { self.start() }
            return nil
        }
        if let failure {
            fail(failure)
            return nil
        }
        return restore() ? nil : tryLaunch()
    }

    private func makeLaunch() throws(StepError) -> Launch {
        let words = try runner.context.words(of: row)
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
                isRead: capturedOutput != nil))
        return Launch(command: command, notes: notes, words: words)
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
        // Its output would only add to what the reader of the log has not taken.
        guard mayTakeOutput else {
            startLater(after: .milliseconds(20))
            return nil
        }
        var command = launch.command
        if command.isInteractive {
            guard !runner.isAsking else {
                startLater(after: .milliseconds(50))
                return nil
            }
            do throws(StepError) {
                command.terminal = try runner.lendTerminal(to: row)
            } catch {
                fail(error)
                return nil
            }
        }
        writeAhead()
        let process: any RunningProcess
        do {
            process = try runner.spawner.start(command, for: self)
        } catch {
            runner.takeBackTerminal(from: row)
            // Its files hold descriptors, which are what is missing.
            if [EMFILE, ENFILE].contains(error.errno) { self.launch = nil }
            isRefused = error.isPassing
            guard !isRefused else { return error }
            fail(StepError(error, of: launch.command))
            return nil
        }
        note(process, of: launch)
        return nil
    }

    /// Writes the records through to the journal before a process makes older ones wrong, since a kill may leave no
    /// time afterwards: that a hook undoes something, and that a step with an earlier result runs again.
    private func writeAhead() {
        guard !isWrittenAhead else { return }
        isWrittenAhead = true
        if number == 1, let undoing = runner.plan.undoing(by: row) {
            record(.stepUndoes(step: step, undoing))
        } else if round ?? 0 == 0, runner.resumption?.past.steps[step] == nil {
            return
        }
        runner.writeAhead?()
    }

    private func note(_ process: any RunningProcess, of launch: Launch) {
        runner.starts.processHasStarted()
        self.process = process
        command = launch.command
        separatesStreams = launch.command.separatesStreams
        notes = launch.notes
        self.launch = nil
        hasStarted = true
        firstStart = firstStart ?? runner.clock.now
        record(
            .stepStarted(
                StepStarted { start in
                    start.step = step
                    start.attempt = number
                    start.pid = process.pid
                    start.command = runner.options.secrets.masked(launch.words)
                    start.line = runner.plan.line(of: row)
                    start.item = runner.plan.loopItem(of: row).map(runner.options.secrets.masked)
                    start.view = runner.view(of: row)
                    start.name = runner.plan.settings(of: row)?.name
                }))
        if isDelayed { runner.send(.launched(OperationID(row))) }
    }

    // MARK: Delays

    /// Starts what a pause has held back; what the machine has refused waits in the `StartQueue`.
    func startHeld() { if launch != nil, !isRefused { start() } }

    /// Reports that there is no process yet: the limit of the attempt is for the process.
    func startIsDelayed() {
        guard !isDelayed else { return }
        isDelayed = true
        runner.send(.delayed(OperationID(row)))
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
}

extension RunSecrets {
    func masked(_ words: StepStarted.Command) -> StepStarted.Command {
        guard mask != nil else { return words }
        return switch words {
        case .script(let script): .script(masked(script))
        case .arguments(let arguments): .arguments(arguments.map { masked($0) })
        }
    }
}

extension StepAttempt {
    private func recordRerun(because reason: RerunReason) {
        record(
            .stepRerun(
                StepRerun { rerun in
                    rerun.step = step
                    rerun.reason = reason
                }))
    }

    /// Restores the result of the run that this one resumes, if it is still current. Returns true if it did;
    /// otherwise records the reason, if there is one.
    func restore() -> Bool {
        guard number == 1, runner.resumption != nil else { return false }
        switch runner.resumption!.decide(row, definition: definition, round: round, in: runner.plan) {
        case .run(let reason):
            if let reason { recordRerun(because: reason) }
            return false
        case .restore(let past):
            if capturedOutput != nil, runner.keepsStandardOutput(of: row) {
                let output = runner.resumption!.past.standardOutput(of: step)
                guard case .known(let bytes) = output else {
                    runner.resumption?.runsAfterAll(row)
                    recordRerun(because: output == .changed ? .damage : .result)
                    return false
                }
                capturedOutput = CapturedOutput(bytes)
            }
            outputs = past.outputs
            isRestored = true
            end(isSuccess: true)
            return true
        }
    }
}
