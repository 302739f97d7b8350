package struct StepFinished: Sendable {
    package let step: String
    /// The number of the last attempt that had a process; 0 where none had.
    package let attempt: Int
    package let outcome: StepOutcome
    /// nil where no process was started, or none could be.
    package let status: ExitStatus?
    /// From the start of the first attempt's process to the end of the last one; nil if no process was started.
    package let duration: Duration?
    /// The duration of the last attempt alone; nil if it had no process.
    package let attemptDuration: Duration?
    /// nil for a success, a chain down to a root for everything else.
    package let cause: Cause?
    /// What it hands on, in the order of the file; empty unless it succeeded.
    package let outputs: [LoggedValue]
    package let process: ProcessReport
    /// Whether the step failed or timed out and that is tolerated (`continue-on-error`).
    package let isTolerated: Bool
    /// As in `StepStarted`.
    package let item: String?
    /// The step's `name`; nil where the file has none.
    package let name: String?
    /// A digest of all that decided what it did, for a success or a tolerated failure; nil if a later run cannot take
    /// its result over. Not in the log.
    package let definition: String?

    package init(
        step: String, attempt: Int, outcome: StepOutcome, status: ExitStatus? = nil, duration: Duration? = nil,
        attemptDuration: Duration? = nil, cause: Cause? = nil, outputs: [LoggedValue] = [],
        process: ProcessReport = ProcessReport(), isTolerated: Bool = false, item: String? = nil, name: String? = nil,
        definition: String? = nil
    ) {
        self.step = step
        self.attempt = attempt
        self.outcome = outcome
        self.status = status
        self.duration = duration
        self.attemptDuration = attemptDuration
        self.cause = cause
        self.outputs = outputs
        self.process = process
        self.isTolerated = isTolerated
        self.item = item
        self.name = name
        self.definition = definition
    }
}

/// The output and the processes of a command that has ended.
package struct ProcessReport: Sendable {
    /// Bytes on both streams together.
    package let outputBytes: Int
    /// nil if no process was waited for.
    package let usage: ResourceUsage?
    /// Why the output may be incomplete, such as `held_open`; nil where it is whole.
    package let outputTruncated: String?
    /// Bytes of it that are known to be lost.
    package let droppedBytes: Int
    /// How its processes were told from all others, `cgroup`, `guard` or `session`; nil if no process was started.
    package let containment: String?
    /// How many processes had left its session and had to be ended.
    package let escaped: Int
    /// How many processes outlived its first one and had to be killed, wherever they were.
    package let leftBehind: Int
    /// True if the kernel is known to have killed a process of it because memory was short.
    package let isOutOfMemory: Bool
    /// The failed system call's error number where the process could not be started.
    package let errno: Int32?

    package init(
        outputBytes: Int = 0, usage: ResourceUsage? = nil, outputTruncated: String? = nil, droppedBytes: Int = 0,
        containment: String? = nil, escaped: Int = 0, leftBehind: Int = 0, isOutOfMemory: Bool = false,
        errno: Int32? = nil
    ) {
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

/// The kernel's counts for the processes of a command that were waited for.
package struct ResourceUsage: Sendable, Hashable {
    /// Kibibytes.
    package let maxResident: Int
    /// CPU time.
    package let user: Duration
    package let system: Duration

    package init(maxResident: Int, user: Duration, system: Duration) {
        self.maxResident = maxResident
        self.user = user
        self.system = system
    }
}
