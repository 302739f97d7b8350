import SourceDiagnostics
import WorkflowModel

/// What is wrong with the names in `default`.
struct DefaultFindings {
    let workflow: Workflow

    /// O(names), each times the members of the groups on its way.
    func add(to findings: inout FindingList) {
        add(workflow.defaultSteps ?? [], in: .root, to: &findings)
        for use in workflow.uses { add(use.defaultSteps ?? [], in: use.group, to: &findings) }
    }

    private func add(_ steps: [StepReference], in group: NodeIndex, to findings: inout FindingList) {
        for step in steps {
            if let fanOut = workflow.instanceOfDynamicFanOut(in: step.name, of: group) {
                findings.add(.error) { dynamic(step, of: fanOut) }
            } else if workflow.definition(named: step.name, in: group) == nil {
                findings.add(.error) { unknown(step) }
            }
        }
    }

    private func dynamic(_ step: StepReference, of fanOut: String) -> Diagnostic {
        Diagnostic(
            .unknownStep,
            "`default` cannot name \(Phrase.quoted(step.name)): only the run knows the instances of `\(fanOut)`",
            in: workflow.file, at: step.range,
            fix: Diagnostic.Fix(
                "name `\(fanOut)`", edits: [Diagnostic.Fix.Edit(range: step.range, replacement: fanOut)]))
    }

    private func unknown(_ step: StepReference) -> Diagnostic {
        let near = workflow.suggestion(for: step.name)
        return Diagnostic(
            .unknownStep, "`default` names \(Phrase.quoted(step.name)), and there is no such step or group",
            in: workflow.file, at: step.range,
            fix: near.map {
                Diagnostic.Fix(
                    "did you mean `\($0)`?", edits: [Diagnostic.Fix.Edit(range: step.range, replacement: $0)])
            } ?? Diagnostic.Fix("write the id of a step or group, with those of the groups around it: `build.compile`"))
    }
}
