package struct GroupFinished: Sendable {
    package let group: String
    package let outcome: StepOutcome
    package let duration: Duration
    package let cause: Cause?
    /// Ids of the members, at any depth, that failed or timed out and are not tolerated, in order of their end.
    package let errors: [String]
    package let cancelled: [String]
    package let notRun: [String]
    /// As in `StepFinished`.
    package let outputs: [LoggedValue]
    /// False for a fan-out that ended before its copies were known: it counts like one step.
    package let isExpanded: Bool

    package init(
        group: String, outcome: StepOutcome, duration: Duration, cause: Cause?, errors: [String], cancelled: [String],
        notRun: [String], outputs: [LoggedValue] = [], isExpanded: Bool = true
    ) {
        self.isExpanded = isExpanded
        self.outputs = outputs
        self.group = group
        self.outcome = outcome
        self.duration = duration
        self.cause = cause
        self.errors = errors
        self.cancelled = cancelled
        self.notRun = notRun
    }
}
