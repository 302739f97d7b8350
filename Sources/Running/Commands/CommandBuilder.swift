internal import Basics
internal import Glibc
internal import Planning
internal import Processes
internal import RunLog
internal import Syntax
internal import Workflow

/// Makes the commands of steps: environment, folder, shell, program and standard input.
///
/// What a group's members share is built once, when the first of them starts.
@EventLoopActor
final class CommandBuilder {
    let context: RunContext
    let options: RunOptions
    let environments: BaseEnvironments
    let files: StepFiles
    /// Whether something in the file names `$FLOWRUN_TEMP`, so that there is one.
    let namesScratchFolder: Bool
    /// Which of `vars` each step reads; nil where there are none.
    private lazy var sharedReads: [NodeIndex: [SharedValueID]]? = plan.workflow.hasSharedValues ? [:] : nil
    /// By the group's row and, in the last bit, the policy; a hashed pair would cost each step more than all it holds.
    var shared: [Int: Surroundings] = [:]
    /// By group: the start of the digests of the steps in it.
    var needs: [PlanIndex: KeyedHash] = [:]
    /// By the needed row and, in the last bits, the kind: a digest of both.
    var edges: [Int: (UInt64, UInt64)] = [:]
    /// By group: a digest of its members.
    var contents: [PlanIndex: String] = [:]

    init(_ context: RunContext, _ files: StepFiles) {
        self.context = context
        self.files = files
        options = context.options
        let namesScratchFolder = context.state.plan.workflow.namesScratchFolder
        self.namesScratchFolder = namesScratchFolder
        environments = BaseEnvironments(options) { namesScratchFolder ? try? files.scratchFolder() : nil }
    }

    var plan: Plan { _read { yield context.state.plan } }

    /// The words or the script of a step, every expression in them evaluated.
    func words(of row: PlanIndex) throws(StepError) -> StepStarted.Command {
        switch plan.body(of: row) {
        case .script(let script): return .script(script.text(in: plan.workflow.file))
        case .group, .milestone: preconditionFailure("row \(row) has no command")
        case .arguments(let templates):
            return .arguments(try words(of: templates, in: RowScope(context: context, row: row)))
        }
    }

    func words(of templates: [Template], in scope: RowScope) throws(StepError) -> [String] {
        var words: [String] = []
        words.reserveCapacity(templates.count)
        for template in templates { try append(template, to: &words, in: scope) }
        guard !words.isEmpty else {
            throw StepError("the list of `run` is empty once its lists are spliced in", kind: .expression)
        }
        return words
    }

    /// What an attempt brings to its command.
    struct Attempt {
        let number: Int
        /// nil outside of groups that may be tried again.
        let round: Int?
        /// Where the step writes its outputs; nil for nowhere.
        let outputFile: String?
        /// Where the script stands for its own interpreter; nil for one that a shell reads.
        let scriptFile: String?
        /// Whether somebody reads what the step writes to standard output.
        let isRead: Bool
    }

    /// What to start for an attempt, the file where its shell notes what fails, if it does, and what decides what it
    /// does.
    func command(
        for row: PlanIndex, _ words: StepStarted.Command, _ attempt: Attempt
    ) throws(StepError) -> (ProcessCommand, notes: NoteFile?, definition: String?) {
        try makeScratchFolder()
        let arguments = commandLine(of: row, words, attempt)
        let program = arguments.first ?? ""
        let surroundings = try stepSurroundings(of: row)
        let workingDirectory = surroundings.workingDirectory.map(absolute) ?? options.folder
        let path = try path(of: program, in: surroundings, workingDirectory)
        var additions = [
            (name: "FLOWRUN_STEP", value: plan.nodes[row].id),
            (name: "FLOWRUN_ATTEMPT", value: String(attempt.number)),
            (name: "FLOWRUN_ROUND", value: String(attempt.round ?? 0)),
            (name: "FLOWRUN_IDEMPOTENCY_KEY", value: idempotencyKey(of: row, attempt)),
        ]
        if let outputFile = attempt.outputFile { additions.append((name: "FLOWRUN_OUTPUT", value: outputFile)) }
        if options.forcesColors, !attempt.isRead, Self.leavesColorsOpen(surroundings.environment) {
            additions += [(name: "FORCE_COLOR", value: "1"), (name: "CLICOLOR_FORCE", value: "1")]
        }
        let notes = attempt.scriptFile == nil ? noteFile(for: words, of: row, surroundings.environment) : nil
        if let notes { additions.append((name: "BASH_ENV", value: notes.path)) }
        let input = try standardInput(of: row)
        let definition = definition(of: row, words, in: surroundings, input: input)
        var command = ProcessCommand(
            path: path, arguments: arguments, environment: surroundings.environment, additions: additions,
            workingDirectory: workingDirectory, standardInput: try input.map(memoryFile),
            separatesStreams: attempt.isRead || plan.streams(of: row) == .separate)
        command.isDetached = plan.settings(of: row)?.isDetached ?? false
        command.isInteractive = plan.settings(of: row)?.isInteractive ?? false
        // What the file itself names may be missing; a step that cannot start is not to be shown as started.
        if surroundings.workingDirectory != nil || program.utf8.contains(UInt8(ascii: "/")) {
            if let error = command.obstacle { throw StepError(error, of: command) }
        }
        return (command, notes, definition)
    }

    func makeScratchFolder() throws(StepError) { if namesScratchFolder { _ = try files.scratchFolder() } }

    private func path(
        of program: String, in surroundings: Surroundings, _ workingDirectory: String?
    ) throws(StepError) -> String {
        do {
            return try findProgram(program, along: surroundings.environment["PATH"], from: workingDirectory)
        } catch {
            throw StepError(error, program: program)
        }
    }

    /// A command whose standard output is read.
    func command(_ words: [String], in surroundings: Surroundings) throws(StepError) -> ProcessCommand {
        let workingDirectory = surroundings.workingDirectory.map(absolute) ?? options.folder
        let path = try path(of: words.first ?? "", in: surroundings, workingDirectory)
        return ProcessCommand(
            path: path, arguments: words, environment: surroundings.environment, workingDirectory: workingDirectory,
            separatesStreams: true)
    }

    func reads(by step: NodeIndex) -> [SharedValueID]? {
        guard let reads = sharedReads else { return nil }
        if let known = reads[step] { return known }
        let found = plan.workflow.sharedValuesRead(by: step)
        sharedReads?[step] = found
        return found
    }

    private func commandLine(of row: PlanIndex, _ words: StepStarted.Command, _ attempt: Attempt) -> [String] {
        switch words {
        case .arguments(let arguments): return arguments
        case .script(let script):
            if let path = attempt.scriptFile, let shebang = Shebang(script) {
                return shebang.command(for: path, isTraced: options.tracesScripts) + arguments(of: row)
            }
            var shell = plan.shell(of: row)
            if options.tracesScripts { shell = Shell(arguments: TracedShell.words(shell.arguments)) }
            return shell.command(for: script, with: arguments(of: row))
        }
    }

    /// nil for what cannot or need not be watched. Without memory for a file the step runs as well.
    private func noteFile(
        for words: StepStarted.Command, of row: PlanIndex, _ environment: EnvironmentBlock
    ) -> NoteFile? {
        guard case .script(let script) = words,
            let startup = BashStartup(script, for: plan.shell(of: row)),
            BashStartup.conflicts.allSatisfy({ environment[$0] == nil })
        else { return nil }
        return options.secrets.mask == nil ? NoteFile(startup) : NoteFile(startup, in: files)
    }

    /// Whether nothing around a step says already whether to use colours.
    private static func leavesColorsOpen(_ environment: EnvironmentBlock) -> Bool {
        ["NO_COLOR", "FORCE_COLOR", "CLICOLOR_FORCE"].allSatisfy { environment[$0] == nil }
    }

    /// The definition of a step, without a command to start.
    func definition(of row: PlanIndex) throws(StepError) -> String? {
        definition(
            of: row, try words(of: row), in: try stepSurroundings(of: row), input: try standardInput(of: row))
    }

    private func standardInput(of row: PlanIndex) throws(StepError) -> [UInt8]? {
        guard let template = plan.settings(of: row)?.standardInput else { return nil }
        return try bytes(template, in: row)
    }

    private func memoryFile(_ bytes: [UInt8]) throws(StepError) -> MemoryFile {
        do {
            return try MemoryFile(bytes)
        } catch {
            throw StepError("cannot keep the standard input in memory", errno: error.number)
        }
    }

    /// The same for all attempts of a step, also in runs that resume this one: whoever gets it twice can tell that the
    /// work is the same.
    private func idempotencyKey(of row: PlanIndex, _ attempt: Attempt) -> String {
        let key = "\(options.past?.origin ?? options.run)/\(plan.nodes[row].id)"
        guard let round = attempt.round, round > 0 else { return key }
        return "\(key)#\(round)"
    }

    /// What follows `--` on the command line, where the step is to get it.
    private func arguments(of row: PlanIndex) -> [String] {
        options.arguments.isEmpty || !plan.isNamed(row) ? [] : options.arguments
    }
}
