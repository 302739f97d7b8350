/// One of `vars`: its name, and the group that declares it.
package struct ValueID: Sendable, Hashable {
    package let name: String
    /// The id of the group, of one copy where there are several; nil for the top of the file.
    package let group: String?

    package init(name: String, group: String?) {
        self.name = name
        self.group = group
    }

    /// `vars.version`, or `release.vars.version` where a group declares it.
    package var words: String { group.map { "\($0).vars.\(name)" } ?? "vars.\(name)" }
}

/// The process of the command of one of `vars` exists.
package struct ValueStarted: Sendable {
    package let value: ValueID
    package let pid: Int32
    package let command: StepStarted.Command
    /// Where the command stands in its file.
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
    /// `success`, `failure`, `timeout`, or `cancelled` where nothing waited for it any more.
    package let outcome: StepOutcome
    /// nil where no process was started, or none could be.
    package let status: ExitStatus?
    /// From the start of the process to its end; nil where no process was started.
    package let duration: Duration?
    /// nil for a success.
    package let cause: Cause?
    /// Bytes on both streams together.
    package let outputBytes: Int
    /// As for a step, like all that follows.
    package let usage: ResourceUsage?
    package let outputTruncated: String?
    package let droppedBytes: Int
    package let containment: String?
    package let escaped: Int
    package let leftBehind: Int
    package let isOutOfMemory: Bool
    package let errno: Int32?

    package init(
        value: ValueID, outcome: StepOutcome, status: ExitStatus? = nil, duration: Duration? = nil,
        cause: Cause? = nil, outputBytes: Int = 0, usage: ResourceUsage? = nil, outputTruncated: String? = nil,
        droppedBytes: Int = 0, containment: String? = nil, escaped: Int = 0, leftBehind: Int = 0,
        isOutOfMemory: Bool = false, errno: Int32? = nil
    ) {
        self.value = value
        self.outcome = outcome
        self.status = status
        self.duration = duration
        self.cause = cause
        self.outputBytes = outputBytes
        self.usage = usage
        self.outputTruncated = outputTruncated
        self.droppedBytes = droppedBytes
        self.containment = containment
        self.escaped = escaped
        self.leftBehind = leftBehind
        self.isOutOfMemory = isOutOfMemory
        self.errno = errno
    }
}
