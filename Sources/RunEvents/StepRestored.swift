/// A step whose success an earlier run has left, in place of its start and its end.
package struct StepRestored: Sendable {
    package let step: String
    /// As in `StepFinished`.
    package let outputs: [LoggedValue]
    package let item: String?
    package let name: String?
    package let definition: String?
    /// What it wrote to standard output; nil where nobody reads that. Not in the log.
    package let standardOutput: [UInt8]?

    package init(
        step: String, outputs: [LoggedValue], item: String?, name: String?, definition: String?,
        standardOutput: [UInt8]?
    ) {
        self.step = step
        self.outputs = outputs
        self.item = item
        self.name = name
        self.definition = definition
        self.standardOutput = standardOutput
    }
}
