internal import Glibc
package import RunEvents

/// The log for people: one line per completion or error, the steps' output as `OutputMode` says, a summary at the end.
///
/// flowrun's own lines begin with a space, a digit or a letter; a line that a step wrote stands behind `| ` or `[id] `,
/// so that no output can pass for a line of flowrun's.
package final class TextReporter: Reporter {
    package struct Options: Sendable {
        /// nil: as the file says for each step, else grouped.
        package var output: OutputMode?
        package var isColored: Bool
        /// Also says when steps and groups start, which signals were sent, and which steps did not run.
        package var isVerbose: Bool
        /// Where output too long for memory is kept until it is shown, usually TMPDIR or /tmp.
        package var spoolDirectory: String

        package init(
            output: OutputMode? = nil, isColored: Bool = false, isVerbose: Bool = false,
            spoolDirectory: String = "/tmp"
        ) {
            self.output = output
            self.isColored = isColored
            self.isVerbose = isVerbose
            self.spoolDirectory = spoolDirectory
        }
    }

    private let sink: any RecordSink
    private let options: Options
    private var text: LogText
    private var summary = RunSummary()
    private var blocks: [String: OutputBlock] = [:]
    /// Of running steps that the file says something else about than usual.
    private var modes: [String: OutputMode] = [:]
    /// Whether a step's output could not be kept until it was to be shown.
    package private(set) var lostOutput = false

    package init(sink: any RecordSink, options: Options) {
        self.sink = sink
        self.options = options
        text = LogText(isColored: options.isColored)
    }

    package func report(_ event: RunEvent) {
        switch event.kind {
        case .stepOutput(let output): report(output)
        case .stepFinished(let step):
            summary.note(step, round: event.round)
            let block = blocks.isEmpty ? nil : blocks.removeValue(forKey: step.step)
            if step.wasInteresting || options.isVerbose { text.line(step, at: event.elapsed) }
            if let block, mode(of: step.step) == .grouped || step.outcome != .success { write(block, of: step.step) }
            if !modes.isEmpty { modes[step.step] = nil }
        case .groupFinished(let group):
            if group.outcome.isTrouble || options.isVerbose { text.line(group, at: event.elapsed) }
        case .runStarted(let run): text.header(run)
        case .runCancelRequested(_, let cause):
            text.line(at: event.elapsed, verb: "stopping", .caution, subject: "the run", detail: cause.words)
        case .runPaused(let source):
            text.line(at: event.elapsed, verb: "paused", .caution, subject: "the run", detail: "by \(source)")
        case .runResumed(let source):
            text.line(at: event.elapsed, verb: "resumed", .caution, subject: "the run", detail: "by \(source)")
        case .runJobs(let jobs, let source):
            text.line(
                at: event.elapsed, verb: "jobs", .caution, subject: "the run",
                detail: "up to \(jobs) at once by \(source)")
        case .warning(let code, let message):
            text.line(at: event.elapsed, verb: "warning", .caution, subject: code, detail: message)
        case .runFinished(let run): summary.write(run, to: &text, flush: flush)
        case .stepRetry(let step, let attempt, let delay):
            text.retryLine(step, "attempt \(attempt)", delay, at: event.elapsed)
            if let block = blocks.removeValue(forKey: step) { write(block, of: step) }
        case .groupRetry(let group, let round, let delay):
            text.retryLine("group \(group)", "round \(round + 1)", delay, at: event.elapsed)
        case .stepStarted(let step):
            if let view = step.view, options.output == nil { modes[step.step] = OutputMode(view) }
            if options.isVerbose { text.verboseLine(event) }
        case .stepAdded, .groupStarted, .groupCancelRequested, .stepCancelRequested, .stepSignal,
            .stepAttempt, .ready, .waiting, .lockAcquired, .lockReleased:
            if options.isVerbose { text.verboseLine(event) }
        }
        flush(&text)
    }

    private func report(_ output: StepOutput) {
        switch mode(of: output.step) {
        case .none: return
        case .grouped, .failed:
            let block = blocks[output.step] ?? OutputBlock(directory: options.spoolDirectory)
            blocks[output.step] = block
            block.append(output)
        case .stream:
            var mark = LogText(isColored: false)
            mark.add("[\(output.step)] ")
            var sanitizer = OutputSanitizer(
                mark: String(decoding: mark.bytes, as: UTF8.self), keepsColors: options.isColored)
            output.bytes.withUnsafeBytes { show($0, through: &sanitizer) }
            sanitizer.finish(to: &text.bytes)
        }
    }

    private func mode(of step: String) -> OutputMode { options.output ?? modes[step] ?? .grouped }

    /// Writes a step's output behind its line; in one record with it unless it is long.
    private func write(_ block: OutputBlock, of step: String) {
        var sanitizer = OutputSanitizer(mark: "| ", keepsColors: options.isColored)
        block.spool.forEachChunk { show($0, through: &sanitizer) }
        sanitizer.finish(to: &text.bytes)
        if let failure = block.spool.failure {
            let reason = String(cString: strerror(failure)).lowercased()
            text.add("output of \(step) is incomplete: \(block.spool.lost) bytes could not be kept: \(reason)")
            text.newline()
            lostOutput = true
        }
    }

    /// In small pieces, because a mark before each of many empty lines is much longer than the lines.
    private func show(_ bytes: UnsafeRawBufferPointer, through sanitizer: inout OutputSanitizer) {
        for start in stride(from: 0, to: bytes.count, by: 16 * 1024) {
            let piece = bytes[start..<min(start + 16 * 1024, bytes.count)]
            sanitizer.append(UnsafeRawBufferPointer(rebasing: piece), to: &text.bytes)
            if text.bytes.count >= 64 * 1024 { flush(&text) }
        }
    }

    private func flush(_ text: inout LogText) {
        guard !text.bytes.isEmpty else { return }
        text.bytes.withUnsafeBytes(sink.write)
        text.removeAll()
    }
}

/// The output of one running step, both streams in the order they came.
private final class OutputBlock {
    let spool: OutputSpool
    /// The stream that stopped inside a line.
    private var unfinished: StepOutput.Stream?

    init(directory: String) {
        spool = OutputSpool(directory: directory)
    }

    func append(_ output: StepOutput) {
        if let unfinished, unfinished != output.stream { spool.append([UInt8(ascii: "\n")]) }
        unfinished = output.isPartial ? output.stream : nil
        spool.append(output.bytes)
    }
}

extension StepFinished {
    /// Whether something happened that deserves a line of its own: it ran, or should have.
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
