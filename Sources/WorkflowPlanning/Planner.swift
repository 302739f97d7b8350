package import SourceDiagnostics
package import WorkflowModel

/// Turns a workflow into a plan, or says why it could never finish. Pure; no recursion on the depth of the graph.
package enum Planner {
    /// How many rows a plan may have, groups and fan-outs counted: about 100 MB.
    package static let rowLimit = 1_000_000

    /// Everything wrong with the graph, sorted by place; a workflow without errors here has a plan. O(steps + needs) for
    /// a sound workflow.
    package static func findings(in workflow: Workflow) -> [Diagnostic] { prove(workflow).diagnostics }

    /// The plan and the `findings(in:)`; the plan is nil exactly where one of them is an error.
    package static func plan(_ workflow: Workflow) -> (plan: Plan?, diagnostics: [Diagnostic]) {
        let proof = prove(workflow)
        guard !proof.diagnostics.containErrors else { return (nil, proof.diagnostics) }
        var expansion = PlanExpansion(proof.layout, proof.needs)
        expansion.expandWorkflow()
        let rows = expansion.takeRows()
        let outline = Plan(workflow: workflow, measuring: rows.nodes, edges: rows.edges)
        var plan = outline.withoutDynamicInstances(needs: proof.needs)
        plan.standardOutputReads = proof.standardOutputReads
        return (plan, proof.diagnostics)
    }

    private static func prove(
        _ workflow: Workflow
    ) -> (
        needs: ResolvedNeeds, layout: PlanLayout, standardOutputReads: Set<NodeIndex>, diagnostics: [Diagnostic]
    ) {
        var resolver = NeedResolver(workflow)
        let needs = resolver.resolve()
        var findings = resolver.findings

        let graph = DependencyGraph(workflow, needs)
        var reporter = CycleReporter(workflow, needs, graph)
        let cycles = graph.cyclicComponents()
        for component in cycles { findings.add(.error) { reporter.diagnostic(for: component) } }

        let locks = LockTable(workflow)
        LockFindings(workflow, locks).add(to: &findings)
        // Who waits for whom is a question only where an order exists.
        if cycles.isEmpty, !locks.holders.isEmpty { addDeadlocks(workflow, needs, graph, locks, to: &findings) }

        var standardOutputReads: Set<NodeIndex> = []
        if DataFlowCheck.concerns(workflow) {
            var dataFlow = DataFlowCheck(workflow, needs, resolver.names)
            dataFlow.check()
            standardOutputReads = dataFlow.standardOutputReads
            findings.append(dataFlow.findings)
        }

        let layout = PlanLayout(workflow, isOutline: true)
        if let finding = layout.sizeFinding(limit: rowLimit) { findings.add(.error) { finding } }
        return (needs, layout, standardOutputReads, findings.sorted)
    }

    private static func addDeadlocks(
        _ workflow: Workflow, _ needs: ResolvedNeeds, _ graph: DependencyGraph, _ locks: LockTable,
        to findings: inout FindingList
    ) {
        let entangled = LockWaits(graph, locks).entangled
        guard !entangled.isEmpty else { return }
        var finder = DeadlockFinder(workflow, graph, locks)
        let reporter = DeadlockReporter(workflow, needs, graph, locks)
        for holders in entangled {
            let holders = holders.map { locks.holders[$0] }
            switch finder.circle(among: holders) {
            case .circle(let turns):
                var relations = finder.relations
                findings.add(.error) { reporter.diagnostic(for: turns, &relations) }
            case .unknown: findings.add(.error) { reporter.undecided(holders) }
            case .none: break
            }
        }
    }
}
