package import Basics
internal import Planning
package import Workflow

/// The options of one run, from the command line and its surroundings.
package struct RunOptions: Sendable {
    /// The number of steps that may run at once, at least 1.
    package var jobs = 1
    /// The priorities of ready steps; nil for the longest path in steps.
    package var priorities: RowPriorities?
    /// The runs whose durations decided the priorities.
    package var durationSources: [String] = []
    /// Overrides everything the file says; of several entries a later one wins.
    package var environment: [(name: String, value: String)] = []
    /// Variables that steps inherit with another value than flowrun has.
    package var replacedVariables: [(name: String, value: String)] = []
    package var parameters = ParameterValues.none
    /// The words after `--` on the command line, for the steps that the plan gives them to.
    package var arguments: [String] = []
    package var secrets = RunSecrets.none
    /// Overrides the workflow's own `fail-fast`; nil leaves it to the file.
    package var failFast: Bool?
    /// Overrides the run's own time limit; nil leaves it to the file.
    package var timeout: Duration?
    /// The folder that steps start in, absolute; nil for flowrun's own.
    package var folder: String?
    /// The folder in which flowrun was called, absolute; nil if it is gone.
    package var caller: String?
    /// The run's id.
    package var run = ""
    /// The runs in whose steps this one runs, the nearest first.
    package var runsAbove: [String] = []
    /// flowrun's version, for the log.
    package var version = ""
    /// The results that the run restores; nil to begin afresh.
    package var past: PastResults?
    /// Steps and groups that run again instead of being restored, with their dependents.
    package var again: [String] = []
    /// The key for digests of definitions; nil if they are not needed.
    package var definitionKey: KeyedHash.Key?
    /// The copies of the tree, if a group runs in one; nil if none is to outlive the run.
    package var treeCopies: TreeCopies?
    /// A warning for the start of the log; nil for none.
    package var note: String?
    /// The folder for files that only the run needs; nil for one that is only shown and makes none.
    package var temporaryFolder: String? = "/tmp"
    /// True if the log reports locks, ready steps and waiting steps.
    package var tellsLocks = false
    /// True if shells show each command of a script before they execute it.
    package var tracesScripts = false
    /// True if steps are asked to write colours although there is no terminal.
    package var forcesColors = false
    /// True if steps that ask before they start are already confirmed.
    package var isConfirmed = false
    /// True if nothing starts before the run is resumed.
    package var startsPaused = false

    package init() {}
}

/// The end of a run, for the exit status.
package struct RunResult: Sendable {
    package var outcome: RunOutcome
    /// The signal by which flowrun dies, as the log has it; nil if none came before the end, or if the run has
    /// succeeded all the same.
    package var signal: Int32?
    /// True if a step could not be started because the machine had no process left, after 30 s of attempts.
    package var isOutOfProcesses = false
    /// The reason why flowrun could not go on, with everything that waited; nil if it could.
    package var stall: String?
}

package enum RunOutcome: Sendable, Hashable {
    case success
    /// A step failed, timed out or was cancelled.
    case failure
    /// The run's own time limit ended it.
    case runTimeout
    /// Its end was requested, otherwise than by a signal.
    case cancelled
}

/// The priorities for the rows of a plan and those that its run adds.
package struct RowPriorities: Sendable {
    private let byRow: [UInt32]
    /// For instances that only the run knows; they are all alike.
    private var byDefinition: [NodeIndex: UInt32] = [:]

    init(_ priorities: [UInt32], of plan: Plan, outline: Plan) {
        guard !plan.fanOutsOfRun.isEmpty else {
            byRow = priorities
            return
        }
        var byID: [String: UInt32] = [:]
        for row in outline.rows {
            byID[outline.nodes[row].id] = priorities[row.offset]
            byDefinition[outline.nodes[row].definition] = priorities[row.offset]
        }
        byRow = plan.rows.map { byID[plan.nodes[$0].id] ?? 0 }
    }

    subscript(row: PlanIndex, plan: Plan) -> UInt32 {
        row.offset < byRow.count ? byRow[row.offset] : byDefinition[plan.nodes[row].definition] ?? 0
    }
}
