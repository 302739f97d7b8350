package import Processes

/// Clears the terminal for a command that is to have it for itself, one at a time.
@EventLoopActor
package protocol TerminalHost: AnyObject {
    /// Nothing of flowrun's is written to the terminal from here on, until `takeBack`. Throws, with what is missing in
    /// words, where flowrun cannot lend it.
    func lend() throws(TerminalError) -> ControllingTerminal
    /// Writes what has waited. Does nothing if the terminal is not lent.
    func takeBack()
    /// The command that has the terminal was stopped, as by Ctrl-Z, and flowrun with it until somebody continues it.
    /// Returns false if the command is to go on at once, because it has the terminal now that it had waited for.
    func stop(with signal: Int32) -> Bool
}

/// Why there is no terminal for a command.
package struct TerminalError: Error {
    package let message: String

    package init(_ message: String) { self.message = message }
}
