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
        /// Its end has been told.
        case over(OperationEnd)
        /// It belongs to this queue, or is about to.
        case here
        case elsewhere
    }

    /// Where `core` is, in one look: an end that has not been told will be told to its followers.
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
                // How it ended counts only after the last round. A stand-in would look like something outside to what
                // is around both.
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

    /// Makes what waits for the stand-in of `core`, which has joined the queue, wait for `core` itself, as if that had
    /// been there first.
    func replaceStandIn(of core: OperationCore, _ state: inout State) {
        // An end that is final already is told to the stand-in.
        guard let standIn = state.standIns[core.id], let old = standIn.row, !core.isFinished else { return }
        for row in state.scheduler?.dependents(on: old) ?? [] {
            guard let dependent = state.entries[row.row].operation else { continue }
            replaceStandIn(of: core, for: dependent, row, &state)
        }
    }

    /// The same for all that `dependent` needs, which starts in a new round and may have ended when they joined.
    func replaceStandIns(for dependent: OperationCore, _ state: inout State) {
        guard dependent.state.withLock({ $0.needList?.hasStandIns }) == true, let row = waitingRow(of: dependent) else {
            return
        }
        for need in dependent.state.withLock({ $0.needs }) where need.standIn != nil {
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

    /// Makes the row of a stand-in hear of the end.
    func follow(_ standIn: StandIn, _ state: inout State) {
        if let end = standIn.core.follow(standIn) { resolve(standIn, end.outcome, &state) }
    }

    /// Ends the row of a stand-in, after everybody else has been told.
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

    /// Releases the dependencies of something that has ended, or that no longer has them.
    func release(_ needs: [OperationCore.Need], _ state: inout State) {
        for need in needs {
            guard let standIn = need.standIn else { continue }
            standIn.dependents -= 1
            // It ends like any other row, so that it is removed with those.
            if standIn.dependents == 0 { resolve(standIn, .success, &state) }
        }
    }

    /// Makes something that waits here wait for `other` too.
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
    /// Whether the dependency is met by an end.
    func isMet(by end: OperationEnd) -> Bool {
        switch (kind, end) {
        case (.done, _), (.ok, .success), (.ok, .skipped), (.success, .success): true
        case (.failure, .failure), (.failure, .timeout): true
        case (.ok, .failure), (.ok, .timeout): core.options.toleratesFailure
        case (.ok, .cancelled), (.ok, .notRun), (.success, _), (.failure, _): false
        }
    }
}
