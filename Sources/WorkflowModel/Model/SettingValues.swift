package import SourceDiagnostics

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
package enum FailFast: String, Sendable, Hashable, CaseIterable {
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
