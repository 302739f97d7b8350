internal import Basics
internal import Glibc
internal import ProcessExecution
internal import Reporting
internal import WorkflowExecution

/// Asks on the terminal: a line on standard error, the answer from standard input.
@EventLoopActor
final class TerminalPrompt: Prompt {
    /// Whether the terminal shows a question, below which nothing is to be drawn.
    private(set) var isAsking = false
    private let say: (String) -> Void
    private var line: [UInt8] = []

    /// nil where one of the two is not a terminal. `say` writes a line to standard error.
    init?(say: @escaping (String) -> Void) {
        guard TerminalDevice.isTerminal(STDIN_FILENO), TerminalDevice.isTerminal(STDERR_FILENO) else { return nil }
        self.say = say
    }

    func ask(_ question: String, answer: @escaping @EventLoopActor (Bool) -> Void) {
        isAsking = true
        line = []
        // A line that was typed before is not an answer to this.
        tcflush(STDIN_FILENO, TCIFLUSH)
        say("\(question.visible) [y/N]")
        _ = Poller.shared.watch(STDIN_FILENO, for: .read) { [weak self] in self?.read(answer) }
    }

    func withdraw() {
        guard isAsking else { return }
        isAsking = false
        Poller.shared.unwatch(STDIN_FILENO)
    }

    /// A terminal gives whole lines; the end of the input is a no.
    private func read(_ answer: @EventLoopActor (Bool) -> Void) {
        var buffer = [UInt8](repeating: 0, count: 1024)
        let count = Glibc.read(STDIN_FILENO, &buffer, buffer.count)
        if count < 0, errno == EINTR || errno == EAGAIN { return }
        line += buffer.prefix(max(count, 0))
        guard count <= 0 || line.last == UInt8(ascii: "\n") else { return }
        withdraw()
        let word = String(decoding: line, as: UTF8.self).lowercased().split(whereSeparator: \.isWhitespace).first
        answer(word == "y" || word == "yes")
    }
}
