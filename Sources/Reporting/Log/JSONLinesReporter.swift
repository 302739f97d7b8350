internal import Basics
package import RunEvents

/// The JSON Lines log: one record per event, one write per record (schema/flowrun-event.schema.json).
///
/// One rule for fields: a record has every field of its event; a field that does not apply is `null`.
package final class JSONLinesReporter: Reporter {
    private let sink: any RecordSink
    private var json = JSONWriter(capacity: 16 * 1024)

    package init(sink: any RecordSink) {
        self.sink = sink
    }

    package func report(_ event: RunEvent) {
        json.removeAll()
        json.object { json in
            json.field("v", 1)
            json.field("seq", event.sequence)
            json.timestamp("time", microseconds: event.wallClock)
            json.field("t", event.elapsed)
            json.field("event", event.kind.name)
            if let round = event.round { json.field("round", round) }
            json.fields(of: event.kind)
        }
        json.newline()
        json.withUnsafeBytes(sink.write)
    }
}

extension RunEvent.Kind {
    /// The word in the record's field `event`.
    package var name: String {
        switch self {
        case .runStarted: "run.started"
        case .runPaused: "run.paused"
        case .runResumed: "run.resumed"
        case .runJobs: "run.jobs"
        case .runCancelRequested: "run.cancel_requested"
        case .groupStarted: "group.started"
        case .groupCancelRequested: "group.cancel_requested"
        case .groupRetry: "group.retry"
        case .groupFinished: "group.finished"
        case .stepAdded: "step.added"
        case .ready(.step): "step.ready"
        case .ready(.group): "group.ready"
        case .waiting(.step, _): "step.waiting"
        case .waiting(.group, _): "group.waiting"
        case .lockAcquired: "lock.acquired"
        case .lockReleased: "lock.released"
        case .stepStarted: "step.started"
        case .stepOutput: "step.output"
        case .stepCancelRequested: "step.cancel_requested"
        case .stepSignal: "step.signal"
        case .stepAttempt: "step.attempt"
        case .stepRetry: "step.retry"
        case .stepFinished: "step.finished"
        case .warning: "warning"
        case .runFinished: "run.finished"
        }
    }
}
