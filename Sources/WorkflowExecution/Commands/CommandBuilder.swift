internal import Glibc
internal import ProcessExecution
internal import SourceDiagnostics
internal import WorkflowModel
internal import WorkflowPlanning

/// Makes the commands of steps: environment, folder, shell and program.
///
/// What a group's members share is built once, when the first of them starts.
@EventLoopActor
final class CommandBuilder {
    /// Why a step's command could not even be made.
    struct Refusal: Error {
        let message: String
        /// The failed call's error number; nil where no call failed.
        var errno: Int32?
        /// Whether the machine has no processes, memory or descriptors left.
        var isOutOfProcesses = false
    }

    private let plan: Plan
    private let options: RunOptions
    private let inherited: EnvironmentBlock
    private var shared: [Int: StepSettings] = [:]
    private var finder = ProgramFinder()

    init(plan: Plan, options: RunOptions) {
        self.plan = plan
        self.options = options
        // A flowrun around this one has set them for its own step.
        inherited = EnvironmentBlock(
            EnvironmentBlock(inheriting: environ),
            changes: [("FLOWRUN_STEP", nil), ("FLOWRUN_ATTEMPT", nil), ("FLOWRUN_RUN", options.run)])
    }

    func settings(of row: Int, attempt: Int) throws(Refusal) -> StepSettings {
        let node = plan.nodes[row]
        var settings = try layer(node, over: try members(of: Int(node.parent)))
        if !options.environment.isEmpty {
            settings.environment = EnvironmentBlock(
                settings.environment, changes: options.environment.map { (name: $0.name, value: $0.value) })
        }
        settings.environment = EnvironmentBlock(
            settings.environment, adding: [("FLOWRUN_STEP", node.id), ("FLOWRUN_ATTEMPT", String(attempt))])
        return settings
    }

    func command(for row: Int, with settings: StepSettings) throws(Refusal) -> ProcessCommand {
        let arguments =
            switch plan.workflow[plan.nodes[row].definition].body {
            case .arguments(let arguments): arguments.map(text)
            case .script(let script): settings.shell.arguments + [script.text(in: plan.workflow.file)]
            case .group: preconditionFailure("row \(row) is a group, not a step")
            }
        let path: String
        do {
            path = try finder.find(arguments.first ?? "", path: settings.environment["PATH"])
        } catch {
            throw Refusal(message: Self.describe(error, program: arguments.first ?? ""), errno: error.errno)
        }
        return ProcessCommand(
            path: path, arguments: arguments, environment: settings.environment,
            workingDirectory: settings.workingDirectory.map { absolute(text($0)) } ?? options.folder)
    }

    /// What went wrong in words, with the fix where there is an obvious one.
    nonisolated static func describe(_ error: SpawnError, program: String, folder: String? = nil) -> String {
        let reason = String(cString: strerror(error.errno)).lowercased()
        switch (error.subject, error.errno) {
        case (.workingDirectory, _):
            return "cannot change to the working directory `\(folder ?? "")`: \(reason)"
        case (.program, ENOENT) where program == "bash":
            return "cannot start `bash`: not found along PATH; install it, or say `shell: sh`"
        case (.program, ENOENT):
            return "cannot start `\(program)`: "
                + (program.contains("/") ? "no such file, or its interpreter is missing" : "not found along PATH")
        case (.program, E2BIG):
            return "cannot start `\(program)`: its arguments and environment are too long; pass large values in files"
        case (.program, ENOEXEC):
            return "cannot start `\(program)`: not a program; a script needs a first line such as `#!/bin/sh`"
        case (.program, _):
            return "cannot start `\(program)`: \(reason)"
        }
    }

    private func members(of row: Int) throws(Refusal) -> StepSettings {
        if let known = shared[row] { return known }
        let settings: StepSettings
        if row == 0 {
            settings = try layer(
                plan.nodes[0], over: StepSettings(environment: inherited, defaults: plan.workflow.defaults))
        } else {
            settings = try layer(plan.nodes[row], over: try members(of: Int(plan.nodes[row].parent)))
        }
        shared[row] = settings
        return settings
    }

    /// One level of the file over what surrounds it: files, then variables of the fan-out, then `env`.
    private func layer(_ node: PlanNode, over outer: StepSettings) throws(Refusal) -> StepSettings {
        // The whole of a fan-out passes on what is around it; its words belong to the copies.
        guard node.role != .fanOut else { return outer }
        let settings = plan.workflow.settings(of: node.definition)
        let variables = node.variables.dropFirst(plan.nodes[Int(node.parent)].variables.count)
        guard settings != nil || !variables.isEmpty else { return outer }
        var result = settings.map(outer.overridden) ?? outer
        var changes: [(name: String, value: String?)] = []
        for file in settings?.dotenv ?? [] {
            for entry in try read(file) { changes.append((entry.name, entry.value)) }
        }
        for variable in variables { changes.append((variable.name, variable.value)) }
        for entry in settings?.env ?? [] { changes.append((entry.name, entry.value.map(text))) }
        if !changes.isEmpty { result.environment = EnvironmentBlock(outer.environment, changes: changes) }
        return result
    }

    private func read(_ file: DotenvFile) throws(Refusal) -> [(name: String, value: String)] {
        let line = plan.workflow.file.line(at: file.range.lowerOffset)
        let place = "`\(file.path)` (dotenv at \(plan.workflow.file.name):\(line))"
        do {
            if let entries = try DotenvReader.read(absolute(file.path)) { return entries }
        } catch {
            throw Refusal(message: place + (error.line.map { ", line \($0): " } ?? ": ") + error.message, errno: nil)
        }
        guard file.isOptional else {
            throw Refusal(
                message: "\(place): no such file; create it, or say `{path: \(file.path), optional: true}`",
                errno: ENOENT)
        }
        return []
    }

    func text(_ template: Template) -> String {
        guard let text = template.literal else { preconditionFailure("the decoder lets no expression through yet") }
        return text
    }

    private func absolute(_ path: String) -> String {
        guard !path.hasPrefix("/"), let folder = options.folder else { return path }
        return "\(folder)/\(path)"
    }
}
