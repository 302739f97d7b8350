internal import Planning
internal import Scheduling
internal import Workflow

extension OperationGraph {
    /// Makes the operations of a plan, one for each row, so that a plan's row is an operation's id. Sets `locks` to
    /// the run's locks.
    init(_ plan: Plan, options: RunOptions, locks: inout RunLocks) {
        self.init(
            limit: plan.maxParallel(of: .root).map(ConcurrencyLimit.operations) ?? .unlimited,
            failFast: options.failFast.map { $0 ? .cancel : .off } ?? plan.failFast(of: .root).map(FailFast.init)
                ?? .off,
            timeout: options.timeout ?? plan.timeout(of: .root), concludes: plan.concludes(.root),
            isConditional: !plan.requirements(of: .root).isEmpty, isSequence: plan.isSequence(.root),
            minimumCapacity: plan.nodes.count)
        locks = RunLocks(plan.workflow, in: &self)
        add(PlanIndex.root.next..<plan.rows.upperBound, of: plan, options.priorities, locks: locks)
    }

    /// Makes the operations of the rows that `Plan.expand(_:into:)` has added last, which come next in the run as
    /// well.
    init(_ rows: Range<PlanIndex>, of plan: Plan, options: RunOptions, locks: RunLocks) {
        self.init(joiningAt: rows.lowerBound.offset)
        add(rows, of: plan, options.priorities, locks: locks)
    }

    /// Adds rows in preorder, and their dependencies.
    private mutating func add(
        _ rows: Range<PlanIndex>, of plan: Plan, _ priorities: RowPriorities?, locks: RunLocks
    ) {
        let hasVars = plan.workflow.hasSharedValues
        // The ends of the rows that enclose the next one, innermost last.
        var open: [PlanIndex] = []
        for row in rows {
            while let end = open.last, end <= row {
                endGroup()
                open.removeLast()
            }
            if let hook = plan.nodes[row].hook {
                beginHook(Hook(hook))
            } else {
                let priority = priorities?[row, plan] ?? plan.nodes[row].remainingPath
                add(row, of: plan, priority: priority, locks: locks, hasVars: hasVars)
            }
            if !locks.isEmpty, plan.isDynamicFanOut(row) {
                foresee(
                    locks.mutexes(inside: plan.nodes[row].definition, of: plan),
                    needs: plan.outsideNeeds(ofInstancesOf: row).map { OperationID($0) },
                    in: OperationID(row))
            }
            if plan.nodes[row].role != .step { open.append(plan.nodes[row].subtreeEnd) }
        }
        for _ in open { endGroup() }
        for row in rows where plan.nodes[row].edgeStart != plan.nodes[row].edgeEnd {
            for edge in plan.edges(of: row) {
                let (id, target) = (OperationID(row), OperationID(edge.target))
                if edge.isSequence {
                    addDependency(of: id, on: target, .done, .order)
                } else {
                    addDependency(of: id, on: target, DependencyKind(edge.kind))
                }
            }
        }
    }

    private mutating func add(
        _ row: PlanIndex, of plan: Plan, priority: UInt32, locks: RunLocks, hasVars: Bool
    ) {
        var options = Options(
            priority: priority, timeout: plan.timeout(of: row),
            retry: plan.retry(of: row).map(RetryPolicy.init))
        // A step that reads one of `vars` waits for the value before it takes a slot and its locks.
        options.isConditional =
            plan.isGivenValues(row) || plan.usesWhatRequires(row)
            || hasVars && plan.nodes[row].role == .step && !plan.isMilestone(row)
        // Most rows have no keys of their own.
        if plan.settings(of: row) != nil {
            let condition = plan.condition(of: row)
            options.isConditional =
                condition != nil || !plan.platforms(of: row).allow() || options.isConditional
                || plan.confirmation(of: row) != nil || !plan.requirements(of: row).isEmpty
            options.waitsForAll = plan.waitsForAll(row)
            options.toleratesFailure = plan.toleratesFailure(of: row)
            options.locks = locks.requests(pools: plan.pools(of: row), mutexes: plan.mutexes(of: row))
        }
        switch plan.nodes[row].role {
        case .step where plan.isMilestone(row):
            // A group without members takes no slot and succeeds at once.
            beginGroup(options, limit: .unlimited, failFast: nil)
            endGroup()
        case .step:
            addOperation(options)
        case .fanOut:
            beginGroup(
                options, limit: plan.maxParallel(of: row).map(ConcurrencyLimit.members) ?? .unlimited,
                failFast: plan.failFast(of: row).map(FailFast.init), isExpandable: plan.isDynamicFanOut(row),
                judgesMembers: plan.decidesByCopies(row))
        case .group:
            beginGroup(
                options, limit: plan.maxParallel(of: row).map(ConcurrencyLimit.operations) ?? .unlimited,
                failFast: plan.failFast(of: row).map(FailFast.init), concludes: plan.concludes(row),
                isSequence: plan.isSequence(row))
        }
    }
}

extension Plan {
    /// True if parameters of the body that a group uses have evaluated values to be checked, from `with` or by default.
    fileprivate func isGivenValues(_ row: PlanIndex) -> Bool {
        guard let use = use(of: row) else { return false }
        return use.arguments.contains { $0.templates.contains { $0.literal == nil } }
            || use.parameters.contains { $0.computedDefault != nil }
    }

    /// True if a group uses a body with requirements, which decide if it may run.
    fileprivate func usesWhatRequires(_ row: PlanIndex) -> Bool {
        use(of: row)?.settings?.requirements.isEmpty == false
    }

    /// True if the end of a group needs a decision: it has outputs, or only some of its failures are retried.
    fileprivate func concludes(_ row: PlanIndex) -> Bool {
        settings(of: row)?.outputs.isEmpty == false || retry(of: row)?.reasons.isEmpty == false
    }
}

extension FailFast {
    init(_ policy: FailFastWord) {
        self =
            switch policy {
            case .off: .off
            case .cancel: .cancel
            case .drain: .drain
            }
    }
}

extension DependencyKind {
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

/// The locks of a run: its pools and its mutexes. Names are the run's, the same in all instances; a pool and a mutex of
/// one name are two locks.
struct RunLocks {
    /// The name of each lock by its index, for the log.
    private(set) var names: [String] = []
    private var pools: [String: LockID] = [:]
    private var mutexes: [String: LockID] = [:]

    init() {}

    /// Adds the locks that the workflow declares or requests to the graph. O(definitions).
    init(_ workflow: Workflow, in graph: inout OperationGraph) {
        for pool in workflow.pools where pools[pool.name] == nil {
            pools[pool.name] = graph.addPool(of: max(1, pool.size))
            names.append(pool.name)
        }
        for node in workflow.nodes {
            guard let settings = node.settings else { continue }
            for mutex in settings.mutexes where mutexes[mutex.name] == nil {
                mutexes[mutex.name] = graph.addMutex()
                names.append(mutex.name)
            }
        }
    }

    var isEmpty: Bool { names.isEmpty }

    /// Returns the mutexes that instances of a definition and everything inside them name.
    func mutexes(inside definition: NodeIndex, of plan: Plan) -> [LockID] {
        let workflow = plan.workflow
        let inside = (definition.row..<Int(workflow[definition].subtreeEnd)).map { NodeIndex($0) }
        let requests = inside.filter { !plan.isLeftOut($0) }.flatMap { workflow.settings(of: $0)?.mutexes ?? [] }
        return Set(requests.compactMap { mutexes[$0.name] }).sorted()
    }

    /// Returns the requests for the locks of a step or group, each mutex once.
    func requests(pools wanted: [PoolRequest], mutexes names: [MutexRequest]) -> [LockRequest] {
        guard !wanted.isEmpty || !names.isEmpty else { return [] }
        var requests: [LockRequest] = []
        for pool in wanted {
            if let lock = pools[pool.pool] { requests.append(LockRequest(lock: lock, units: pool.units)) }
        }
        for mutex in names {
            guard let lock = mutexes[mutex.name], !requests.contains(where: { $0.lock == lock }) else { continue }
            requests.append(LockRequest(lock: lock))
        }
        return requests
    }
}
