package import RunEvents
package import WorkflowModel

/// What a run that is resumed has left: how its steps ended, by id.
package struct PastResults: Sendable {
    /// The last that is known of a step.
    package struct Step: Sendable {
        /// nil if it had not ended.
        package let outcome: StepOutcome?
        /// What decided what it did; nil if its result cannot be taken over.
        package let definition: String?
        package let outputs: [Value.Field]
        /// In which run it ran last: the number of the run in the chain of those that have resumed one another, from 0.
        package let ran: Int
        /// In which run it last was what it would come to: it ran there, or was taken over.
        package let checked: Int

        package init(outcome: StepOutcome?, definition: String?, outputs: [Value.Field] = [], ran: Int, checked: Int) {
            self.outcome = outcome
            self.definition = definition
            self.outputs = outputs
            self.ran = ran
            self.checked = checked
        }
    }

    package let run: String
    /// The first of the runs of which each has resumed the one before.
    package let origin: String
    package let steps: [String: Step]
    /// What a step wrote to standard output; nil if that is not known.
    package let standardOutput: @Sendable (_ step: String) -> [UInt8]?

    package init(
        run: String, origin: String, steps: [String: Step],
        standardOutput: @escaping @Sendable (_ step: String) -> [UInt8]?
    ) {
        self.run = run
        self.origin = origin
        self.steps = steps
        self.standardOutput = standardOutput
    }
}
