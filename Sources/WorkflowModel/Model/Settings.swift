package import SourceDiagnostics

/// The keys that most steps leave out. A class, so that a row of `Workflow.nodes` pays one word for all of them.
package final class Settings: Sendable {
    package let name: String?
    package let description: String?
    /// In file order; a later `dotenv` file or `env` entry wins.
    package let env: [EnvironmentEntry]
    package let dotenv: [DotenvFile]
    package let shell: Shell?
    package let workingDirectory: Template?
    /// Of a step: one attempt, from the start of its process. Of a group or the workflow: wall clock.
    package let timeout: TimeLimit?
    package let grace: Duration?
    package let killSignal: KillSignal?
    package let continueOnError: Bool
    package let maxParallel: Int?
    /// nil: not said here, the nearest group around that says it decides.
    package let failFast: FailFast?
    package let isSequence: Bool
    /// Where `order: sequence` stands; nil for a parallel group.
    package let orderRange: SourceRange?
    package let fanOut: FanOut?
    /// `if`; nil runs whenever the needs allow it.
    package let condition: Expression?
    package let retry: Retry?
    /// In file order.
    package let outputs: [OutputDeclaration]
    package let pools: [PoolRequest]
    package let mutexes: [MutexRequest]
    /// What the step reads as standard input; nil for nothing.
    package let standardInput: Template?
    /// Which of the workflow's secrets the step sees, as environment variables.
    package let secrets: [SecretUse]
    /// nil: not said here.
    package let environmentPolicy: EnvironmentPolicy?
    /// Where the step may run; empty: anywhere.
    package let platforms: [Platform]
    /// Of a step or the workflow: how its output is shown; nil: not said here. Touches no record of the run.
    package let log: LogView?

    package init(
        name: String? = nil, description: String? = nil, env: [EnvironmentEntry] = [], dotenv: [DotenvFile] = [],
        shell: Shell? = nil, workingDirectory: Template? = nil, timeout: TimeLimit? = nil, grace: Duration? = nil,
        killSignal: KillSignal? = nil, continueOnError: Bool = false, maxParallel: Int? = nil,
        failFast: FailFast? = nil, orderRange: SourceRange? = nil, fanOut: FanOut? = nil,
        condition: Expression? = nil, retry: Retry? = nil, outputs: [OutputDeclaration] = [],
        pools: [PoolRequest] = [], mutexes: [MutexRequest] = [], standardInput: Template? = nil,
        secrets: [SecretUse] = [], environmentPolicy: EnvironmentPolicy? = nil,
        platforms: [Platform] = [], log: LogView? = nil
    ) {
        self.name = name
        self.description = description
        self.env = env
        self.dotenv = dotenv
        self.shell = shell
        self.workingDirectory = workingDirectory
        self.timeout = timeout
        self.grace = grace
        self.killSignal = killSignal
        self.continueOnError = continueOnError
        self.maxParallel = maxParallel
        self.failFast = failFast
        self.isSequence = orderRange != nil
        self.orderRange = orderRange
        self.fanOut = fanOut
        self.condition = condition
        self.retry = retry
        self.outputs = outputs
        self.pools = pools
        self.mutexes = mutexes
        self.standardInput = standardInput
        self.secrets = secrets
        self.environmentPolicy = environmentPolicy
        self.platforms = platforms
        self.log = log
    }
}

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
