package import Processes

/// Frees the terminal for a command that is to have it for itself, one at a time.
@EventLoopActor
package protocol TerminalHost: AnyObject {
    /// Keeps flowrun from writing to the terminal until `takeBack`. Throws, with a message that names what is
    /// missing, if flowrun cannot lend it.
    func lend() throws(TerminalError) -> ControllingTerminal
    /// Writes the output that has waited. Does nothing if the terminal is not lent.
    func takeBack()
    /// Called when the command that has the terminal was stopped, as by Ctrl-Z. Stops flowrun with it until it is
    /// continued. Returns false if the command is to go on at once, because it now has the terminal that it waited
    /// for.
    func stop(with signal: Int32) -> Bool
}

/// The reason why a command gets no terminal.
package struct TerminalError: Error {
    package let message: String

    package init(_ message: String) { self.message = message }
}

/// Asks the user, one question at a time.
@EventLoopActor
package protocol Prompt: AnyObject {
    /// Calls `answer` once, after this call has returned; not at all if the question is withdrawn.
    func ask(_ question: String, answer: @escaping @EventLoopActor (Bool) -> Void)
    func withdraw()
}
