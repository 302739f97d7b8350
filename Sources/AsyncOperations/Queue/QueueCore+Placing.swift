// Gives operations rows in the scheduler.

extension QueueCore {
    /// Places what was claimed.
    func place(_ batch: Batch, _ producer: AsyncOperationID?, _ state: inout State) {
        count(batch, &state)
        let group = batch.parent?.lifecycle.row ?? .root
        var edges: [Edge] = []
        var standIns: [StandIn] = []
        for step in batch.walk {
            if case .enter(let core) = step { note(needsOf: core, &edges, &standIns, &state) }
        }
        add(standIns, &state)
        var rows = OperationGraph(joiningAt: state.entries.count)
        var early: [StandIn] = []
        for step in batch.walk { enter(step, &rows, &early, producer, &state) }
        for edge in edges {
            guard let dependent = edge.dependent.lifecycle.row, let prerequisite = edge.prerequisite else { continue }
            rows.addDependency(of: dependent, on: prerequisite, edge.kind, edge.reason)
        }
        for standIn in early { waitInTurn(for: standIn, &rows) }
        let first = rows.rows.lowerBound
        for wait in batch.held?.waits ?? [] {
            guard let group = waitingRow(of: wait.group), group.row >= first, wait.rival.lifecycle.queue === self,
                let other = wait.rival.lifecycle.row
            else { continue }
            rows.addDependency(of: group, on: other, .done, .outside)
        }
        handle(.added(group, rows), &state)
        if let held = batch.held { holdBack(held, besides: first, &state) }
        for standIn in standIns + early { follow(standIn, &state) }
        if !state.standIns.isEmpty {
            for case .enter(let core) in batch.walk { replaceStandIn(of: core, &state) }
        }
        for core in batch.cores {
            state.suspect(core)
            // From now on, its end is final only after the last round of what it has joined, even if it runs already.
            if state.hasRetriedCompounds, let retried = core.outermostRetried { state.suspect(retried) }
        }
    }

    /// A member that is just being cancelled has its turn too: if the number at once is limited, the others wait until
    /// everybody has been told of its end.
    private func waitInTurn(for standIn: StandIn, _ rows: inout OperationGraph) {
        guard let compound = standIn.core.parent, compound.limit != .unlimited else { return }
        guard let prerequisite = standIn.row else { return }
        for row in compound.withMembers({ $1.cores }).compactMap(\.lifecycle.row) {
            rows.addDependency(of: row, on: prerequisite, .done, .outside)
        }
    }

    /// Adds an operation without dependencies, members and options, as most are. Returns false if it has any.
    func placePlain(
        _ core: OperationCore, in group: OperationID, _ producer: AsyncOperationID?, _ state: inout State
    ) -> Bool {
        guard core.hasDefaultOptions, !(core is CompoundCore), !state.takesNothing, state.barriers.isEmpty else {
            return false
        }
        if group == .root, placeAlone(core, producer, &state) { return true }
        beginPeriod(&state)
        let row = OperationID(row: state.entries.count)
        let isTaken = core.state.withLock { operation in
            guard case .idle = operation.lifecycle, operation.needList == nil,
                !operation.startsSuspended || owner == nil
            else { return false }
            operation.lifecycle = .waiting(Place(queue: self, row: row), isReady: false)
            return true
        }
        guard isTaken else { return false }
        state.countAdded(1)
        state.entries.append(.operation(core))
        announce(.added(by: producer), of: core.id, &state)
        _ = state.scheduler?.add(OperationGraph.Options(), to: group, at: state.now, into: &state.commands)
        carryOut(&state)
        if !state.standIns.isEmpty { replaceStandIn(of: core, &state) }
        return true
    }

    private func enter(
        _ step: Step, _ rows: inout OperationGraph, _ early: inout [StandIn], _ producer: AsyncOperationID?,
        _ state: inout State
    ) {
        switch step {
        case .leave: rows.endGroup()
        case .enterEnded(let core):
            let row = rows.addExternal(toleratesFailure: core.options.toleratesFailure, outlastsStops: true)
            let standIn = StandIn(for: core, in: self, row: row)
            state.entries.append(.standIn(standIn))
            early.append(standIn)
        case .enter(let core):
            let options = graphOptions(of: core, &rows, &state)
            if let compound = core as? CompoundCore {
                if options.retry != nil { state.hasRetriedCompounds = true }
                let row = rows.beginGroup(options, limit: compound.limit, failFast: compound.failFast, isOpen: true)
                enter(core, at: row, producer, &state)
            } else {
                enter(core, at: rows.addOperation(options), producer, &state)
            }
        }
    }

    private func enter(
        _ core: OperationCore, at row: OperationID, _ producer: AsyncOperationID?, _ state: inout State
    ) {
        state.entries.append(.operation(core))
        core.state.withLock { $0.lifecycle = .waiting(Place(queue: self, row: row), isReady: false) }
        announce(.added(by: producer), of: core.id, &state)
    }

    /// Counts what joins the queue or a compound operation, and the members inside.
    private func count(_ batch: Batch, _ state: inout State) {
        for case .enter(let core) in batch.walk {
            (core as? CompoundCore)?.withMembers { $1.unfinished = $1.cores.count }
        }
        for case .enterEnded(let core) in batch.walk { core.parent?.withMembers { $1.unfinished -= 1 } }
        guard let parent = batch.parent else {
            state.countAdded(batch.cores.count)
            return
        }
        parent.withMembers { _, members in
            members.cores += batch.cores
            members.unfinished += batch.cores.count
        }
    }

    private func graphOptions(
        of core: OperationCore, _ rows: inout OperationGraph, _ state: inout State
    ) -> OperationGraph.Options {
        if core.hasDefaultOptions { return OperationGraph.Options() }
        let options = core.options
        if options.timeout != nil || options.retry != nil { noteTimed(&state) }
        return OperationGraph.Options(
            priority: options.priority, timeout: options.timeout, toleratesFailure: options.toleratesFailure,
            retry: options.retry, locks: locks(options.mutexes, &state) + units(of: options, &rows, &state))
    }

    /// A lock for each name, as long as anything names it. Always in the same order, so that those who want the same
    /// locks wait together.
    private func locks(_ names: Set<String>, _ state: inout State) -> [LockRequest] {
        if names.isEmpty { return [] }
        let indices = names.map { name in
            if let known = state.locks[name] { return known }
            defer { state.nextLock += 1 }
            state.locks[name] = state.nextLock
            return state.nextLock
        }
        return indices.sorted().map { LockRequest(lock: LockID(index: $0)) }
    }

    private func units(
        of options: OperationOptions, _ rows: inout OperationGraph, _ state: inout State
    ) -> [LockRequest] {
        if options.pools.isEmpty { return [] }
        let requests = options.units.map { pool, count in
            LockRequest(lock: lock(of: pool, &rows, &state), units: count)
        }
        return requests.sorted { $0.lock < $1.lock }
    }

    private func lock(of pool: Pool, _ rows: inout OperationGraph, _ state: inout State) -> LockID {
        if let known = state.pools.first(where: { $0.pool == pool }) { return known.lock }
        let lock = LockID(index: state.nextLock)
        state.nextLock += 1
        state.pools.append(KnownPool(pool: pool, lock: lock))
        rows.declarePool(lock, of: pool.units)
        return lock
    }
}
