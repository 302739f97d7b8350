internal import Basics

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
