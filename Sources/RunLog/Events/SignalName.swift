/// The names of Linux's signals, as they stand in the log.
package enum SignalName {
    /// `SIGTERM` for 15; a real-time signal counts from the first one, `SIGRTMIN+3`; any other number is `SIG99`.
    package static func of(_ number: Int32) -> String {
        switch number {
        case 1...31: "SIG" + standard[Int(number) - 1]
        case 34: "SIGRTMIN"
        case 35...64: "SIGRTMIN+\(number - 34)"
        default: "SIG\(number)"
        }
    }

    /// The number of a name that `of` has given; nil for any other text.
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
