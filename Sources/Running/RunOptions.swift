package import Basics
internal import Planning
package import Workflow

/// What the command line and its surroundings say about one run.
package struct RunOptions: Sendable {
    /// How many steps may run at once, at least 1.
    package var jobs = 1
    /// Which ready steps start first; nil for the longest path in steps.
    package var priorities: RowPriorities?
    /// The runs whose durations decided it.
    package var durationSources: [String] = []
    /// Stands over everything the file says, in order; a later entry wins.
    package var environment: [(name: String, value: String)] = []
    package var parameters = ParameterValues.none
    /// What follows `--` on the command line, for the steps that the plan gives it to.
    package var arguments: [String] = []
    package var secrets = RunSecrets.none
    /// The workflow's own `fail-fast`, nil to leave it to the file.
    package var failFast: Bool?
    /// The run's own limit, nil to leave it to the file.
    package var timeout: Duration?
    /// The folder that steps start in, absolute; nil if that is flowrun's own.
    package var folder: String?
    /// The run's id.
    package var run = ""
    /// flowrun's version, for the log.
    package var version = ""
    /// What the run is to take over; nil to begin afresh.
    package var past: PastResults?
    /// Steps and groups that are not taken over, nor what is behind them.
    package var again: [String] = []
    /// For digests of definitions; nil where nobody will ask for them.
    package var definitionKey: KeyedHash.Key?
    /// Something to be told at the start of the log; nil for nothing.
    package var note: String?
    /// Where files that only the run needs are made.
    package var temporaryFolder = "/tmp"
    /// Whether the log is to tell of locks, of what is ready and of what waits.
    package var tellsLocks = false
    /// Whether shells show each command of a script before they execute it.
    package var tracesScripts = false
    /// Whether steps are told to write colours although no terminal is there.
    package var forcesColors = false
    /// Whether steps that ask before they start have their answer.
    package var isConfirmed = false
    /// Whether nothing starts before somebody resumes the run.
    package var startsPaused = false

    package init() {}
}

/// How a run ended, for the exit status.
package struct RunResult: Sendable {
    package var outcome: RunOutcome
    /// The signal by which flowrun dies, as the log has it; nil if none came before the end, or if the run has
    /// succeeded all the same.
    package var signal: Int32?
    /// A step could not be started because the machine had no process left, although it was tried for 30 s.
    package var isOutOfProcesses = false
    /// Why flowrun could not go on, with everything that waited; nil if it could.
    package var stall: String?
}

package enum RunOutcome: Sendable, Hashable {
    case success
    /// A step failed, timed out or was cancelled.
    case failure
    /// The run's own limit ended it.
    case runTimeout
    /// Somebody asked for its end, otherwise than by a signal.
    case cancelled
}
