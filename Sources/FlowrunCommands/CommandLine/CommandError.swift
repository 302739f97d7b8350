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
