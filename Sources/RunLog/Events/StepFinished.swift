package struct StepFinished: RecordFields, Sendable {
    package var step = ""
    /// The number of the last attempt that had a process; 0 if none had.
    package var attempt = 0
    package var outcome = StepOutcome.success
    /// nil if no process was started, or none could be.
    package var status: ExitStatus?
    /// From the start of the first attempt's process to the end of the last one; nil if no process was started.
    package var duration: Duration?
    /// The duration of the last attempt alone; nil if it had no process.
    package var attemptDuration: Duration?
    /// nil for a success; for every other outcome a chain down to a root.
    package var cause: Cause?
    /// True if the step failed or timed out and that is tolerated (`continue-on-error`).
    package var isTolerated = false
    /// The step's outputs in the order of the file; empty unless it succeeded.
    package var outputs: [LoggedValue] = []
    package var process = ProcessReport()
    /// As in `StepStarted`.
    package var item: String?
    /// The step's `name`; nil if the file has none.
    package var name: String?
    /// A digest of everything that decided what the step did, for a success or a tolerated failure; nil if a later
    /// run cannot restore its result. Not in the log.
    package var definition: String?

    package init() {}

    package mutating func fields<Visitor: RecordVisitor & ~Copyable>(_ visitor: inout Visitor) {
        visitor.step(&step)
        visitor.field("attempt", &attempt, "the last try that had a process, 0 where none had")
        visitor.outcome(&outcome)
        visitor.status(&status)
        visitor.field(
            "duration", &duration,
            """
            seconds from the start of the first attempt's process to the end of the last; null where no process was \
            started
            """
        )
        visitor.field(
            "attempt_duration", &attemptDuration,
            "seconds of the last attempt's process alone; null where it had none")
        visitor.cause(&cause)
        visitor.field(
            "tolerated", &isTolerated,
            "whether the step failed or timed out and that is tolerated (`continue-on-error`)")
        visitor.field("outputs", &outputs, "the step's outputs by name")
        process.fields(&visitor)
        visitor.item(&item)
        visitor.name(&name)
        visitor.kept("definition", &definition)
    }
}

/// The output and the processes of a command that has ended.
package struct ProcessReport: RecordFields, Sendable {
    /// Bytes on both streams together.
    package var outputBytes = 0
    /// The reason why the output may be incomplete, such as `held_open`; nil if it is complete.
    package var outputTruncated: String?
    /// The number of bytes of the output that are known to be lost.
    package var droppedBytes = 0
    /// nil if no process was waited for.
    package var usage: ResourceUsage?
    /// The means of distinguishing its processes from all others: `cgroup`, `guard` or `session`, or `detached` for
    /// none; nil if no process was started.
    package var containment: String?
    /// The number of processes that had left its session and had to be ended.
    package var escaped = 0
    /// The number of processes that outlived its first one and had to be killed, escaped or not.
    package var leftBehind = 0
    /// True if the kernel is known to have killed one of its processes because memory was short.
    package var isOutOfMemory = false
    /// The error number of the failed system call if the process could not be started.
    package var errno: Int32?

    package init() {}

    package mutating func fields<Visitor: RecordVisitor & ~Copyable>(_ visitor: inout Visitor) {
        visitor.field("output_bytes", &outputBytes, "bytes written to both streams together")
        visitor.field(
            "output_truncated", &outputTruncated,
            "why the output may be incomplete, such as `held_open`; null where it is whole")
        visitor.field("dropped_bytes", &droppedBytes, "bytes of the output that are known to be lost")
        ResourceUsage.fields(of: &usage, &visitor)
        visitor.field(
            "containment", &containment,
            """
            how the step's processes were told from all others: `cgroup` by a folder of cgroup v2 and a mark that \
            they inherit; `guard` by a mark that they inherit, under a process that adopts what leaves its parent; \
            `session` by their session; `detached` not at all
            """
        )
        visitor.field("escaped", &escaped, "processes that had left the step's session and had to be ended")
        visitor.field("left_behind", &leftBehind, "processes that outlived the step's first one and were killed")
        visitor.field(
            "oom_killed", &isOutOfMemory,
            "whether the kernel has killed a process of the step because memory was short, as far as that is known")
        visitor.field("errno", &errno, FieldRule("error number where the process could not be started", least: 1))
    }
}

/// The kernel's counts for those processes of a command that were waited for.
package struct ResourceUsage: Sendable, Hashable {
    /// In kibibytes.
    package let maxResident: Int
    /// CPU time.
    package let user: Duration
    package let system: Duration

    package init(maxResident: Int, user: Duration, system: Duration) {
        self.maxResident = maxResident
        self.user = user
        self.system = system
    }

    static func fields<Visitor: RecordVisitor & ~Copyable>(of usage: inout ResourceUsage?, _ visitor: inout Visitor) {
        var (bytes, user, system) = (usage.map { $0.maxResident * 1024 }, usage?.user, usage?.system)
        visitor.field(
            "max_rss", &bytes,
            "largest resident set of the step's processes in bytes; null where no process was waited for")
        visitor.field("user", &user, "CPU seconds in user mode")
        visitor.field("sys", &system, "CPU seconds in the kernel")
        guard Visitor.isReader, let bytes, let user, let system else { return }
        usage = ResourceUsage(maxResident: bytes / 1024, user: user, system: system)
    }
}
