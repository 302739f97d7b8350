internal import Planning
internal import Running
internal import Workflow

/// What a run gets from its caller beside the file: the values of parameters and secrets.
struct RunValues {
    let parameters: ParameterValues
    let secrets: RunSecrets
    /// What is wrong with what was given.
    private var mistakes: [String] = []
    /// Required, and not given.
    private var missing: [Parameter] = []

    /// Reads both. `folder` is the workflow file's; `readsSecrets` is false for a command that only shows a plan.
    init(
        _ given: [Assignment], for workflow: Workflow, folder: String? = nil, readsSecrets: Bool = true
    ) {
        var parameters = ParameterValues.none
        if !workflow.parameters.isEmpty || !given.isEmpty {
            do {
                parameters = try ParameterValues(
                    given.map { ($0.name, $0.value) }, for: workflow.parameters, variable: RunSecrets.variable)
            } catch {
                mistakes = error.messages
                missing = error.missing
            }
        }
        self.parameters = parameters
        missing += parameters.missing
        let isSecretive = readsSecrets && !workflow.secrets.isEmpty
        secrets = isSecretive ? RunSecrets(workflow.secrets, folder: folder) : .none
    }

    /// What a plan can be made with.
    var known: KnownValues {
        KnownValues(fields: parameters.fields) { [secrets] in secrets.masked($0) != $0 }
    }

    /// Throws if something is wrong with what was given.
    func check() throws(CommandError) { try fail(mistakes) }

    /// Throws if something is wrong, or a step of the plan reads what is required and nobody gave: all at once, before
    /// anything starts.
    func demand(by plan: Plan) throws(CommandError) {
        guard !missing.isEmpty || !plan.workflow.secrets.isEmpty else { return try check() }
        let reads = PlanReads(plan, known: known, wanted: missing.map(\.name))
        var messages = mistakes + missing.filter { reads.parameters.contains($0.name) }.map(\.demand)
        do {
            try secrets.demand(reads.secrets.contains)
        } catch {
            messages += error.messages
        }
        try fail(messages)
    }

    private func fail(_ messages: [String]) throws(CommandError) {
        guard messages.isEmpty else { throw CommandError(.usage, messages.map(secrets.masked)) }
    }
}
