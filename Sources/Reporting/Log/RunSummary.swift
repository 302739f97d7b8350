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
    private static let tailLines = 20

    private var victims: [Victims: (names: [String], count: Int)] = [:]
    private var order: [Victims] = []
    private var tolerated: [(step: String, words: String)] = []
    /// The last ends of steps in groups that may be tried again, in their order: only the last round's count.
    private var repeatable: (ends: [String: StepFinished], order: [String]) = ([:], [])

    /// Notes the end of a step; `round` as in its event.
    mutating func note(_ step: StepFinished, round: Int?) {
        guard round != nil else { return note(step) }
        if repeatable.ends.updateValue(step, forKey: step.step) == nil { repeatable.order.append(step.step) }
    }

    private mutating func note(_ step: StepFinished) {
        switch step.outcome {
        case .success: return
        case .failure, .timeout:
            guard step.isTolerated, tolerated.count < Self.namesKept else { return }
            tolerated.append((step.step, step.cause?.words ?? step.outcome.rawValue))
        case .cancelled, .skipped, .notRun:
            let group = Victims(outcome: step.outcome, reason: step.cause?.root.rootWords ?? "")
            if victims[group] == nil { order.append(group) }
            victims[group, default: ([], 0)].count += 1
            if victims[group]!.names.count < Self.namesKept { victims[group]!.names.append(step.step) }
        }
    }

    /// Writes the whole summary; `flush` is called between its parts so that a long one does not pile up.
    mutating func write(_ run: RunFinished, to text: inout LogText, flush: (inout LogText) -> Void) {
        for step in repeatable.order.compactMap({ repeatable.ends[$0] }) { note(step) }
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
            let named = tolerated.map { "\($0.step) (\($0.words))" }
            text.add(list: named.isEmpty ? run.tolerated : named, of: run.tolerated.count, limit: Self.namesKept)
            text.newline()
        }
        for group in order {
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
        text.add(failure.step ?? failure.group.map { "group \($0)" } ?? "the run", .failure)
        text.add(": \(failure.cause.words) (\(failure.file)")
        if let line = failure.line { text.add(":\(line)") }
        text.add(")")
        text.newline()
        var sanitizer = OutputSanitizer(mark: "    | ", keepsColors: text.isColored)
        failure.outputTail.withUnsafeBytes { tail in
            sanitizer.append(UnsafeRawBufferPointer(rebasing: tail[startOfTail(tail)...]), to: &text.buffer)
        }
        sanitizer.finish(to: &text.buffer)
    }

    /// Where the last lines begin.
    private func startOfTail(_ output: UnsafeRawBufferPointer) -> Int {
        var lines = 0
        for offset in output.indices.dropLast().reversed() where output[offset] == UInt8(ascii: "\n") {
            lines += 1
            if lines == Self.tailLines { return offset + 1 }
        }
        return 0
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
