internal import ArgumentParser
internal import Glibc

/// What a command was asked for, on standard output.
enum Answer {
    /// Writes the answer whole; ends the command with 125 where that is not possible, because half an answer looks like
    /// one.
    static func give(_ text: String) throws {
        guard TerminalText.standardOutput.write(text) else {
            TerminalText.standardError.say(
                "cannot write to standard output: \(String(cString: strerror(errno)).lowercased())")
            throw ExitCode(ExitStatus.unable.rawValue)
        }
    }
}
