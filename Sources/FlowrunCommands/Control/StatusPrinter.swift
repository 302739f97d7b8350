internal import RunLog

/// The state of a live run as text for users.
struct StatusPrinter {
    private static let waitingNamed = 8

    private let status: RunStatus

    init(_ status: RunStatus) { self.status = status }

    /// Whole lines: the run, each running step, the waiting steps, the counts of the ended ones.
    var text: String {
        var lines = ["\(status.file): \(state) (run \(status.run))"]
        for step in status.running {
            let attempt = step.attempt > 1 ? ", attempt \(step.attempt)" : ""
            lines.append("  \(step.state.rawValue)  \(step.step)  \(seconds(step.duration))\(attempt)")
        }
        for value in status.values {
            lines.append("  \(value.state.rawValue)  \(value.value.words)  \(seconds(value.duration))")
        }
        if !status.waiting.isEmpty {
            let named = status.waiting.prefix(Self.waitingNamed).joined(separator: ", ")
            let more = status.waiting.count - Self.waitingNamed
            lines.append("  waiting  \(named)" + (more > 0 ? " and \(more) more" : ""))
        }
        let counts = StepOutcome.allCases.compactMap { outcome in
            status.counts[outcome] > 0 ? "\(status.counts[outcome]) \(outcome.rawValue)" : nil
        }
        lines.append("  ended    " + (counts.isEmpty ? "none" : counts.joined(separator: ", ")))
        return lines.map { $0.asOneLine + "\n" }.joined()
    }

    private var state: String {
        if let outcome = status.outcome { return "over, \(outcome.rawValue), but its log is still being written" }
        let elapsed = seconds(status.elapsed)
        let state =
            status.isStopping
            ? "stopping, \(elapsed) after its start"
            : status.isPaused ? "paused, \(elapsed) after its start" : "running for \(elapsed)"
        return "\(state), up to \(status.jobs) at once"
    }

    private func seconds(_ duration: Duration) -> String { "\(duration.components.seconds)s" }
}
