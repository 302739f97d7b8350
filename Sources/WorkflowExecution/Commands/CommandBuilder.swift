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
    private let book: RunBook
    private let facts: RunFacts
    private let options: RunOptions
    private let environments: BaseEnvironments
    /// By the group's row and, in the last bit, the policy; a hashed pair would cost each step more than its settings.
    private var shared: [Int: StepSettings] = [:]
    private var finder = ProgramFinder()

    init(facts: RunFacts, options: RunOptions) {
        book = facts.book
        self.facts = facts
        self.options = options
        environments = BaseEnvironments(options)
    }

    /// What holds for a step; `additions` are variables that nothing else may set.
    func settings(
        of row: Int, attempt: Int, adding additions: [(name: String, value: String)] = []
    ) throws(Refusal) -> StepSettings {
        let node = book.plan.nodes[row]
        let own = book.settings(of: row)
        let policy = own?.environmentPolicy ?? policyOfWorkflow
        var settings = try layer(row, over: try members(of: Int(node.parent), policy))
        var changes: [(name: String, value: String?)] = options.environment.map { ($0.name, $0.value) }
        changes += options.secrets.environment(for: own?.secrets ?? []).map { ($0.name, $0.value) }
        if !changes.isEmpty { settings.environment = EnvironmentBlock(settings.environment, changes: changes) }
        settings.additions = [("FLOWRUN_STEP", node.id), ("FLOWRUN_ATTEMPT", String(attempt))] + additions
        return settings
    }

    /// The words or the script of a step, every expression in them evaluated.
    func words(of row: Int) throws(Refusal) -> StepStarted.Command {
        switch book.body(of: row) {
        case .script(let script): return .script(script.text(in: book.workflow.file))
        case .group: preconditionFailure("row \(row) is a group, not a step")
        case .arguments(let templates):
            var arguments: [String] = []
            arguments.reserveCapacity(templates.count)
            for template in templates { arguments.append(try text(template, in: row)) }
            return .arguments(arguments)
        }
    }

    func command(
        for row: Int, _ words: StepStarted.Command, with settings: StepSettings, separatesStreams: Bool
    ) throws(Refusal) -> ProcessCommand {
        let arguments =
            switch words {
            case .arguments(let arguments): arguments
            case .script(let script): settings.shell.arguments + [script]
            }
        let program = arguments.first ?? ""
        let path: String
        do {
            path = try finder.find(program, path: settings.environment["PATH"])
        } catch {
            throw Refusal(Refusal.describe(error, program: program), errno: error.errno)
        }
        let command = ProcessCommand(
            path: path, arguments: arguments, environment: settings.environment, additions: settings.additions,
            workingDirectory: settings.workingDirectory.map(absolute) ?? options.folder,
            standardInput: try standardInput(of: row), separatesStreams: separatesStreams)
        // What the file itself names may be missing; a step that cannot start is not to be shown as started.
        if settings.workingDirectory != nil || program.utf8.contains(UInt8(ascii: "/")) {
            if let error = command.obstacle { throw Refusal(error, of: command) }
        }
        return command
    }

    /// Forgets what was made for a group that runs once more, whose expressions may say something else now.
    func forget(_ group: Int) {
        shared = shared.filter { $0.key >> 1 != group && !book.isInside($0.key >> 1, group) }
    }

    /// `env` in expressions: the variables at the top of the workflow.
    func variables() -> Value {
        let top = try? members(of: 0, policyOfWorkflow)
        return Self.object(top?.environment ?? environments[policyOfWorkflow])
    }

    /// `env` in the expressions of the top of the workflow itself.
    func inheritedVariables() -> Value { Self.object(environments[policyOfWorkflow]) }

    private static func object(_ block: EnvironmentBlock) -> Value {
        .object(block.variables.map { Value.Field(name: $0.name, value: .string($0.value)) })
    }

    private var policyOfWorkflow: EnvironmentPolicy {
        book.workflow.defaults.environmentPolicy ?? book.settings(of: 0)?.environmentPolicy ?? .inherit
    }

    private func standardInput(of row: Int) throws(Refusal) -> MemoryFile? {
        guard let template = book.settings(of: row)?.standardInput else { return nil }
        do {
            return try MemoryFile(try bytes(template, in: row))
        } catch let refusal as Refusal {
            throw refusal
        } catch {
            throw Refusal("cannot keep the standard input in memory", errno: (error as? SpawnError)?.errno)
        }
    }

    private func members(of row: Int, _ policy: EnvironmentPolicy) throws(Refusal) -> StepSettings {
        let key = row << 1 | (policy == .clean ? 1 : 0)
        if let known = shared[key] { return known }
        let outer =
            row == 0
            ? StepSettings(environment: environments[policy], defaults: book.workflow.defaults)
            : try members(of: book.parent(of: row), policy)
        let settings = try layer(row, over: outer)
        shared[key] = settings
        return settings
    }

    /// One level of the file over what surrounds it: files, then variables of the fan-out, then `env`.
    private func layer(_ row: Int, over outer: StepSettings) throws(Refusal) -> StepSettings {
        let node = book.plan.nodes[row]
        // The whole of a fan-out passes on what is around it; its words belong to the copies.
        guard node.role != .fanOut else { return outer }
        let settings = book.settings(of: row)
        let variables = node.variables.dropFirst(book.plan.nodes[Int(node.parent)].variables.count)
        var result = settings.map(outer.overridden) ?? outer
        if row == 0, let folder = book.workflow.defaults.workingDirectory {
            result.workingDirectory = try text(folder, in: row)
        }
        if let folder = settings?.workingDirectory { result.workingDirectory = try text(folder, in: row) }
        var changes: [(name: String, value: String?)] = []
        for file in settings?.dotenv ?? [] {
            for entry in try read(file) { changes.append((entry.name, entry.value)) }
        }
        if row == 0 { changes += options.parameters.environment.map { ($0.name, $0.value) } }
        for variable in variables { changes.append((variable.name, try withoutNUL(variable.value))) }
        for entry in settings?.env ?? [] {
            guard let template = entry.value else {
                changes.append((entry.name, nil))
                continue
            }
            changes.append((entry.name, try text(template, in: row)))
        }
        if !changes.isEmpty { result.environment = EnvironmentBlock(outer.environment, changes: changes) }
        return result
    }

    // MARK: Expressions

    /// Refuses a NUL, which neither a word nor a variable can hold.
    private func text(_ template: Template, in row: Int) throws(Refusal) -> String {
        if let literal = template.literal { return literal }
        let text: String
        do {
            text = try template.evaluate(in: RowScope(facts: facts, row: row))
        } catch {
            throw Refusal(error.message, kind: .expression)
        }
        return try withoutNUL(text)
    }

    private func withoutNUL(_ text: String) throws(Refusal) -> String {
        guard !text.utf8.contains(0) else {
            throw Refusal("a value holds a NUL, which no argument or variable can", kind: .expression)
        }
        return text
    }

    /// A lone `stdout` passes on what was written byte for byte, whether or not it is UTF-8.
    private func bytes(_ template: Template, in row: Int) throws(Refusal) -> [UInt8] {
        if let output = RowScope(facts: facts, row: row).output(namedBy: template) { return output }
        do {
            return Array(try template.evaluate(in: RowScope(facts: facts, row: row)).utf8)
        } catch {
            throw Refusal(error.message, kind: .expression)
        }
    }

    // MARK: Files

    private func read(_ file: DotenvFile) throws(Refusal) -> [(name: String, value: String)] {
        let line = book.workflow.file.line(at: file.range.lowerOffset)
        let place = "`\(file.path)` (dotenv at \(book.workflow.file.name):\(line))"
        do {
            if let entries = try DotenvReader.read(absolute(file.path)) { return entries }
        } catch {
            throw Refusal(place + (error.line.map { ", line \($0): " } ?? ": ") + error.message)
        }
        guard file.isOptional else {
            throw Refusal(
                "\(place): no such file; create it, or say `{path: \(file.path), optional: true}`", errno: ENOENT)
        }
        return []
    }

    private func absolute(_ path: String) -> String {
        guard !path.hasPrefix("/"), let folder = options.folder else { return path }
        return "\(folder)/\(path)"
    }
}
