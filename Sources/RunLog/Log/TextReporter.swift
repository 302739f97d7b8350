internal import Basics

/// The log for users: one line per completion or error, the steps' output as `OutputMode` says, a summary at the end.
///
/// flowrun's own lines begin with a space, a digit or a letter. Lines of steps begin with `| ` or `[id] `, so that no
/// output can pass for a line of flowrun's. Lines with `| ` belong to the step in the last line of flowrun's: its
/// end, or `running` if it is the only running step and is shown as it writes.
package final class TextReporter: Reporter {
    package struct Options: Sendable {
        /// nil: as the file says for each step, else grouped.
        package var output: OutputMode?
        package var isColored = false
        /// Also reports starts of steps and groups, sent signals, and steps that did not run.
        package var isVerbose = false
        /// The directory for output that is too long for memory, until it is shown; usually TMPDIR or /tmp.
        package var spoolDirectory = "/tmp"
        /// The file of the JSON log; nil if there is none.
        package var logFile: String?
        /// The command that explains how a step ended, such as `flowrun why`; nil if no record is kept.
        package var why: String?
        /// The command that goes on where the run has ended without success; nil if it is not to be named.
        package var resume: String?

        package init() {}
    }

    /// The most text that may wait to become a record.
    private static let recordSize = 128 * 1024

    private let sink: any RecordSink
    private let options: Options
    private let view: RunView
    private let outputs: (any OutputPlaces)?
    private var text: LogText
    private var summary: RunSummary
    /// Output that is not shown yet; of commands of `vars` only standard error.
    private var blocks: [StepOutput.Writer: OutputBlock] = [:]
    /// Running steps that are not shown in the usual mode.
    private var modes: [String: OutputMode] = [:]
    /// The running steps that the file declares `live`.
    private var straight: Set<String> = []
    /// The last step whose output was shown live; nil once another step has started.
    private var shownLast: String?
    /// The step that is shown as it writes, because no other step runs.
    private var live: LiveOutput?
    package private(set) var lostOutput = false

    /// `outputs` has the places of long outputs, nil if they are not kept. It and `view` receive each event first.
    package init(sink: any RecordSink, view: RunView, options: Options, outputs: (any OutputPlaces)? = nil) {
        self.sink = sink
        self.view = view
        self.options = options
        self.outputs = outputs
        text = LogText(isColored: options.isColored)
        summary = RunSummary(
            view: view, logFile: options.logFile, why: options.why, resume: options.resume, outputs: outputs)
    }

    package func report(_ event: RunEvent) {
        if case .stepOutput(let output) = event.kind {
            if let states = OverwrittenLines.lastStates(of: output.bytes) {
                states.withUnsafeBytes { show(output.with($0), at: event.elapsed, place: nil) }
            } else {
                show(output, at: event.elapsed, place: outputs?.lastPlace)
            }
            // A line of a `vars` command interrupts the live step, whose next line needs its name again.
            if output.step == nil, !text.isEmpty { live?.isAnnounced = false }
            return flush(&text)
        }
        write(event)
        if !text.isEmpty { live?.isAnnounced = false }
        flush(&text)
    }

    private func write(_ event: RunEvent) {
        switch event.kind {
        case .stepOutput: break
        case .stepFinished(let step):
            if !straight.isEmpty, straight.contains(step.step) { summary.noteShown(step.step) }
            if live?.step == step.step, blocks[.step(step.step)] == nil { shownLast = step.step }
            stop(step.step)
            let block = blocks.isEmpty ? nil : blocks.removeValue(forKey: .step(step.step))
            if step.wasInteresting || options.isVerbose { text.line(step, at: event.elapsed) }
            if let block, mode(of: step.step) == .grouped || step.outcome != .success { write(block, of: step.step) }
            if !modes.isEmpty { modes[step.step] = nil }
        case .groupFinished(let group):
            if group.outcome.isTrouble || options.isVerbose { text.line(group, at: event.elapsed) }
        case .runStarted(let run): text.header(run)
        case .runCancelRequested(let stopping): writeRun("stopping", stopping.words, at: event.elapsed)
        case .runPaused(let source): writeRun("paused", "by \(source)", at: event.elapsed)
        case .runResumed(let source): writeRun("resumed", "by \(source)", at: event.elapsed)
        case .runJobs(let jobs, let source):
            writeRun("jobs", "up to \(jobs) at once by \(source)", at: event.elapsed)
        case .warning(let code, let message):
            text.line(at: event.elapsed, verb: "warning", .caution, subject: code, detail: message)
        case .runFinished(let run):
            if let shownLast { summary.noteShown(shownLast) }
            summary.write(run, to: &text, flush: flush)
        case .stepRetry(let retry):
            stop(retry.step)
            text.retryLine(retry.step, "attempt \(retry.attempt)", retry.delay, at: event.elapsed)
            if let block = blocks.removeValue(forKey: .step(retry.step)) { write(block, of: retry.step) }
        case .groupRetry(let retry):
            text.retryLine("group \(retry.group)", "round \(retry.round + 1)", retry.delay, at: event.elapsed)
        case .stepStarted(let step):
            live = nil
            shownLast = nil
            if let view = step.view, options.output == nil {
                modes[step.step] = OutputMode(view)
                if view == .live { straight.insert(step.step) }
            }
            if options.isVerbose { text.verboseLine(event) }
        case .stepRestored(let step):
            text.line(at: event.elapsed, verb: "restored", .faint, subject: step.title)
        case .stepRerun(let rerun):
            text.line(at: event.elapsed, verb: "again", .faint, subject: rerun.step, detail: rerun.reason.words)
        case .valueFinished(let value): write(value, at: event.elapsed)
        case .valueStarted, .stepAdded, .groupStarted, .groupCancelRequested, .stepCancelRequested, .stepSignal,
            .stepAttempt, .stepUndoes, .ready, .waiting, .lockAcquired, .lockReleased:
            if options.isVerbose { text.verboseLine(event) }
        }
    }

    private func writeRun(_ verb: String, _ detail: String, at elapsed: Duration) {
        text.line(at: elapsed, verb: verb, .caution, subject: "the run", detail: detail)
    }

    private func stop(_ step: String) {
        if !straight.isEmpty { straight.remove(step) }
        if live?.step == step { live = nil }
    }

    private func mode(of step: String) -> OutputMode { modes[step] ?? options.output ?? .grouped }

    private func isAlone(_ step: String) -> Bool { view.onlyRunning?.step == step }

    // MARK: Output

    private func show(_ output: StepOutput, at elapsed: Duration, place: OutputPlace?) {
        let mode: OutputMode
        switch output.writer {
        case .step(let step):
            mode = self.mode(of: step)
            if mode == .grouped, live?.step == step || isAlone(step) && blocks[output.writer] == nil {
                return showNow(output, of: step, at: elapsed)
            }
        case .value:
            // Standard output of a command of `vars` is its value.
            guard output.stream == .stderr else { return }
            mode = options.output ?? .grouped
        }
        switch mode {
        case .none: return
        case .stream: write(output, behind: mark(of: output.writer))
        case .grouped, .failed: keep(output, at: elapsed, place: place)
        }
    }

    /// Writes a line for a command of `vars` if it failed or wrote to standard error, and always in a verbose log.
    private func write(_ value: ValueFinished, at elapsed: Duration) {
        let block = blocks.isEmpty ? nil : blocks.removeValue(forKey: .value(value.value))
        let hasFailed = value.outcome.isFailure
        let shown = hasFailed || options.output != .failed ? block : nil
        guard hasFailed || shown != nil || options.isVerbose else { return }
        text.line(value, at: elapsed)
        live?.isAnnounced = false
        if let shown { write(shown, of: value.value.words) }
    }

    private func mark(of writer: StepOutput.Writer) -> String { "[\(writer.words.visible)] " }

    private func keep(_ output: StepOutput, at elapsed: Duration, place: OutputPlace?) {
        let block = blocks[output.writer] ?? OutputBlock(directory: options.spoolDirectory)
        blocks[output.writer] = block
        do throws(SystemError) {
            try block.append(output, at: place)
        } catch {
            // Better out of turn than lost; each line is marked with the step.
            blocks[output.writer] = nil
            if let step = output.step { modes[step] = .stream }
            text.line(
                at: elapsed, verb: "warning", .caution, subject: output.writer.words,
                detail: "its output is shown as it comes: it cannot be kept in `\(options.spoolDirectory)`: "
                    + error.words)
            write(block, of: output.writer.words, mark: mark(of: output.writer))
            write(output, behind: mark(of: output.writer))
        }
    }

    /// Writes whole lines with the step's own mark.
    private func write(_ output: StepOutput, behind mark: String) {
        var sanitizer = OutputSanitizer(mark: mark, keepsColors: options.isColored)
        write(output.bytes, through: &sanitizer)
        sanitizer.finish(to: &text.buffer)
    }

    /// Writes the output of the only running step, below a line that names it.
    private func showNow(_ output: StepOutput, of step: String, at elapsed: Duration) {
        var live = self.live.take() ?? LiveOutput(of: step, keepsColors: options.isColored)
        if !live.isAnnounced {
            text.line(at: elapsed, verb: "running", .faint, subject: view.onlyRunning?.title ?? step)
            live.isAnnounced = true
        }
        write(output.bytes, through: &live.sanitizer)
        // Nothing may follow in the middle of a line: the next output begins a new one.
        if output.isPartial { live.sanitizer.finish(to: &text.buffer) }
        self.live = live
    }

    /// Writes a step's output after its line; in the same record unless it is long.
    private func write(_ block: OutputBlock, of step: String, mark: String = "| ") {
        var sanitizer = OutputSanitizer(mark: mark, keepsColors: options.isColored)
        if block.isSmall { return block.write(through: &sanitizer, to: &text.buffer) }
        flush(&text)
        sink.write(
            pulling: block.source(through: sanitizer) { [weak self] lost, error in
                self?.lostOutput = true
                return "output of \(step) is incomplete: \(lost) bytes could not be read back: \(error.words)"
            })
    }

    private func write(_ bytes: UnsafeRawBufferPointer, through sanitizer: inout OutputSanitizer) {
        var rest = bytes
        while !rest.isEmpty {
            let piece = UnsafeRawBufferPointer(rebasing: rest.prefix(sanitizer.pieceSize))
            sanitizer.append(piece, to: &text.buffer)
            if text.buffer.count >= Self.recordSize { flush(&text) }
            rest = UnsafeRawBufferPointer(rebasing: rest[piece.count...])
        }
    }

    private func flush(_ text: inout LogText) {
        guard !text.isEmpty else { return }
        text.buffer.withUnsafeBytes(sink.write)
        text.removeAll()
    }
}

/// The step that is shown as it writes.
private struct LiveOutput {
    let step: String
    var sanitizer: OutputSanitizer
    /// True if the last line of flowrun's names the step.
    var isAnnounced = false

    init(of step: String, keepsColors: Bool) {
        self.step = step
        sanitizer = OutputSanitizer(mark: "| ", keepsColors: keepsColors)
    }
}

extension StepOutput {
    /// Returns the same record with other bytes.
    fileprivate func with(_ bytes: UnsafeRawBufferPointer) -> StepOutput {
        StepOutput(
            writer, attempt: attempt, stream: stream, bytes: bytes,
            isPartial: isPartial && bytes.last != UInt8(ascii: "\n"))
    }
}

extension StepFinished {
    /// True if the step deserves a line of its own: it ran, or should have.
    fileprivate var wasInteresting: Bool {
        switch outcome {
        case .success, .failure, .timeout: true
        case .cancelled, .skipped, .notRun: duration != nil
        }
    }
}

extension StepOutcome {
    fileprivate var isTrouble: Bool {
        switch self {
        case .failure, .timeout, .cancelled: true
        case .success, .skipped, .notRun: false
        }
    }
}
