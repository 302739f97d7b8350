/// The identity of one of `vars`: its name, and the group that declares it.
package struct ValueID: Sendable, Hashable {
    package var name: String
    /// The id of the group, or of one of its instances; nil at the top level of the file.
    package var group: String?

    package init(name: String, group: String?) {
        self.name = name
        self.group = group
    }

    /// `vars.version`, or `release.vars.version` if a group declares it.
    package var words: String { group.map { "\($0).vars.\(name)" } ?? "vars.\(name)" }

    mutating func fields<Visitor: RecordVisitor & ~Copyable>(_ visitor: inout Visitor) {
        visitor.field("var", &name, "name of one of `vars`")
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
