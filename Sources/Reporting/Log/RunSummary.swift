internal import Basics
internal import RunEvents

/// The last part of the text log: every error once more, what came of them, and the counts. Listens to the whole run,
/// because what ruled a step out stands only in the step's own event; keeps a few names of each kind, not all.
struct RunSummary {
    /// Steps that ended alike for the same reason.
    private struct Victims: Hashable {
        let outcome: StepOutcome
        let reason: String
    }

    private static let namesKept = 8
    private static let scriptLines = 20

    private var victims: [Victims: (names: [String], count: Int)] = [:]
    private var order: [Victims] = []
    private var skipped: (names: [String], count: Int) = ([], 0)
    /// The command that tells more of a step whose id follows it, nil where nothing does.
    private let why: String?
    /// What steps came to that may fail, by id, in words.
    private var tolerated: [String: String] = [:]
    /// The same of groups that exceeded their own limit, whether they may or not.
    private var timedOut: [String: String] = [:]
    /// The file that has all output, nil where there is none.
    private let logFile: String?
    private let outputs: (any OutputPlaces)?
    /// The values and names of steps that did not succeed, where the id does not say them.
    private var titles: [String: String] = [:]
    /// Failed steps whose output stands in the log already as it came.
    private var shown: Set<String> = []
    /// The last ends in groups that may be tried again, in their order: only the last round's count.
    private var repeatable: (ends: [String: End], order: [String]) = ([:], [])

    /// How a step ended, or a fan-out before its copies were known.
    private struct End {
        let id: String
        let outcome: StepOutcome
        let cause: Cause?
        let isTolerated: Bool
    }

    /// `outputs` is told of each event before the summary is.
    init(logFile: String?, why: String? = nil, outputs: (any OutputPlaces)? = nil) {
        self.outputs = outputs
        self.logFile = logFile
        self.why = why
    }

    /// Notes that the output of a failed step has been shown as it came and need not be shown again.
    mutating func noteShown(_ step: String) { shown.insert(step) }

    /// Notes the end of a step; `round` as in its event.
    mutating func note(_ step: StepFinished, round: Int?) {
        if step.outcome != .success, step.item != nil || step.name != nil {
            titles[step.step] = StepTitle.words(step.step, name: step.name, item: step.item)
        }
        note(
            End(id: step.step, outcome: step.outcome, cause: step.cause, isTolerated: step.isTolerated), round: round)
    }

    /// The same for a group; only a fan-out without copies has an end that no step tells, and a group its own limit.
    mutating func note(_ group: GroupFinished, round: Int?) {
        if let cause = group.cause, cause.kind == .timeout, timedOut.count < Self.namesKept {
            timedOut[group.group] = cause.words
        }
        guard !group.isExpanded else { return }
        note(End(id: group.group, outcome: group.outcome, cause: group.cause, isTolerated: false), round: round)
    }

    private mutating func note(_ end: End, round: Int?) {
        guard round != nil else { return note(end) }
        if repeatable.ends.updateValue(end, forKey: end.id) == nil { repeatable.order.append(end.id) }
    }

    private mutating func note(_ end: End) {
        switch end.outcome {
        case .success: return
        case .failure, .timeout:
            guard end.isTolerated, tolerated.count < Self.namesKept else { return }
            tolerated[end.id] = end.cause?.words ?? end.outcome.rawValue
        case .cancelled, .skipped, .notRun:
            if end.outcome == .skipped {
                skipped.count += 1
                if skipped.names.count < Self.namesKept { skipped.names.append(end.id) }
            }
            let group = Victims(outcome: end.outcome, reason: end.cause?.reason ?? "")
            if victims[group] == nil { order.append(group) }
            victims[group, default: ([], 0)].count += 1
            if victims[group]!.names.count < Self.namesKept { victims[group]!.names.append(end.id) }
        }
    }

    /// Writes the whole summary; `flush` is called between its parts so that a long one does not pile up.
    mutating func write(_ run: RunFinished, to text: inout LogText, flush: (inout LogText) -> Void) {
        for end in repeatable.order.compactMap({ repeatable.ends[$0] }) { note(end) }
        if !run.errors.isEmpty {
            text.newline()
            text.add(run.errors.count == 1 ? "1 error:" : "\(run.errors.count) errors:", .strong)
            text.newline()
        }
        for failure in run.errors {
            write(failure, to: &text)
            flush(&text)
        }
        if !run.tolerated.isEmpty {
            text.add("tolerated: ", .caution)
            let named = run.tolerated.prefix(Self.namesKept).map { id in
                (tolerated[id] ?? timedOut[id]).map { "\(id) (\($0))" } ?? id
            }
            text.add(list: named, of: run.tolerated.count, limit: Self.namesKept)
            text.newline()
        }
        // Where all is well, nobody wants to read why each step had nothing to do.
        let isBrief = run.outcome == .success && order.count { $0.outcome == .skipped } > 1
        if isBrief { writeSkipped(to: &text) }
        for group in order where !(isBrief && group.outcome == .skipped) {
            guard let (names, count) = victims[group] else { continue }
            text.add(group.outcome == .notRun ? "not run: " : "\(group.outcome.rawValue): ", .caution)
            text.add(list: names, of: count, limit: Self.namesKept)
            if !group.reason.isEmpty { text.add(" because \(group.reason)") }
            text.newline()
            flush(&text)
        }
        writeCounts(run, to: &text)
        flush(&text)
    }

    private func write(_ failure: RunFinished.Failure, to text: inout LogText) {
        text.spaces(2)
        text.add(
            failure.step.map { titles[$0] ?? $0 } ?? failure.group.map { "group \($0)" }
                ?? "the run", .failure)
        text.add(": \(failure.cause.words) (\(failure.command?.file ?? failure.file)")
        if let line = failure.command?.line ?? failure.line { text.add(":\(line)") }
        text.add(")")
        text.newline()
        // A script that nothing more is known of is all there is to look at.
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
        let counts = StepOutcome.allCases.compactMap { outcome in
            run.counts[outcome] > 0 ? "\(run.counts[outcome]) \(outcome.rawValue)" : nil
        }
        if counts.isEmpty { text.add("no steps") } else { text.add(list: counts) }
        text.newline()
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
