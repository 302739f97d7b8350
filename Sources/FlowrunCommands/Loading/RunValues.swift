internal import Planning
internal import Running
internal import Workflow

/// The input of a run besides the file: the values of parameters and secrets.
struct RunValues {
    let parameters: ParameterValues
    let secrets: RunSecrets
    /// Mistakes in the given values.
    private var mistakes: [String] = []
    /// Required parameters that are not given.
    private var missing: [Parameter] = []

    /// Reads both. `folder` is the workflow file's; `readsSecrets` is false for a command that only shows a plan. If
    /// commands are only shown, secrets may be missing.
    init(
        _ words: StepWords, for workflow: Workflow, folder: String? = nil, readsSecrets: Bool = true,
        areOnlyShown: Bool = false
    ) {
        var parameters = ParameterValues.none
        let given = words.ofWorkflow
        if !workflow.parameters.isEmpty || !given.isEmpty {
            do {
                parameters = try ParameterValues(
                    given.map { ($0.name, $0.text) }, for: workflow.parameters, variable: RunSecrets.variable,
                    computing: workflow.defaultValue)
            } catch {
                mistakes = error.messages
                missing = error.missing
            }
        }
        if workflow.namingKeys.contains(.params) {
            parameters.ofSteps = StepParameterValues(
                of: workflow, given: words.given, mistakes: &mistakes, variable: RunSecrets.variable)
        }
        self.parameters = parameters
        missing += parameters.missing
        let isSecretive = readsSecrets && !workflow.secrets.isEmpty
        secrets = isSecretive ? RunSecrets(workflow.secrets, folder: folder, isOnlyShown: areOnlyShown) : .none
    }

    /// The values known when a plan is made.
    var known: KnownValues {
        KnownValues(fields: parameters.fields, ofSteps: parameters.ofSteps) { [secrets] in secrets.masked($0) != $0 }
    }

    /// Throws if there are mistakes in the given values.
    func check() throws(CommandError) { try fail(mistakes) }

    /// Throws if there are mistakes, or if a step of the plan reads a required value that is missing. Reports all of
    /// them together, before anything starts.
    func demand(by plan: Plan) throws(CommandError) {
        let ofSteps = parameters.ofSteps?.missing ?? []
        guard !missing.isEmpty || !ofSteps.isEmpty || !plan.workflow.secrets.isEmpty else { return try check() }
        let reads = PlanReads(plan, known: known, wanted: missing.map(\.name))
        var messages = mistakes + missing.filter { $0.isRequired && reads.parameters.contains($0.name) }.map(\.demand)
        messages += ofSteps.filter { reads.steps.contains($0.step) }.map { $0.parameter.demand(by: $0.id) }
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
