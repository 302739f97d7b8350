/// How the processes of a command ended.
package struct ProcessEnding: Sendable {
    /// How the first process ended.
    package enum Status: Sendable, Hashable {
        case exited(Int32)
        case signalled(Int32)
        /// It never became the program that was asked for.
        case notStarted(SpawnError)
    }

    /// How long after KILL a process may take to disappear before it counts as one that does not.
    package static let killWindow = ProcessLifecycle.killWindow

    /// How long a command's remaining processes may go on after its first one has ended by itself, with the wait after
    /// KILL for a pipe that a stranger holds.
    package static func longestDrain(isDetached: Bool = false) -> Duration {
        (isDetached ? .zero : ProcessLifecycle.drainWindow) + ProcessLifecycle.lastWait
    }

    package var status: Status
    /// Kibibytes; of the first process and those it waited for.
    package var maxResident: Int
    package var user: Duration
    package var system: Duration
    /// From the start of the first process to its end.
    package var duration: Duration
    /// Whether somebody still held an output pipe open when the drain window was over.
    package var isOutputTruncated: Bool
    /// The error number of a read from its pipes that failed, so that what came behind is lost; nil if none did.
    package var outputError: Int32?
    /// Bytes that stood in its pipes and were not read.
    package var droppedBytes = 0
    /// Processes that had left the session of the first one and had to be ended.
    package var escaped: Int
    /// Processes that outlived the first one and had to be killed, wherever they were.
    package var leftBehind = 0
    /// Whether the kernel has killed a process of it because memory was short, as far as that is known.
    package var isOutOfMemory = false
    /// Processes that did not end by KILL; empty where the machine did not let flowrun look for them. nil: nothing of the
    /// command is left.
    package var remaining: [Int32]?
    /// Whether the first process has ended; otherwise `status` says nothing.
    package var isReaped = true
    /// How its processes were told from all others, in the log's word.
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

/// Why no process could be made of a command.
package struct SpawnError: Error, Hashable {
    /// What the failed call was about.
    package enum Subject: Sendable {
        case program, workingDirectory
        /// The folders of PATH, where the program is not.
        case searchPath
    }

    package let errno: Int32
    package let subject: Subject

    package init(errno: Int32, subject: Subject = .program) {
        self.errno = errno
        self.subject = subject
    }
}
