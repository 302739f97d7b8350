/// The reason why a command ends early, with its exit status.
struct CommandError: Error, Equatable {
    let status: ExitStatus
    /// Lines for standard error, without the program's name; empty if everything has been reported.
    let messages: [String]
    /// A hint at further help; nil if the messages name the fix themselves.
    let hint: String?

    init(_ status: ExitStatus, _ messages: [String], hint: String? = nil) {
        self.status = status
        self.messages = messages
        self.hint = hint
    }

    /// The command line is valid, but the request cannot be carried out: there is no such run, for example.
    static func failed(_ message: String) -> CommandError { CommandError(.failure, [message]) }

    /// flowrun itself cannot continue.
    static func unable(_ message: String) -> CommandError { CommandError(.unable, [message]) }

    /// A value or a combination that makes no sense.
    static func usage(_ message: String) -> CommandError { CommandError(.usage, [message]) }

    /// The command line does not have the form of a command; points to the help of that command, or with nil to the
    /// general help.
    static func syntax(_ message: String, _ command: Command?) -> CommandError {
        let help = command.map { "flowrun \($0.rawValue) --help" } ?? "flowrun --help"
        return CommandError(.usage, [message], hint: "see `\(help)`")
    }
}

/// The exit status of the program (flowrun(1), EXIT STATUS). A step's own status is in the log, never here.
package enum ExitStatus: Int32, Sendable, CaseIterable {
    case success = 0
    /// A step failed, timed out or was lost.
    case failure = 1
    /// The workflow is invalid.
    case invalid = 2
    /// Wrong usage; EX_USAGE of sysexits.h.
    case usage = 64
    /// The state directory is in use by a live run of the same workflow; EX_TEMPFAIL of sysexits.h.
    case inUse = 75
    /// The run's own timeout; the same number as timeout(1).
    case timeout = 124
    /// flowrun itself could not continue.
    case unable = 125
    /// `flowrun ctl cancel` ended the run; the status that a shell reports for an interrupt.
    case cancelled = 130
}
