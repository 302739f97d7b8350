internal import Basics

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
    private var arguments: [String]? { if case .arguments(let words) = self { words } else { nil } }
    private var script: String? { if case .script(let text) = self { text } else { nil } }

    private init?(arguments: [String]?, script: String?) {
        guard let command = arguments.map(Self.arguments) ?? script.map(Self.script) else { return nil }
        self = command
    }

    /// Visits the fields of a process and its command.
    mutating func fields<Visitor: RecordVisitor & ~Copyable>(_ visitor: inout Visitor, _ pid: inout Int32) {
        visitor.field("pid", &pid, FieldRule("process id", least: 1))
        var (words, text) = (arguments, script)
        visitor.field("argv", &words, "the command where `run` is a list, otherwise null")
        visitor.field("script", &text, "the script where `run` is a text, otherwise null")
        guard Visitor.isReader else { return }
        if let read = Self(arguments: words, script: text) { self = read } else { visitor.fail() }
    }

    /// Visits the fields of a command that only the journal has.
    static func kept<Visitor: RecordVisitor & ~Copyable>(_ command: inout Self?, _ visitor: inout Visitor) {
        var (words, text) = (command?.arguments, command?.script)
        visitor.kept("argv", &words)
        visitor.kept("script", &text)
        if Visitor.isReader { command = Self(arguments: words, script: text) }
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

/// The result of an earlier run in place of a step's start and end: its success is restored.
package struct StepRestored: RecordFields, Sendable {
    package var step = ""
    /// As in `StepFinished`.
    package var outputs: [LoggedValue] = []
    package var item: String?
    package var name: String?
    package var definition: String?
    /// The bytes that it wrote to standard output; nil if nothing reads them. Not in the log.
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

/// A step of the resumed run is about to run again.
package struct StepRerun: RecordFields, Sendable {
    package var step = ""
    package var reason = RerunReason.unfinished

    package init() {}

    package mutating func fields<Visitor: RecordVisitor & ~Copyable>(_ visitor: inout Visitor) {
        visitor.step(&step)
        visitor.field("reason", &reason, "why it is not restored")
    }
}

/// The reason why a step of the resumed run runs again.
package enum RerunReason: String, RecordWord, Sendable, Hashable {
    /// It had not ended, or not in a round that counts.
    case unfinished
    /// It had not succeeded.
    case outcome
    /// `--from` names it, or an enclosing group.
    case asked
    /// A hook that counts as undoing it has started since.
    case undone
    /// Something that it needs has run again.
    case upstream
    /// Its definition, or what it needs, has changed.
    case definition
    /// Its group runs in a new copy of the tree.
    case tree
    /// Its result was not kept: it holds a secret, or was in `FLOWRUN_TEMP`.
    case result
    /// Its kept output has changed since.
    case damage

    package var meaning: String? { words }

    /// The reason as a clause.
    package var words: String {
        switch self {
        case .unfinished: "it had not finished"
        case .outcome: "it had not succeeded"
        case .asked: "--from asks for it"
        case .undone: "a hook has undone it"
        case .upstream: "something that it needs ran again"
        case .definition: "its definition or its needs have changed"
        case .tree: "its group runs in a new copy of the tree"
        case .result: "its result could not be kept"
        case .damage: "its kept output does not match its checksum"
        }
    }
}

/// The steps and groups that count as undone once a step of a hook starts.
package struct Undoing: RecordFields, Sendable, Hashable {
    /// The id of the group that the hook belongs to; empty for the run.
    package var body = ""
    /// Ids relative to the body, as in `undoes`; nil for the whole body.
    package var members: [String]?
    /// The command of the step, by which a resume knows whether the file still has the same hook. It is not left to
    /// `StepStarted`, because a kill may come before that is recorded. Not in the log.
    package var command: StepStarted.Command?

    package init() {}

    /// Full ids of steps and groups; the empty id is the whole run.
    package var ids: [String] {
        guard let members else { return [body] }
        return body.isEmpty ? members : members.map { "\(body).\($0)" }
    }

    package mutating func fields<Visitor: RecordVisitor & ~Copyable>(_ visitor: inout Visitor) {
        visitor.field("body", &body, "id of the group that the hook belongs to; empty for the run")
        visitor.field(
            "undoes", &members, "members of that group, as `undoes` in the file says; null for all of them")
        StepStarted.Command.kept(&command, &visitor)
    }
}

/// A group has begun, or a round of it.
package struct GroupStarted: RecordFields, Sendable {
    package var group = ""

    package init() {}

    package mutating func fields<Visitor: RecordVisitor & ~Copyable>(_ visitor: inout Visitor) {
        visitor.group(&group)
    }
}

/// A round of a group has failed, and another one follows.
package struct GroupRetry: RecordFields, Sendable {
    package var group = ""
    /// The round that has failed, from 0.
    package var round = 0
    /// The time until the next round may begin.
    package var delay = Duration.zero

    package init() {}

    package mutating func fields<Visitor: RecordVisitor & ~Copyable>(_ visitor: inout Visitor) {
        visitor.group(&group)
        visitor.field("round", &round, "which time the group ran that has failed, from 0")
        visitor.delay(&delay)
    }
}

/// A group and all its members have ended.
package struct GroupFinished: RecordFields, Sendable {
    package var group = ""
    package var outcome = StepOutcome.success
    package var duration = Duration.zero
    package var cause: Cause?
    /// Ids of the members, at any depth, that failed or timed out and are not tolerated, in order of their end.
    package var errors: [String] = []
    package var cancelled: [String] = []
    package var notRun: [String] = []
    /// As in `StepFinished`.
    package var outputs: [LoggedValue] = []
    /// False for a fan-out that ended before its instances were known: it counts like one step.
    package var isExpanded = true

    package init() {}

    package mutating func fields<Visitor: RecordVisitor & ~Copyable>(_ visitor: inout Visitor) {
        visitor.group(&group)
        visitor.outcome(&outcome)
        visitor.field("duration", &duration, "seconds")
        visitor.cause(&cause)
        visitor.field(
            "errors", &errors,
            "members at any depth that failed or timed out and are not tolerated, in order of their end")
        visitor.field("cancelled", &cancelled, "members at any depth that were cancelled")
        visitor.field("not_run", &notRun, "members at any depth that something upstream ruled out")
        visitor.field("outputs", &outputs, "the group's outputs by name")
        visitor.field(
            "expanded", &isExpanded,
            """
            false for a fan-out that ended before its copies were known: it counts like one step in `counts`, \
            `cancelled` and `not_run`
            """
        )
    }
}

/// The identity of one of `vars`: its name, and the group that declares it.
package struct ValueID: Sendable, Hashable {
    package var name: String
    /// The id of the group, or of one of its instances; nil at the top level of the file.
    package var group: String?

    package init(name: String, group: String?) {
        self.name = name
        self.group = group
    }

    /// `vars.version`, or `release.vars.version` if a group declares it. A command of `require` has no name for
    /// expressions, and is shown as it is: `require[1]`; so is the copy of the tree, `isolate[copy]`.
    package var words: String {
        let own = name.utf8.last == UInt8(ascii: "]") ? name : "vars.\(name)"
        return group.map { "\($0).\(own)" } ?? own
    }

    mutating func fields<Visitor: RecordVisitor & ~Copyable>(_ visitor: inout Visitor) {
        visitor.field(
            "var", &name,
            """
            name of one of `vars`; `require[1]` and so on for a command of `require`, `isolate[copy]` for a copy of \
            the tree
            """)
        visitor.field("group", &group, "full id of the group that declares it, null for the top of the file")
    }
}

/// The process of a command of `vars` has been started.
package struct ValueStarted: RecordFields, Sendable {
    package var value = ValueID(name: "", group: nil)
    package var pid: Int32 = 0
    package var command = StepStarted.Command.script("")
    /// The line of the command in its file.
    package var line = 0

    package init() {}

    package mutating func fields<Visitor: RecordVisitor & ~Copyable>(_ visitor: inout Visitor) {
        value.fields(&visitor)
        command.fields(&visitor, &pid)
        visitor.field("line", &line, FieldRule("line of the command in its file, from 1", least: 1))
    }
}

/// The command of one of `vars` has ended, or could not be started.
package struct ValueFinished: RecordFields, Sendable {
    package var value = ValueID(name: "", group: nil)
    /// `success`, `failure`, `timeout`, or `cancelled` if no step waited for it any more.
    package var outcome = StepOutcome.success
    /// nil if no process was started, or none could be.
    package var status: ExitStatus?
    /// From the start of the process to its end; nil if no process was started.
    package var duration: Duration?
    /// nil for a success.
    package var cause: Cause?
    package var process = ProcessReport()

    package init() {}

    package mutating func fields<Visitor: RecordVisitor & ~Copyable>(_ visitor: inout Visitor) {
        value.fields(&visitor)
        visitor.outcome(&outcome)
        visitor.status(&status)
        visitor.field(
            "duration", &duration,
            "seconds from the start of the process to its end; null where no process was started")
        visitor.cause(&cause)
        process.fields(&visitor)
    }
}
