/// What to run, all names resolved.
package struct ProcessCommand {
    /// No search: absolute, or relative to the working directory.
    package let path: String
    /// The argument vector, the program's own name first.
    package let arguments: [String]
    package let environment: EnvironmentBlock
    /// Absolute; nil means flowrun's own.
    package let workingDirectory: String?
    /// What the first process reads as its standard input; nil for nothing.
    package let standardInput: MemoryFile?

    package init(
        path: String, arguments: [String], environment: EnvironmentBlock, workingDirectory: String?,
        standardInput: MemoryFile? = nil
    ) {
        self.path = path
        self.arguments = arguments
        self.environment = environment
        self.workingDirectory = workingDirectory
        self.standardInput = standardInput
    }
}

/// Why no process could be made of a command.
package struct SpawnError: Error {
    package enum Subject: Sendable {
        case program, workingDirectory
    }

    package let errno: Int32
    package let subject: Subject

    package init(errno: Int32, subject: Subject = .program) {
        self.errno = errno
        self.subject = subject
    }
}

/// How the processes of a command ended.
package struct ProcessEnding: Sendable {
    package enum Status: Sendable, Hashable {
        case exited(Int32)
        case signalled(Int32)
    }

    package var status: Status
    /// Kibibytes; of the first process and those it waited for.
    package var maxResident: Int
    package var user: Duration
    package var system: Duration
    /// From the start of the first process to its end.
    package var duration: Duration
    /// Whether somebody still held an output pipe open when the drain window was over.
    package var isOutputTruncated = false
    /// Processes that outlived the first one and had to be killed.
    package var escaped = 0
}

package enum OutputStream: Sendable {
    case standardOutput, standardError
}
