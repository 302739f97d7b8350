internal import WorkflowExecution
internal import WorkflowModel
internal import WorkflowPlanning

/// What a run gets from its caller beside the file: the values of parameters and secrets.
struct RunValues {
    let parameters: ParameterValues
    let secrets: RunSecrets

    /// Reads both before anything starts, so that everything that is wrong is told at once. `folder` is the workflow
    /// file's.
    init(_ request: RunRequest, for plan: Plan, folder: String?) throws(CommandError) {
        var messages: [String] = []
        var (parameters, secrets) = (ParameterValues.none, RunSecrets.none)
        let workflow = plan.workflow
        if !workflow.parameters.isEmpty || !request.parameters.isEmpty {
            do {
                parameters = try ParameterValues(
                    request.parameters.map { ($0.name, $0.value) }, for: workflow.parameters)
            } catch {
                messages += error.messages
            }
        }
        if !workflow.secrets.isEmpty {
            let needed = Self.secretNames(in: plan)
            do {
                secrets = try RunSecrets(workflow.secrets, folder: folder, isNeeded: needed.contains)
            } catch {
                messages += error.messages
            }
        }
        guard messages.isEmpty else { throw CommandError(.usage, messages.map(secrets.masked)) }
        (self.parameters, self.secrets) = (parameters, secrets)
    }

    /// Those that a step of the plan lists.
    private static func secretNames(in plan: Plan) -> Set<String> {
        var names: Set<String> = []
        for node in plan.nodes {
            for use in plan.workflow.settings(of: node.definition)?.secrets ?? [] { names.insert(use.name) }
        }
        return names
    }
}
