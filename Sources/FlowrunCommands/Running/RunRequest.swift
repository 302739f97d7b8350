internal import Basics
internal import Glibc
package import Reporting
internal import SourceDiagnostics
internal import WorkflowModel

/// What one `flowrun run` is asked to do.
package struct RunRequest: Sendable, Equatable {
    package enum Log: String, Sendable, CaseIterable {
        case text, json, quiet
    }

    package struct Assignment: Sendable, Equatable {
        package let name: String
        package let value: String

        init(name: String, value: String) {
            self.name = name
            self.value = value
        }

        /// `NAME=value`; nil where there is no `=`.
        init?(_ text: String) {
            guard let equals = text.utf8.firstIndex(of: UInt8(ascii: "=")) else { return nil }
            self.init(name: String(text[..<equals]), value: String(text[text.utf8.index(after: equals)...]))
        }
    }

    /// The workflow file and the steps of it.
    let choice: WorkflowChoice
    /// nil: as many as there are cores.
    package var jobs: Int?
    package var environment: [Assignment] = []
    /// In the order of the command line.
    package var parameters: [Assignment] = []
    /// What follows `--`, for the steps that are chosen.
    package var arguments: [String] = []
    package var failFast = false
    package var timeout: Duration?
    package var log = Log.text
    package var logFile: String?
    package var output: OutputMode?
    package var progress = ProgressMode.auto
    package var color = ColorMode.auto
    package var isVerbose = false
    /// Shells show each command of a script.
    package var isTraced = false
    /// Nothing starts until `ctl resume`.
    package var isPaused = false
    /// nil: beside the workflow file.
    package var stateDirectory: String?
    package var keepsJournal = true
    /// True if the durations of past runs decide which ready steps start first.
    package var usesHistory = true
    /// Whether it takes over what a run before has finished.
    package var isResumed = false
    /// The run to take over from; nil for the last one.
    package var resumedRun: String?
    /// Steps and groups that are not taken over, nor what is behind them.
    package var again: [String] = []
    /// What a step depends on is on the disk before it starts.
    package var isDurable = false
    /// How much output the journal keeps in files, in bytes; nil if the command line does not say.
    package var outputLimit: Int?
    /// Steps that ask before they start have their answer.
    package var isConfirmed = false
    /// Only shows what would run.
    package var isDryRun = false

    package init(file: String) { self.init(WorkflowChoice(file: file)) }

    init(_ choice: WorkflowChoice) { self.choice = choice }

    /// `-` is standard input.
    var file: String { choice.file }
}

extension RunRequest {
    /// What the command line of `run` asks for; throws on values that cannot be meant.
    init(_ arguments: Arguments) throws(CommandError) {
        self.init(try WorkflowChoice(arguments))
        jobs = try arguments.jobs()
        environment = try arguments.values(.env).map { text throws(CommandError) in
            guard let given = Assignment(text), VariableName.isValid(given.name) else {
                throw .usage("--env \(text): expected NAME=VALUE, such as --env LEVEL=3")
            }
            guard !VariableName.isFlowruns(given.name) else {
                throw .usage("--env \(text): names that begin with FLOWRUN_ are set by flowrun itself")
            }
            guard text.isExactArgument else {
                throw .usage("--env \(given.name): the value is not UTF-8; give it encoded, or in a file")
            }
            return given
        }
        parameters = try arguments.parameters()
        self.arguments = arguments.passed
        guard self.arguments.allSatisfy(\.isExactArgument) else {
            throw .usage("an argument behind `--` is not UTF-8; give it encoded, or in a file")
        }
        failFast = arguments.has(.failFast)
        timeout = try arguments.duration(.timeout)
        log = arguments.choice(.log) ?? .text
        logFile = arguments.value(.logFile)
        output = arguments.choice(.output)
        progress = arguments.choice(.progress) ?? .auto
        color = arguments.choice(.color) ?? .auto
        isVerbose = arguments.has(.verbose)
        isTraced = arguments.has(.trace)
        isPaused = arguments.has(.paused)
        stateDirectory = arguments.value(.stateDirectory)
        keepsJournal = !arguments.has(.noJournal)
        usesHistory = !arguments.has(.noHistory)
        isDurable = arguments.has(.durable)
        outputLimit = try arguments.size(.outputLimit)
        again = arguments.values(.from)
        isResumed = arguments.has(.resume) || !again.isEmpty
        resumedRun = arguments.value(.resume)
        isConfirmed = arguments.has(.yes)
        isDryRun = arguments.has(.dryRun)
    }

    /// The command that tells why a step of this run ended as it did, the step's id left out; nil where there will be
    /// no journal for it to read.
    var why: String? {
        guard keepsJournal, file != "-" else { return nil }
        var words = choice.isNamed ? ["-f", file] : []
        if let stateDirectory { words += ["--state-dir", stateDirectory] }
        var command = "flowrun why"
        for word in words {
            // What has to be escaped to be shown cannot be copied.
            guard word.visible == word else { return nil }
            command += " " + word.shellWord
        }
        return command
    }

    /// What cannot be had without a state directory; nil if nothing of the kind is asked for.
    var optionThatNeedsState: String? {
        if let resumedRun { return "--resume=\(resumedRun)" }
        return isDurable && keepsJournal ? "--durable" : nil
    }

    /// Whether what goes to standard output gets colours.
    var colorsOutput: Bool {
        color.isOn(
            for: .stdout, onTerminal: TerminalDevice.isTerminal(STDOUT_FILENO), environment: environmentVariable)
    }
}

extension Arguments {
    /// `--param`, in the order of the command line.
    func parameters() throws(CommandError) -> [RunRequest.Assignment] {
        try values(.param).map { text throws(CommandError) in
            guard let given = RunRequest.Assignment(text), !given.name.isEmpty else {
                throw .usage("--param \(text): expected NAME=VALUE, such as --param channel=stable")
            }
            guard text.isExactArgument else {
                throw .usage("--param \(given.name): the value is not UTF-8; give it encoded, or in a file")
            }
            return given
        }
    }
}

extension String {
    /// Whether an argument is what the caller gave. Swift puts U+FFFD in the place of bytes that are not UTF-8, and a
    /// value that is not byte for byte the caller's is worse than none.
    fileprivate var isExactArgument: Bool {
        !unicodeScalars.contains("\u{FFFD}") || CommandWords.areExact
    }
}
