internal import Reporting
internal import RunEvents

/// Where a live run stands, for people.
struct StatusPrinter {
    private static let waitingNamed = 8

    private let status: JSONFields

    /// `status` is a live run's answer.
    init(_ status: JSONFields) { self.status = status }

    /// Whole lines: the run, a line for each running step, what waits, what has ended.
    var text: String {
        var lines = [
            "\(status.string("file") ?? "-"): \(state) (run \(status.string("run") ?? ""))"
        ]
        for step in status.objects("running") {
            var line = "  \(step.string("state") ?? "running")  \(step.string("step") ?? "")"
            line += "  \(seconds(step.duration("seconds")))"
            if let attempt = step.int("attempt"), attempt > 1 { line += ", attempt \(attempt)" }
            lines.append(line)
        }
        for value in status.objects("values") {
            let id = ValueID(name: value.string("var") ?? "", group: value.string("group"))
            lines.append(
                "  \(value.string("state") ?? "running")  \(id.words)  \(seconds(value.duration("seconds")))")
        }
        let waiting = status.strings("waiting")
        if !waiting.isEmpty {
            let named = waiting.prefix(Self.waitingNamed).joined(separator: ", ")
            let more = waiting.count - Self.waitingNamed
            lines.append("  waiting  \(named)" + (more > 0 ? " and \(more) more" : ""))
        }
        let counts = StepOutcome.allCases.compactMap { outcome in
            status.object("counts")?.int(outcome.rawValue).flatMap { $0 > 0 ? "\($0) \(outcome.rawValue)" : nil }
        }
        lines.append("  ended    " + (counts.isEmpty ? "none" : counts.joined(separator: ", ")))
        return lines.map { $0.asOneLine + "\n" }.joined()
    }

    private var state: String {
        if let outcome = status.string("outcome") { return "over, \(outcome), but its log is still being written" }
        let elapsed = seconds(status.duration("elapsed"))
        let state =
            status.bool("stopping") == true
            ? "stopping, \(elapsed) after its start"
            : status.bool("paused") == true ? "paused, \(elapsed) after its start" : "running for \(elapsed)"
        return "\(state), up to \(status.int("jobs") ?? 0) at once"
    }

    private func seconds(_ duration: Duration?) -> String { "\(duration?.components.seconds ?? 0)s" }
}
