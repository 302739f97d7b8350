internal import Basics
internal import Glibc
internal import Planning
internal import Processes
internal import RunLog
internal import Scheduling
internal import Workflow

// What its process does, told and kept.
extension StepAttempt: ProcessObserver {
    var mayTakeOutput: Bool { runner.recorder.mayTakeOutput() }

    func process(wrote bytes: UnsafeRawBufferPointer, to stream: OutputStream) {
        outputBytes += bytes.count
        switch stream {
        case .combined:
            streams.output.append(bytes) { write($0, $1, to: .output) }
        case .standardOutput:
            // It may write without end.
            if keptOutput?.append(bytes) == false { stop() }
            streams.output.append(bytes) { write($0, $1, to: .stdout) }
        case .standardError:
            streams.error.append(bytes) { write($0, $1, to: .stderr) }
        }
    }

    private func write(_ bytes: UnsafeRawBufferPointer, _ isPartial: Bool, to stream: StepOutput.Stream) {
        // Of many bytes only the last ones matter, and are looked at first.
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
        record(.stepAttempt(step: step, attempt: number, status: ExitStatus(status)))
        // Ctrl-C reaches only the step that has the terminal; whoever does not catch it ends the run by it.
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
        if keptOutput?.isOverfull == true {
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
                inFile: written, standardOutput: keptOutput?.bytes ?? [], hiding: runner.options.secrets)
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
        return notes.take().culprit(of: process.pid).flatMap(text.command)
    }
}
