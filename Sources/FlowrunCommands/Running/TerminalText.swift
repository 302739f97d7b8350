internal import Glibc
internal import Reporting
internal import SourceDiagnostics

/// Words and findings for a person, on standard output or standard error.
struct TerminalText {
    static let standardError = TerminalText(descriptor: STDERR_FILENO, stream: .stderr)
    static let standardOutput = TerminalText(descriptor: STDOUT_FILENO, stream: .stdout)

    let descriptor: Int32
    let stream: ColorMode.Stream

    /// One line after the program's name.
    func say(_ message: String) { write("flowrun: \(message)\n") }

    func show(_ diagnostics: [Diagnostic], color: ColorMode = .auto) {
        if !diagnostics.isEmpty { write(drawn(diagnostics, color: color)) }
    }

    /// Findings as they would be shown here.
    func drawn(_ diagnostics: [Diagnostic], color: ColorMode = .auto) -> String {
        let isColored = color.isOn(
            for: stream, onTerminal: TerminalDevice.isTerminal(descriptor), environment: environmentVariable)
        return DiagnosticRenderer(color: isColored).render(diagnostics)
    }

    /// Returns whether everything was written.
    @discardableResult
    func write(_ text: String) -> Bool {
        var text = text
        return text.withUTF8 { write(UnsafeRawBufferPointer($0)) }
    }

    @discardableResult
    func write(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var rest = bytes
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
