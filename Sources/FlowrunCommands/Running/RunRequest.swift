internal import Basics
internal import Glibc
internal import Planning
internal import Processes
package import RunLog
internal import Running
internal import Syntax
internal import Workflow

/// The request of one `flowrun run`.
package struct RunRequest: Sendable {
    /// The workflow file and the steps of it.
    var choice: WorkflowChoice
    /// The options of the runner. Values, secrets and results of past runs are added once the workflow is read.
    var options = RunOptions()
    /// In the order of the command line.
    var parameters: [Assignment] = []
    /// The part of the jobs of a make around it that the run takes.
    package var jobserver = JobserverUse.none
    package var log = LogForm.text
    package var logFile: String?
    package var output: OutputMode?
    package var progress = ProgressMode.auto
    package var color = ColorMode.auto
    /// nil: beside the workflow file.
    package var stateDirectory: String?
    package var keepsJournal = true
    /// True if the durations of past runs decide which ready steps start first.
    package var usesHistory = true
    /// True if it restores the results of an earlier run.
    package var isResumed = false
    /// The run whose results are restored; nil for the last one.
    package var resumedRun: String?
    /// True if everything that a step depends on is written to the disk before the step starts.
    package var isDurable = false
    /// The number of bytes of output that the journal keeps in files; nil if the command line does not say.
    package var outputLimit: Int?
    /// False if it ends instead of waiting for other runs of the file.
    var mayWait = true
    /// Only shows what would run.
    package var isDryRun = false

    package init(file: String) { self.init(WorkflowChoice(file: file), jobs: Self.usualJobs) }

    /// The default of `-j`: the cores that this process may use, also by the word of Slurm, whose cpus may be bound to
    /// no cores; in a step of another run, the one slot of that step.
    static var usualJobs: Int {
        guard Self.runsAbove.isEmpty else { return 1 }
        let cores = Machine.usableCores
        guard let given = environmentVariable("SLURM_CPUS_ON_NODE").flatMap({ Int($0) }) else { return cores }
        return given > 0 ? min(cores, given) : cores
    }

    /// The runs in whose steps this process runs, the nearest first.
    private static var runsAbove: [String] {
        guard let parent = environmentVariable("FLOWRUN_RUN"), RunID.isValid(parent) else { return [] }
        let others = environmentVariable("FLOWRUN_RUNS_ABOVE")?.split(separator: " ").map(String.init) ?? []
        return [parent] + others.filter(RunID.isValid)
    }

    init(_ choice: WorkflowChoice, jobs: Int) {
        self.choice = choice
        options.jobs = jobs
        options.version = flowrunVersion
        options.runsAbove = Self.runsAbove
    }

    /// `-` is standard input.
    var file: String { choice.file }

    var isVerbose: Bool { options.tellsLocks }
}

extension RunRequest {
    /// Reads the command line of `run`; throws on values that make no sense.
    init(_ arguments: Arguments) throws(CommandError) {
        let jobs = try arguments.jobs()
        let jobserver = JobserverUse(ofJobs: jobs)
        self.init(try WorkflowChoice(arguments), jobs: jobs ?? jobserver.jobs ?? Self.usualJobs)
        self.jobserver = jobserver
        options.environment = try arguments.values(.env).map { text throws(CommandError) in
            guard let given = Assignment(text), VariableName.isValid(given.name) else {
                throw .usage("--env \(text): expected NAME=VALUE, such as --env LEVEL=3")
            }
            guard !VariableName.isFlowruns(given.name) else {
                throw .usage("--env \(text): names that begin with FLOWRUN_ are set by flowrun itself")
            }
            guard text.isExactArgument else {
                throw .usage("--env \(given.name): the value is not UTF-8; give it encoded, or in a file")
            }
            return (given.name, given.value)
        }
        parameters = try arguments.parameters()
        options.caller = arguments.caller
        options.arguments = arguments.passed
        guard options.arguments.allSatisfy(\.isExactArgument) else {
            throw .usage("an argument behind `--` is not UTF-8; give it encoded, or in a file")
        }
        let make = environmentVariable("MAKEFLAGS").map(MakeFlags.init)
        options.failFast =
            arguments.value(.failFast).map { $0 == "true" } ?? (make?.keepsGoing == true ? false : nil)
        options.timeout = try arguments.duration(.timeout)
        let isSilent = make?.isSilent == true && !arguments.has(.verbose) && !arguments.has(.output)
        log = arguments.choice(.log) ?? (isSilent ? .quiet : .text)
        logFile = arguments.value(.logFile)
        output = arguments.choice(.output)
        progress = arguments.choice(.progress) ?? .auto
        color = arguments.choice(.color) ?? .auto
        options.tellsLocks = arguments.has(.verbose)
        options.tracesScripts = arguments.has(.trace)
        options.startsPaused = arguments.has(.paused)
        stateDirectory = arguments.value(.stateDirectory)
        keepsJournal = !arguments.has(.noJournal)
        usesHistory = !arguments.has(.noHistory)
        isDurable = arguments.has(.durable)
        outputLimit = try arguments.size(.outputLimit)
        options.again = arguments.values(.from)
        isResumed = arguments.has(.resume) || !options.again.isEmpty
        resumedRun = arguments.value(.resume)
        options.isConfirmed = arguments.has(.yes)
        mayWait = !arguments.has(.noWait)
        isDryRun = arguments.has(.dryRun)
        if !isDryRun, let option = make?.idleOption {
            StandardStream.error.say("make was called with `\(option)`: nothing is started, as with `flowrun -n`")
            isDryRun = true
        }
    }

    /// The command that explains how a step of this run ended, without the step's id; nil if there will be no journal
    /// for it to read.
    var why: String? {
        guard keepsJournal, file != "-" else { return nil }
        var words = choice.isNamed ? ["-f", file] : []
        if let stateDirectory { words += ["--state-dir", stateDirectory] }
        var command = "flowrun why"
        for word in words {
            // A word with escapes in the log could not be copied from there.
            guard word.visible == word else { return nil }
            command += " " + word.shellWord
        }
        return command
    }

    /// The command line that goes on where this run has ended; nil if it has a secret in it, or cannot be resumed.
    func resume(hiding secrets: RunSecrets) -> String? {
        guard file != "-", options.again.isEmpty else { return nil }
        let all = CommandWords.all
        let end = all.firstIndex(of: "--") ?? all.endIndex
        let others = all[..<end].filter { $0 != "--resume" && !$0.hasPrefix("--resume=") }
        let words = ["--resume"] + others + all[end...]
        // A word with escapes in the log could not be copied from there.
        guard words.allSatisfy({ $0.visible == $0 && secrets.masked($0) == $0 }) else { return nil }
        return "flowrun " + words.map(\.shellWord).joined(separator: " ")
    }

    /// Answers a command line that names no step of a file that has them listed by default.
    func list(_ plan: Plan) throws(CommandError) {
        guard !isResumed else {
            throw .usage("nothing is named that could be resumed: the file's `default` is the list of its steps")
        }
        let printer = ListPrinter(plan, isFileNamed: choice.isNamed)
        try StandardStream.output.deliver(log == .json ? .json(printer.json()) : .lines(printer.text()))
    }

    /// Makes the error for a log file that would replace another file, which `words` describe.
    static func refusal(ofLogFile path: String, _ words: String) -> CommandError {
        .usage("--log-file \(path): that is \(words), which the log would replace; name another file")
    }

    /// The message if no step of the run takes the words after `--`.
    var noTaker: String {
        let what = choice.steps.isEmpty ? "that is chosen" : "in \(Phrase.all(choice.steps))"
        let how = "a script takes them as \"$@\", a `run` list and `with` as `${{ args }}`"
        return "nothing \(what) takes the arguments behind `--`: \(how)"
    }

    /// The option that requires a state directory; nil if none is given.
    var optionThatNeedsState: String? {
        if let resumedRun { return "--resume=\(resumedRun)" }
        return isDurable && keepsJournal ? "--durable" : nil
    }

    /// True if standard output gets colours.
    var colorsOutput: Bool { StandardStream.output.isColored(color) }
}

extension RunOutcome {
    /// The exit status of a run that flowrun itself could carry out.
    var exitStatus: ExitStatus {
        switch self {
        case .success: .success
        case .failure: .failure
        case .runTimeout: .timeout
        case .cancelled: .cancelled
        }
    }
}

extension Arguments {
    /// Returns the values of `--param`, in the order of the command line.
    func parameters() throws(CommandError) -> [Assignment] {
        try values(.param).map { text throws(CommandError) in
            guard let given = Assignment(text), !given.name.isEmpty else {
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
    /// True if the argument is exactly what the caller gave. Swift replaces bytes that are not UTF-8 with U+FFFD, and a
    /// changed value is worse than none.
    fileprivate var isExactArgument: Bool {
        !unicodeScalars.contains("\u{FFFD}") || CommandWords.areExact
    }
}
