internal import Glibc
internal import Planning
internal import Processes
internal import Syntax
internal import Workflow

// The environment and the folder of steps and groups: one level of the file over what surrounds it.
extension CommandBuilder {
    /// What a step finds around it.
    struct Surroundings {
        var environment: EnvironmentBlock
        /// As the file says it, expressions evaluated; nil means the run's folder.
        var workingDirectory: String?
        /// Where relative folders count from: that of the file, from the run's folder.
        var folder = ""
    }

    /// Forgets what was made for a group that runs once more, whose expressions may say something else now.
    func forget(_ group: PlanIndex) {
        (contents, edges) = ([:], [:])
        needs = needs.filter { row, _ in !plan.isInside(row, group) }
        shared = shared.filter { key, _ in
            let row = PlanIndex(key >> 1)
            return row != group && !plan.isInside(row, group)
        }
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
        let folder = use.settings?.workingDirectory ?? use.defaults?.workingDirectory
        if let folder, !isShared || !folder.readsSharedValues {
            result.workingDirectory = path(try text(folder, in: inside), from: result.folder)
        }
        changes += try variables(of: use.settings?.dotenv ?? [])
        let own = Set(use.parameters.map(\.name))
        for field in context.parameterFields(inside: row) where own.contains(field.name) {
            changes.append((field.name, try withoutNUL(field.value.text)))
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

    func absolute(_ path: String) -> String {
        guard !path.hasPrefix("/"), let folder = options.folder else { return path }
        return "\(folder)/\(path)"
    }
}
