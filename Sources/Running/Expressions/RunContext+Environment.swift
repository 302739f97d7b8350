internal import Glibc
internal import Planning
internal import Processes
internal import RunLog
internal import Syntax
internal import Workflow

/// The environment and the folders that a step or group has.
struct Surroundings {
    var environment: EnvironmentBlock
    /// As in the file, expressions evaluated; nil means the run's folder.
    var workingDirectory: String?
    /// The base of relative folders: that of the file, from the run's folder.
    var folder = ""
}

// The environment and the folder of steps and groups: each level of the file on top of the enclosing one.
extension RunContext {
    /// The values of a step's own parameters; nil for a step without any.
    func stepParameters(of row: PlanIndex) -> ParameterValues? {
        options.parameters.ofSteps?[plan.nodes[row].definition]
    }

    func stepSurroundings(of row: PlanIndex) throws(StepError) -> Surroundings {
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

    func memberSurroundings(of row: PlanIndex, _ policy: EnvironmentPolicy) throws(StepError) -> Surroundings {
        let key = row.offset << 1 | (policy == .clean ? 1 : 0)
        if let known = surroundings[key] { return known }
        let outer =
            row == .root
            ? Surroundings(environment: environments[policy])
            : try memberSurroundings(of: plan.parent(of: row), policy)
        let made = try layer(row, over: outer)
        // While a value is missing, it has to be made once more.
        if !pending.isMissing { surroundings[key] = made }
        return made
    }

    /// Returns the surroundings of the commands of a group's `vars`.
    func sharedSurroundings(of row: PlanIndex, _ policy: EnvironmentPolicy) throws(StepError) -> Surroundings {
        let outer =
            row == .root
            ? Surroundings(environment: environments[policy])
            : try sharedSurroundings(of: plan.parent(of: row), policy)
        return try layer(row, over: outer, isShared: true)
    }

    /// Returns one level of the file on top of the enclosing one: files, then variables of the fan-out, then `env`.
    /// With `isShared`, for the command of one of `vars`: without anything that reads `vars`.
    private func layer(
        _ row: PlanIndex, over outer: Surroundings, isShared: Bool = false
    ) throws(StepError) -> Surroundings {
        if let use = plan.use(of: row) { return try layer(use, at: row, over: outer, isShared: isShared) }
        let settings = plan.settings(of: row)
        let count = plan.nodes[plan.parent(of: row)].variables.count
        let hasVariables = row != .root && plan.nodes[row].variables.count > count
        // A fan-out itself passes on the enclosing level; its words belong to the instances.
        guard plan.nodes[row].role != .fanOut, settings != nil || hasVariables || row == .root else { return outer }
        let scope = RowScope(context: self, row: row, isShared: isShared && row != .root)
        var result = outer
        if let folder = plan.workingDirectory(of: row), !isShared || !folder.readsSharedValues {
            result.workingDirectory = path(try text(folder, in: scope), from: outer.folder)
        }
        var changes = repositoryChanges(in: row, below: outer.environment)
        changes += try variables(of: settings?.dotenv ?? [], for: row)
        let parameters = row == .root ? options.parameters : stepParameters(of: row)
        if let parameters { changes += parameters.environment.map { ($0.name, $0.value) } }
        if hasVariables {
            for variable in plan.nodes[row].variables.dropFirst(count) {
                changes.append((variable.name, try withoutNUL(variable.value)))
            }
        }
        changes += try variables(settings?.env ?? [], in: scope, isShared: isShared)
        if !changes.isEmpty { result.environment = EnvironmentBlock(outer.environment, changes: changes) }
        return result
    }

    /// Returns the level of a group and of the body that it uses. The group's settings override the body's. Variables
    /// of fan-outs do not reach inside; neither do the enclosing parameters if the body is a file.
    private func layer(
        _ use: Use, at row: PlanIndex, over outer: Surroundings, isShared: Bool
    ) throws(StepError) -> Surroundings {
        var result = outer
        let inside = RowScope(context: self, row: row, isShared: isShared, isInside: true)
        var changes = repositoryChanges(in: row, below: outer.environment)
        changes += plan.nodes[row].variables.map { ($0.name, nil) }
        if use.source == .file {
            (result.folder, result.workingDirectory) = (use.folder, use.folder.isEmpty ? nil : use.folder)
            let around = plan.workflow.parameters(of: plan.workflow.use(around: use.group))
            changes += around.map { ($0.name, nil) }
        }
        let folder = use.settings?.workingDirectory ?? use.defaults?.workingDirectory
        if let folder, !isShared || !folder.readsSharedValues {
            result.workingDirectory = path(try text(folder, in: inside), from: result.folder)
        }
        changes += try variables(of: use.settings?.dotenv ?? [], for: row)
        let own = Set(use.parameters.map(\.name))
        for field in parameterFields(inside: row) where own.contains(field.name) {
            changes.append((field.name, try withoutNUL(field.value.text)))
        }
        changes += try variables(use.settings?.env ?? [], in: inside, isShared: isShared)
        let outside = RowScope(context: self, row: row)
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

    private func variables(
        of files: [DotenvFile], for row: PlanIndex
    ) throws(StepError) -> [(name: String, value: String?)] {
        guard !files.isEmpty else { return [] }
        let folder = try folderOfStart(row)
        var variables: [(name: String, value: String?)] = []
        for file in files {
            for entry in try read(file, from: folder) { variables.append((entry.name, entry.value)) }
        }
        return variables
    }

    private func read(_ file: DotenvFile, from folder: String?) throws(StepError) -> [(name: String, value: String)] {
        let source = plan.workflow.file.file(at: file.range.lowerOffset)
        let place = "`\(file.path)` (dotenv at \(source.name):\(source.line(at: file.range.lowerOffset)))"
        do {
            if let entries = try DotenvReader.read(absolute(file.path, from: folder)) { return entries }
        } catch {
            throw StepError(place + (error.line.map { ", line \($0): " } ?? ": ") + error.message)
        }
        guard file.isOptional else {
            throw StepError(
                "\(place): no such file; create it, or say `{path: \(file.path), optional: true}`", errno: ENOENT)
        }
        return []
    }
}

// `vars` in the environment of their readers.
extension RunContext {
    /// Evaluates in advance what the start of a step will evaluate, if it may read `vars`, so that their commands run
    /// before the step takes its slot. A value that cannot be made is reported at the start.
    func prepare(_ row: PlanIndex) {
        guard reads(by: plan.nodes[row].definition) != nil else { return }
        _ = try? folder(of: row)
        _ = try? stepSurroundings(of: row)
        _ = try? words(of: row)
        if let input = plan.settings(of: row)?.standardInput, input.readsSharedValues {
            _ = try? input.evaluate(in: RowScope(context: self, row: row))
        }
    }

    /// Returns the `vars` that a step reads, without those that something nearer to it sets.
    func sharedVariables(of row: PlanIndex) throws(StepError) -> [(name: String, value: String)] {
        let definition = plan.nodes[row].definition
        guard let reads = reads(by: definition) else { return [] }
        var variables: [(name: String, value: String)] = []
        for id in reads where !id.isTree {
            let key = sharedKey(of: id, around: row)
            let name = plan.workflow[id].name
            if !isSet(name, between: key.group, and: row) { variables.append((name, try text(of: key))) }
        }
        return variables
    }

    private func isSet(_ name: String, between group: PlanIndex, and row: PlanIndex) -> Bool {
        if plan.nodes[row].variables.dropFirst(plan.nodes[group].variables.count).contains(where: { $0.name == name }) {
            return true
        }
        if stepParameters(of: row)?[name] != nil { return true }
        var next = row
        while true {
            let entries = (plan.settings(of: next)?.env ?? []) + (plan.use(of: next)?.settings?.env ?? [])
            if entries.contains(where: { $0.name == name }) { return true }
            if next == group { return false }
            next = plan.parent(of: next)
        }
    }

    func text(of key: SharedKey) throws(StepError) -> String {
        let value: Value
        do {
            if let unknown {
                value = try foreseen(key, unknown)
            } else {
                value = try self.value(of: key)
            }
        } catch {
            throw failure(error)
        }
        return try withoutNUL(value.text)
    }
}

// The values of expressions in a command: words, texts, bytes, and `env`.
extension RunContext {
    /// Returns the words or the script of a step, every expression in them evaluated.
    func words(of row: PlanIndex) throws(StepError) -> StepStarted.Command {
        switch plan.body(of: row) {
        case .script(let script): return .script(script.text(in: plan.workflow.file))
        case .group, .milestone: preconditionFailure("row \(row) has no command")
        case .arguments(let templates):
            return .arguments(try words(of: templates, in: RowScope(context: self, row: row)))
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

    func path(
        of program: String, in surroundings: Surroundings, _ workingDirectory: String?
    ) throws(StepError) -> String {
        do {
            return try findProgram(program, along: surroundings.environment["PATH"], from: workingDirectory)
        } catch {
            throw StepError(error, program: program)
        }
    }

    /// Returns a command whose standard output is read.
    func command(
        _ words: [String], in surroundings: Surroundings, from folder: String?, input: [UInt8]? = nil
    ) throws(StepError) -> ProcessCommand {
        let workingDirectory = surroundings.workingDirectory.map { absolute($0, from: folder) } ?? folder
        let path = try path(of: words.first ?? "", in: surroundings, workingDirectory)
        var environment = surroundings.environment
        setFolder(workingDirectory, in: &environment)
        return ProcessCommand(
            path: path, arguments: words, environment: environment, workingDirectory: workingDirectory,
            standardInput: try input.map(MemoryFile.init(holding:)), separatesStreams: true)
    }

    func makeScratchFolder() throws(StepError) { if namesScratchFolder { _ = try files.scratchFolder() } }

    /// Appends one word of a list; if it is one expression whose value is a list, a word for each element.
    func append(_ template: Template, to words: inout [String], in scope: RowScope) throws(StepError) {
        guard case .parsed(let parsed) = template, let expression = parsed.expression else {
            return words.append(try text(template, in: scope))
        }
        let value: Value
        do {
            if let unknown {
                value = try foreseen(expression, in: scope, unknown) ?? .string(unknown.standIn(for: expression))
            } else {
                value = try expression.evaluate(in: scope)
            }
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

    /// Returns the text of a template. Refuses a NUL, which neither a word nor a variable can hold.
    func text(_ template: Template, in scope: RowScope) throws(StepError) -> String {
        if let literal = template.literal { return literal }
        let text: String
        do {
            text = try evaluated(template, in: scope)
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

    /// Returns the text of a template; in a run that is only shown, names stand for what only a run knows.
    private func evaluated(_ template: Template, in scope: RowScope) throws(EvaluationError) -> String {
        if let unknown { return try foreseen(template, in: scope, unknown) }
        return try template.evaluate(in: scope)
    }

    /// Returns the bytes of a template. A lone `stdout` passes on what was written byte for byte, even if it is not
    /// UTF-8.
    func bytes(_ template: Template, in row: PlanIndex) throws(StepError) -> [UInt8] {
        let scope = RowScope(context: self, row: row)
        if let output = scope.output(namedBy: template) { return output }
        do {
            return Array(try evaluated(template, in: scope).utf8)
        } catch {
            throw failure(error)
        }
    }

    /// Makes the error of an expression without a value, because of one of `vars` or by itself.
    func failure(_ error: EvaluationError) -> StepError {
        var failure = StepError(error.message, kind: .expression)
        failure.failure = pending.failure
        return failure
    }

    /// Returns `env` in expressions: the variables at the top of the workflow. With `isShared`, without those that
    /// read `vars`.
    func variables(isShared: Bool = false) -> Value {
        let policy = plan.environmentPolicy
        let top = try? isShared ? sharedSurroundings(of: .root, policy) : memberSurroundings(of: .root, policy)
        return Self.object(top?.environment ?? environments[policy])
    }

    /// Returns the same at the top of a file that a group uses; while it is being set, the variables that enclose the
    /// group.
    func variables(ofFileUsedBy user: PlanIndex, isBeingSet: Bool, isShared: Bool) -> Value {
        let policy = plan.environmentPolicy(inside: plan.use(of: user))
        let row = isBeingSet ? plan.parent(of: user) : user
        let top = try? isShared ? sharedSurroundings(of: row, policy) : memberSurroundings(of: row, policy)
        return Self.object(top?.environment ?? environments[policy])
    }

    /// Returns `env` in the expressions of the top of the workflow itself.
    func inheritedVariables() -> Value { Self.object(environments[plan.environmentPolicy]) }

    private static func object(_ block: EnvironmentBlock) -> Value {
        .object(block.variables.map { Value.Field(name: $0.name, value: .string($0.value)) })
    }
}

/// The part of flowrun's own environment that steps get, by policy.
@EventLoopActor
final class BaseEnvironments {
    private let options: RunOptions
    /// Makes the folder for `$FLOWRUN_TEMP` and returns its path; nil if there is none.
    private let scratchFolder: @EventLoopActor () -> String?
    private lazy var inherited = inheritedBlock()
    private lazy var clean = EnvironmentBlock(inherited, keeping: Self.cleanNames)

    private static let cleanNames = [
        "PATH", "HOME", "USER", "LANG", "TERM", "TMPDIR", "FLOWRUN_RUN", "FLOWRUN_RUNS_ABOVE",
        "FLOWRUN_INVOCATION_DIR", "FLOWRUN_TEMP",
    ]

    init(_ options: RunOptions, scratchFolder: @escaping @EventLoopActor () -> String?) {
        self.options = options
        self.scratchFolder = scratchFolder
    }

    private func inheritedBlock() -> EnvironmentBlock {
        // An enclosing flowrun has set them for its own step. If a secret comes from a variable, only the steps that
        // list the secret see its value.
        EnvironmentBlock(EnvironmentBlock(inheriting: environ)) { block in
            block.remove("FLOWRUN_STEP")
            block.remove("FLOWRUN_ATTEMPT")
            block.remove("FLOWRUN_OUTPUT")
            block.remove("FLOWRUN_ROUND")
            block.remove("FLOWRUN_IDEMPOTENCY_KEY")
            block.set("FLOWRUN_RUN", options.run)
            if options.runsAbove.isEmpty {
                block.remove("FLOWRUN_RUNS_ABOVE")
            } else {
                block.set("FLOWRUN_RUNS_ABOVE", options.runsAbove.joined(separator: " "))
            }
            block.set("FLOWRUN_INVOCATION_DIR", options.caller ?? "")
            if let folder = scratchFolder() { block.set("FLOWRUN_TEMP", folder) } else { block.remove("FLOWRUN_TEMP") }
            for variable in options.replacedVariables { block.set(variable.name, variable.value) }
            options.secrets.sources.forEach(block.remove)
        }
    }

    subscript(policy: EnvironmentPolicy) -> EnvironmentBlock {
        switch policy {
        case .inherit: inherited
        case .clean: clean
        }
    }
}
