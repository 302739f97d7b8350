internal import Basics
internal import Glibc
internal import Planning
internal import Processes
internal import RunLog
internal import Syntax
internal import Workflow

/// The reason why a step's command could not even be made, or why its outputs cannot be used.
struct StepError: Error {
    let message: String
    /// The failed call's error number; nil if no call failed.
    let errno: Int32?
    let kind: Cause.Kind
    /// The status that a shell would show for a program that is missing or cannot be started; nil for any other
    /// error.
    private(set) var shellStatus: ExitStatus?
    /// The place to blame; nil for that of the step.
    var place: SourceRange?
    /// The failure of one of `vars`; nil if that is not the reason.
    var failure: SharedFailure?

    init(_ message: String, errno: Int32? = nil, kind: Cause.Kind = .spawn) {
        self.message = message
        self.errno = errno
        self.kind = kind
    }

    /// Makes the error of a command that no process could be made of.
    init(_ error: SpawnError, of command: ProcessCommand) {
        self.init(Self.describe(error, of: command), errno: error.errno)
        setShellStatus(of: error)
    }

    /// Makes the error of a program that could not be started in a folder.
    init(_ error: SpawnError, program: String, folder: String? = nil) {
        self.init(Self.describe(error, program: program, folder: folder), errno: error.errno)
        setShellStatus(of: error)
    }

    private mutating func setShellStatus(of error: SpawnError) {
        if error.subject != .workingDirectory {
            shellStatus = .exited([ENOENT, ENOTDIR].contains(error.errno) ? 127 : 126)
        }
    }

    /// Describes a failed start of a command. If the command is too long, names its longest part.
    static func describe(_ error: SpawnError, of command: ProcessCommand) -> String {
        let words = describe(
            error, program: command.arguments.first ?? "", folder: command.workingDirectory)
        guard error.errno == E2BIG, let longest = command.longestPart else { return words }
        return "\(words); \(longest.name) has \(longest.bytes) bytes"
    }

    /// Makes the error of a command whose output could not be read completely; nil if it was.
    init?(ofOutput ending: ProcessEnding) {
        guard let error = ending.outputError else { return nil }
        let reason = String(cString: strerror(error)).lowercased()
        self.init("what it wrote could not be read to the end: \(reason)", errno: error, kind: .output)
    }

    /// Makes the error of a command whose processes did not end by KILL; empty if flowrun could not look for them.
    init(losing processes: [Int32]) {
        let numbers = processes.map(String.init).joined(separator: ", ")
        self.init(
            processes.isEmpty
                ? "flowrun could not check whether processes of it are left"
                : "still there \(ProcessEnding.killWindow.asWritten) after SIGKILL: process \(numbers)", kind: .lost)
    }

    /// Makes the error of a step that has to run although all of its isolated group was to be restored.
    static func withoutCopy(_ group: String) -> Self {
        Self("there is no copy of the tree of `\(group)`, whose steps are restored; --from \(group) runs them again")
    }

    static func reason(_ error: SpawnError) -> String { String(cString: strerror(error.errno)).lowercased() }

    /// Describes a failed start of a program, with the fix if there is an obvious one.
    static func describe(_ error: SpawnError, program: String, folder: String? = nil) -> String {
        let reason = reason(error)
        switch (error.subject, error.errno) {
        case (.workingDirectory, _):
            return "cannot change to the working directory `\(folder ?? "")`: \(reason)"
        case (.searchPath, ENOENT) where program == "bash":
            return "cannot start `bash`: not found along PATH; install it, or say `shell: sh`"
        case (.searchPath, ENOENT):
            return "cannot start `\(program)`: not found along PATH"
        case (.program, ENOENT):
            return "cannot start `\(program)`: no such file, or its interpreter is missing"
        case (.program, E2BIG):
            return "cannot start `\(program)`: its arguments and environment are too long; pass large values in files"
        case (.program, ENOEXEC):
            return "cannot start `\(program)`: not a program; a script needs a first line such as `#!/bin/sh`"
        case (.program, _), (.searchPath, _):
            return "cannot start `\(program)`: \(reason)"
        }
    }
}

/// One of `vars` in one instance of the group that declares it.
struct SharedKey: Hashable {
    let group: PlanIndex
    let id: SharedValueID
}

/// The command that makes the value of one of `vars`.
struct SharedLaunch {
    let command: ProcessCommand
    /// The command in the log, secrets masked.
    let words: StepStarted.Command
    /// The file of a script for its own interpreter; nil if a shell reads the script.
    let scriptFile: String?
}

/// The reason why one of `vars` has no value, for everything that reads it.
struct SharedFailure: Error {
    let cause: Cause
    /// The end of the command's output; empty if it did not run.
    var tail = OutputTail()
}

extension MemoryFile {
    /// A file with the standard input of a command.
    convenience init(holding bytes: [UInt8]) throws(StepError) {
        do {
            try self.init(bytes)
        } catch {
            throw StepError("cannot keep the standard input in memory", errno: error.number)
        }
    }
}
