package struct StepStarted: Sendable {
    package enum Command: Sendable, Hashable {
        case script(String)
        case arguments([String])
    }

    package let step: String
    /// From 1.
    package let attempt: Int
    package let pid: Int32
    package let command: Command
    /// Where the step stands in the workflow file.
    package let line: Int
    /// The values of the innermost fan-out around the step, in axis order, with commas between them; the id has only
    /// their number where one of them is no plain word. Nil outside of a fan-out.
    package let item: String?
    /// How people are to be shown what it writes; nil where the file does not say.
    package let view: OutputView?
    /// The step's `name`; nil where the file has none.
    package let name: String?

    package init(
        step: String, attempt: Int, pid: Int32, command: Command, line: Int, item: String? = nil,
        view: OutputView? = nil, name: String? = nil
    ) {
        self.name = name
        self.item = item
        self.view = view
        self.step = step
        self.attempt = attempt
        self.pid = pid
        self.command = command
        self.line = line
    }
}
