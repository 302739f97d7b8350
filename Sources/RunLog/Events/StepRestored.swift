internal import Basics

/// A step whose success an earlier run has left, in place of its start and its end.
package struct StepRestored: RecordFields, Sendable {
    package var step = ""
    /// As in `StepFinished`.
    package var outputs: [LoggedValue] = []
    package var item: String?
    package var name: String?
    package var definition: String?
    /// What it wrote to standard output; nil where nothing reads that. Not in the log.
    package var standardOutput: [UInt8]?

    package init() {}

    package mutating func fields<Visitor: RecordVisitor & ~Copyable>(_ visitor: inout Visitor) {
        visitor.step(&step)
        visitor.field("outputs", &outputs, "the step's outputs by name")
        visitor.item(&item)
        visitor.name(&name)
        visitor.kept("definition", &definition)
        var output = Visitor.isReader ? nil : standardOutput.map(Base64.text)
        visitor.kept("stdout_base64", &output)
        guard Visitor.isReader, let output else { return }
        standardOutput = Base64.bytes(of: output)
        if standardOutput == nil { visitor.fail() }
    }
}
