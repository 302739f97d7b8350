// Adding operations: all of a call, or none.

extension QueueCore {
    /// A step of a walk through operations and their contents.
    enum Step {
        case enter(OperationCore)
        /// A member that has ended already.
        case enterEnded(OperationCore)
        case leave
    }

    /// The operations that one call adds.
    struct Batch {
        let cores: [OperationCore]
        /// The compound operation to which they are added; nil for the queue itself.
        let parent: CompoundCore?
        /// The operations and their contents, in preorder.
        var walk: [Step] = []
        /// While it is claimed: true if an operation that encloses the next one has a dependency or a dependent.
        var areEdgesAround = false
        /// The compound operations with a limit that it brings or joins, and (`naming`) the operations that name
        /// mutexes, as far as they have dependencies.
        var limited: [CompoundCore] = []
        var naming: [OperationCore] = []
        /// Operations that depend on something in a retried compound operation that does not enclose them.
        var waitingForRounds: [OperationCore] = []
        /// The retried compound operations that it brings or joins, as far as they have dependencies.
        var retried: [CompoundCore] = []
        /// True if something in it may hold what others want while it waits for something outside.
        var isEntangled = false
        /// The compound operations that must start later because of it.
        var held: HeldBackGroups?

        /// True if the batch must be examined for operations that would wait for themselves.
        var isContesting: Bool {
            !limited.isEmpty || !naming.isEmpty || !waitingForRounds.isEmpty || !retried.isEmpty
        }
    }

    /// Adds an operation to the queue itself.
    func add(_ core: OperationCore) throws(UsageError) {
        if !update({ placePlain(core, in: .root, nil, &$0) }) { try add([core]) }
    }

    /// Adds operations to the queue itself, or to a compound operation that belongs to it. `producer` is the body
    /// that adds them; nil for a call from outside. Returns false if the compound operation is not in this queue.
    @discardableResult
    func add(
        _ cores: [OperationCore], to parent: CompoundCore? = nil, producer: BodyControl? = nil, isBarrier: Bool = false
    ) throws(UsageError) -> Bool {
        let isAdded = try addOnly(cores, to: parent, producer, isBarrier: isBarrier)
        for core in cores { core.raiseUpstream() }
        return isAdded
    }

    /// Adds operations without raising the priority of what they wait for.
    private func addOnly(
        _ cores: [OperationCore], to parent: CompoundCore?, _ producer: BodyControl?, isBarrier: Bool
    ) throws(UsageError) -> Bool {
        if parent == nil, !isBarrier,
            let answer = update({ tryToAdd(cores, to: nil, producer, isBarrier: false, mayLink: false, nil, &$0) })
        {
            return try answer.get()
        }
        // The waits between operations must not change between the check and the end of the call.
        return try OperationCore.changingWaits { (all: inout [OperationCore.Consequences]) throws(UsageError) in
            if let parent { parent.noteWants(of: cores) }
            let entangled = cores.filter { core in parent == nil ? core.awaitsRounds : core.hasEdges }
            var contested: [CompoundCore]?
            if !entangled.isEmpty {
                let joining = Joining(cores: cores, parent: parent)
                contested = try OperationCore.holdBack(beyond: entangled.ends, joining: joining, besides: self, &all)
            }
            let (answer, consequences) = decide {
                tryToAdd(cores, to: parent, producer, isBarrier: isBarrier, mayLink: true, contested, &$0)
            }
            all.append((self, consequences))
            return try answer?.get() ?? false
        }
    }

    /// Returns true if it added them, or the error; nil if that requires the topology's lock. `contested` is nil if
    /// nothing here that they wait for wants a place or a mutex; otherwise, it contains the compound operations that
    /// limit their members and have such members.
    private func tryToAdd(
        _ cores: [OperationCore], to parent: CompoundCore?, _ producer: BodyControl?, isBarrier: Bool, mayLink: Bool,
        _ contested: [CompoundCore]?, _ state: inout State
    ) -> Result<Bool, UsageError>? {
        if let producer, producer.isOver { return .failure(.closed(producer.core.id)) }
        if let parent {
            guard parent.lifecycle.queue === self else { return .success(false) }
            let (isClosed, isStopped) = parent.withMembers { ($1.isClosed, $0.rare?.request != nil) }
            let isOver = parent.lifecycle.row.map { state.scheduler?.isBeingStopped($0) == true } ?? false
            if isClosed || isStopped || isOver { return .failure(.closed(parent.id)) }
        } else if state.takesNothing {
            return .failure(.closed(id))
        }
        state.barriers.forgetEnded()
        if !state.barriers.isEmpty, parent == nil, !mayLink { return nil }
        var batch = Batch(cores: cores, parent: parent)
        do throws(UsageError) {
            if let parent {
                let own = LockedQueue(queue: self, state: state)
                for core in cores { try OperationCore.refuseRing(of: core, in: parent, own: own) }
            }
            try claim(&batch)
            if parent != nil { for core in cores where core.hasEdges { core.noteEdges() } }
            if batch.isContesting || contested != nil {
                guard mayLink else {
                    release(batch)
                    return nil
                }
                for limited in contested ?? [] { batch.limited.include(limited) }
                batch.held = try heldBack(for: batch, state)
            }
            if parent == nil { try linkToBarriers(batch, isBarrier: isBarrier, &state) }
        } catch {
            release(batch)
            return .failure(error)
        }
        if owner != nil, state.scheduler == nil, let core = cores.first, core.id == owner {
            state.isSuspended = core.state.withLock { $0.startsSuspended }
        }
        beginPeriod(&state)
        if batch.isEntangled { state.isEntangled = true }
        place(batch, producer?.core.id, &state)
        if isBarrier, let barrier = cores.last { state.barriers.append(barrier) }
        return .success(true)
    }

    /// Makes a barrier wait for everything in the queue, and other operations for the barriers.
    private func linkToBarriers(_ batch: Batch, isBarrier: Bool, _ state: inout State) throws(UsageError) {
        let earlier = isBarrier ? operations(state) : state.barriers.cores
        guard !earlier.isEmpty else { return }
        let own = LockedQueue(queue: self, state: state)
        let ends = earlier.ends
        for core in batch.cores {
            if let path = OperationCore.path(from: ends, to: .start(core), own: own) {
                throw .cycle([core.id] + path)
            }
        }
        for core in batch.cores {
            core.state.withLock { state in
                state.hasEdges = true
                // An existing dependency keeps its kind.
                for other in earlier where state.need(of: other) == nil {
                    state.add(OperationCore.Need(core: other, kind: .done, carriesData: false))
                }
            }
        }
        for other in earlier { other.noteNeed() }
    }

    /// The operations in the queue that have not ended, without members of compound operations.
    func operations(_ state: State) -> [OperationCore] {
        (state.bodies.alone.map { [$0.core] } ?? [])
            + state.entries.compactMap(\.operation).filter { $0.parent == nil }
    }
}

// Dependencies of operations that belong to the queue and have not started.

extension QueueCore {
    /// Makes `core` wait for `other` too. Returns nil if `core` is not in this queue. Requires the topology's lock.
    func link(
        _ core: OperationCore, to other: OperationCore, _ kind: DependencyKind
    ) -> (Result<Void, UsageError>?, Consequences) {
        decide { state -> Result<Void, UsageError>? in
            guard let row = waitingRow(of: core) else { return refusal(of: core) }
            guard state.scheduler?.hasBegun(row) == false else { return .failure(.alreadyStarted(core.id)) }
            let known = core.state.withLock { $0.need(of: other) }
            if let known, known.carriesData || known.kind == kind { return .success(()) }
            core.state.withLock { $0.add(OperationCore.Need(core: other, kind: kind, carriesData: false)) }
            if let known, let prerequisite = prerequisite(of: row, in: known, &state) {
                handle(.link(dependent: row, on: prerequisite, kind), &state)
            } else {
                connect(core, row, to: other, kind, &state)
            }
            if core.noteWayOutside(to: other) { state.isEntangled = true }
            state.suspect(core)
            return .success(())
        }
    }

    /// Removes a dependency. Returns false if there was none, and nil if `core` is not in this queue.
    func unlink(_ core: OperationCore, from other: OperationCore) -> (Result<Bool, UsageError>?, Consequences) {
        decide { state -> Result<Bool, UsageError>? in
            guard let row = waitingRow(of: core) else { return refusal(of: core)?.map { false } }
            guard let need = core.state.withLock({ $0.needList?.remove(other) }) else { return .success(false) }
            if let prerequisite = prerequisite(of: row, in: need, &state) {
                handle(.unlink(dependent: row, prerequisite: prerequisite), &state)
            }
            unlinkLastRound(of: other, from: core, row, &state)
            release([need], &state)
            state.garbage.append(need.core)
            return .success(true)
        }
    }

    /// Removes the edge that a dependency on something in a retried compound operation adds, unless another one needs
    /// it.
    private func unlinkLastRound(
        of other: OperationCore, from core: OperationCore, _ row: OperationID, _ state: inout State
    ) {
        guard let round = other.lastRound(seenFrom: core), round.lifecycle.queue === self,
            let last = round.lifecycle.row
        else { return }
        if core.neededCores.contains(where: { $0.lastRound(seenFrom: core) === round }) { return }
        handle(.unlink(dependent: row, prerequisite: last, .rounds), &state)
    }

    /// The row that a row waits for, or has waited for, because of a dependency; nil if it never had to wait.
    private func prerequisite(
        of row: OperationID, in need: OperationCore.Need, _ state: inout State
    ) -> OperationID? {
        state.scheduler?.dependencies(of: row).first { prerequisite, kind in
            switch state.entries[prerequisite.row] {
            case .operation, .standIn, .ended: state.entries[prerequisite.row].id == need.core.id
            // It has succeeded. Any such failure dependency will do, because they all have the same effect.
            case .nothing: kind == .failure && need.kind == .failure && need.core.end == .success
            }
        }?.prerequisite
    }

    func waitingRow(of core: OperationCore) -> OperationID? {
        guard case .waiting(let place, _) = core.lifecycle, place.queue === self else { return nil }
        return place.row
    }

    private func refusal(of core: OperationCore) -> Result<Void, UsageError>? {
        core.state.withLock { $0.refusalToChange(core.id) }.map { .failure($0) }
    }
}
