internal import Glibc

/// What to run, all names resolved.
package struct ProcessCommand {
    /// No search: absolute, or relative to the working directory.
    package let path: String
    /// The argument vector, the program's own name first.
    package let arguments: [String]
    /// Shared by many commands.
    package let environment: EnvironmentBlock
    /// Variables of this command alone, which `environment` does not have; nobody checks that.
    package let additions: [(name: String, value: String)]
    /// Absolute; nil means flowrun's own.
    package let workingDirectory: String?
    /// What the first process reads as its standard input; nil for nothing.
    package let standardInput: MemoryFile?
    /// Whether standard output and standard error are told apart. One pipe for both costs less and keeps their order.
    package let separatesStreams: Bool
    /// Whether what the first process leaves behind is left alone, and may outlive flowrun.
    package var isDetached = false
    /// Whether it is to have the terminal for itself.
    package var isInteractive = false
    /// What it has as its three descriptors, in flowrun's session; nil: pipes, in a session of its own.
    package var terminal: ControllingTerminal?

    package init(
        path: String, arguments: [String], environment: EnvironmentBlock,
        additions: [(name: String, value: String)] = [], workingDirectory: String?, standardInput: MemoryFile? = nil,
        separatesStreams: Bool = false
    ) {
        self.path = path
        self.arguments = arguments
        self.environment = environment
        self.additions = additions
        self.workingDirectory = workingDirectory
        self.standardInput = standardInput
        self.separatesStreams = separatesStreams
    }
}

extension ProcessCommand {
    /// What is certain to keep the command from starting, as far as the names of its folder and program tell; nil where
    /// they are sound. Two system calls.
    package var obstacle: SpawnError? {
        if let workingDirectory, access(workingDirectory + "/.", X_OK) != 0 {
            return SpawnError(errno: errno, subject: .workingDirectory)
        }
        let program = workingDirectory.map { path.hasPrefix("/") ? path : "\($0)/\(path)" } ?? path
        return access(program, X_OK) == 0 ? nil : SpawnError(errno: errno)
    }
}

extension ProcessCommand {
    /// The argument or variable that takes the most space, in words; nil if there is none.
    package var longestPart: (name: String, bytes: Int)? {
        let arguments = arguments.enumerated().map { ("argument \($0)", $1.utf8.count) }
        let variables = (environment.variables + additions).map {
            ("the variable `\($0.name)`", $0.name.utf8.count + $0.value.utf8.count + 1)
        }
        return (arguments + variables).max { $0.1 < $1.1 }
    }
}

/// Where bytes of a command come from.
package enum OutputStream: Sendable {
    /// Standard output and standard error in one, in the order in which they were written.
    case combined
    case standardOutput, standardError
}
