internal import Glibc
internal import Processes
internal import RunLog
internal import Workflow

/// The end of an attempt of a step, as far as it is known.
struct AttemptEnd {
    /// True if the step has succeeded, by its process or with the result of an earlier run.
    var isSuccess = false
    /// True if its result is that of an earlier run.
    var isRestored = false
    /// The number of the last attempt that had a process, this one or an earlier one; 0 if none had.
    var lastStarted = 0
    /// nil if there was no process.
    var ending: ProcessEnding?
    /// The time from the first start of a process for this step to the end; nil if there was none.
    var duration: Duration?
    /// The reason why there was no process, or why its outputs cannot be used; nil if there is none.
    var error: StepError?
    var outputBytes = 0
    var tail = OutputTail()
    /// The command at which its script failed; nil if that is not known.
    var command: FailedCommand?
    /// The digest of the step's definition; nil if there is none.
    var definition: String?
    /// Only after a success.
    var outputs: [Value.Field] = []

    /// The status of its process, 0 if restored; nil if there was no process.
    var exitStatus: ExitStatus? { isRestored ? .exited(0) : ending.map { ExitStatus($0.status) } }

    /// Its status as a shell shows it; nil if it failed before there was a program to start.
    var shellStatus: ExitStatus? { exitStatus ?? error?.shellStatus }
}

extension ExitStatus {
    init(_ status: ProcessEnding.Status) {
        self =
            switch status {
            case .exited(let code): .exited(code)
            case .signalled(let number): .signalled(number)
            // As a shell would report it.
            case .notStarted(let error): .exited([ENOENT, ENOTDIR].contains(error.errno) ? 127 : 126)
            }
    }
}

extension ProcessReport {
    /// `ending` is nil for a command without a process.
    init(_ ending: ProcessEnding?, outputBytes: Int, errno: Int32?) {
        self.init()
        self.outputBytes = outputBytes
        self.errno = errno
        guard let ending else { return }
        outputTruncated = ending.outputError != nil ? "unreadable" : ending.isOutputTruncated ? "held_open" : nil
        droppedBytes = ending.droppedBytes
        usage = ResourceUsage(maxResident: ending.maxResident, user: ending.user, system: ending.system)
        containment = ending.layer
        escaped = ending.escaped
        leftBehind = ending.leftBehind
        isOutOfMemory = ending.isOutOfMemory
    }
}

extension ProcessEnding {
    /// nil if the first process was not reaped.
    var exitStatus: ExitStatus? { isReaped ? ExitStatus(status) : nil }
}
