internal import Basics

/// The last part of the text log: every error again, its consequences, and the counts.
struct RunSummary {
    private static let namesKept = 8
    private static let scriptLines = 20

    private let view: RunView
    private let logFile: String?
    private let why: String?
    private let resume: String?
    private let outputs: (any OutputPlaces)?
    /// Failed steps whose output is already in the log.
    private var shown: Set<String> = []

    /// `view` and `outputs` receive each event before the summary's reporter; `outputs` is nil if output is not kept.
    /// `logFile` is the file with all output, nil if there is none. `why` is the command that explains a step, given
    /// its id as the next argument, and `resume` the one that goes on where the run has ended; nil if there is none.
    init(
        view: RunView, logFile: String?, why: String? = nil, resume: String? = nil,
        outputs: (any OutputPlaces)? = nil
    ) {
        self.view = view
        self.logFile = logFile
        self.why = why
        self.resume = resume
        self.outputs = outputs
    }

    /// Notes that the output of a failed step is in the log already, so that the summary does not repeat it.
    mutating func noteShown(_ step: String) { shown.insert(step) }

    /// Writes the whole summary and calls `flush` between its parts, so that a long summary is not held in memory.
    func write(_ run: RunFinished, to text: inout LogText, flush: (inout LogText) -> Void) {
        if !run.errors.isEmpty {
            text.newline()
            text.add(run.errors.count == 1 ? "1 error:" : "\(run.errors.count) errors:", .strong)
            text.newline()
        }
        let titles = run.errors.isEmpty ? [:] : view.titles
        for failure in run.errors {
            write(failure, titles, to: &text)
            flush(&text)
        }
        if !run.tolerated.isEmpty {
            text.add("tolerated: ", .caution)
            let named = run.tolerated.prefix(Self.namesKept)
            let words = view.tolerated(Set(named))
            text.add(
                list: named.map { id in words[id].map { "\(id) (\($0))" } ?? id }, of: run.tolerated.count,
                limit: Self.namesKept)
            text.newline()
        }
        let victims = view.victims(named: Self.namesKept)
        // In a successful run, a reason for each skipped step is only noise.
        let isBrief = run.outcome == .success && victims.count { $0.outcome == .skipped } > 1
        if isBrief { writeSkipped(to: &text) }
        for group in victims where !(isBrief && group.outcome == .skipped) {
            text.add(group.outcome == .notRun ? "not run: " : "\(group.outcome.rawValue): ", .caution)
            text.add(list: group.names, of: group.count, limit: Self.namesKept)
            if !group.reason.isEmpty { text.add(" because \(group.reason)") }
            text.newline()
            flush(&text)
        }
        writeCounts(run, to: &text)
        if run.outcome != .success { writeNext(run, to: &text) }
        flush(&text)
    }

    /// Tells what to do about a run without success.
    private func writeNext(_ run: RunFinished, to text: inout LogText) {
        guard let resume else { return }
        if let why, let step = run.errors.lazy.compactMap(\.step).first {
            text.add("`\(why) \(step.shellWord)` tells more, ", .faint)
        }
        text.add("`\(resume)` goes on from here", .faint)
        text.newline()
    }

    private func write(_ failure: RunFinished.Failure, _ titles: [String: String], to text: inout LogText) {
        text.spaces(2)
        text.add(
            failure.step.map { titles[$0] ?? $0 } ?? failure.group.map { "group \($0)" }
                ?? "the run", .failure)
        text.add(": \(failure.cause.words) (\(failure.command?.file ?? failure.file)")
        if let line = failure.command?.line ?? failure.line { text.add(":\(line)") }
        text.add(")")
        text.newline()
        // If nothing more is known, the script is all that can help.
        if failure.command == nil, failure.cause.root.kind == .exit, let script = failure.script {
            write(script: script, to: &text)
        }
        if let step = failure.step, shown.contains(step) { return }
        var sanitizer = OutputSanitizer(mark: "    | ", keepsColors: text.isColored)
        failure.outputTail.withUnsafeBytes { tail in
            let start = OutputExcerpt.start(in: tail)
            let file = failure.step.flatMap { outputs?.file(ofStep: $0) } ?? logFile
            if let file, start > 0 || failure.outputBytes > tail.count {
                text.add("    (the last lines; all of the output is in \(file))")
                text.newline()
            }
            sanitizer.append(UnsafeRawBufferPointer(rebasing: tail[start...]), to: &text.buffer)
        }
        sanitizer.finish(to: &text.buffer)
    }

    private func writeSkipped(to text: inout LogText) {
        let skipped = view.skipped(named: Self.namesKept)
        text.add("skipped: ", .caution)
        text.add(list: skipped.names, of: skipped.count, limit: Self.namesKept)
        if let why, let first = skipped.names.first { text.add(" (`\(why) \(first.shellWord)` tells why)") }
        text.newline()
    }

    private func write(script: String, to text: inout LogText) {
        let lines = script.split(separator: "\n", omittingEmptySubsequences: false)
        let count = lines.last?.isEmpty == true ? lines.count - 1 : lines.count
        for line in lines.prefix(min(count, Self.scriptLines)) {
            text.add(literal: "    > ")
            text.add(String(line))
            text.newline()
        }
        guard count > Self.scriptLines else { return }
        text.add("    > … and \(count - Self.scriptLines) more lines")
        text.newline()
    }

    private func writeCounts(_ run: RunFinished, to text: inout LogText) {
        text.add(run.outcome.rawValue, run.outcome.style)
        text.add(" in \(TimeText.duration(run.duration)): ")
        let counts = run.counts.words
        if counts.isEmpty { text.add("no steps") } else { text.add(list: counts) }
        text.newline()
    }
}

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

extension StepOutcome {
    var style: LogText.Style {
        switch self {
        case .success: .success
        case .failure, .timeout: .failure
        case .cancelled: .caution
        case .skipped, .notRun: .faint
        }
    }
}

/// The number of steps of a run, in words: those known in advance, and those that it will make.
package enum StepCount {
    /// The most names that are shown; more fan-outs are only counted.
    private static let namesShown = 3

    /// `2 steps`, or `2 steps and the copies of build` if their number becomes known only during the run.
    package static func words(_ steps: Int, andCopiesOf fanOuts: [String]) -> String {
        let known = "\(steps) step\(steps == 1 ? "" : "s")"
        guard !fanOuts.isEmpty else { return known }
        let names = fanOuts.count > namesShown ? "\(fanOuts.count) fan-outs" : fanOuts.joined(separator: ", ")
        return "\(known) and the copies of \(names)"
    }
}
