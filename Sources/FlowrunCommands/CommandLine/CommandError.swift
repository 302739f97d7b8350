/// Why a command ends early, and with which exit status.
struct CommandError: Error, Equatable {
    let status: ExitStatus
    /// Lines for standard error, without the program's name; empty if everything has been said.
    let messages: [String]
    /// What to read next; nil if the messages name the fix themselves.
    let hint: String?

    init(_ status: ExitStatus, _ messages: [String], hint: String? = nil) {
        self.status = status
        self.messages = messages
        self.hint = hint
    }

    /// What was asked cannot be done, or not here.
    static func failed(_ message: String) -> CommandError { CommandError(.failure, [message]) }

    /// flowrun itself cannot go on.
    static func unable(_ message: String) -> CommandError { CommandError(.unable, [message]) }

    /// A value or a combination that cannot be meant.
    static func usage(_ message: String) -> CommandError { CommandError(.usage, [message]) }

    /// A command line that does not have the form of a command; points to the help of that command, nil for that of
    /// all.
    static func syntax(_ message: String, _ command: Command?) -> CommandError {
        let help = command.map { "flowrun \($0.rawValue) --help" } ?? "flowrun --help"
        return CommandError(.usage, [message], hint: "see `\(help)`")
    }
}
