internal import AsyncOperations
internal import WorkflowModel
internal import WorkflowPlanning

extension OperationGraph {
    /// The plan as operations: row by row the same, so that a plan's row is an operation's id.
    init(_ plan: Plan, options: RunOptions) {
        let top = plan.workflow.settings(of: .root)
        self.init(
            limit: top?.maxParallel.map(ConcurrencyLimit.operations) ?? .unlimited,
            failFast: options.failFast.map { $0 ? .cancel : .off } ?? top?.failFast.map(FailFast.init) ?? .off,
            timeout: options.timeout ?? top?.timeout?.duration, minimumCapacity: plan.nodes.count)
        var openEnds: [UInt32] = []
        for (row, node) in plan.nodes.enumerated().dropFirst() {
            while let end = openEnds.last, end <= row {
                endGroup()
                openEnds.removeLast()
            }
            add(node, of: plan, settings: plan.workflow.settings(of: node.definition))
            if node.role != .step { openEnds.append(node.subtreeEnd) }
        }
        for (row, node) in plan.nodes.enumerated() where node.edgeStart != node.edgeEnd {
            for edge in plan.edges(of: row) {
                addDependency(of: OperationID(row: row), on: OperationID(row: Int(edge.target)), EdgeKind(edge.kind))
            }
        }
    }

    /// `max-parallel` and `fail-fast` of a fan-out belong to the whole, every other key to each copy (DESIGN section 11).
    private mutating func add(_ node: PlanNode, of plan: Plan, settings: Settings?) {
        var options = Options(priority: node.remainingPath)
        if node.role != .fanOut {
            options.timeout = settings?.timeout?.duration
            options.toleratesFailure = settings?.continueOnError ?? false
        }
        switch node.role {
        case .step:
            options.timeout = options.timeout ?? plan.workflow.defaults.timeout
            addOperation(options)
        case .fanOut:
            beginGroup(
                options, limit: settings?.maxParallel.map(ConcurrencyLimit.members) ?? .unlimited,
                failFast: settings?.failFast.map(FailFast.init))
        case .group where settings?.fanOut != nil:
            beginGroup(options)
        case .group:
            beginGroup(
                options, limit: settings?.maxParallel.map(ConcurrencyLimit.operations) ?? .unlimited,
                failFast: settings?.failFast.map(FailFast.init))
        }
    }
}

extension AsyncOperations.FailFast {
    init(_ policy: WorkflowModel.FailFast) {
        self =
            switch policy {
            case .off: .off
            case .cancel: .cancel
            case .drain: .drain
            }
    }
}

extension EdgeKind {
    init(_ kind: Need.Kind) {
        self =
            switch kind {
            case .ok: .ok
            case .success: .success
            case .failure: .failure
            case .done: .done
            }
    }
}
