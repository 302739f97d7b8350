internal import Basics
package import RunEvents

/// A few lines at the bottom of the terminal that say what runs, for how long, and what is left.
///
/// It draws only in `tick(at:)`, at most ten times a second and only where something has changed. Whatever else writes
/// to the same terminal goes through `sink(over:)`, which takes the region away first. The terminal is never put into
/// another mode, so that taking the region away is all there is to restore.
package final class LiveRegion: Reporter {
    private static let interval = Duration.milliseconds(100)
    private static let linesOfSteps = 5

    private let terminal: any RecordSink
    private let width: () -> Int
    private var progress = RunProgress()
    private var hasChanged = false
    private var lastDrawing = Duration.zero
    /// The lines on the screen, empty when there are none.
    private var shown: [[UInt8]] = []

    /// `width` is asked at each drawing, so that a resized terminal needs no signal.
    package init(terminal: any RecordSink, width: @escaping () -> Int) {
        self.terminal = terminal
        self.width = width
    }

    /// A sink for what goes to the same terminal: it clears the region, then writes the record to `sink`; the next tick
    /// draws the region again below it.
    package func sink(over sink: any RecordSink) -> any RecordSink {
        ClearingSink(region: self, sink: sink)
    }

    package func report(_ event: RunEvent) {
        if progress.note(event) { hasChanged = true }
        if progress.hasEnded { clear() }
    }

    package func tick(at elapsed: Duration) -> Duration? {
        guard progress.steps > 0, !progress.hasEnded else { return nil }
        let isDue = hasChanged || shown.isEmpty || elapsed.components.seconds != lastDrawing.components.seconds
        if isDue {
            let earliest = lastDrawing + Self.interval
            guard elapsed >= earliest else { return earliest }
            draw(at: elapsed)
        }
        return progress.running.isEmpty ? nil : .seconds(elapsed.components.seconds + 1)
    }

    /// Takes the region off the screen; it comes back with the next tick. Call it before the program ends on any path
    /// that has no `runFinished`, and before it is suspended.
    package func clear() {
        guard !shown.isEmpty else { return }
        var bytes: [UInt8] = []
        appendClearing(to: &bytes)
        shown = []
        bytes.withUnsafeBytes(terminal.write)
    }

    private func draw(at elapsed: Duration) {
        lastDrawing = elapsed
        hasChanged = false
        let columns = max(1, width() - 1)
        let lines = lines(at: elapsed).map { TerminalLine.cut($0, to: columns) }
        guard lines != shown else { return }
        // Synchronized update: a terminal that knows it shows the change at once, others ignore it.
        var bytes = Array("\u{1B}[?2026h".utf8)
        appendClearing(to: &bytes)
        bytes.append(contentsOf: lines.joined(separator: "\r\n".utf8))
        bytes.append(contentsOf: "\u{1B}[?2026l".utf8)
        shown = lines
        bytes.withUnsafeBytes(terminal.write)
    }

    /// The cursor stands behind the last line. A terminal made narrower has broken the lines into several rows.
    private func appendClearing(to bytes: inout [UInt8]) {
        guard !shown.isEmpty else { return }
        let columns = max(1, width())
        let rows = shown.reduce(0) { $0 + max(1, (TerminalLine.columns(of: $1) + columns - 1) / columns) }
        bytes.append(UInt8(ascii: "\r"))
        if rows > 1 { bytes.append(contentsOf: "\u{1B}[\(rows - 1)A".utf8) }
        bytes.append(contentsOf: "\u{1B}[J".utf8)
    }

    private func lines(at elapsed: Duration) -> [[UInt8]] {
        var text = LogText(isColored: false)
        text.add("[\(progress.finished)/\(progress.steps)] ")
        if progress.isPaused { text.add("paused, ") }
        text.add("\(progress.running.count) running, ")
        if progress.failed > 0 { text.add("\(progress.failed) failed, ") }
        text.add("\(progress.waiting) waiting  \(TimeText.wholeSeconds(elapsed))")
        var lines = [text.buffer.bytes]
        for (step, start) in progress.longestRunning(Self.linesOfSteps) {
            let time = TimeText.wholeSeconds(elapsed - start)
            text.removeAll()
            text.spaces(8 - time.utf8.count)
            text.add("\(time)  \(step)")
            lines.append(text.buffer.bytes)
        }
        let more = progress.running.count - Self.linesOfSteps
        if more > 0 { lines.append(Array("          and \(more) more".utf8)) }
        return lines
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
        region.clear()
        sink.write(record)
    }

    func write(pulling source: @escaping RecordSource) {
        let region = region
        sink.write { take in
            source { record in
                region.clear()
                take(record)
            }
        }
    }
}
