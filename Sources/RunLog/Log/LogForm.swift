internal import Basics

/// The form of the log on standard output, `--log`.
package enum LogForm: String, Sendable, CaseIterable {
    case text, json
    /// Only the summary, and only if the run did not succeed.
    case quiet

    /// Makes the reporter of a log. `outputs` has the places of long outputs, nil if they are not kept. It and `view`
    /// receive each event first.
    package func reporter(
        to sink: any RecordSink, view: RunView, _ options: TextReporter.Options, outputs: (any OutputPlaces)?
    ) -> any Reporter {
        switch self {
        case .text: TextReporter(sink: sink, view: view, options: options, outputs: outputs)
        case .json: JSONLinesReporter(sink: sink)
        case .quiet:
            QuietReporter(
                sink: sink, view: view, isColored: options.isColored, logFile: options.logFile, outputs: outputs)
        }
    }
}

/// The JSON Lines log: one record per event, one write per record (schema/flowrun-event.schema.json).
///
/// A record has every field of its event; a field that does not apply is `null`.
package final class JSONLinesReporter: Reporter {
    private let sink: any RecordSink
    private var json = JSONWriter(capacity: 16 * 1024)

    package init(sink: any RecordSink) {
        self.sink = sink
    }

    package func report(_ event: RunEvent) {
        json.removeAll()
        json.object { json in json.fields(of: event) }
        json.newline()
        json.withUnsafeBytes(sink.write)
    }
}
