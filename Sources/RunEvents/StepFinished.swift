package struct StepFinished: Sendable {
    package let step: String
    /// The number of the last attempt that had a process; 0 where none had.
    package let attempt: Int
    package let outcome: StepOutcome
    /// nil where no process was started, or none could be.
    package let status: ExitStatus?
    /// From the start of the first attempt's process to the end of the last; nil where no process was started.
    package let duration: Duration?
    /// That of the last attempt alone; nil where that had no process.
    package let attemptDuration: Duration?
    /// nil for a success, a chain down to a root for everything else.
    package let cause: Cause?
    /// What it hands on, in the order of the file; empty unless it succeeded.
    package let outputs: [LoggedValue]
    /// Bytes on both streams together.
    package let outputBytes: Int
    package let usage: ResourceUsage?
    /// Why the output may be incomplete, such as `held_open`; nil where it is whole.
    package let outputTruncated: String?
    /// Bytes of it that are known to be lost.
    package let droppedBytes: Int
    /// How the step's processes were told from all others, `cgroup`, `guard` or `session`; nil where no process was started.
    package let containment: String?
    /// How many processes had left the step's session and had to be ended.
    package let escaped: Int
    /// How many processes outlived the step's first one and had to be killed, wherever they were.
    package let leftBehind: Int
    /// Whether the kernel has killed a process of it because memory was short, as far as that is known.
    package let isOutOfMemory: Bool
    /// The failed system call's error number where the process could not be started.
    package let errno: Int32?
    /// Whether the step failed or timed out and that is tolerated (`continue-on-error`).
    package let isTolerated: Bool
    /// As in `StepStarted`.
    package let item: String?
    /// The step's `name`; nil where the file has none.
    package let name: String?
    /// A digest of what decided what it did, of a success or a failure that is tolerated; nil where a later run cannot
    /// take its result over. Not in the log.
    package let definition: String?

    package init(
        step: String, attempt: Int, outcome: StepOutcome, status: ExitStatus? = nil, duration: Duration? = nil,
        attemptDuration: Duration? = nil, cause: Cause? = nil, outputs: [LoggedValue] = [], outputBytes: Int = 0,
        usage: ResourceUsage? = nil,
        outputTruncated: String? = nil, droppedBytes: Int = 0,
        containment: String? = nil, escaped: Int = 0, leftBehind: Int = 0, isOutOfMemory: Bool = false,
        errno: Int32? = nil, isTolerated: Bool = false,
        item: String? = nil, name: String? = nil, definition: String? = nil
    ) {
        self.definition = definition
        self.name = name
        self.item = item
        self.step = step
        self.attempt = attempt
        self.outcome = outcome
        self.status = status
        self.duration = duration
        self.attemptDuration = attemptDuration
        self.cause = cause
        self.outputs = outputs
        self.outputBytes = outputBytes
        self.usage = usage
        self.outputTruncated = outputTruncated
        self.droppedBytes = droppedBytes
        self.containment = containment
        self.escaped = escaped
        self.leftBehind = leftBehind
        self.isOutOfMemory = isOutOfMemory
        self.errno = errno
        self.isTolerated = isTolerated
    }
}

/// What the kernel counted for a step's processes that were waited for.
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
