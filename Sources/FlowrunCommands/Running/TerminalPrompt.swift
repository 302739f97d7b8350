internal import Basics
internal import Glibc
internal import Processes
internal import RunLog
internal import Running

/// Asks on the terminal: a line on standard error, the answer from standard input.
///
/// Other output moves the question out of sight. It is shown again once there was no output for `rest`, and at the
/// latest after `patience`.
@EventLoopActor
final class TerminalPrompt: Prompt {
    private let say: (String) -> Void
    /// nil while nothing is asked.
    private var question: String?
    private var line: [UInt8] = []
    private var lastAsked = EventLoopClock().now
    private var lastWritten = EventLoopClock().now
    private var timer: Timers.Token?

    private static let rest = Duration.seconds(1)
    private static let patience = Duration.seconds(10)

    /// True if the terminal shows a question.
    var isAsking: Bool { question != nil }

    /// Returns nil if one of the two is not a terminal. `say` writes a line to standard error.
    init?(say: @escaping (String) -> Void) {
        guard TerminalDevice.isTerminal(STDIN_FILENO), TerminalDevice.isTerminal(STDERR_FILENO) else { return nil }
        self.say = say
    }

    func ask(_ question: String, answer: @escaping @EventLoopActor (Bool) -> Void) {
        line = []
        // A line typed earlier is not an answer to this question.
        tcflush(STDIN_FILENO, TCIFLUSH)
        self.question = "\(question.visible) [y/N]"
        show()
        _ = Poller.shared.watch(STDIN_FILENO, for: .read) { [weak self] in self?.read(answer) }
    }

    func withdraw() {
        guard isAsking else { return }
        question = nil
        if let timer = timer.take() { Poller.shared.timers.cancel(timer) }
        Poller.shared.unwatch(STDIN_FILENO)
    }

    /// Notes other output on the terminal, after which the question is shown again.
    func noteOthers() {
        guard isAsking else { return }
        lastWritten = EventLoopClock().now
        if timer == nil { setTimer() }
    }

    private func setTimer() {
        let due = min(lastWritten.advanced(by: Self.rest), lastAsked.advanced(by: Self.patience))
        timer = Poller.shared.timers.schedule(at: due) { [weak self] in
            guard let self else { return }
            timer = nil
            let now = EventLoopClock().now
            let isDue = lastWritten.duration(to: now) >= Self.rest || lastAsked.duration(to: now) >= Self.patience
            if isDue { show() } else { setTimer() }
        }
    }

    private func show() {
        guard let question else { return }
        lastAsked = EventLoopClock().now
        say(question)
    }

    /// Terminals deliver whole lines; the end of the input counts as no.
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
