internal import Basics
internal import Glibc
internal import RunLog
internal import Syntax

/// Standard output or standard error, for what commands say outside of a run's log.
struct StandardStream {
    static let output = StandardStream(descriptor: STDOUT_FILENO, stream: .stdout)
    static let error = StandardStream(descriptor: STDERR_FILENO, stream: .stderr)

    private let descriptor: Int32
    private let stream: ColorMode.Stream

    /// Keeps the numbers 0, 1 and 2 from being given to a pipe or an epoll set where whoever started flowrun has closed
    /// them. The substitute for a closed one cannot be written to, so that a log without a reader is still an error.
    static func reserveDescriptors() {
        for number in STDIN_FILENO...STDERR_FILENO where fcntl(number, F_GETFD) < 0 {
            // The lowest free number, which is this one.
            _ = open("/dev/null", O_RDONLY)
        }
    }

    /// The answer of a command, by what makes it harmless for a terminal or a CI log.
    enum Answer {
        /// Lines for people.
        case lines(String)
        case json(String)
        /// Text that its own writer has made harmless, and the text of a file.
        case asIs(String)

        fileprivate var text: String {
            switch self {
            case .lines(let text): text.harmlessLines
            case .json(let text): text.harmlessJSON
            case .asIs(let text): text
            }
        }
    }

    /// One line after the program's name.
    func say(_ message: String) { write(Self.line(message)) }

    /// A message as one line after the program's name, with all that it quotes made harmless.
    static func line(_ message: String) -> String { "flowrun: \(message.visible)".harmlessLines + "\n" }

    func show(_ diagnostics: [Diagnostic], color: ColorMode = .auto) {
        if !diagnostics.isEmpty { write(drawn(diagnostics, color: color)) }
    }

    /// Findings as they would be shown here.
    func drawn(_ diagnostics: [Diagnostic], color: ColorMode = .auto) -> String {
        let isColored = color.isOn(
            for: stream, onTerminal: TerminalDevice.isTerminal(descriptor), environment: environmentVariable)
        return DiagnosticRenderer(color: isColored).render(diagnostics)
    }

    /// Writes a command's answer; throws if it cannot be written whole, because half an answer looks like one.
    func deliver(_ answer: Answer) throws(CommandError) {
        guard write(answer.text) else { throw .unable("cannot write to standard output: \(SystemError(errno).words)") }
    }

    /// Returns whether everything was written.
    @discardableResult
    func write(_ text: String) -> Bool {
        var text = text
        return text.withUTF8 { bytes in
            var rest = UnsafeRawBufferPointer(bytes)
            while !rest.isEmpty {
                let count = Glibc.write(descriptor, rest.baseAddress, rest.count)
                if count < 0, errno == EINTR { continue }
                if count < 0, errno == EAGAIN {
                    var request = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                    poll(&request, 1, -1)
                    continue
                }
                guard count > 0 else { return false }
                rest = UnsafeRawBufferPointer(rebasing: rest[count...])
            }
            return true
        }
    }
}

func environmentVariable(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }
