internal import Planning
internal import RunLog
internal import Syntax
internal import Workflow

extension WorkflowChoice {
    /// The plan of the whole file. Shows all findings on standard error; throws if one is an error.
    func wholePlan() throws(CommandError) -> Plan { try whole(color: .auto) { _ in .none } }

    /// The plan of what is chosen, the steps named or else what the file says runs by default, and what the caller
    /// gives; `read` makes that out of the workflow.
    func plan(
        color: ColorMode = .auto, reading read: (Workflow) -> RunValues
    ) throws(CommandError) -> (plan: Plan, values: RunValues) {
        var values: RunValues?
        let whole = try whole(color: color) { workflow in
            let made = read(workflow)
            values = made
            return made.known
        }
        let plan = try chosen(of: whole)
        return (plan, values ?? read(plan.workflow))
    }

    private func whole(color: ColorMode, known: (Workflow) -> KnownValues) throws(CommandError) -> Plan {
        let loaded = WorkflowLoader(file, allowsOutside: allowsOutside, known: known)
        StandardStream.error.show(loaded.diagnostics, color: color)
        guard let plan = loaded.plan else { throw CommandError(.invalid, [], hint: advice) }
        return plan
    }

    private func chosen(of whole: Plan) throws(CommandError) -> Plan {
        let plan: Plan
        do {
            plan = try whole.restricted(to: steps)
        } catch {
            throw self.error(for: error)
        }
        guard plan.hasWork || !plan.workflow.hasManual else { throw .usage(nothingToRun(of: plan.workflow)) }
        return plan
    }

    /// Only steps are left that have to be named.
    private func nothingToRun(of workflow: Workflow) -> String {
        let manual = workflow.nodes.indices.first { workflow.settings(of: NodeIndex($0))?.isManual == true }
        let example = manual.map { ", such as `\(workflow.path(of: NodeIndex($0)))`" } ?? ""
        let what = steps.isEmpty ? "every step" : "everything in \(Phrase.all(steps))"
        return "nothing to run: \(what) is manual; name what is to run\(example)"
    }
}

extension Plan {
    /// Whether there is a step, or may be one that the run makes.
    fileprivate var hasWork: Bool { rows.contains { nodes[$0].role == .step || isDynamicFanOut($0) } }
}
