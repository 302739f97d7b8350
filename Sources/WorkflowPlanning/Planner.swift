package import SourceDiagnostics
package import WorkflowModel

/// Turns a workflow into a plan, or says why it could never finish. Pure; `check`, `plan` and `run` all call it, so that
/// what passes one passes the others.
package enum Planner {
    /// How many rows a plan may have, groups and fan-outs counted: about 100 MB.
    package static let rowLimit = 1_000_000

    /// Findings are sorted by place; the plan is nil where one of them is an error. O(steps + needs) for a sound
    /// workflow, and no recursion on the depth of the graph.
    package static func plan(_ workflow: Workflow) -> (plan: Plan?, diagnostics: [Diagnostic]) {
        var resolver = NeedResolver(workflow)
        let needs = resolver.resolve()
        var diagnostics = resolver.diagnostics

        let graph = DependencyGraph(workflow, needs)
        let reporter = CycleReporter(workflow: workflow, needs: needs, graph: graph)
        for component in graph.cyclicComponents() { diagnostics.append(reporter.diagnostic(for: component)) }

        let layout = PlanLayout(workflow)
        if let finding = layout.sizeFinding(limit: rowLimit) { diagnostics.append(finding) }

        diagnostics = diagnostics.sortedByPlace()
        guard !diagnostics.containErrors else { return (nil, diagnostics) }
        var expansion = PlanExpansion(workflow, needs, layout)
        expansion.expand()
        return (Plan(workflow: workflow, measuring: expansion.nodes, edges: expansion.edges), diagnostics)
    }
}
