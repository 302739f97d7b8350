internal import Basics

/// `--log quiet`: only the summary, and only if the run did not succeed.
package final class QuietReporter: Reporter {
    private let sink: any RecordSink
    private let summary: RunSummary
    private var text: LogText

    /// `logFile` is the file of the JSON log, nil if there is none; `view` and `outputs` as for the text log.
    package init(
        sink: any RecordSink, view: RunView, isColored: Bool, logFile: String? = nil,
        outputs: (any OutputPlaces)? = nil
    ) {
        self.sink = sink
        summary = RunSummary(view: view, logFile: logFile, outputs: outputs)
        text = LogText(isColored: isColored)
    }

    package func report(_ event: RunEvent) {
        guard case .runFinished(let run) = event.kind, run.outcome != .success else { return }
        summary.write(run, to: &text) { text in
            text.buffer.withUnsafeBytes(sink.write)
            text.removeAll()
        }
    }
}
