/// How a process ended.
package enum ExitStatus: Sendable, Hashable {
    case exited(Int32)
    /// The signal's number.
    case signalled(Int32)

    package var exitCode: Int? {
        if case .exited(let code) = self { Int(code) } else { nil }
    }

    /// The signal's name, such as `SIGTERM`.
    package var signalName: String? {
        if case .signalled(let number) = self { SignalName.of(number) } else { nil }
    }
}

extension ExitStatus: CustomStringConvertible {
    /// `exit 2`, `exit 127 (command not found)`, `killed by SIGSEGV`: the words of causes and of the text log.
    package var description: String {
        switch self {
        case .exited(126): "exit 126 (not executable)"
        case .exited(127): "exit 127 (command not found)"
        case .exited(let code): "exit \(code)"
        case .signalled(let number): "killed by \(SignalName.of(number))"
        }
    }
}
