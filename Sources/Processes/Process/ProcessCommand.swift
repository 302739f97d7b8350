package import Basics
internal import CLinux
internal import Glibc

/// A command to run, all names resolved.
package struct ProcessCommand {
    /// No search: absolute, or relative to the working directory.
    package let path: String
    /// The argument vector, the program's own name first.
    package let arguments: [String]
    /// Shared by many commands.
    package var environment: EnvironmentBlock
    /// Variables of this command alone. `environment` must not have them, which is not checked.
    package let additions: [(name: String, value: String)]
    /// Absolute; nil means flowrun's own.
    package let workingDirectory: String?
    /// The standard input of the first process; nil for nothing.
    package let standardInput: MemoryFile?
    /// Separates standard output from standard error. One pipe for both costs less and keeps their order.
    package let separatesStreams: Bool
    package var attributes = ProcessAttributes()
    /// The jobserver that it takes part in; nil for none.
    package var jobserver: JobserverFIFO?
    /// The terminal for its three descriptors, in flowrun's session; nil for pipes, in a session of its own.
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
    /// An error that is certain to keep the command from starting, as far as the names of its folder and program
    /// tell; nil if they are sound. Two system calls.
    package var obstacle: SpawnError? {
        if let workingDirectory, access(workingDirectory + "/.", X_OK) != 0 {
            return SpawnError(errno: errno, subject: .workingDirectory)
        }
        let program = workingDirectory.map { path.hasPrefix("/") ? path : "\($0)/\(path)" } ?? path
        return access(program, X_OK) == 0 ? nil : SpawnError(errno: errno)
    }
}

extension ProcessCommand {
    /// The argument or variable that takes the most space, named for messages; nil if there is none.
    package var longestPart: (name: String, bytes: Int)? {
        let arguments = arguments.enumerated().map { ("argument \($0)", $1.utf8.count) }
        let variables = (environment.variables + additions).map {
            ("the variable `\($0.name)`", $0.name.utf8.count + $0.value.utf8.count + 1)
        }
        return (arguments + variables).max { $0.1 < $1.1 }
    }
}

/// The source of a command's bytes.
package enum OutputStream: Sendable {
    /// Standard output and standard error in one, in the order in which they were written.
    case combined
    case standardOutput, standardError
}

/// Bytes as a file without a name that takes no disk, such as the standard input of a step. No pipe has to be fed,
/// and a step that does not read it all causes no SIGPIPE.
package final class MemoryFile: Sendable {
    let descriptor: Int32

    /// Lets the next command read from the start, after one that has ended.
    package func rewind() { lseek(descriptor, 0, SEEK_SET) }

    /// Throws if the machine has no descriptor or no memory left.
    package init(_ bytes: [UInt8]) throws(SystemError) {
        descriptor = bytes.withUnsafeBytes { clinux_memory_file($0.baseAddress, $0.count) }
        guard descriptor >= 0 else { throw .last }
    }

    /// Lets other processes of this user open the file while this object lives, and with it see everything that this
    /// process holds. Returns the path under which they find it.
    package func publish() -> String {
        clinux_show()
        return "/proc/\(getpid())/fd/\(descriptor)"
    }

    /// Returns the present contents of the file from an offset on, at most `limit` bytes.
    package func bytes(from offset: Int, limit: Int) -> [UInt8] {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return [] }
        let count = min(Int(status.st_size) - offset, limit)
        guard count > 0 else { return [] }
        return [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            filled = max(pread(descriptor, buffer.baseAddress, count, off_t(offset)), 0)
        }
    }

    deinit { close(descriptor) }
}
