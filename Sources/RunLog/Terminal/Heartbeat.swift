internal import Basics

/// A sign of life where there is no live region: one line after every 60 seconds in which nothing was written, because
/// CI systems take silent jobs for dead.
package final class Heartbeat: Reporter {
    private static let silence = Duration.seconds(60)
    private static let stepsNamed = 3

    private let sink: any RecordSink
    private let view: RunView
    private var lastEvent = Duration.zero
    private var lastSign = Duration.zero
    private var somethingWasWritten = false

    /// `view` is told of each event first.
    package init(sink: any RecordSink, view: RunView) {
        self.sink = sink
        self.view = view
    }

    /// A sink whose records count as signs of life.
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

    /// Records are written for events, so that the last one's time is theirs, whichever reporter is told first.
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
