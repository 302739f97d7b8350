internal import Planning
internal import Processes
internal import RunLog
internal import Workflow

// What `vars` are in the environment of those that read them, and the commands that make them.
extension CommandBuilder {
    /// Evaluates what the start of a step will, where it may read `vars`, so that their commands run before the step
    /// takes its place. Why one has no value is told at the start.
    func prepare(_ row: PlanIndex) {
        guard reads(by: plan.nodes[row].definition) != nil else { return }
        _ = try? stepSurroundings(of: row)
        _ = try? words(of: row)
        if let input = plan.settings(of: row)?.standardInput, input.readsSharedValues {
            _ = try? input.evaluate(in: RowScope(context: context, row: row))
        }
    }

    /// Those that a step reads, without those that something nearer to it sets.
    func sharedVariables(of row: PlanIndex) throws(StepError) -> [(name: String, value: String)] {
        let definition = plan.nodes[row].definition
        guard let reads = reads(by: definition) else { return [] }
        var variables: [(name: String, value: String)] = []
        for id in reads {
            let key = context.sharedKey(of: id, around: row)
            let name = plan.workflow[id].name
            if !isSet(name, between: key.group, and: row) { variables.append((name, try text(of: key))) }
        }
        return variables
    }

    private func isSet(_ name: String, between group: PlanIndex, and row: PlanIndex) -> Bool {
        if plan.nodes[row].variables.dropFirst(plan.nodes[group].variables.count).contains(where: { $0.name == name }) {
            return true
        }
        var next = row
        while true {
            let entries = (plan.settings(of: next)?.env ?? []) + (plan.use(of: next)?.settings?.env ?? [])
            if entries.contains(where: { $0.name == name }) { return true }
            if next == group { return false }
            next = plan.parent(of: next)
        }
    }

    private func text(of key: SharedKey) throws(StepError) -> String {
        let value: Value
        do {
            value = try context.value(of: key)
        } catch {
            throw failure(error)
        }
        return try withoutNUL(value.text)
    }

    /// What makes one of `vars`; nil if it lacks a value itself.
    func launch(for key: SharedKey) throws(SharedFailure) -> SharedLaunch? {
        let made: Result<SharedLaunch, StepError> = Result { () throws(StepError) in try makeLaunch(for: key) }
        guard !context.pending.isMissing else { return nil }
        switch made {
        case .success(let launch): return launch
        case .failure(let error):
            throw SharedFailure(
                cause: context.state.cause(error.kind, error.message, of: key, error.failure?.cause),
                tail: error.failure?.tail ?? OutputTail())
        }
    }

    private func makeLaunch(for key: SharedKey) throws(StepError) -> SharedLaunch {
        guard let definition = plan.workflow[key.id].command else { preconditionFailure("`vars` without a command") }
        try makeScratchFolder()
        let user = plan.fileUser(around: key.group, isInside: true)
        let policy = plan.environmentPolicy(inside: user.flatMap(plan.use))
        var surroundings = try sharedSurroundings(of: key.group, policy)
        var changes: [(name: String, value: String?)] = []
        for id in plan.workflow.sharedValuesRead(by: key.id) {
            let read = context.sharedKey(of: id, around: key.group)
            changes.append((plan.workflow[id].name, try text(of: read)))
        }
        changes += options.environment.map { ($0.name, $0.value) }
        changes += options.secrets.environment(for: definition.secrets).map { ($0.name, $0.value) }
        surroundings.environment = EnvironmentBlock(surroundings.environment, changes: changes)
        let (words, script, scriptFile) = try words(of: definition, key)
        do throws(StepError) {
            return SharedLaunch(
                command: try command(words, in: surroundings),
                words: options.secrets.masked(script.map(StepStarted.Command.script) ?? .arguments(words)),
                scriptFile: scriptFile)
        } catch {
            if let scriptFile { files.drop(scriptFile) }
            throw error
        }
    }

    private func words(
        of definition: SharedValue.Command, _ key: SharedKey
    ) throws(StepError) -> (words: [String], script: String?, scriptFile: String?) {
        switch definition.body {
        case .group, .milestone: preconditionFailure("`vars` without a command")
        case .arguments(let templates):
            return (try words(of: templates, in: RowScope(context: context, row: key.group, isShared: true)), nil, nil)
        case .script(let script):
            let text = script.text(in: plan.workflow.file)
            guard let shebang = Shebang(text) else {
                return ((definition.shell ?? plan.shell(of: key.group, isInside: true)).command(for: text), text, nil)
            }
            let file = try files.make(holding: text, of: "vars")
            return (shebang.command(for: file, isTraced: false), text, file)
        }
    }
}
