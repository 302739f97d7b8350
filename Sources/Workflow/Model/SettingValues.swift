package import Syntax

// The values of the keys of `Settings`.

/// A time limit, and the place that sets it.
package struct TimeLimit: Sendable, Hashable {
    package let duration: Duration
    package let range: SourceRange
}

/// The effect of a failing member on the rest of its group.
package enum FailFastWord: String, Sendable, Hashable, CaseIterable {
    /// Independent work goes on.
    case off = "false"
    /// Running and waiting steps are cancelled.
    case cancel = "true"
    /// Running steps go on, nothing new starts.
    case drain
}

/// One entry of a step's own `secrets`.
package struct SecretUse: Sendable, Hashable {
    package let name: String
    package let range: SourceRange
}

/// The part of flowrun's own environment that a step gets.
package enum EnvironmentPolicy: String, Sendable, Hashable, CaseIterable {
    case inherit
    /// Only PATH, HOME, USER, LANG, TERM and TMPDIR.
    case clean
}

/// The way in which the output of steps is shown; the record of it does not change.
package enum LogView: String, Sendable, Hashable, CaseIterable {
    /// Each line as it comes.
    case live
    /// As one block when the step ends.
    case grouped
    /// Only of a step that fails.
    case quiet
}

/// The way in which the standard output and the standard error of a step reach the log.
package enum OutputStreams: String, Sendable, Hashable, CaseIterable {
    /// Through one pipe, in the order in which they are written.
    case together
    /// Through a pipe each: the log distinguishes them, and has the order within each.
    case separate
}

/// The place in which the members of a group run if it is not the tree itself.
package enum Isolation: String, Sendable, Hashable, CaseIterable {
    case copy
}

/// The way in which the programs of a step find the jobserver of the run.
package enum JobserverForm: Sendable, Hashable {
    case descriptor
    /// By the path of a FIFO.
    case path
}

/// One entry of `env`; a nil value unsets the variable.
package struct EnvironmentEntry: Sendable, Hashable {
    package let name: String
    package let value: Template?
}

/// A file of `NAME=value` lines, relative to the workflow file's folder.
package struct DotenvFile: Sendable, Hashable {
    package let path: String
    /// True if the file may be absent.
    package let isOptional: Bool
    package let range: SourceRange
}

/// The interpreter of a `run: text` script: a command to which the script is appended as its last argument.
package struct Shell: Sendable, Hashable {
    package let arguments: [String]

    package init(arguments: [String]) { self.arguments = arguments }

    /// Reads no profiles, and stops at the first failing command, also inside a pipe.
    package static let bash = Shell(arguments: ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c"])
    /// POSIX sh has no `pipefail`.
    package static let sh = Shell(arguments: ["sh", "-e", "-c"])

    /// `bash` and `sh` mean the strict forms above; any other name is run as `NAME -c SCRIPT`.
    package init(named name: String) {
        self =
            switch name {
            case "bash": .bash
            case "sh": .sh
            default: Shell(arguments: [name, "-c"])
            }
    }
}

/// The first signal of a teardown, by its name without `SIG`.
package enum KillSignal: String, Sendable, Hashable, CaseIterable {
    case term = "TERM"
    case int = "INT"
    case hup = "HUP"
    case quit = "QUIT"
    case usr1 = "USR1"
    case usr2 = "USR2"
    case kill = "KILL"
}

/// The rules for further attempts of a step or group.
package struct Retry: Sendable, Hashable {
    /// An outcome that is worth another attempt.
    package enum Reason: Sendable, Hashable {
        case exitCode(Int32)
        case timeout
        /// Ended by a signal that flowrun did not send.
        case signal
    }

    /// The number of attempts, the first included; at least 1.
    package let attempts: Int
    /// Before the second attempt.
    package let delay: Duration
    /// The factor of the delay from attempt to attempt, at least 1.
    package let backoff: Double
    /// The longest delay; nil for no limit.
    package let maxDelay: Duration?
    /// The random part of each delay, from 0 to 1.
    package let jitter: Double
    /// Empty for any failure or timeout.
    package let reasons: [Reason]
    /// From the first start to the last end, delays included; nil for no limit.
    package let deadline: TimeLimit?
    package let range: SourceRange

    package init(
        attempts: Int, delay: Duration = .zero, backoff: Double = 1, maxDelay: Duration? = nil, jitter: Double = 0,
        reasons: [Reason] = [], deadline: TimeLimit? = nil, range: SourceRange
    ) {
        self.attempts = attempts
        self.delay = delay
        self.backoff = backoff
        self.maxDelay = maxDelay
        self.jitter = jitter
        self.reasons = reasons
        self.deadline = deadline
        self.range = range
    }

    /// Returns the same rules, as those of another place.
    func placed(at range: SourceRange) -> Retry {
        Retry(
            attempts: attempts, delay: delay, backoff: backoff, maxDelay: maxDelay, jitter: jitter, reasons: reasons,
            deadline: deadline.map { TimeLimit(duration: $0.duration, range: range) }, range: range)
    }
}

/// One of `pools`: a number of units of something that steps share.
package struct Pool: Sendable {
    package let name: String
    package let size: Int
    package let range: SourceRange
}

/// The units that a step takes from a pool while it runs.
package struct PoolRequest: Sendable, Hashable {
    package let pool: String
    package let units: Int
    package let range: SourceRange
}

/// A name that at most one step or group holds at a time.
package struct MutexRequest: Sendable, Hashable {
    /// The mutex that every interactive step holds while it runs.
    package static let terminal = "terminal"

    package let name: String
    package let range: SourceRange
}

/// One of `outputs`: a value that other steps can read once the step or group has ended.
package struct OutputDeclaration: Sendable {
    package enum Kind: String, Sendable, Hashable, CaseIterable {
        case string, int, bool
        /// A JSON array.
        case list
        /// A list with the lines of a text.
        case lines
        /// Any JSON value.
        case json

        /// Returns the lines of a text as a list, without empty ones.
        package static func lines(of text: String) -> Value {
            .list(
                text.utf8.split(separator: 0x0A).compactMap { line in
                    let line = line.last == 0x0D ? line.dropLast() : line
                    return line.isEmpty ? nil : .string(String(Substring(line)))
                })
        }
    }

    package enum Source: Sendable {
        /// The file `$FLOWRUN_OUTPUT`, to which the step writes.
        case file(Kind)
        /// The step's standard output, without the line end at its end.
        case standardOutput(Kind)
        /// Of a group or the workflow.
        case expression(Template)
    }

    package let name: String
    package let source: Source
    package let range: SourceRange
}

/// One entry of `require`: a condition that has to hold when a step or group starts.
package struct Requirement: Sendable {
    package enum Condition: Sendable {
        case expression(Expression)
        /// A command that has to succeed: that of the shared value of this name. `text` shows it on one line.
        case command(value: String, text: String)

        /// As people read it.
        package var text: String {
            switch self {
            case .expression(let condition): condition.text
            case .command(_, let text): text
            }
        }
    }

    package let condition: Condition
    /// The message if the condition does not hold; nil only for a command.
    package let message: Template?
    /// The place of the entry.
    package let range: SourceRange
}

/// An operating system or processor that `platforms` may name.
package enum Platform: String, Sendable, Hashable, CaseIterable {
    case linux, macos, windows, freebsd
    case x64 = "x86_64"
    case arm64, riscv64

    package var isProcessor: Bool {
        switch self {
        case .x64, .arm64, .riscv64: true
        case .linux, .macos, .windows, .freebsd: false
        }
    }

    /// The platforms of this machine: its operating system and its processor, if they have a name here.
    package static let current: [Platform] = {
        var platforms: [Platform] = []
        #if os(Linux)
            platforms.append(.linux)
        #elseif os(macOS)
            platforms.append(.macos)
        #elseif os(Windows)
            platforms.append(.windows)
        #elseif os(FreeBSD)
            platforms.append(.freebsd)
        #endif
        #if arch(x86_64)
            platforms.append(.x64)
        #elseif arch(arm64)
            platforms.append(.arm64)
        #elseif arch(riscv64)
            platforms.append(.riscv64)
        #endif
        return platforms
    }()
}

extension [Platform] {
    /// True if a step of these `platforms` runs on a machine: on one of the operating systems, if any is named, and
    /// on one of the processors, if any is named.
    package func allow(_ machine: [Platform] = Platform.current) -> Bool {
        [true, false].allSatisfy { isProcessor in
            let named = filter { $0.isProcessor == isProcessor }
            return named.isEmpty || named.contains(where: machine.contains)
        }
    }
}
