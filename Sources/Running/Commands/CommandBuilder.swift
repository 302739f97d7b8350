internal import Basics
internal import Glibc
internal import Planning
internal import Processes
internal import RunLog
internal import Syntax
internal import Workflow

/// Makes the commands of steps: environment, folder, shell, program and standard input.
///
/// The part that a group's members share is built once, when the first of them starts.
@EventLoopActor
final class CommandBuilder {
    private let context: RunContext
    private var options: RunOptions { context.options }
    private var files: StepFiles { context.files }
    /// By group: the start of the digests of the steps in it.
    private var needs: [PlanIndex: KeyedHash] = [:]
    /// By the needed row and, in the last bits, the kind: a digest of both.
    private var edges: [Int: (UInt64, UInt64)] = [:]
    /// By group: a digest of its members.
    private var contents: [PlanIndex: String] = [:]

    /// The start of each idempotency key.
    private lazy var keyStart = (options.past?.origin ?? options.run) + "/"
    /// The last program that was there, since many steps in a row have the same.
    private var found: FoundProgram?

    private struct FoundProgram {
        /// As the step names it.
        let name: String
        let folder: String?
        let environment: EnvironmentBlock
        let path: String

        func isSame(_ name: String, _ folder: String?, _ environment: EnvironmentBlock) -> Bool {
            self.environment === environment && self.name == name && self.folder == folder
        }
    }

    init(_ context: RunContext) { self.context = context }

    /// Forgets what was made for a group that runs once more, whose expressions may have other values now, and whose
    /// steps may have changed a program.
    func forget(_ group: PlanIndex) {
        found = nil
        (contents, edges) = ([:], [:])
        needs = needs.filter { row, _ in !plan.isInside(row, group) }
    }

    private var plan: Plan { _read { yield context.state.plan } }

    /// The values that an attempt contributes to its command.
    struct Contribution {
        let number: Int
        /// nil outside of groups that may be tried again.
        let round: Int?
        /// The file that the step writes its outputs to; nil for none.
        let outputFile: String?
        /// The file of the script for its own interpreter; nil if a shell reads the script.
        let scriptFile: String?
        /// True if the standard output of the step is read.
        let isRead: Bool
    }

    /// Returns the command of an attempt, the file in which its shell notes what fails, if it does, and the digest of
    /// the step's definition.
    func command(
        for row: PlanIndex, _ words: StepStarted.Command, _ attempt: Contribution
    ) throws(StepError) -> (ProcessCommand, notes: NoteFile?, definition: String?) {
        try context.makeScratchFolder()
        let arguments = commandLine(of: row, words, attempt)
        let program = arguments.first ?? ""
        let surroundings = try context.stepSurroundings(of: row)
        let folder = try context.folderOfStart(row)
        let workingDirectory = surroundings.workingDirectory.map { context.absolute($0, from: folder) } ?? folder
        // What it follows may have removed it.
        let mayBeKnown = attempt.number == 1 && !plan.followsOthers(row)
        let known =
            mayBeKnown && found?.isSame(program, workingDirectory, surroundings.environment) == true ? found?.path : nil
        let path = if let known { known } else { try context.path(of: program, in: surroundings, workingDirectory) }
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
            workingDirectory: workingDirectory, standardInput: try input.map(MemoryFile.init(holding:)),
            separatesStreams: attempt.isRead || plan.streams(of: row) == .separate)
        context.setFolder(workingDirectory, in: &command.environment)
        if context.treeCopies != nil { context.setCeiling(of: row, in: &command.environment) }
        if let settings = plan.settings(of: row) {
            command.attributes = settings.attributes
            if let form = settings.jobserver { join(form, by: &command) }
        }
        // A folder or path that the file itself names may be missing; a step that cannot start is not to be shown as
        // started. One that is only looked at to be restored need not have them.
        if known == nil, !context.lacksCopy(row) {
            if surroundings.workingDirectory != nil || program.utf8.contains(UInt8(ascii: "/")),
                let error = command.obstacle
            {
                throw StepError(error, of: command)
            }
            found = FoundProgram(
                name: program, folder: workingDirectory, environment: surroundings.environment, path: path)
        }
        return (command, notes, definition)
    }

    func commandLine(of row: PlanIndex, _ words: StepStarted.Command, _ attempt: Contribution) -> [String] {
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

    /// Returns nil for what cannot or need not be watched. Without memory for a file the step runs as well.
    private func noteFile(
        for words: StepStarted.Command, of row: PlanIndex, _ environment: EnvironmentBlock
    ) -> NoteFile? {
        guard case .script(let script) = words,
            let startup = BashStartup(script, for: plan.shell(of: row)),
            BashStartup.conflicts.allSatisfy({ environment[$0] == nil })
        else { return nil }
        return options.secrets.mask == nil ? NoteFile(startup) : NoteFile(startup, in: files)
    }

    /// True if the environment does not decide already about the use of colours.
    private static func leavesColorsOpen(_ environment: EnvironmentBlock) -> Bool {
        ["NO_COLOR", "FORCE_COLOR", "CLICOLOR_FORCE"].allSatisfy { environment[$0] == nil }
    }

    /// Returns the digest of a step's definition, without a command to start.
    func definition(of row: PlanIndex) throws(StepError) -> String? {
        definition(
            of: row, try context.words(of: row), in: try context.stepSurroundings(of: row),
            input: try standardInput(of: row))
    }

    /// Lets a command take part in the jobs of the run; where there is only one at a time, it is left as it is.
    private func join(_ form: JobserverForm, by command: inout ProcessCommand) {
        guard let jobserver = context.jobserver else { return }
        let flags = jobserver.makeFlags(
            addedTo: command.environment[Self.makeFlags] ?? "", jobs: options.jobs, isByPath: form == .path)
        command.jobserver = jobserver
        command.environment = EnvironmentBlock(command.environment, changes: [(name: Self.makeFlags, value: flags)])
    }

    private static let makeFlags = "MAKEFLAGS"

    func standardInput(of row: PlanIndex) throws(StepError) -> [UInt8]? {
        guard let template = plan.settings(of: row)?.standardInput else { return nil }
        return try context.bytes(template, in: row)
    }

    /// Returns a key that is the same for all attempts of a step in a round, also in runs that resume this one: a
    /// receiver that gets it twice can tell that the work is the same.
    private func idempotencyKey(of row: PlanIndex, _ attempt: Contribution) -> String {
        let key = keyStart + plan.nodes[row].id
        guard let round = attempt.round, round > 0 else { return key }
        return "\(key)#\(round)"
    }

    /// Returns the words after `--` on the command line, if the step is to get them.
    func arguments(of row: PlanIndex) -> [String] {
        options.arguments.isEmpty || !plan.isNamed(row) ? [] : options.arguments
    }
}

extension CommandBuilder {
    /// Returns a digest of everything that decides what a step does, expressions evaluated: its command, shell and
    /// arguments, its working directory, in the tree or in a copy, its standard input, the variables that the file and
    /// the command line give it, the treatment of its processes and its output, the outputs that it declares, and its
    /// needs. Excludes what it inherits from flowrun's surroundings, the values of its secrets, its time limits and its
    /// retries. A parameter counts only if its script or a word of its command names it, and the words after `--` only
    /// if it takes them. Nil if digests are not needed, in hooks, and for a step whose command names `$FLOWRUN_TEMP`,
    /// in which it may leave something.
    func definition(
        of row: PlanIndex, _ words: StepStarted.Command, in surroundings: Surroundings, input: [UInt8]?
    ) -> String? {
        guard let key = options.definitionKey, !plan.isInHook(row) else { return nil }
        var hash = needsHash(inside: plan.parent(of: row), key)
        appendNeeds(of: row, to: &hash)
        let settings = plan.settings(of: row)
        if context.namesScratchFolder, Self.has("FLOWRUN_TEMP", in: words) { return nil }
        switch words {
        case .script(let script):
            hash.append("script")
            hash.append(script)
            append(plan.shell(of: row).arguments, to: &hash)
        case .arguments(let arguments):
            hash.append("argv")
            append(arguments, to: &hash)
        }
        append(takenArguments(of: row), to: &hash)
        hash.append(surroundings.workingDirectory ?? "")
        hash.append(plan.environmentPolicy(of: row) == .clean ? 1 : 0)
        hash.append(settings?.attributes ?? ProcessAttributes())
        hash.append(plan.streams(of: row) == .separate ? 1 : 0)
        appendVariables(of: row, words, in: surroundings, settings?.secrets.map(\.name) ?? [], to: &hash)
        hash.append(input?.count ?? -1)
        input?.withUnsafeBytes { hash.append($0) }
        for output in settings?.outputs ?? [] {
            hash.append(output.name)
            switch output.source {
            case .file(let kind): hash.append("file \(kind.rawValue)")
            case .standardOutput(let kind): hash.append("stdout \(kind.rawValue)")
            case .expression: hash.append("expression")
            }
        }
        if let group = context.isolation(of: row) {
            hash.append("isolate")
            hash.append(group)
        }
        return hash.finish()
    }

    private func takenArguments(of row: PlanIndex) -> [String] {
        guard !options.arguments.isEmpty, plan.isNamed(row), plan.workflow.takesArguments(plan.nodes[row].definition)
        else { return [] }
        return options.arguments
    }

    private func append(_ words: [String], to hash: inout KeyedHash) {
        hash.append(words.count)
        for word in words { hash.append(word) }
    }

    private func appendVariables(
        of row: PlanIndex, _ words: StepStarted.Command, in surroundings: Surroundings, _ secrets: [String],
        to hash: inout KeyedHash
    ) {
        let own = surroundings.environment.ownVariables
        guard !own.isEmpty else { return }
        let parameters = Dictionary(
            options.parameters.environment.map { ($0.name, $0.value) }, uniquingKeysWith: { $1 })
        for (name, value) in own.sorted(by: { $0.name < $1.name }) {
            // A variable of a parameter's name that the file sets nearer to the step is not the parameter.
            let isParameter = parameters[name] == value && !isSet(name, around: row)
            if isParameter, !Self.has(name, in: words) { continue }
            hash.append(name)
            hash.append(secrets.contains(name) ? "" : value)
        }
    }

    /// Returns true if a parameter of the row, or an `env` of it or of an enclosing group, sets a variable.
    private func isSet(_ name: String, around row: PlanIndex) -> Bool {
        if context.stepParameters(of: row)?[name] != nil { return true }
        var next = row
        while plan.settings(of: next)?.env.contains(where: { $0.name == name }) != true {
            if next == .root { return false }
            next = plan.parent(of: next)
        }
        return true
    }

    private static func has(_ name: String, in command: StepStarted.Command) -> Bool {
        switch command {
        case .script(let script): script.hasWord(name)
        case .arguments(let words): words.contains { $0.hasWord(name) }
        }
    }
}

// Needs of steps and groups as a part of the definitions of steps. Computed when a step starts, so that all instances
// that it may need are known.
extension CommandBuilder {
    /// Returns the start of the digests of all steps in a group: the needs of the group and of the enclosing ones.
    /// Computed once a group.
    func needsHash(inside group: PlanIndex, _ key: KeyedHash.Key) -> KeyedHash {
        if group == .root { return KeyedHash(key: key) }
        if let known = needs[group] { return known }
        var hash = needsHash(inside: plan.parent(of: group), key)
        appendNeeds(of: group, to: &hash)
        needs[group] = hash
        return hash
    }

    /// Appends a row's own needs, in any order: their kinds, if a condition decides in their place, and what the
    /// condition reads. The value of the condition is not part of it, since each run evaluates it again.
    func appendNeeds(of row: PlanIndex, to hash: inout KeyedHash) {
        let edges = plan.edges(of: row)
        hash.append(edges.count)
        if edges.count == 1 { append(edges[edges.startIndex], to: &hash) } else { appendSum(of: edges, to: &hash) }
        hash.append(plan.waitsForAll(row) ? 1 : 0)
        let reads = plan.condition(of: row)?.references.filter { $0.root == "steps" || $0.root == "previous" } ?? []
        let names = reads.isEmpty ? [] : Set(reads.map { "\($0.root).\($0.field ?? "")" }).sorted()
        hash.append(names.count)
        for name in names { hash.append(name) }
    }

    /// Appends a sum that does not depend on the order of the edges. Each edge is hashed once, however many rows have
    /// it.
    private func appendSum(of edges: ArraySlice<PlanEdge>, to hash: inout KeyedHash) {
        guard !edges.isEmpty, let key = options.definitionKey else { return }
        var (first, second): (UInt64, UInt64) = (0, 0)
        for edge in edges {
            let place = edge.target.offset << 2 | Int(edge.kind.rawValue)
            let known = self.edges[place]
            var words = known ?? (0, 0)
            if known == nil {
                var hash = KeyedHash(key: key)
                append(edge, to: &hash)
                words = hash.finishWords()
                self.edges[place] = words
            }
            first &+= words.0
            second &+= words.1
        }
        hash.append(Int(bitPattern: UInt(first)))
        hash.append(Int(bitPattern: UInt(second)))
    }

    private func append(_ edge: PlanEdge, to hash: inout KeyedHash) {
        hash.append(plan.nodes[edge.target].id)
        hash.append(edge.kind.rawValue)
        if plan.nodes[edge.target].role != .step { hash.append(digest(ofContentsOf: edge.target)) }
    }

    /// Returns a digest of the ids of the steps in a group. Their order does not matter, except that of the instances
    /// of a fan-out, in which outputs are handed on.
    private func digest(ofContentsOf group: PlanIndex) -> String {
        guard let key = options.definitionKey else { return "" }
        if let known = contents[group] { return known }
        var hash = KeyedHash(key: key)
        let parts = plan.nodes[group].role == .fanOut ? plan.members(of: group) : [group]
        for part in parts {
            let rows = plan.isStep(part) ? [part] : plan.rows(inside: part)
            let steps = rows.filter { plan.isStep($0) && !plan.isInHook($0) }
            for id in steps.map({ plan.nodes[$0].id }).sorted() { hash.append(id) }
        }
        let digest = hash.finish()
        contents[group] = digest
        return digest
    }
}
