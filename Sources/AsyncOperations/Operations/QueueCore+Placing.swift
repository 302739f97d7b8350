// Gives operations rows in the scheduler.

extension QueueCore {
    /// Places the claimed operations.
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
            // From now on, its end is final only after the last round of the enclosing operations, even if it is
            // running already.
            if state.hasRetriedCompounds, let retried = core.outermostRetried { state.suspect(retried) }
        }
    }

    /// Gives a member that is just being cancelled its turn: if concurrency is limited, the other members wait until
    /// its end has been reported to all listeners.
    private func waitInTurn(for standIn: StandIn, _ rows: inout OperationGraph) {
        guard let compound = standIn.core.parent, compound.isLimited else { return }
        guard let prerequisite = standIn.row else { return }
        for row in compound.memberCores.compactMap(\.lifecycle.row) {
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

    /// Counts the operations that join the queue or a compound operation, and their members.
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
            retry: options.retry, locks: state.locks.requests(for: options, &rows))
    }
}

// Dependencies on operations of this queue and of others.

extension QueueCore {
    /// A dependency for the scheduler.
    struct Edge {
        let dependent: OperationCore
        let need: OperationCore
        let kind: DependencyKind
        var reason = EdgeReason.dependency
        let standIn: StandIn?

        var prerequisite: OperationID? { standIn == nil ? need.lifecycle.row : standIn?.row }
    }

    private enum Whereabouts: Sendable {
        /// Its end has been reported.
        case over(OperationEnd)
        /// It belongs to this queue, or is about to.
        case here
        case elsewhere
    }

    /// Finds `core` in a single access: an end that has not been reported yet will be reported to its followers.
    private func find(_ core: OperationCore) -> Whereabouts {
        core.state.withLock { state in
            if let end = state.toldEnd { return .over(end) }
            return state.lifecycle.queue === self && state.lifecycle.row?.isAlone != true ? .here : .elsewhere
        }
    }

    /// Collects the dependencies of `core` that are not met already, and the stand-ins that they need here.
    func note(
        needsOf core: OperationCore, only other: OperationCore? = nil, _ edges: inout [Edge],
        _ standIns: inout [StandIn], _ state: inout State
    ) {
        let needs = core.state.withLock { state in other.map { state.need(of: $0).map { [$0] } ?? [] } ?? state.needs }
        for need in needs {
            var standIn: StandIn?
            let lastRound = need.core.lastRound(seenFrom: core)
            switch find(need.core) {
            case .over(let end) where need.isMet(by: end): continue
            case .here:
                // Its end counts only after the last round. To operations that enclose both, a stand-in would look
                // like something outside.
                if let lastRound {
                    edges.append(Edge(dependent: core, need: lastRound, kind: .done, reason: .rounds, standIn: nil))
                }
            case .over, .elsewhere:
                let known = state.standIns[need.core.id]
                let next = OperationID(row: state.entries.count + standIns.count)
                let used = known ?? StandIn(for: need.core, in: self, row: next)
                if known == nil { standIns.append(used) }
                state.standIns[need.core.id] = used
                used.dependents += 1
                core.setStandIn(used, for: need.core)
                standIn = used
            }
            edges.append(Edge(dependent: core, need: need.core, kind: need.kind, standIn: standIn))
        }
    }

    /// Makes operations that wait for the stand-in of `core`, which has joined the queue, wait for `core` itself, as
    /// if it had been there first.
    func replaceStandIn(of core: OperationCore, _ state: inout State) {
        // An end that is final already is reported to the stand-in.
        guard let standIn = state.standIns[core.id], let old = standIn.row, !core.isFinished else { return }
        for row in state.scheduler?.dependents(on: old) ?? [] {
            guard let dependent = state.entries[row.row].operation else { continue }
            replaceStandIn(of: core, for: dependent, row, &state)
        }
    }

    /// Replaces all stand-ins for dependencies of `dependent`, which starts in a new round and may have ended when
    /// they joined.
    func replaceStandIns(for dependent: OperationCore, _ state: inout State) {
        guard dependent.state.withLock({ $0.needList?.hasStandIns }) == true, let row = waitingRow(of: dependent) else {
            return
        }
        for need in dependent.needs where need.standIn != nil {
            if case .here = find(need.core) { replaceStandIn(of: need.core, for: dependent, row, &state) }
        }
    }

    private func replaceStandIn(
        of core: OperationCore, for dependent: OperationCore, _ row: OperationID, _ state: inout State
    ) {
        guard state.scheduler?.hasBegun(row) == false, let need = dependent.state.withLock({ $0.need(of: core) }),
            let old = need.standIn?.row
        else { return }
        dependent.setStandIn(nil, for: core)
        connect(dependent, row, to: core, need.kind, &state)
        handle(.unlink(dependent: row, prerequisite: old), &state)
        release([need], &state)
    }

    func add(_ standIns: [StandIn], _ state: inout State) {
        guard !standIns.isEmpty else { return }
        var rows = OperationGraph(joiningAt: state.entries.count)
        for standIn in standIns {
            rows.addExternal(toleratesFailure: standIn.core.options.toleratesFailure)
            state.entries.append(.standIn(standIn))
        }
        // Outside all groups, where only their own ends hold them up.
        handle(.added(.root, rows), &state)
    }

    /// Connects the row of a stand-in to the end of its operation.
    func follow(_ standIn: StandIn, _ state: inout State) {
        if let end = standIn.core.follow(standIn) { resolve(standIn, end.outcome, &state) }
    }

    /// Ends the row of a stand-in, after all other listeners.
    func resolve(_ standIn: StandIn, _ end: OperationEnd) {
        update(inline: false) { self.resolve(standIn, end.outcome, &$0) }
    }

    private func resolve(_ standIn: StandIn, _ outcome: OperationOutcome, _ state: inout State) {
        guard let row = leave(standIn, &state) else { return }
        handle(.ended(row, outcome, mayRetry: false), &state)
    }

    /// Removes a stand-in. Returns the row that it had.
    @discardableResult
    func leave(_ standIn: StandIn, _ state: inout State) -> OperationID? {
        guard let row = standIn.row.take() else { return nil }
        standIn.core.unfollow(standIn)
        if state.standIns[standIn.core.id] === standIn { state.standIns[standIn.core.id] = nil }
        state.garbage.append(standIn)
        return row
    }

    /// Releases the dependencies of an operation that has ended, or that no longer has them.
    func release(_ needs: [OperationCore.Need], _ state: inout State) {
        for need in needs {
            guard let standIn = need.standIn else { continue }
            standIn.dependents -= 1
            // It ends like any other row, so that it is removed with the others.
            if standIn.dependents == 0 { resolve(standIn, .success, &state) }
        }
    }

    /// Makes an operation that waits here wait for `other` too.
    func connect(
        _ core: OperationCore, _ row: OperationID, to other: OperationCore, _ kind: DependencyKind, _ state: inout State
    ) {
        var edges: [Edge] = []
        var standIns: [StandIn] = []
        note(needsOf: core, only: other, &edges, &standIns, &state)
        if edges.isEmpty { return }
        core.state.withLock { $0.lifecycle = .waiting(Place(queue: self, row: row), isReady: false) }
        add(standIns, &state)
        for edge in edges {
            guard let prerequisite = edge.prerequisite else { continue }
            handle(.link(dependent: row, on: prerequisite, edge.kind, edge.reason), &state)
        }
        for standIn in standIns { follow(standIn, &state) }
    }
}

extension OperationCore {
    func setStandIn(_ standIn: StandIn?, for need: OperationCore) {
        state.withLock { state in
            state.needList?.setStandIn(standIn, for: need)
        }
    }
}

extension OperationCore.Need {
    /// True if the end satisfies the dependency.
    func isMet(by end: OperationEnd) -> Bool {
        switch (kind, end) {
        case (.done, _), (.ok, .success), (.ok, .skipped), (.success, .success): true
        case (.failure, .failure), (.failure, .timeout): true
        case (.ok, .failure), (.ok, .timeout): core.options.toleratesFailure
        case (.ok, .cancelled), (.ok, .notRun), (.success, _), (.failure, _): false
        }
    }
}
