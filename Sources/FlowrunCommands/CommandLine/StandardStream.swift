internal import Basics
internal import Glibc
internal import RunLog
internal import Syntax

/// Standard output or standard error, for everything that commands print besides a run's log.
struct StandardStream {
    static let output = StandardStream(descriptor: STDOUT_FILENO, stream: .stdout)
    static let error = StandardStream(descriptor: STDERR_FILENO, stream: .stderr)

    private let descriptor: Int32
    private let stream: ColorMode.Stream

    /// Opens standard streams that flowrun's parent has closed, so that no pipe or epoll set gets the number 0, 1 or
    /// 2. The substitute cannot be written to, so that a log without a reader is still an error.
    static func reserveDescriptors() {
        for number in STDIN_FILENO...STDERR_FILENO where fcntl(number, F_GETFD) < 0 {
            // Opens the lowest free number, which is this one.
            _ = open("/dev/null", O_RDONLY)
        }
    }

    /// The answer of a command, with the way to make it harmless for a terminal or a CI log.
    enum Answer {
        /// Lines for users.
        case lines(String)
        case json(String)
        /// Text that its writer has made harmless, or the text of a file.
        case asIs(String)

        fileprivate var text: String {
            switch self {
            case .lines(let text): text.harmlessLines
            case .json(let text): text.harmlessJSON
            case .asIs(let text): text
            }
        }
    }

    /// Writes one line, which begins with the program's name.
    func say(_ message: String) { write(Self.line(message)) }

    /// Returns a message as one line that begins with the program's name, with everything in it made harmless.
    static func line(_ message: String) -> String { "flowrun: \(message.visible)".harmlessLines + "\n" }

    func show(_ diagnostics: [Diagnostic], color: ColorMode = .auto) {
        if !diagnostics.isEmpty { write(drawn(diagnostics, color: color)) }
    }

    /// Returns findings as text for this stream.
    func drawn(_ diagnostics: [Diagnostic], color: ColorMode = .auto) -> String {
        DiagnosticRenderer(color: isColored(color)).render(diagnostics)
    }

    /// True if text for this stream gets colours.
    func isColored(_ color: ColorMode) -> Bool {
        color.isOn(for: stream, onTerminal: TerminalDevice.isTerminal(descriptor), environment: environmentVariable)
    }

    /// Writes a command's answer. Throws if it cannot be written whole, because half an answer may look complete.
    func deliver(_ answer: Answer) throws(CommandError) {
        guard write(answer.text) else { throw .unable("cannot write to standard output: \(SystemError(errno).words)") }
    }

    /// Returns true if everything was written.
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

func environmentVariable(_ name: String) -> String? { name.withCString(getenv).map { String(cString: $0) } }
