internal import Basics

/// A part of the text log: flowrun's own words, and text from outside made harmless.
struct LogText: ~Copyable {
    enum Style {
        case success, failure, caution, faint, strong

        fileprivate var start: StaticString {
            switch self {
            case .success: "\u{1B}[32m"
            case .failure: "\u{1B}[31m"
            case .caution: "\u{1B}[33m"
            case .faint: "\u{1B}[2m"
            case .strong: "\u{1B}[1m"
            }
        }
    }

    private static let reset: StaticString = "\u{1B}[0m"

    var buffer = ByteBuffer()
    let isColored: Bool

    init(isColored: Bool) { self.isColored = isColored }

    var isEmpty: Bool { buffer.isEmpty }

    mutating func removeAll() { buffer.removeAll() }

    /// Appends any text as a part of one line: control characters are shown, not obeyed.
    mutating func add(_ text: String) { buffer.append(visible: text) }

    mutating func add(_ text: String, _ style: Style) {
        guard isColored else { return add(text) }
        buffer.append(literal: style.start)
        add(text)
        buffer.append(literal: Self.reset)
    }

    /// Appends a string literal.
    mutating func add(literal text: StaticString) { buffer.append(literal: text) }

    mutating func spaces(_ count: Int) { buffer.append(repeating: UInt8(ascii: " "), count: count) }

    mutating func newline() { buffer.append(UInt8(ascii: "\n")) }

    /// Appends the text that `body` writes, which has no colours, at the right edge of a column.
    mutating func add(rightAlignedTo width: Int, _ style: Style? = nil, _ body: (inout ByteBuffer) -> Void) {
        let start = buffer.count
        let style = isColored ? style : nil
        if let style { buffer.append(literal: style.start) }
        let digits = buffer.count
        body(&buffer)
        let written = buffer.count - digits
        if style != nil { buffer.append(literal: Self.reset) }
        buffer.insert(repeating: UInt8(ascii: " "), count: width - written, at: start)
    }

    /// Appends `a, b, c and 12 more`.
    mutating func add(list items: some Collection<String>, of total: Int? = nil, limit: Int = 8) {
        for (index, item) in items.prefix(limit).enumerated() {
            if index > 0 { add(literal: ", ") }
            add(item)
        }
        let more = (total ?? items.count) - min(items.count, limit)
        if more > 0 { add(" and \(more) more") }
    }
}

extension LogText {
    /// Writes a line such as `    1.204  failure     0.800s  lint  exit 2`.
    mutating func line(
        at elapsed: Duration, verb: String, _ style: Style, duration: Duration? = nil, subject: String,
        detail: String = ""
    ) {
        beginLine(at: elapsed, verb: verb, style, duration: duration, subject: subject)
        if !detail.isEmpty {
            spaces(2)
            add(detail)
        }
        newline()
    }

    /// Writes a line without its detail and its line feed.
    private mutating func beginLine(
        at elapsed: Duration, verb: String, _ style: Style, duration: Duration? = nil, subject: String
    ) {
        add(rightAlignedTo: 9, .faint) { TimeText.append(elapsed: elapsed, to: &$0) }
        spaces(2)
        add(verb, style)
        spaces(9 - verb.utf8.count + 2)
        add(rightAlignedTo: 8) { buffer in
            if let duration { TimeText.append(duration, to: &buffer) }
        }
        spaces(2)
        add(subject)
    }

    mutating func header(_ run: RunStarted) {
        add("flowrun \(run.version): ")
        add(run.file, .strong)
        if let name = run.name { add(" (\(name))") }
        add(", \(StepCount.words(run.steps, andCopiesOf: run.fanOuts))")
        add(", up to \(run.jobs) at once")
        if let resumed = run.resumes { add(", resuming \(resumed)") }
        newline()
    }

    mutating func line(_ step: StepFinished, at elapsed: Duration) {
        beginLine(
            at: elapsed, verb: step.outcome.rawValue, step.isTolerated ? .caution : step.outcome.style,
            duration: step.duration, subject: step.title)
        if step.cause != nil || step.process.leftBehind > 0 || step.process.outputTruncated != nil {
            spaces(2)
            add(step.detail)
        }
        newline()
    }

    mutating func line(_ value: ValueFinished, at elapsed: Duration) {
        line(
            at: elapsed, verb: value.outcome.rawValue, value.outcome.style, duration: value.duration,
            subject: value.value.words, detail: value.cause?.words ?? "")
    }

    mutating func line(_ group: GroupFinished, at elapsed: Duration) {
        line(
            at: elapsed, verb: group.outcome.rawValue, group.outcome.style, duration: group.duration,
            subject: "group \(group.group)", detail: group.detail)
    }

    mutating func retryLine(_ subject: String, _ failed: String, _ delay: Duration, at elapsed: Duration) {
        let pause = delay == .zero ? "at once" : "in \(TimeText.duration(delay))"
        line(at: elapsed, verb: "retry", .caution, subject: subject, detail: "\(failed) failed, again \(pause)")
    }

    mutating func verboseLine(_ event: RunEvent) {
        let (verb, subject, detail): (String, String, String)
        switch event.kind {
        case .stepStarted(let step): (verb, subject, detail) = ("started", step.step, "pid \(step.pid)")
        case .valueStarted(let value): (verb, subject, detail) = ("started", value.value.words, "pid \(value.pid)")
        case .groupStarted(let start): (verb, subject, detail) = ("started", "group \(start.group)", "")
        case .groupCancelRequested(let group, let cause):
            (verb, subject, detail) = ("stopping", "group \(group)", cause.words)
        case .stepCancelRequested(let step, _, let cause): (verb, subject, detail) = ("stopping", step, cause.words)
        case .stepSignal(let step, _, let signal): (verb, subject, detail) = ("signal", step, signal)
        case .stepAttempt(let end):
            (verb, subject, detail) = ("ended", end.step, "attempt \(end.attempt), \(end.status)")
        case .stepAdded(let added): (verb, subject, detail) = ("added", added.step, "by \(added.fanOut)")
        case .ready(let ready): (verb, subject, detail) = ("ready", ready.words, "")
        case .waiting(let waiting, let lock):
            (verb, subject, detail) = ("waiting", waiting.words, lock.map { "for \($0)" } ?? "for a free place")
        case .lockAcquired(let name, let holder): (verb, subject, detail) = ("acquired", name, "by \(holder.words)")
        case .lockReleased(let name, let holder): (verb, subject, detail) = ("released", name, "by \(holder.words)")
        case .runStarted, .runPaused, .runResumed, .runJobs, .runCancelRequested, .groupRetry, .groupFinished,
            .stepOutput, .stepRetry, .stepRestored, .stepRerun, .stepUndoes, .stepFinished, .valueFinished, .warning,
            .runFinished:
            return
        }
        line(at: event.elapsed, verb: verb, .faint, subject: subject, detail: detail)
    }
}

extension Subject {
    fileprivate var words: String {
        switch self {
        case .step(let id): id
        case .group(let id): "group \(id)"
        }
    }
}

extension StepFinished {
    fileprivate var detail: String {
        var parts: [String] = []
        if let cause { parts.append(cause.words) }
        if isTolerated, outcome.isFailure { parts.append("tolerated") }
        if process.leftBehind > 0 { parts.append("killed \(process.leftBehind) left behind") }
        if let outputTruncated = process.outputTruncated { parts.append("output incomplete (\(outputTruncated))") }
        return parts.joined(separator: ", ")
    }
}

extension GroupFinished {
    /// Groups rarely have a cause of their own; the names of their members say more than the number of failures.
    fileprivate var detail: String {
        guard let cause else { return "" }
        guard cause.kind == .member, !errors.isEmpty else { return cause.words }
        var text = LogText(isColored: false)
        text.add(list: errors)
        return text.buffer.text + " failed"
    }
}

extension RunStopping {
    private static let stepsNamed = 5

    /// The cause of the end, the steps that are stopped, the time they have, and the way to speed it up: `interrupted
    /// by SIGINT: build, test and 3 more have 10s to end, a second Ctrl-C kills them and skips
    /// finally`.
    var words: String {
        guard let grace, !steps.isEmpty else {
            return cause.words + (finally ? again.map { ", \($0) skips `finally`" } ?? "" : "")
        }
        var text = LogText(isColored: false)
        text.add("\(cause.words): ")
        text.add(list: steps, limit: Self.stepsNamed)
        let isOne = steps.count == 1
        guard grace > .zero else {
            text.add(isOne ? " is killed" : " are killed")
            if finally, let again { text.add(", \(again) skips `finally`") }
            return text.buffer.text
        }
        text.add("\(isOne ? " has" : " have") \(Self.words(grace)) to end")
        if let again { text.add(", \(again) kills \(isOne ? "it" : "them")\(finally ? " and skips `finally`" : "")") }
        return text.buffer.text
    }

    private static func words(_ grace: Duration) -> String {
        grace < .seconds(1)
            ? "\(grace.components.attoseconds / 1_000_000_000_000_000)ms" : TimeText.wholeSeconds(grace)
    }

    /// The action that cuts the grace short; nil if the run was not stopped by a signal.
    private var again: String? {
        switch source {
        case "SIGINT": "a second Ctrl-C"
        case let name where name.hasPrefix("SIG"): "a second signal"
        default: nil
        }
    }
}

/// The form of the log on standard output, `--log`.
package enum LogForm: String, Sendable, CaseIterable {
    case text, json
    /// Only the summary, and only if the run did not succeed.
    case quiet

    /// Makes the reporter of a log. `outputs` has the places of long outputs, nil if they are not kept; `journal` is
    /// nil if there is none. They and `view` receive each event first.
    package func reporter(
        to sink: any RecordSink, view: RunView, _ options: TextReporter.Options, outputs: (any OutputPlaces)?,
        journal: JournalWriter? = nil
    ) -> any Reporter {
        switch self {
        case .text: TextReporter(sink: sink, view: view, options: options, outputs: outputs)
        case .json: JSONLinesReporter(sink: sink, journal: journal)
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
    /// Has the record of each event already, if there is a journal.
    private let shared: WholeRecord?
    private var json = JSONWriter(capacity: 16 * 1024)

    /// `journal` receives each event first; nil if there is none.
    package init(sink: any RecordSink, journal: JournalWriter? = nil) {
        self.sink = sink
        shared = journal?.wholeRecord()
    }

    package func report(_ event: RunEvent) {
        if let record = shared?.bytes(of: event) { return sink.write(record) }
        json.removeAll()
        json.object { json in json.fields(of: event) }
        json.newline()
        json.withUnsafeBytes(sink.write)
    }
}
