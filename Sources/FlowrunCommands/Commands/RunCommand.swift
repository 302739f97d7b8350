internal import ArgumentParser
internal import Reporting
internal import WorkflowModel

struct RunCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run", abstract: "Run a workflow, or only what some of its steps need.")

    @OptionGroup var workflow: WorkflowArgument

    @Argument(help: ArgumentHelp("Steps or groups to run, with all they need.", valueName: "step"))
    var steps: [String] = []

    @Option(
        name: [.customShort("j", allowingJoined: true), .long],
        help: ArgumentHelp("Steps that may run at once (default: the cores).", valueName: "n"))
    var jobs: Int?

    @Option(help: ArgumentHelp("Give a parameter of the workflow its value.", valueName: "name=value"))
    var param: [String] = []

    @Option(help: ArgumentHelp("Set a variable for every step, over what the file says.", valueName: "name=value"))
    var env: [String] = []

    @Flag(help: "Cancel what runs when a step fails.")
    var failFast = false

    @Option(help: ArgumentHelp("Limit for the whole run, such as 90s or 1h30m.", valueName: "duration"))
    var timeout: String?

    @Option(help: "What standard output carries: text, json (one event a line) or quiet.")
    var log: RunRequest.Log = .text

    @Option(
        help: ArgumentHelp("Write the JSON Lines log to a file as well.", valueName: "path"), completion: .file())
    var logFile: String?

    @Option(help: "What the text log shows of steps' output, over the file's log: grouped, stream, failed or none.")
    var output: OutputMode?

    @Option(help: "Progress on standard error: auto, plain or none.")
    var progress: ProgressMode = .auto

    @Option(help: "Colours: auto, always or never.")
    var color: ColorMode = .auto

    @Option(
        name: .customShort("C"), help: ArgumentHelp("Change to a folder first.", valueName: "folder"),
        completion: .directory)
    var folder: String?

    @Flag(help: "Also log starts, signals and steps that did not run.")
    var verbose = false

    @Flag(help: "Start nothing until `flowrun ctl resume`.")
    var paused = false

    @Option(
        help: ArgumentHelp("Where the state of runs is kept (default: .flowrun beside the file).", valueName: "folder"),
        completion: .directory)
    var stateDir: String?

    @Flag(help: "Keep no record of the run, which `flowrun why` reads.")
    var noJournal = false

    func validate() throws {
        _ = try request()
    }

    func run() throws {
        try Run(request())().end()
    }

    /// The request that the options make; throws on values that cannot be meant.
    func request() throws -> RunRequest {
        if let mistake = CommandWord.mistake(workflow.file, in: folder) { throw ValidationError(mistake) }
        var request = RunRequest(file: workflow.file)
        if let jobs, jobs < 1 {
            throw ValidationError("-j \(jobs): at least one step must be allowed to run; leave -j out for all cores")
        }
        request.targets = steps
        request.jobs = jobs
        request.environment = try env.map { entry in
            let parts = entry.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            guard parts.count == 2, VariableName.isValid(parts[0]) else {
                throw ValidationError("--env \(entry): expected NAME=VALUE, such as --env LEVEL=3")
            }
            guard !VariableName.isFlowruns(parts[0]) else {
                throw ValidationError("--env \(entry): names that begin with FLOWRUN_ are set by flowrun itself")
            }
            guard ArgumentText.isExact(entry) else {
                throw ValidationError("--env \(parts[0]): the value is not UTF-8; give it encoded, or in a file")
            }
            return RunRequest.Assignment(name: parts[0], value: parts[1])
        }
        request.parameters = try param.map { entry in
            let parts = entry.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            guard parts.count == 2, !parts[0].isEmpty else {
                throw ValidationError("--param \(entry): expected NAME=VALUE, such as --param channel=stable")
            }
            guard ArgumentText.isExact(entry) else {
                throw ValidationError("--param \(parts[0]): the value is not UTF-8; give it encoded, or in a file")
            }
            return RunRequest.Assignment(name: parts[0], value: parts[1])
        }
        request.failFast = failFast
        request.timeout = try timeout.map { text in
            guard let duration = Duration(workflowText: text) else {
                throw ValidationError("--timeout \(text): expected a duration such as 90s, 10m or 1h30m")
            }
            return duration
        }
        request.log = log
        request.logFile = logFile
        request.output = output
        request.progress = progress
        request.color = color
        request.folder = folder
        request.isVerbose = verbose
        request.isPaused = paused
        request.stateDirectory = stateDir
        request.keepsRecord = !noJournal
        return request
    }
}

extension RunRequest.Log: ExpressibleByArgument {}
extension OutputMode: ExpressibleByArgument {}
extension ProgressMode: ExpressibleByArgument {}
extension ColorMode: ExpressibleByArgument {}

extension ExitStatus {
    /// Ends the command, successfully by returning.
    func end() throws {
        if self != .success { throw ExitCode(rawValue) }
    }
}
