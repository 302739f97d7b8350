package struct StepStarted: RecordFields, Sendable {
    package enum Command: Sendable, Hashable {
        case script(String)
        case arguments([String])
    }

    package var step = ""
    /// From 1.
    package var attempt = 0
    package var pid: Int32 = 0
    package var command = Command.script("")
    /// The line of the step in the workflow file.
    package var line = 0
    /// The values of the innermost enclosing fan-out, in axis order and separated by commas. nil outside of a
    /// fan-out. The id has only the instance's number if one of the values is no plain word.
    package var item: String?
    /// The way to show its output to users; nil if the file does not say.
    package var view: OutputView?
    /// The step's `name`; nil if the file has none.
    package var name: String?

    package init() {}

    package mutating func fields<Visitor: RecordVisitor & ~Copyable>(_ visitor: inout Visitor) {
        visitor.step(&step)
        visitor.attempt(&attempt)
        command.fields(&visitor, &pid)
        visitor.field("line", &line, FieldRule("line of the step in the workflow file, from 1", least: 1))
        visitor.item(&item)
        visitor.name(&name)
        visitor.kept("view", &view)
    }
}

extension StepStarted.Command {
    /// Visits the fields of a process and its command.
    mutating func fields<Visitor: RecordVisitor & ~Copyable>(_ visitor: inout Visitor, _ pid: inout Int32) {
        visitor.field("pid", &pid, FieldRule("process id", least: 1))
        var words: [String]?
        var script: String?
        switch self {
        case .arguments(let arguments): words = arguments
        case .script(let text): script = text
        }
        visitor.field("argv", &words, "the command where `run` is a list, otherwise null")
        visitor.field("script", &script, "the script where `run` is a text, otherwise null")
        guard Visitor.isReader else { return }
        if let words { self = .arguments(words) } else if let script { self = .script(script) } else { visitor.fail() }
    }
}
