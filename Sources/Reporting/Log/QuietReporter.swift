internal import Basics
package import RunEvents

/// `--log quiet`: the summary where something went wrong, nothing else.
package final class QuietReporter: Reporter {
    private let sink: any RecordSink
    private var summary: RunSummary
    private var text: LogText

    /// `logFile` is where the JSON log is written to as well, nil for nowhere; `outputs` as for the text log.
    package init(
        sink: any RecordSink, isColored: Bool, logFile: String? = nil, outputs: (any OutputPlaces)? = nil
    ) {
        self.sink = sink
        summary = RunSummary(logFile: logFile, outputs: outputs)
        text = LogText(isColored: isColored)
    }

    package func report(_ event: RunEvent) {
        switch event.kind {
        case .stepFinished(let step): summary.note(step, round: event.round)
        case .runFinished(let run) where run.outcome != .success:
            summary.write(run, to: &text) { text in
                text.buffer.withUnsafeBytes(sink.write)
                text.removeAll()
            }
        default: break
        }
    }
}
