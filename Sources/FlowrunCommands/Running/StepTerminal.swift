internal import Basics
internal import Glibc
internal import Processes
internal import Running

/// flowrun's terminal, for the one step that uses it.
@EventLoopActor
final class StepTerminal: TerminalHost {
    private let logs: RunLogs
    /// Stops the running steps and flowrun until SIGCONT. Its argument is the signal's name.
    private let standStill: (String) -> Void
    private var terminal: ControllingTerminal?
    private var isLent = false

    init(_ logs: RunLogs, standStill: @escaping (String) -> Void) {
        self.logs = logs
        self.standStill = standStill
    }

    func lend() throws(TerminalError) -> ControllingTerminal {
        let terminal = try opened()
        // Like any background job that reads the terminal: the shell reports it, and `fg` continues it.
        while !terminal.isForeground {
            guard terminal.hasShell else {
                throw TerminalError("needs the terminal, which another job has; start flowrun in the foreground")
            }
            standStill("SIGTTIN")
        }
        logs.leaveTerminal()
        isLent = true
        return terminal
    }

    private func opened() throws(TerminalError) -> ControllingTerminal {
        if let terminal { return terminal }
        do {
            let opened = try ControllingTerminal()
            terminal = opened
            return opened
        } catch {
            throw TerminalError(
                error.number == ENXIO
                    ? """
                    needs a terminal, and flowrun was started without one; in CI and behind a pipe of ssh there \
                    is none
                    """
                    : "cannot open the terminal /dev/tty: \(error.words)")
        }
    }

    func takeBack() {
        guard isLent else { return }
        isLent = false
        logs.returnToTerminal()
    }

    func stop(with signal: Int32) -> Bool {
        if [SIGTTIN, SIGTTOU].contains(signal), terminal?.isForeground == true { return false }
        standStill(signal == SIGTSTP ? "SIGTSTP" : signal == SIGSTOP ? "SIGSTOP" : "SIGTTIN")
        return true
    }
}
