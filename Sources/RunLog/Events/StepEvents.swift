/// A fan-out whose items only the run knew has made a step.
package struct StepAdded: RecordFields, Sendable {
    package var step = ""
    /// The id of the fan-out.
    package var fanOut = ""

    package init() {}

    package mutating func fields<Visitor: RecordVisitor & ~Copyable>(_ visitor: inout Visitor) {
        visitor.step(&step)
        visitor.field("by", &fanOut, "full id of the fan-out")
    }
}

/// The process of an attempt exists.
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

/// The first process of an attempt has ended.
package struct AttemptExit: RecordFields, Sendable {
    package var step = ""
    package var attempt = 0
    package var status = ExitStatus.exited(0)

    package init() {}

    package mutating func fields<Visitor: RecordVisitor & ~Copyable>(_ visitor: inout Visitor) {
        visitor.step(&step)
        visitor.attempt(&attempt)
        var ended: ExitStatus? = status
        visitor.status(&ended)
        if let ended { status = ended } else { visitor.fail() }
    }
}

/// An attempt has failed, and another one follows.
package struct StepRetry: RecordFields, Sendable {
    package var step = ""
    package var attempt = 0
    /// The time until the next attempt may begin.
    package var delay = Duration.zero

    package init() {}

    package mutating func fields<Visitor: RecordVisitor & ~Copyable>(_ visitor: inout Visitor) {
        visitor.step(&step)
        visitor.attempt(&attempt)
        visitor.delay(&delay)
    }
}
