// What operations need: of what is here, and of what is not.

extension QueueCore {
    /// A dependency for the scheduler.
    struct Edge {
        let dependent: OperationCore
        let need: OperationCore
        let kind: EdgeKind
        let standIn: StandIn?

        var prerequisite: OperationID? { standIn?.row ?? need.lifecycle.row }
    }

    private enum Whereabouts: Sendable {
        /// Its end has been told.
        case over(OperationEnd)
        /// The queue has it, or is about to.
        case here
        case elsewhere
    }

    /// Where `core` is, in one look: an end that has not been told will be told to whoever follows it.
    private func find(_ core: OperationCore) -> Whereabouts {
        core.state.withLock { state in
            if let end = state.toldEnd { return .over(end) }
            return state.lifecycle.queue === self && state.lifecycle.row?.isAlone != true ? .here : .elsewhere
        }
    }

    /// The dependencies of `core`, but for those that are met already, and what has to stand in for them here.
    func note(
        needsOf core: OperationCore, only other: OperationCore? = nil, isSecond: Bool = false, _ edges: inout [Edge],
        _ standIns: inout [StandIn], _ state: inout State
    ) {
        let needs = core.state.withLock { state in other.map { state.need(of: $0).map { [$0] } ?? [] } ?? state.needs }
        for need in needs {
            var standIn: StandIn?
            switch find(need.core) {
            case .over(let end) where need.isMet(by: end): continue
            case .here where !isSecond && !need.core.isHeldBack(from: core): break
            case .over, .elsewhere, .here:
                let known = isSecond ? nil : state.standIns[need.core.id]
                let next = OperationID(row: state.entries.count + standIns.count)
                let used = known ?? StandIn(for: need.core, period: state.period, row: next)
                if known == nil { standIns.append(used) }
                if !isSecond { state.standIns[need.core.id] = used }
                core.setStandIn(used, for: need.core)
                standIn = used
            }
            edges.append(Edge(dependent: core, need: need.core, kind: need.kind, standIn: standIn))
        }
    }

    func add(_ standIns: [StandIn], _ state: inout State) {
        guard !standIns.isEmpty else { return }
        var rows = OperationGraph(joiningAt: state.entries.count)
        for standIn in standIns {
            rows.addExternal(toleratesFailure: standIn.core.options.toleratesFailure)
            state.entries.append(.standIn(standIn))
        }
        // Outside all groups, where nothing but their own ends holds them up.
        handle(.added(.root, rows), &state)
    }

    /// Sees to it that the row of a stand-in hears of the end.
    func follow(_ standIn: StandIn, _ state: inout State) {
        let end = standIn.core.follow { [weak self] end in
            guard let self else { return }
            update(inline: false) { self.resolve(standIn, end, &$0) }
        }
        if let end { resolve(standIn, end, &state) }
    }

    private func resolve(_ standIn: StandIn, _ end: OperationEnd, _ state: inout State) {
        guard standIn.period == state.period else { return }
        if state.standIns[standIn.core.id] === standIn { state.standIns[standIn.core.id] = nil }
        handle(.ended(standIn.row, end.outcome, mayRetry: false), &state)
    }

    /// Lets something that waits here wait for `other` too; `isSecond` where it does already, in another way.
    func connect(
        _ core: OperationCore, _ row: OperationID, to other: OperationCore, _ kind: EdgeKind, isSecond: Bool,
        _ state: inout State
    ) {
        var edges: [Edge] = []
        var standIns: [StandIn] = []
        note(needsOf: core, only: other, isSecond: isSecond, &edges, &standIns, &state)
        guard let edge = edges.first else { return }
        core.state.withLock { $0.lifecycle = .waiting(Place(queue: self, row: row), isReady: false) }
        add(standIns, &state)
        if let prerequisite = edge.prerequisite { handle(.link(dependent: row, on: prerequisite, kind), &state) }
        for standIn in standIns { follow(standIn, &state) }
    }
}

extension OperationCore {
    /// Calls `follower` after all completions and waiting tasks have been told; returns the end where they have.
    func follow(_ follower: @escaping RareState.Listener) -> OperationEnd? {
        state.withLock { state in
            if let end = state.toldEnd { return end }
            state.withRare { $0.followers.append(follower) }
            return nil
        }
    }

    func setStandIn(_ standIn: StandIn, for need: OperationCore) {
        state.withLock { state in
            state.needList?.setStandIn(standIn, for: need)
        }
    }
}

extension OperationCore.Need {
    /// Whether an end is what the dependency waits for.
    func isMet(by end: OperationEnd) -> Bool {
        switch (kind, end) {
        case (.done, _), (.ok, .success), (.ok, .skipped), (.success, .success): true
        case (.failure, .failure), (.failure, .timeout): true
        case (.ok, .failure), (.ok, .timeout): core.options.toleratesFailure
        case (.ok, .cancelled), (.ok, .notRun), (.success, _), (.failure, _): false
        }
    }
}
