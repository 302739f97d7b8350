internal import Glibc
internal import Planning
internal import Processes

// The terminal: questions and interactive steps have it by turns.
extension WorkflowRunner {
    /// Whether the terminal shows a question.
    var isAsking: Bool { terminalUser == nil && !questions.isEmpty }

    /// Lends the terminal to a step.
    func lendTerminal(to row: PlanIndex) throws(StepError) -> ControllingTerminal {
        let terminal: ControllingTerminal
        do throws(TerminalError) {
            guard let terminalHost else { throw TerminalError("needs a terminal, and there is none") }
            terminal = try terminalHost.lend()
        } catch {
            throw StepError(error.message)
        }
        terminalUser = row
        return terminal
    }

    /// The terminal is flowrun's again; does nothing if the step does not have it.
    func takeBackTerminal(from row: PlanIndex) {
        guard terminalUser == row else { return }
        terminalUser = nil
        terminalHost?.takeBack()
        askNext()
    }

    /// A step that has the terminal was stopped by somebody else than flowrun.
    func stepHasStopped(_ attempt: StepAttempt, by signal: Int32) {
        guard let terminalHost, !terminalHost.stop(with: signal) else { return }
        attempt.freeze()
        attempt.thaw()
    }
}
