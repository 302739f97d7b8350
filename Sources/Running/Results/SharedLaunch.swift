internal import Planning
internal import Processes
internal import RunLog
internal import Workflow

/// One of `vars` in one instance of the group that declares it.
struct SharedKey: Hashable {
    let group: PlanIndex
    let id: SharedValueID
}

/// The command that makes the value of one of `vars`.
struct SharedLaunch {
    let command: ProcessCommand
    /// The command in the log, secrets masked.
    let words: StepStarted.Command
    /// The file of a script for its own interpreter; nil if a shell reads the script.
    let scriptFile: String?
}

/// The reason why one of `vars` has no value, for everything that reads it.
struct SharedFailure: Error {
    let cause: Cause
    /// The end of the command's output; empty if it did not run.
    var tail = OutputTail()
}
