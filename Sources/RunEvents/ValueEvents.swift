/// The identity of one of `vars`: its name, and the group that declares it.
package struct ValueID: Sendable, Hashable {
    package let name: String
    /// The id of the group, or of one of its copies; nil for the top of the file.
    package let group: String?

    package init(name: String, group: String?) {
        self.name = name
        self.group = group
    }

    /// `vars.version`, or `release.vars.version` where a group declares it.
    package var words: String { group.map { "\($0).vars.\(name)" } ?? "vars.\(name)" }
}

/// The process of a command of `vars` exists.
package struct ValueStarted: Sendable {
    package let value: ValueID
    package let pid: Int32
    package let command: StepStarted.Command
    /// The line of the command in its file.
    package let line: Int

    package init(value: ValueID, pid: Int32, command: StepStarted.Command, line: Int) {
        self.value = value
        self.pid = pid
        self.command = command
        self.line = line
    }
}

/// The command of one of `vars` has ended, or could not be started.
package struct ValueFinished: Sendable {
    package let value: ValueID
    /// `success`, `failure`, `timeout`, or `cancelled` if no step waited for it any more.
    package let outcome: StepOutcome
    /// nil if no process was started, or none could be.
    package let status: ExitStatus?
    /// From the start of the process to its end; nil if no process was started.
    package let duration: Duration?
    /// nil for a success.
    package let cause: Cause?
    package let process: ProcessReport

    package init(
        value: ValueID, outcome: StepOutcome, status: ExitStatus? = nil, duration: Duration? = nil,
        cause: Cause? = nil, process: ProcessReport = ProcessReport()
    ) {
        self.value = value
        self.outcome = outcome
        self.status = status
        self.duration = duration
        self.cause = cause
        self.process = process
    }
}
