internal import Basics
internal import Glibc

/// A few lines below the cursor that show what runs, since when, the last line it wrote, and how much is left.
///
/// It draws only in `tick(at:)`, at most ten times a second and only after a change. flowrun's other writes to the
/// same terminal go through `sink(over:)`, which clears the region first. Output of other programs is never cleared,
/// because the region is below it (`TerminalSequence`). The terminal's mode never changes, so clearing the region
/// restores everything.
package final class LiveRegion: Reporter {
    /// The display of steps' output on the same terminal; the region does not repeat that output.
    package enum Echo: Sendable {
        case nowhere
        /// In the text log, as `--output` says; nil if the option is not given.
        case log(OutputMode?)
    }

    private static let interval = Duration.milliseconds(100)
    /// A run that is over by then does not justify reading past ones.
    private static let estimateDelay = Duration.seconds(1)

    private let terminal: any RecordSink
    private let view: RunView
    private let size: () -> TerminalSize?
    private let echo: Echo
    private var lastLines = LastLines()
    private var hasChanged = false
    /// The view's revision at the last event.
    private var revision = 0
    private var lastDrawing = Duration.zero
    /// The lines on the screen, empty if there are none, and the terminal size for which they were made.
    private var shown: (lines: [[UInt8]], size: TerminalSize?) = ([], nil)
    /// True if the terminal has accepted only a part of a drawing, so that the cursor's position is unknown.
    private var isCutOff = false

    /// `view` must receive each event first. `size` is called for each drawing; nil forbids drawing at present.
    /// `estimate` is called at most once, a second after the start; nil if the duration of the run is not known.
    package init(
        terminal: any RecordSink, view: RunView, echo: Echo = .nowhere,
        estimate: @escaping () -> RunEstimate? = { nil }, size: @escaping () -> TerminalSize?
    ) {
        self.terminal = terminal
        self.view = view
        self.echo = echo
        self.size = size
        view.expect(estimate)
    }

    /// Returns a sink for the same terminal: it clears the region, then writes the record to `sink`. The next tick
    /// draws the region again below the record.
    package func sink(over sink: any RecordSink) -> any RecordSink {
        ListeningSink(over: sink) { [self] in clear(with: TerminalSequence.clearForLine) }
    }

    package func report(_ event: RunEvent) {
        switch event.kind {
        case .stepOutput(let output):
            // Standard output of a command of `vars` is its value.
            if output.step == nil, output.stream == .stdout { break }
            lastLines.note(output.bytes, of: output.writer)
            hasChanged = true
        case .stepFinished(let step): lastLines.forget(.step(step.step))
        case .stepRetry(let retry): lastLines.forget(.step(retry.step))
        case .valueFinished(let value): lastLines.forget(.value(value.value))
        default: break
        }
        if view.revision != revision { hasChanged = true }
        revision = view.revision
        if view.hasEnded { clear() }
    }

    package var showsUnfinishedLines: Bool { true }

    package func show(unfinished line: [UInt8], of writer: StepOutput.Writer) {
        line.withUnsafeBytes { lastLines.note($0, of: writer, isUnfinished: true) }
        hasChanged = true
    }

    package func tick(at elapsed: Duration) -> Duration? {
        guard view.steps > 0, !view.hasEnded else { return nil }
        let isDue = hasChanged || shown.lines.isEmpty || elapsed.components.seconds != lastDrawing.components.seconds
        if isDue {
            let earliest = lastDrawing + Self.interval
            guard elapsed >= earliest else { return earliest }
            draw(at: elapsed)
            if hasChanged { return elapsed + Self.interval }
        }
        return view.runningCount == 0 ? nil : .seconds(elapsed.components.seconds + 1)
    }

    /// Removes the region from the screen; the next tick draws it again. Must be called before the program is
    /// suspended, and before it ends without `runFinished`.
    package func clear() { clear(with: TerminalSequence.clear) }

    /// Redraws the region for another size of the terminal.
    package func sizeHasChanged() {
        if !shown.lines.isEmpty, !view.hasEnded { draw(at: lastDrawing) }
    }

    private func clear(with sequence: [UInt8]) {
        recover()
        guard !shown.lines.isEmpty else { return }
        shown = ([], nil)
        sequence.withUnsafeBytes(terminal.write)
    }

    /// Leaves the rest of an incomplete drawing on the screen.
    private func recover() {
        guard isCutOff else { return }
        isCutOff = false
        TerminalSequence.recover.withUnsafeBytes(terminal.write)
    }

    private func draw(at elapsed: Duration) {
        lastDrawing = elapsed
        hasChanged = false
        guard let size = size() else {
            // The screen, with the last drawing, belongs to another job.
            shown = ([], nil)
            return
        }
        recover()
        let left = elapsed < Self.estimateDelay ? nil : view.left(at: elapsed)
        let text = RegionText(view: view, left: left) { [self] in
            lastLines.line(of: $0.writer, onlyUnfinished: isEchoed($0))
        }
        let lines = text.lines(at: elapsed, in: size)
        guard lines != shown.lines || size != shown.size else { return }
        let bytes = TerminalSequence.show(lines)
        let taken = bytes.withUnsafeBytes(terminal.offer)
        if taken == bytes.count {
            shown = (lines, size)
        } else {
            hasChanged = true
            isCutOff = taken > 0
            if isCutOff { shown = ([], nil) }
        }
    }

    /// True if the step's whole lines appear above the region as they come.
    private func isEchoed(_ step: RunView.Command) -> Bool {
        guard case .log(let mode) = echo else { return false }
        return switch mode ?? step.view.map(OutputMode.init) ?? .grouped {
        case .stream: true
        case .grouped: step.isAlone && step.step != nil
        case .failed, .none: false
        }
    }
}

/// The text of the live region at one moment, as lines that fit into a terminal.
struct RegionText {
    /// The greatest part of the columns that the names of steps take beside their last lines.
    private static let titlePart = 0.4
    /// The region takes at most one row in this many, so that it leaves room for the log.
    private static let heightPart = 4

    let view: RunView
    /// The estimated remaining time of the run; nil if unknown.
    let left: Duration?
    /// The last line of a step; empty if there is none.
    let lastLine: (RunView.Command) -> [UInt8]

    func lines(at elapsed: Duration, in size: TerminalSize) -> [[UInt8]] {
        // The last column remains free: some terminals begin a new row as soon as it is written.
        let columns = max(1, size.columns - 1)
        let count = max(0, min(size.rows / Self.heightPart, size.rows - 3))
        var lines = [counts(at: elapsed)]
        let shown = view.longestRunning(count)
        let titles = shown.map { Array($0.title.visible.utf8) }
        let widest = titles.map { TerminalLine.columns(of: $0) }.max() ?? 0
        let width = min(max(12, Int(Double(columns) * Self.titlePart)), widest)
        for (step, title) in zip(shown, titles) {
            lines.append(line(of: step, title, padded: width, at: elapsed, columns: columns))
        }
        let more = view.runningCount - shown.count
        if more > 0, count > 0 { lines.append(Array("          and \(more) more".utf8)) }
        return lines.map { TerminalLine.cut($0, to: columns) }
    }

    private func counts(at elapsed: Duration) -> [UInt8] {
        var text = LogText(isColored: false)
        text.add("[\(view.finished)/\(view.steps)] ")
        if view.isStopping { text.add("stopping, ") } else if view.isPaused { text.add("paused, ") }
        text.add("\(view.runningCount) running, ")
        if view.failed > 0 { text.add("\(view.failed) failed, ") }
        text.add("\(view.waiting) waiting  \(TimeText.wholeSeconds(elapsed))")
        if let left, left >= .seconds(1), !view.isStopping {
            text.add(", about \(TimeText.wholeSeconds(left)) left")
        }
        return text.buffer.bytes
    }

    private func line(
        of step: RunView.Command, _ title: [UInt8], padded width: Int, at elapsed: Duration, columns: Int
    ) -> [UInt8] {
        var text = LogText(isColored: false)
        text.add(rightAlignedTo: 8) { TimeText.append(wholeSeconds: elapsed - step.start, to: &$0) }
        text.spaces(2)
        let lastLine = lastLine(step)
        guard !lastLine.isEmpty else {
            text.buffer.append(title)
            return text.buffer.bytes
        }
        let cut = TerminalLine.cut(title, to: width)
        text.buffer.append(cut)
        text.spaces(width - TerminalLine.columns(of: cut) + 2)
        text.buffer.append(lastLine)
        return text.buffer.bytes
    }
}

/// The last line that each running step or command of `vars` has written, for the live region.
struct LastLines {
    /// The number of bytes kept of a line.
    private static let length = 256

    private var lines: [StepOutput.Writer: (text: [UInt8], isUnfinished: Bool)] = [:]

    /// Blank lines do not count. For a line that its program has overwritten, the last state counts.
    mutating func note(_ bytes: UnsafeRawBufferPointer, of writer: StepOutput.Writer, isUnfinished: Bool = false) {
        var end = bytes.count
        while end > 0, Self.isBlank(bytes[end - 1]) { end -= 1 }
        guard end > 0 else { return }
        let line = bytes[..<end]
        let start = line.lastIndex { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") }.map { $0 + 1 } ?? 0
        lines[writer] = (Array(line[start...].prefix(Self.length)), isUnfinished)
    }

    mutating func forget(_ writer: StepOutput.Writer) { lines[writer] = nil }

    /// Returns the line without colours and without anything that a terminal would obey; empty if there is none.
    func line(of writer: StepOutput.Writer, onlyUnfinished: Bool) -> [UInt8] {
        guard let (line, isUnfinished) = lines[writer], isUnfinished || !onlyUnfinished else { return [] }
        var sanitizer = OutputSanitizer(mark: "", keepsColors: false)
        var text = ByteBuffer()
        line.withUnsafeBytes { sanitizer.append($0, to: &text) }
        sanitizer.finish(to: &text)
        return text.bytes.filter { $0 != UInt8(ascii: "\n") }
            .map { $0 == UInt8(ascii: "\t") ? UInt8(ascii: " ") : $0 }
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || (9...13).contains(byte) }
}

/// Shows after Ctrl-C which steps are being stopped, if the log goes elsewhere or has no text.
package final class StoppingNotice: Reporter {
    private let sink: any RecordSink

    package init(sink: any RecordSink) {
        self.sink = sink
    }

    package func report(_ event: RunEvent) {
        guard case .runCancelRequested(let stopping) = event.kind else { return }
        var text = LogText(isColored: false)
        text.add("flowrun: \(stopping.words)")
        text.newline()
        text.buffer.withUnsafeBytes(sink.write)
    }
}

/// A sign of life without a live region: one line after every 60 seconds in which nothing was written, because CI
/// systems consider silent jobs dead.
package final class Heartbeat: Reporter {
    private static let silence = Duration.seconds(60)
    private static let stepsNamed = 3

    private let sink: any RecordSink
    private let view: RunView
    private var lastEvent = Duration.zero
    private var lastSign = Duration.zero
    private var somethingWasWritten = false

    /// `view` must receive each event first.
    package init(sink: any RecordSink, view: RunView) {
        self.sink = sink
        self.view = view
    }

    /// Returns a sink whose records count as signs of life.
    package func sink(over sink: any RecordSink) -> any RecordSink {
        ListeningSink(over: sink) { [self] in somethingWasWritten = true }
    }

    package func report(_ event: RunEvent) {
        lastEvent = event.elapsed
        listen()
    }

    package func tick(at elapsed: Duration) -> Duration? {
        guard view.steps > 0, !view.hasEnded else { return nil }
        listen()
        if elapsed - lastSign >= Self.silence {
            lastSign = elapsed
            write(at: elapsed)
        }
        return lastSign + Self.silence
    }

    /// Records are written for events, so they have the last event's time, in whatever order reporters are called.
    private func listen() {
        if somethingWasWritten { lastSign = max(lastSign, lastEvent) }
        somethingWasWritten = false
    }

    private func write(at elapsed: Duration) {
        var text = LogText(isColored: false)
        text.add("flowrun: \(TimeText.wholeSeconds(elapsed)), \(view.finished) of \(view.steps) finished")
        if view.failed > 0 { text.add(" (\(view.failed) failed)") }
        if view.isPaused { text.add(", paused") }
        let named = view.longestRunning(Self.stepsNamed).map { step in
            "\(step.title) (\(TimeText.wholeSeconds(elapsed - step.start)))"
        }
        text.add(named.isEmpty ? ", nothing running" : ", running: ")
        text.add(list: named, of: view.runningCount, limit: Self.stepsNamed)
        text.newline()
        text.buffer.withUnsafeBytes(sink.write)
    }
}
