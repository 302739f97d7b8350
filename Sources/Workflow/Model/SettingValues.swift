package import Syntax

// What the keys of `Settings` can say.

/// A limit and the place that sets it.
package struct TimeLimit: Sendable, Hashable {
    package let duration: Duration
    package let range: SourceRange

    package init(duration: Duration, range: SourceRange) {
        self.duration = duration
        self.range = range
    }
}

/// What a failing member does to the rest of its group.
package enum FailFastWord: String, Sendable, Hashable, CaseIterable {
    /// Independent work goes on.
    case off = "false"
    /// What runs is cancelled, what waits is cancelled.
    case cancel = "true"
    /// What runs goes on, nothing new starts.
    case drain
}

/// One entry of a step's own `secrets`.
package struct SecretUse: Sendable, Hashable {
    package let name: String
    package let range: SourceRange

    package init(name: String, range: SourceRange) {
        self.name = name
        self.range = range
    }
}

/// What a step gets of flowrun's own environment.
package enum EnvironmentPolicy: String, Sendable, Hashable, CaseIterable {
    case inherit
    /// Only PATH, HOME, USER, LANG, TERM and TMPDIR.
    case clean
}

/// How the output of steps is shown to people; what is recorded does not change.
package enum LogView: String, Sendable, Hashable, CaseIterable {
    /// Each line as it comes.
    case live
    /// As one block when the step ends.
    case grouped
    /// Only of a step that fails.
    case quiet
}

/// How the standard output and the standard error of a step reach the log.
package enum OutputStreams: String, Sendable, Hashable, CaseIterable {
    /// Through one pipe, in the order in which they are written.
    case together
    /// Through a pipe each: the log tells them apart and knows the order within each.
    case separate
}

/// One entry of `env`; a nil value unsets the variable.
package struct EnvironmentEntry: Sendable, Hashable {
    package let name: String
    package let value: Template?

    package init(name: String, value: Template?) {
        self.name = name
        self.value = value
    }
}

/// A file of `NAME=value` lines, relative to the workflow file's folder.
package struct DotenvFile: Sendable, Hashable {
    package let path: String
    /// Whether the file may be absent.
    package let isOptional: Bool
    package let range: SourceRange

    package init(path: String, isOptional: Bool, range: SourceRange) {
        self.path = path
        self.isOptional = isOptional
        self.range = range
    }
}

/// What reads a `run: text` script: a command to which the script is appended as its last argument.
package struct Shell: Sendable, Hashable {
    package let arguments: [String]

    package init(arguments: [String]) { self.arguments = arguments }

    /// No profiles, stop at the first failing command, also inside a pipe.
    package static let bash = Shell(arguments: ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c"])
    /// POSIX sh has no `pipefail`.
    package static let sh = Shell(arguments: ["sh", "-e", "-c"])

    /// `bash` and `sh` mean the careful forms above; any other name is run as `NAME -c SCRIPT`.
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

/// When and how often a step or group is tried again.
package struct Retry: Sendable, Hashable {
    /// An end that is worth another attempt.
    package enum Reason: Sendable, Hashable {
        case exitCode(Int32)
        case timeout
        /// Ended by a signal that flowrun did not send.
        case signal
    }

    /// All attempts together, at least 1.
    package let attempts: Int
    /// Before the second attempt.
    package let delay: Duration
    /// What the delay is multiplied by from attempt to attempt, at least 1.
    package let backoff: Double
    /// The longest delay; nil for none.
    package let maxDelay: Duration?
    /// The part of each delay that is left to chance, from 0 to 1.
    package let jitter: Double
    /// Empty: any failure or timeout.
    package let reasons: [Reason]
    /// From the first start to the last end, delays included; nil for none.
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
}

/// One of `pools`: so many units of something that steps share.
package struct Pool: Sendable {
    package let name: String
    package let size: Int
    package let range: SourceRange

    package init(name: String, size: Int, range: SourceRange) {
        self.name = name
        self.size = size
        self.range = range
    }
}

/// What a step takes from a pool while it runs.
package struct PoolRequest: Sendable, Hashable {
    package let pool: String
    package let units: Int
    package let range: SourceRange

    package init(pool: String, units: Int, range: SourceRange) {
        self.pool = pool
        self.units = units
        self.range = range
    }
}

/// A name that at most one step or group holds at a time.
package struct MutexRequest: Sendable, Hashable {
    /// What every interactive step holds while it runs.
    package static let terminal = "terminal"

    package let name: String
    package let range: SourceRange

    package init(name: String, range: SourceRange) {
        self.name = name
        self.range = range
    }
}

/// One of `outputs`: a value that others may read once the step or group has ended.
package struct OutputDeclaration: Sendable {
    package enum Kind: String, Sendable, Hashable, CaseIterable {
        case string, int, bool
        /// A JSON array.
        case list
        /// A list with the lines of a text.
        case lines
        /// Any JSON value.
        case json

        /// The lines of a text as a list; none for those that are empty.
        package static func lines(of text: String) -> Value {
            .list(
                text.utf8.split(separator: 0x0A).compactMap { line in
                    let line = line.last == 0x0D ? line.dropLast() : line
                    return line.isEmpty ? nil : .string(String(Substring(line)))
                })
        }
    }

    package enum Source: Sendable {
        /// What the step writes to the file `$FLOWRUN_OUTPUT`.
        case file(Kind)
        /// What the step writes to standard output, without the line end at its end.
        case standardOutput(Kind)
        /// Of a group or the workflow.
        case expression(Template)
    }

    package let name: String
    package let source: Source
    package let range: SourceRange

    package init(name: String, source: Source, range: SourceRange) {
        self.name = name
        self.source = source
        self.range = range
    }
}
