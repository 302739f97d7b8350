internal import OperationScheduling
internal import WorkflowModel
internal import WorkflowPlanning

extension OperationGraph {
    /// The plan as operations: row by row the same, so that a plan's row is an operation's id. `locks` becomes the run's.
    init(_ plan: Plan, options: RunOptions, locks: inout RunLocks) {
        let top = plan.workflow.settings(of: .root)
        self.init(
            limit: top?.maxParallel.map(ConcurrencyLimit.operations) ?? .unlimited,
            failFast: options.failFast.map { $0 ? .cancel : .off } ?? top?.failFast.map(FailFast.init) ?? .off,
            timeout: options.timeout ?? top?.timeout?.duration, concludes: top?.outputs.isEmpty == false,
            minimumCapacity: plan.nodes.count)
        locks = RunLocks(plan.workflow, in: &self)
        add(PlanIndex.root.next..<plan.rows.upperBound, of: plan, locks: locks)
    }

    /// The rows that `Plan.expand(_:into:)` has added last, which come next in the run as well.
    init(_ rows: Range<PlanIndex>, of plan: Plan, locks: RunLocks) {
        self.init(joiningAt: rows.lowerBound.offset)
        add(rows, of: plan, locks: locks)
    }

    /// Rows in preorder and what they wait for.
    private mutating func add(_ rows: Range<PlanIndex>, of plan: Plan, locks: RunLocks) {
        // The rows around the next one, innermost last, and whether they are in a hook.
        var open: [(end: PlanIndex, isInHook: Bool)] = []
        let isInHook = rows.first.map { plan.isInHook(plan.nodes[$0].parent) } ?? false
        for row in rows {
            let node = plan.nodes[row]
            while let last = open.last, last.end <= row {
                endGroup()
                open.removeLast()
            }
            let isInHook = node.hook != nil || open.last?.isInHook ?? isInHook
            if let hook = node.hook {
                beginHook(Hook(hook))
            } else {
                add(node, of: plan, isInHook: isInHook, locks: locks)
            }
            if !locks.isEmpty, plan.isDynamicFanOut(row) {
                foresee(
                    locks.mutexes(inside: node.definition, of: plan.workflow),
                    needs: plan.outsideNeeds(ofInstancesOf: row).map { OperationID($0) },
                    in: OperationID(row))
            }
            if node.role != .step { open.append((node.subtreeEnd, isInHook)) }
        }
        for _ in open { endGroup() }
        for row in rows where plan.nodes[row].edgeStart != plan.nodes[row].edgeEnd {
            for edge in plan.edges(of: row) {
                addDependency(
                    of: OperationID(row), on: OperationID(edge.target), EdgeKind(edge.kind))
            }
        }
    }

    /// `if`, `max-parallel` and `fail-fast` of a fan-out belong to the whole, as its `needs` do; every other key to each
    /// copy.
    private mutating func add(_ node: PlanNode, of plan: Plan, isInHook: Bool, locks: RunLocks) {
        var options = Options(priority: node.remainingPath)
        let defaults = plan.workflow.defaults
        if node.role == .step {
            options.timeout = defaults.timeout ?? (isInHook ? Defaults.hookTimeout : nil)
            options.retry = defaults.retry.map(RetryPolicy.init)
        }
        guard let settings = plan.workflow.settings(of: node.definition) else {
            if node.role == .step { addOperation(options) } else { beginGroup(options) }
            return
        }
        let isWhole = node.role == .fanOut || settings.fanOut == nil
        if isWhole {
            options.isConditional = settings.condition != nil || !settings.platforms.allow()
            options.waitsForAll = settings.condition?.usesStatus ?? false
        }
        if node.role != .fanOut {
            options.timeout = settings.timeout?.duration ?? options.timeout
            options.toleratesFailure = settings.continueOnError
            options.retry = settings.retry.map(RetryPolicy.init) ?? options.retry
            options.locks = locks.requests(of: settings)
        }
        let failFast = settings.failFast.map(FailFast.init)
        switch node.role {
        case .step:
            addOperation(options)
        case .fanOut:
            beginGroup(
                options, limit: settings.maxParallel.map(ConcurrencyLimit.members) ?? .unlimited, failFast: failFast,
                isExpandable: settings.fanOut?.isDynamic == true)
        case .group:
            beginGroup(
                options,
                limit: isWhole ? settings.maxParallel.map(ConcurrencyLimit.operations) ?? .unlimited : .unlimited,
                failFast: isWhole ? failFast : nil,
                concludes: !settings.outputs.isEmpty || settings.retry?.reasons.isEmpty == false)
        }
    }
}

extension OperationScheduling.FailFast {
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

extension Hook {
    init(_ hook: WorkflowNode.Hook) {
        self =
            switch hook {
            case .onFailure: .onFailure
            case .finally: .finally
            }
    }
}

extension RetryPolicy {
    init(_ retry: Retry) {
        self.init(
            attempts: retry.attempts,
            backoff: retry.delay == .zero
                ? .none : .exponential(factor: retry.backoff, initial: retry.delay, max: retry.maxDelay),
            jitter: retry.jitter, deadline: retry.deadline?.duration,
            retriesTimeout: retry.reasons.isEmpty || retry.reasons.contains(.timeout))
    }
}
