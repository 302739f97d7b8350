package import Basics

/// The way a step, a group or the run ended.
package enum StepOutcome: String, RecordWord, Sendable, Hashable {
    case success, failure, timeout, cancelled, skipped
    case notRun = "not-run"

    /// True for a failure and for a timeout.
    package var isFailure: Bool { self == .failure || self == .timeout }

    package var meaning: String? {
        switch self {
        case .success: "as it should"
        case .failure: "a command failed or could not be started"
        case .timeout: "it took longer than allowed and was stopped"
        case .cancelled: "a cancel reached it or an enclosing group, started or not"
        case .skipped: "its own condition, or the kind of an edge, said no though nothing failed"
        case .notRun: "something upstream ruled it out"
        }
    }
}

/// The number of steps with each outcome.
///
/// Plain fields, because a small run would spend a fiftieth of its time on the type of a dictionary.
package struct OutcomeCounts: Sendable, Equatable {
    private var success = 0
    private var failure = 0
    private var timeout = 0
    private var cancelled = 0
    private var skipped = 0
    private var notRun = 0

    package init() {}

    package subscript(outcome: StepOutcome) -> Int {
        get {
            switch outcome {
            case .success: success
            case .failure: failure
            case .timeout: timeout
            case .cancelled: cancelled
            case .skipped: skipped
            case .notRun: notRun
            }
        }
        set {
            switch outcome {
            case .success: success = newValue
            case .failure: failure = newValue
            case .timeout: timeout = newValue
            case .cancelled: cancelled = newValue
            case .skipped: skipped = newValue
            case .notRun: notRun = newValue
            }
        }
    }

    /// The counts that are not zero, such as `2 success`, in the order of the cases.
    package var words: [String] {
        StepOutcome.allCases.compactMap { self[$0] > 0 ? "\(self[$0]) \($0.rawValue)" : nil }
    }
}

extension OutcomeCounts: RecordValue {
    package static var shape: RecordShape { .numbers(StepOutcome.allCases.map(\.rawValue)) }

    package init?(_ record: JSONObject, _ name: StaticString) {
        guard let counted = record.object(name) else { return nil }
        for (word, json) in counted.members {
            guard let outcome = StepOutcome(rawValue: word), let count = Int(json) else { return nil }
            self[outcome] = count
        }
    }

    package func write(_ name: StaticString, to json: inout JSONWriter, isJournal: Bool) {
        json.object(name) { json in
            for outcome in StepOutcome.allCases {
                json.key(outcome.rawValue)
                json.value(self[outcome])
            }
        }
    }
}

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
