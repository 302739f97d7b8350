internal import Planning
package import Processes

/// The turns in which questions and interactive steps use the terminal.
@EventLoopActor
final class TerminalTurns {
    private struct Question {
        let row: PlanIndex
        let text: String
        let answer: @EventLoopActor (Bool) -> Void
    }

    /// nil if no step can have the terminal.
    var host: (any TerminalHost)?
    /// nil if questions cannot be asked.
    private let prompt: (any Prompt)?
    /// The step that has the terminal.
    private var user: PlanIndex?
    /// Questions that wait for an answer, in the order in which they are asked.
    private var questions: [Question] = []

    init(prompt: (any Prompt)?) { self.prompt = prompt }

    var canAsk: Bool { prompt != nil }

    /// True if the terminal shows a question.
    var isAsking: Bool { user == nil && !questions.isEmpty }

    // MARK: Questions

    /// Asks a question about a row, after those that already wait for an answer; `answer` is called at most once.
    func ask(_ text: String, about row: PlanIndex, answer: @escaping @EventLoopActor (Bool) -> Void) {
        questions.append(Question(row: row, text: text, answer: answer))
        if questions.count == 1 { askNext() }
    }

    private func askNext() {
        guard user == nil, let question = questions.first else { return }
        prompt?.ask(question.text) { [weak self] isYes in
            // Questions that this causes wait behind it.
            question.answer(isYes)
            guard let self, self.questions.first?.row == question.row else { return }
            self.questions.removeFirst()
            self.askNext()
        }
    }

    /// Withdraws the question about a row that has ended.
    func withdrawQuestion(about row: PlanIndex) {
        guard let index = questions.firstIndex(where: { $0.row == row }) else { return }
        questions.remove(at: index)
        guard index == 0 else { return }
        prompt?.withdraw()
        askNext()
    }

    func withdrawQuestions() {
        questions = []
        prompt?.withdraw()
    }

    // MARK: Interactive steps

    /// Lends the terminal to a step.
    func lend(to row: PlanIndex) throws(TerminalError) -> ControllingTerminal {
        guard let host else { throw TerminalError("needs a terminal, and there is none") }
        let terminal = try host.lend()
        user = row
        return terminal
    }

    /// Takes the terminal back; does nothing if the step does not have it.
    func takeBack(from row: PlanIndex) {
        guard user == row else { return }
        user = nil
        host?.takeBack()
        askNext()
    }

    /// Called when the step that has the terminal was stopped, not by flowrun. Returns true if the step has to be
    /// continued.
    func stepHasStopped(by signal: Int32) -> Bool { host.map { !$0.stop(with: signal) } ?? false }
}

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
