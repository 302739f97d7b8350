/// A few lines below the cursor that say what runs, for how long, what it wrote last, and what is left.
///
/// It draws only in `tick(at:)`, at most ten times a second and only where something has changed. Whatever else flowrun
/// writes to the same terminal goes through `sink(over:)`, which takes the region away first; what other programs write
/// there is never taken away, because the region stands below it (`TerminalSequence`). The terminal is never put into
/// another mode, so that taking the region away is all there is to restore.
package final class LiveRegion: Reporter {
    /// Where steps' output is shown on the same terminal, so that the region need not repeat it.
    package enum Echo: Sendable {
        case nowhere
        /// In the text log, as `--output` says; nil where it is not given.
        case log(OutputMode?)
    }

    private static let interval = Duration.milliseconds(100)
    /// A run that is over by then is not worth the reading of past ones.
    private static let estimateDelay = Duration.seconds(1)

    private let terminal: any RecordSink
    private let view: RunView
    private let size: () -> TerminalSize?
    private let echo: Echo
    private let estimate: () -> RunEstimate?
    private var remaining = RemainingTime()
    private var lastLines = LastLines()
    private var hasChanged = false
    /// The view's as it was last looked at.
    private var revision = 0
    private var lastDrawing = Duration.zero
    /// The lines on the screen, empty where there are none, and the size they were made for.
    private var shown: (lines: [[UInt8]], size: TerminalSize?) = ([], nil)
    /// Whether the terminal has taken a drawing only in part, so that nobody knows where the cursor stands.
    private var isCutOff = false

    /// `view` is told of each event first. `size` is asked at each drawing; nil means that nothing may be drawn at
    /// present. `estimate` is asked once at most, a second after the start; nil if the length of the run is not known.
    package init(
        terminal: any RecordSink, view: RunView, echo: Echo = .nowhere,
        estimate: @escaping () -> RunEstimate? = { nil }, size: @escaping () -> TerminalSize?
    ) {
        self.terminal = terminal
        self.view = view
        self.echo = echo
        self.estimate = estimate
        self.size = size
    }

    /// A sink for what goes to the same terminal: it clears the region, then writes the record to `sink`; the next tick
    /// draws the region again below it.
    package func sink(over sink: any RecordSink) -> any RecordSink {
        ClearingSink(region: self, sink: sink)
    }

    package func report(_ event: RunEvent) {
        switch event.kind {
        case .stepOutput(let output):
            // Standard output of a command of `vars` is its value.
            if output.step == nil, output.stream == .stdout { break }
            lastLines.note(output)
            hasChanged = true
        case .stepFinished(let step): lastLines.forget(.step(step.step))
        case .stepRetry(let step, _, _): lastLines.forget(.step(step))
        case .valueFinished(let value): lastLines.forget(.value(value.value))
        default: break
        }
        remaining.note(event)
        if view.revision != revision { hasChanged = true }
        revision = view.revision
        if view.hasEnded { clear() }
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

    /// Takes the region off the screen; it comes back with the next tick. Call it before the program ends on any path
    /// that has no `runFinished`, and before it is suspended.
    package func clear() { clear(with: TerminalSequence.clear) }

    /// Draws the region anew for another size of the terminal.
    package func sizeHasChanged() {
        if !shown.lines.isEmpty, !view.hasEnded { draw(at: lastDrawing) }
    }

    /// Takes the region away in front of a line of the log.
    fileprivate func clearForLine() { clear(with: TerminalSequence.clearForLine) }

    private func clear(with sequence: [UInt8]) {
        recover()
        guard !shown.lines.isEmpty else { return }
        shown = ([], nil)
        sequence.withUnsafeBytes(terminal.write)
    }

    /// What is left of a drawing that was cut off stays where it is.
    private func recover() {
        guard isCutOff else { return }
        isCutOff = false
        TerminalSequence.recover.withUnsafeBytes(terminal.write)
    }

    private func draw(at elapsed: Duration) {
        lastDrawing = elapsed
        hasChanged = false
        guard let size = size() else {
            // The screen belongs to another job, and what stood there with it.
            shown = ([], nil)
            return
        }
        recover()
        let left =
            elapsed < Self.estimateDelay ? nil : remaining.left(view.running, at: elapsed, expected: estimate)
        let text = RegionText(view: view, left: left) { [self] in
            isEchoed($0) ? [] : lastLines.line(of: $0.writer)
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

    /// Whether what the step writes stands above the region as it comes.
    private func isEchoed(_ step: RunView.Command) -> Bool {
        guard case .log(let mode) = echo else { return false }
        return switch mode ?? step.view.map(OutputMode.init) ?? .grouped {
        case .stream: true
        case .grouped: step.isAlone && step.step != nil
        case .failed, .none: false
        }
    }
}

/// Writes where a live region may stand.
private final class ClearingSink: RecordSink {
    private let region: LiveRegion
    private let sink: any RecordSink

    init(region: LiveRegion, sink: any RecordSink) {
        self.region = region
        self.sink = sink
    }

    func write(_ record: UnsafeRawBufferPointer) {
        region.clearForLine()
        sink.write(record)
    }

    func write(pulling source: @escaping RecordSource) {
        // Nothing is drawn until the whole text is written.
        region.clearForLine()
        sink.write(pulling: source)
    }
}
