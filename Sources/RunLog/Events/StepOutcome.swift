/// How a step, a group or the run ended.
package enum StepOutcome: String, RecordWord, Sendable, Hashable {
    case success, failure, timeout, cancelled, skipped
    case notRun = "not-run"

    /// True for a failure and for a timeout.
    package var isFailure: Bool { self == .failure || self == .timeout }

    package var meaning: String? {
        switch self {
        case .success: "as it should"
        case .failure: "a command failed or could not be started"
        case .timeout: "it took longer than allowed and was stopped"
        case .cancelled: "a cancel reached it or a group around it, started or not"
        case .skipped: "its own condition, or the kind of an edge, said no though nothing failed"
        case .notRun: "something upstream ruled it out"
        }
    }
}
