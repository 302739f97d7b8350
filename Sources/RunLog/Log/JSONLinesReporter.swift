internal import Basics

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
