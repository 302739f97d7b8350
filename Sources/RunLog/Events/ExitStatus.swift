/// The way a process ended.
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
    /// The words of causes and of the text log: `exit 2`, `exit 127 (command not found)`, `killed by SIGSEGV`.
    package var description: String {
        switch self {
        case .exited(126): "exit 126 (not executable)"
        case .exited(127): "exit 127 (command not found)"
        case .exited(let code): "exit \(code)"
        case .signalled(let number): "killed by \(SignalName.of(number))"
        }
    }
}

/// The names of Linux's signals, as used in the log.
package enum SignalName {
    /// Returns `SIGTERM` for 15. A real-time signal counts from the first one, `SIGRTMIN+3`; any other number is
    /// `SIG99`.
    package static func of(_ number: Int32) -> String {
        switch number {
        case 1...31: "SIG" + standard[Int(number) - 1]
        case 34: "SIGRTMIN"
        case 35...64: "SIGRTMIN+\(number - 34)"
        default: "SIG\(number)"
        }
    }

    /// Returns the number of a name made by `of`; nil for any other text.
    package static func number(of name: String) -> Int32? {
        guard name.hasPrefix("SIG") else { return nil }
        let word = name.dropFirst(3)
        if let index = standard.firstIndex(where: { $0 == word }) { return Int32(index) + 1 }
        if word == "RTMIN" { return 34 }
        if word.hasPrefix("RTMIN+") { return Int32(word.dropFirst(6)).map { $0 + 34 } }
        return Int32(word)
    }

    /// signal(7), the numbers of x86-64 and ARM.
    private static let standard = [
        "HUP", "INT", "QUIT", "ILL", "TRAP", "ABRT", "BUS", "FPE", "KILL", "USR1", "SEGV", "USR2", "PIPE", "ALRM",
        "TERM", "STKFLT", "CHLD", "CONT", "STOP", "TSTP", "TTIN", "TTOU", "URG", "XCPU", "XFSZ", "VTALRM", "PROF",
        "WINCH", "IO", "PWR", "SYS",
    ]
}
