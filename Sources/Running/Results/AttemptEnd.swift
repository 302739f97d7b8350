internal import Glibc
internal import Processes
internal import RunLog

/// The end of a step's last attempt, for the log.
struct AttemptEnd {
    /// The number of the last attempt that had a process, this one or an earlier one; 0 if none had.
    let lastStarted: Int
    /// nil if there was no process.
    let ending: ProcessEnding?
    /// The time from the first start of a process for this step to the end; nil if there was none.
    let duration: Duration?
    /// The failed system call's error number if the process could not be started.
    let errno: Int32?
    let outputBytes: Int
    let tail: OutputTail
    /// The command at which its script failed; nil if that is not known.
    let command: FailedCommand?
    /// True if its result is that of an earlier run.
    let isRestored: Bool
    /// The digest of the step's definition; nil if there is none.
    let definition: String?
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
