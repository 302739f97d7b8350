/// The last event of every run.
package struct RunFinished: Sendable {
    /// A failure or timeout of a step; of a group or the run where `step` is nil.
    package struct Failure: Sendable {
        package let step: String?
        package let group: String?
        package let outcome: StepOutcome
        package let cause: Cause
        package let file: String
        /// nil where the file does not say it, as for a `--timeout` of the run.
        package let line: Int?
        package let status: ExitStatus?
        /// The last lines the step wrote, both streams in the order they arrived.
        package let outputTail: [UInt8]
        /// The command at which the step's script failed; nil where that is not known, and for all but failures.
        package let command: FailedCommand?
        /// The step's script, secrets masked; nil where it has none.
        package let script: String?
        /// How much the step wrote in its last attempt.
        package let outputBytes: Int

        package init(
            step: String?, group: String?, outcome: StepOutcome, cause: Cause, file: String, line: Int?,
            status: ExitStatus?, outputTail: [UInt8], command: FailedCommand? = nil, script: String? = nil,
            outputBytes: Int = 0
        ) {
            self.outputBytes = outputBytes
            self.command = command
            self.script = script
            self.step = step
            self.group = group
            self.outcome = outcome
            self.cause = cause
            self.file = file
            self.line = line
            self.status = status
            self.outputTail = outputTail
        }
    }

    package let outcome: StepOutcome
    package let duration: Duration
    package let counts: OutcomeCounts
    /// Root causes in order of occurrence.
    package let errors: [Failure]
    package let tolerated: [String]
    package let cancelled: [String]
    package let notRun: [String]
    /// The workflow's own, as in `StepFinished`.
    package let outputs: [LoggedValue]

    package init(
        outcome: StepOutcome, duration: Duration, counts: OutcomeCounts, errors: [Failure], tolerated: [String],
        cancelled: [String], notRun: [String], outputs: [LoggedValue] = []
    ) {
        self.outputs = outputs
        self.outcome = outcome
        self.duration = duration
        self.counts = counts
        self.errors = errors
        self.tolerated = tolerated
        self.cancelled = cancelled
        self.notRun = notRun
    }
}
