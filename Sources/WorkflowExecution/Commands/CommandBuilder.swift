internal import Basics
internal import Glibc
internal import ProcessExecution
internal import RunEvents
internal import SourceDiagnostics
internal import WorkflowModel
internal import WorkflowPlanning

/// Makes the commands of steps: environment, folder, shell, program and standard input.
///
/// What a group's members share is built once, when the first of them starts.
@EventLoopActor
final class CommandBuilder {
    let context: RunContext
    let options: RunOptions
    private let environments: BaseEnvironments
    let files: StepFiles
    /// Whether something in the file names `$FLOWRUN_TEMP`, so that there is one.
    private let namesScratchFolder: Bool
    /// What a step finds around it.
    struct Surroundings {
        var environment: EnvironmentBlock
        /// As the file says it, expressions evaluated; nil means the run's folder.
        var workingDirectory: String?
        /// Where relative folders count from: that of the file, from the run's folder.
        var folder = ""
    }

    /// Which of `vars` each step reads; nil where there are none.
    private lazy var sharedReads: [NodeIndex: [SharedValueID]]? = plan.workflow.hasSharedValues ? [:] : nil
    /// By the group's row and, in the last bit, the policy; a hashed pair would cost each step more than all it holds.
    private var shared: [Int: Surroundings] = [:]

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
        /// Where the step writes its outputs; nil for nowhere.
        let outputFile: String?
        /// Where the script stands for its own interpreter; nil for one that a shell reads.
        let scriptFile: String?
        /// Whether somebody reads what the step writes to standard output.
        let isRead: Bool
    }

    /// What to start for an attempt, and the file where its shell notes what fails, if it does.
    func command(
        for row: PlanIndex, _ words: StepStarted.Command, _ attempt: Attempt
    ) throws(StepError) -> (ProcessCommand, notes: NoteFile?) {
        try makeScratchFolder()
        let arguments = commandLine(of: row, words, attempt)
        let program = arguments.first ?? ""
        let surroundings = try stepSurroundings(of: row)
        let workingDirectory = surroundings.workingDirectory.map(absolute) ?? options.folder
        let path = try path(of: program, in: surroundings, workingDirectory)
        var additions = [
            (name: "FLOWRUN_STEP", value: plan.nodes[row].id),
            (name: "FLOWRUN_ATTEMPT", value: String(attempt.number)),
        ]
        if let outputFile = attempt.outputFile { additions.append((name: "FLOWRUN_OUTPUT", value: outputFile)) }
        if options.forcesColors, !attempt.isRead, Self.leavesColorsOpen(surroundings.environment) {
            additions += [(name: "FORCE_COLOR", value: "1"), (name: "CLICOLOR_FORCE", value: "1")]
        }
        let notes = attempt.scriptFile == nil ? noteFile(for: words, of: row, surroundings.environment) : nil
        if let notes { additions.append((name: "BASH_ENV", value: notes.path)) }
        let command = ProcessCommand(
            path: path, arguments: arguments, environment: surroundings.environment, additions: additions,
            workingDirectory: workingDirectory, standardInput: try standardInput(of: row),
            separatesStreams: attempt.isRead || plan.streams(of: row) == .separate)
        // What the file itself names may be missing; a step that cannot start is not to be shown as started.
        if surroundings.workingDirectory != nil || program.utf8.contains(UInt8(ascii: "/")) {
            if let error = command.obstacle { throw StepError(error, of: command) }
        }
        return (command, notes)
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
        return NoteFile(startup)
    }

    /// Whether nothing around a step says already whether to use colours.
    private static func leavesColorsOpen(_ environment: EnvironmentBlock) -> Bool {
        ["NO_COLOR", "FORCE_COLOR", "CLICOLOR_FORCE"].allSatisfy { environment[$0] == nil }
    }

    /// Forgets what was made for a group that runs once more, whose expressions may say something else now.
    func forget(_ group: PlanIndex) {
        shared = shared.filter { key, _ in
            let row = PlanIndex(key >> 1)
            return row != group && !plan.isInside(row, group)
        }
    }

    /// `env` in expressions: the variables at the top of the workflow.
    /// With `isShared` without those that read `vars`.
    func variables(isShared: Bool = false) -> Value {
        let policy = plan.environmentPolicy
        let top = try? isShared ? sharedSurroundings(of: .root, policy) : memberSurroundings(of: .root, policy)
        return Self.object(top?.environment ?? environments[policy])
    }

    /// The same at the top of a file that a group uses; while it is being set, what is around the group.
    func variables(ofFileUsedBy user: PlanIndex, isBeingSet: Bool, isShared: Bool) -> Value {
        let policy = plan.environmentPolicy(inside: plan.use(of: user))
        let row = isBeingSet ? plan.parent(of: user) : user
        let top = try? isShared ? sharedSurroundings(of: row, policy) : memberSurroundings(of: row, policy)
        return Self.object(top?.environment ?? environments[policy])
    }

    /// `env` in the expressions of the top of the workflow itself.
    func inheritedVariables() -> Value { Self.object(environments[plan.environmentPolicy]) }

    private static func object(_ block: EnvironmentBlock) -> Value {
        .object(block.variables.map { Value.Field(name: $0.name, value: .string($0.value)) })
    }

    private func standardInput(of row: PlanIndex) throws(StepError) -> MemoryFile? {
        guard let template = plan.settings(of: row)?.standardInput else { return nil }
        do {
            return try MemoryFile(try bytes(template, in: row))
        } catch let error as StepError {
            throw error
        } catch {
            throw StepError("cannot keep the standard input in memory", errno: (error as? SystemError)?.number)
        }
    }

    private func stepSurroundings(of row: PlanIndex) throws(StepError) -> Surroundings {
        var result = try layer(
            row, over: try memberSurroundings(of: plan.parent(of: row), plan.environmentPolicy(of: row)))
        let secrets = plan.settings(of: row)?.secrets ?? []
        let shared = try sharedVariables(of: row)
        guard !options.environment.isEmpty || !secrets.isEmpty || !shared.isEmpty else { return result }
        var changes: [(name: String, value: String?)] = (shared + options.environment).map { ($0.name, $0.value) }
        changes += options.secrets.environment(for: secrets).map { ($0.name, $0.value) }
        result.environment = EnvironmentBlock(result.environment, changes: changes)
        return result
    }

    private func memberSurroundings(of row: PlanIndex, _ policy: EnvironmentPolicy) throws(StepError) -> Surroundings {
        let key = row.offset << 1 | (policy == .clean ? 1 : 0)
        if let known = shared[key] { return known }
        let outer =
            row == .root
            ? Surroundings(environment: environments[policy])
            : try memberSurroundings(of: plan.parent(of: row), policy)
        let made = try layer(row, over: outer)
        // With a value still to come, it is made once more.
        if !context.pending.isMissing { shared[key] = made }
        return made
    }

    /// What the commands of a group's `vars` find around them.
    func sharedSurroundings(of row: PlanIndex, _ policy: EnvironmentPolicy) throws(StepError) -> Surroundings {
        let outer =
            row == .root
            ? Surroundings(environment: environments[policy])
            : try sharedSurroundings(of: plan.parent(of: row), policy)
        return try layer(row, over: outer, isShared: true)
    }

    /// One level of the file over what surrounds it: files, then variables of the fan-out, then `env`. With `isShared`
    /// what the command of one of `vars` gets: nothing that reads `vars`.
    private func layer(
        _ row: PlanIndex, over outer: Surroundings, isShared: Bool = false
    ) throws(StepError) -> Surroundings {
        if let use = plan.use(of: row) { return try layer(use, at: row, over: outer, isShared: isShared) }
        let settings = plan.settings(of: row)
        let count = plan.nodes[plan.parent(of: row)].variables.count
        let hasVariables = row != .root && plan.nodes[row].variables.count > count
        // The whole of a fan-out passes on what is around it; its words belong to the copies.
        guard plan.nodes[row].role != .fanOut, settings != nil || hasVariables || row == .root else { return outer }
        let scope = RowScope(context: context, row: row, isShared: isShared && row != .root)
        var result = outer
        if let folder = plan.workingDirectory(of: row), !isShared || !folder.readsSharedValues {
            result.workingDirectory = path(try text(folder, in: scope), from: outer.folder)
        }
        var changes = try variables(of: settings?.dotenv ?? [])
        if row == .root { changes += options.parameters.environment.map { ($0.name, $0.value) } }
        if hasVariables {
            for variable in plan.nodes[row].variables.dropFirst(count) {
                changes.append((variable.name, try withoutNUL(variable.value)))
            }
        }
        changes += try variables(settings?.env ?? [], in: scope, isShared: isShared)
        if !changes.isEmpty { result.environment = EnvironmentBlock(outer.environment, changes: changes) }
        return result
    }

    /// The level of a group and of the body that it uses. What the group sets stands over what the body says; variables
    /// of fan-outs, and of a file's user the parameters, do not reach inside.
    private func layer(
        _ use: Use, at row: PlanIndex, over outer: Surroundings, isShared: Bool
    ) throws(StepError) -> Surroundings {
        var result = outer
        let inside = RowScope(context: context, row: row, isShared: isShared, isInside: true)
        var changes: [(name: String, value: String?)] = plan.nodes[row].variables.map { ($0.name, nil) }
        if use.source == .file {
            (result.folder, result.workingDirectory) = (use.folder, use.folder.isEmpty ? nil : use.folder)
            let around = plan.workflow.parameters(of: plan.workflow.use(around: use.group))
            changes += around.map { ($0.name, nil) }
        }
        let folder = use.settings?.workingDirectory ?? use.defaults.workingDirectory
        if let folder, !isShared || !folder.readsSharedValues {
            result.workingDirectory = path(try text(folder, in: inside), from: result.folder)
        }
        changes += try variables(of: use.settings?.dotenv ?? [])
        if case .object(let fields) = context.parameters(inside: row) {
            let own = Set(use.parameters.map(\.name))
            for field in fields where own.contains(field.name) {
                changes.append((field.name, try withoutNUL(field.value.text)))
            }
        }
        changes += try variables(use.settings?.env ?? [], in: inside, isShared: isShared)
        let outside = RowScope(context: context, row: row)
        changes += try variables(plan.settings(of: row)?.env ?? [], in: outside, isShared: isShared)
        result.environment = EnvironmentBlock(outer.environment, changes: changes)
        return result
    }

    private func variables(
        _ entries: [EnvironmentEntry], in scope: RowScope, isShared: Bool
    ) throws(StepError) -> [(name: String, value: String?)] {
        var variables: [(name: String, value: String?)] = []
        for entry in entries where !isShared || entry.value?.readsSharedValues != true {
            variables.append(
                (entry.name, try entry.value.map { template throws(StepError) in try text(template, in: scope) }))
        }
        return variables
    }

    private func variables(of files: [DotenvFile]) throws(StepError) -> [(name: String, value: String?)] {
        var variables: [(name: String, value: String?)] = []
        for file in files {
            for entry in try read(file) { variables.append((entry.name, entry.value)) }
        }
        return variables
    }

    private func path(_ path: String, from folder: String) -> String {
        folder.isEmpty || path.hasPrefix("/") ? path : "\(folder)/\(path)"
    }

    /// What follows `--` on the command line, where the step is to get it.
    private func arguments(of row: PlanIndex) -> [String] {
        options.arguments.isEmpty || !plan.isNamed(row) ? [] : options.arguments
    }

    // MARK: Expressions

    /// One word of a list; where it is one expression whose value is a list, a word for each element.
    private func append(_ template: Template, to words: inout [String], in scope: RowScope) throws(StepError) {
        guard case .parsed(let parsed) = template, let expression = parsed.expression else {
            return words.append(try text(template, in: scope))
        }
        let value: Value
        do {
            value = try expression.evaluate(in: scope)
        } catch {
            throw failure(error)
        }
        guard case .list(let elements) = value else { return words.append(try withoutNUL(value.text)) }
        for (index, element) in elements.enumerated() {
            guard element != .null else {
                throw StepError("element \(index + 1) of `\(expression.text)` has no value", kind: .expression)
            }
            words.append(try withoutNUL(element.text))
        }
    }

    /// Refuses a NUL, which neither a word nor a variable can hold.
    private func text(_ template: Template, in scope: RowScope) throws(StepError) -> String {
        if let literal = template.literal { return literal }
        let text: String
        do {
            text = try template.evaluate(in: scope)
        } catch {
            throw failure(error)
        }
        return try withoutNUL(text)
    }

    func withoutNUL(_ text: String) throws(StepError) -> String {
        guard !text.utf8.contains(0) else {
            throw StepError("a value has a NUL character, which no argument or variable can hold", kind: .expression)
        }
        return text
    }

    /// A lone `stdout` passes on what was written byte for byte, whether or not it is UTF-8.
    private func bytes(_ template: Template, in row: PlanIndex) throws(StepError) -> [UInt8] {
        if let output = RowScope(context: context, row: row).output(namedBy: template) { return output }
        do {
            return Array(try template.evaluate(in: RowScope(context: context, row: row)).utf8)
        } catch {
            throw failure(error)
        }
    }

    /// An expression without a value, because of one of `vars` or by itself.
    func failure(_ error: EvaluationError) -> StepError {
        var failure = StepError(error.message, kind: .expression)
        failure.failure = context.pending.failure
        return failure
    }

    // MARK: Files

    private func read(_ file: DotenvFile) throws(StepError) -> [(name: String, value: String)] {
        let source = plan.workflow.file.file(at: file.range.lowerOffset)
        let place = "`\(file.path)` (dotenv at \(source.name):\(source.line(at: file.range.lowerOffset)))"
        do {
            if let entries = try DotenvReader.read(absolute(file.path)) { return entries }
        } catch {
            throw StepError(place + (error.line.map { ", line \($0): " } ?? ": ") + error.message)
        }
        guard file.isOptional else {
            throw StepError(
                "\(place): no such file; create it, or say `{path: \(file.path), optional: true}`", errno: ENOENT)
        }
        return []
    }

    private func absolute(_ path: String) -> String {
        guard !path.hasPrefix("/"), let folder = options.folder else { return path }
        return "\(folder)/\(path)"
    }
}
