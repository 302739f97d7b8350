/// How a step, a group or the run ended.
package enum StepOutcome: String, Sendable, Hashable, CaseIterable {
    case success
    /// A command failed, or could not be started.
    case failure
    case timeout
    /// A cancel reached it or a group around it, started or not.
    case cancelled
    /// Its own condition, or the kind of an edge, said no though nothing failed.
    case skipped
    /// Something upstream ruled it out.
    case notRun = "not-run"
}
