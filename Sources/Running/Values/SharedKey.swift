internal import Planning
internal import Processes
internal import RunLog
internal import Workflow

/// One of `vars` in one copy of the group that declares it.
struct SharedKey: Hashable {
    let group: PlanIndex
    let id: SharedValueID
}

/// What makes the value of one of `vars`.
struct SharedLaunch {
    let command: ProcessCommand
    /// The value's name in the log, secrets masked.
    let words: StepStarted.Command
    /// The script for its own interpreter; nil for one that a shell reads.
    let scriptFile: String?
}

/// Why one of `vars` has no value, for everything that reads it.
struct SharedFailure: Error {
    let cause: Cause
    /// The end of what its command wrote; empty if it did not run.
    var tail = OutputTail()
}
