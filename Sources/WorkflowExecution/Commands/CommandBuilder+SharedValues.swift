internal import ProcessExecution
internal import RunEvents
internal import WorkflowModel
internal import WorkflowPlanning

// What `vars` are in the environment of those that read them, and the commands that make them.
extension CommandBuilder {
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

    /// The command of one of `vars`; nil if it lacks a value itself.
    func command(for key: SharedKey) throws(SharedFailure) -> ProcessCommand? {
        let made: Result<ProcessCommand, StepError> = Result { () throws(StepError) in try makeCommand(for: key) }
        guard !context.pending.isMissing else { return nil }
        switch made {
        case .success(let command): return command
        case .failure(let error):
            throw SharedFailure(
                cause: context.state.cause(error.kind, error.message, of: key, error.failure?.cause),
                tail: error.failure?.tail ?? OutputTail())
        }
    }

    private func makeCommand(for key: SharedKey) throws(StepError) -> ProcessCommand {
        guard let definition = plan.workflow[key.id].command else { preconditionFailure("`vars` without a command") }
        try makeScratchFolder()
        let user = plan.fileUser(around: key.group, isInside: true)
        let policy = plan.environmentPolicy(inside: user.flatMap(plan.use))
        var environment = try sharedSurroundings(of: key.group, policy)
        var changes: [(name: String, value: String?)] = []
        for id in plan.workflow.sharedValuesRead(by: key.id) {
            let read = context.sharedKey(of: id, around: key.group)
            changes.append((plan.workflow[id].name, try text(of: read)))
        }
        changes += options.environment.map { ($0.name, $0.value) }
        changes += options.secrets.environment(for: definition.secrets).map { ($0.name, $0.value) }
        environment.environment = EnvironmentBlock(environment.environment, changes: changes)
        return try command(words(of: definition, key), in: environment)
    }

    private func words(of definition: SharedValue.Command, _ key: SharedKey) throws(StepError) -> [String] {
        switch definition.body {
        case .group, .milestone: preconditionFailure("`vars` without a command")
        case .arguments(let templates):
            return try words(of: templates, in: RowScope(context: context, row: key.group, isShared: true))
        case .script(let script):
            let text = script.text(in: plan.workflow.file)
            guard let shebang = Shebang(text) else {
                return (definition.shell ?? plan.shell(of: key.group, isInside: true)).command(for: text)
            }
            return shebang.command(for: try files.make(holding: text, of: "vars"), isTraced: false)
        }
    }
}
