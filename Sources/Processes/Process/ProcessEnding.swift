/// The end of a command's processes.
package struct ProcessEnding: Sendable {
    /// The end of the first process.
    package enum Status: Sendable, Hashable {
        case exited(Int32)
        case signalled(Int32)
        /// It never became the requested program.
        case notStarted(SpawnError)
    }

    /// The time after KILL within which a process has to disappear; otherwise it counts as one that does not.
    package static let killWindow = ProcessLifecycle.killWindow

    /// Returns how long a command's remaining processes may go on after its first one has ended by itself, including
    /// the wait after KILL for a pipe that a stranger holds.
    package static func longestDrain(isDetached: Bool = false) -> Duration {
        (isDetached ? .zero : ProcessLifecycle.drainWindow) + ProcessLifecycle.lastWait
    }

    package var status: Status
    /// Kibibytes; of the first process and those it waited for.
    package var maxResident: Int
    package var user: Duration
    package var system: Duration
    /// The time from the start of the first process to its end.
    package var duration: Duration
    /// True if an output pipe was still held open at the end of the drain window.
    package var isOutputTruncated: Bool
    /// The error number of a failed read from its pipes, after which output is lost; nil if none failed.
    package var outputError: Int32?
    /// Bytes left unread in its pipes.
    package var droppedBytes = 0
    /// Processes that had left the session of the first one and had to be ended.
    package var escaped: Int
    /// Processes that outlived the first one and had to be killed, wherever they were.
    package var leftBehind = 0
    /// True if the kernel is known to have killed one of its processes for want of memory.
    package var isOutOfMemory = false
    /// Processes that did not end by KILL; empty if the machine did not let flowrun look for them. nil if nothing of
    /// the command is left.
    package var remaining: [Int32]?
    /// True if the first process has been reaped; otherwise `status` is meaningless.
    package var isReaped = true
    /// The means by which its processes were recognized, as the log names it: a `Containment.Layer`.
    package var layer = "session"

    package init(
        status: Status, maxResident: Int = 0, user: Duration = .zero, system: Duration = .zero,
        duration: Duration = .zero, isOutputTruncated: Bool = false, escaped: Int = 0
    ) {
        self.status = status
        self.maxResident = maxResident
        self.user = user
        self.system = system
        self.duration = duration
        self.isOutputTruncated = isOutputTruncated
        self.escaped = escaped
    }
}

/// The reason why no process could be made of a command.
package struct SpawnError: Error, Hashable {
    /// The part of the command that the failed call was about.
    package enum Subject: Sendable {
        case program, workingDirectory
        /// The folders of PATH, where the program was not found.
        case searchPath
    }

    package let errno: Int32
    package let subject: Subject

    package init(errno: Int32, subject: Subject = .program) {
        self.errno = errno
        self.subject = subject
    }
}
