import Scheduling
package import Syntax
package import Workflow

/// Turns a workflow into a plan, or reports why it could never finish. Pure; no recursion on the depth of the graph.
package enum Planner {
    /// The largest number of rows in a plan, groups and fan-outs included: about 100 MB.
    package static let rowLimit = 1_000_000

    /// Returns all findings about the graph, sorted by place; a workflow without errors among them has a plan.
    /// O(steps + needs) for a sound workflow.
    package static func findings(in workflow: Workflow) -> [Diagnostic] { prove(workflow).diagnostics }

    /// Returns the plan and the `findings(in:)`; the plan is nil exactly if one of them is an error. Fan-outs whose
    /// items follow from the known values have their instances in the plan.
    package static func plan(
        _ workflow: Workflow, known: KnownValues = .none
    ) -> (plan: Plan?, diagnostics: [Diagnostic]) {
        let proof = prove(workflow)
        guard !proof.diagnostics.containErrors else { return (nil, proof.diagnostics) }
        var workflow = workflow
        var layout = proof.layout
        if workflow.hasComputedSettings {
            let computed = workflow.computing(known)
            guard computed.findings.isEmpty else {
                return (nil, (proof.diagnostics + computed.findings).sortedByPlace())
            }
            workflow = computed.workflow
            layout = PlanLayout(workflow, isOutline: true)
            if let finding = layout?.sizeFinding(limit: rowLimit) {
                return (nil, (proof.diagnostics + [finding]).sortedByPlace())
            }
        }
        return plan(workflow, layout ?? PlanLayout(workflow, isOutline: true), proof, known: known)
    }

    private static func plan(
        _ workflow: Workflow, _ whole: PlanLayout, _ proof: Proof, known: KnownValues
    ) -> (plan: Plan?, diagnostics: [Diagnostic]) {
        var layout = whole
        if let settled = workflow.settling(known) {
            let larger = PlanLayout(settled, isOutline: true)
            // An expansion that is too large to show is left to the run.
            if larger.total <= rowLimit { layout = larger }
        }
        var expansion = PlanExpansion(layout, proof.needs)
        expansion.expandWorkflow()
        let rows = expansion.takeRows()
        let origin = PlanOrigin(layout.workflow, standardOutputReads: proof.standardOutputReads)
        let outline = Plan(origin, measuring: rows.nodes, edges: rows.edges)
        if workflow.hasComputedSettings {
            let findings = outline.findingsOfCopies(hiding: known.isHidden)
            guard findings.isEmpty else { return (nil, (proof.diagnostics + findings).sortedByPlace()) }
        }
        return (outline.withoutDynamicInstances(needs: proof.needs), proof.diagnostics)
    }

    /// The results of checking a workflow before its rows are made.
    private struct Proof {
        let needs: ResolvedNeeds
        /// nil if each definition is one row.
        let layout: PlanLayout?
        let standardOutputReads: Set<NodeIndex>
        let diagnostics: [Diagnostic]
    }

    private static func prove(_ workflow: Workflow) -> Proof {
        var resolver = NeedResolver(workflow)
        let needs = resolver.resolve()
        var findings = resolver.findings

        if !needs.followFileOrder(workflow.nodes) {
            let graph = DependencyGraph(workflow, needs)
            var reporter = CycleReporter(workflow, needs, graph)
            for component in graph.waits.cyclicComponents() {
                findings.add(.error) { reporter.diagnostic(for: component) }
            }
        }

        if workflow.hasDefault {
            var defaults = DefaultFindings(workflow, resolver.names)
            defaults.add(to: &findings)
        }
        var undoes = UndoesFindings(workflow, resolver.names)
        undoes.add(to: &findings)

        var sharedValues = SharedValueFindings(workflow: workflow)
        sharedValues.add(to: &findings)

        if PassedFailures.concern(workflow) { PassedFailures(workflow, needs).add(to: &findings) }

        var locks = LockFindings(workflow)
        locks.add(to: &findings)

        var standardOutputReads: Set<NodeIndex> = []
        if !sharedValues.isTooDeep, DataFlowCheck.concerns(workflow) {
            var dataFlow = DataFlowCheck(workflow, needs, resolver.names)
            dataFlow.check()
            standardOutputReads = dataFlow.standardOutputReads
            findings.append(dataFlow.findings)
        }

        // Without a fan-out each definition is one row.
        var layout: PlanLayout?
        if workflow.nodes.count > rowLimit || workflow.nodes.indices.contains(where: workflow.isFanOut) {
            let outline = PlanLayout(workflow, isOutline: true)
            if let finding = outline.sizeFinding(limit: rowLimit) { findings.add(.error) { finding } }
            layout = outline
        }
        return Proof(
            needs: needs, layout: layout, standardOutputReads: standardOutputReads, diagnostics: findings.sorted)
    }
}

extension Workflow {
    /// True if some file declares the steps that run when none is named.
    fileprivate var hasDefault: Bool { defaultSteps != nil || uses.contains { $0.defaultSteps != nil } }

    fileprivate func isFanOut(_ row: Int) -> Bool { nodes[row].settings?.fanOut != nil }
}

extension Workflow {
    /// Returns the workflow with the instances of every fan-out over known values filled in, as if the file listed
    /// them; nil if there is no such fan-out. A fan-out with an invalid list is unchanged: the run reports the
    /// mistake.
    func settling(_ known: KnownValues) -> Workflow? {
        var settled: Workflow?
        for row in nodes.indices {
            guard let settings = nodes[row].settings, let fanOut = settings.fanOut, let items = fanOut.items,
                !items.references.isEmpty, let list = known.value(of: items, at: NodeIndex(row), of: self),
                let instances = try? fanOut.instances(over: list, isHidden: known.isHidden)
            else { continue }
            var workflow = settled ?? self
            workflow.nodes[row].settings = settings.with(
                fanOut.with(instances))
            settled = workflow
        }
        return settled
    }
}
