// Adding operations: all of a call or none.

extension QueueCore {
    /// A step of a walk through operations and everything inside them.
    enum Step {
        case enter(OperationCore)
        /// A member that has ended already.
        case enterEnded(OperationCore)
        case leave
    }

    /// The operations that one call adds.
    struct Batch {
        let cores: [OperationCore]
        /// The compound operation that gets them; nil for the queue itself.
        let parent: CompoundCore?
        /// The operations and everything inside them, in preorder.
        var walk: [Step] = []
        /// While it is claimed: whether something around what comes next has a dependency or a dependent.
        var areEdgesAround = false
        /// Those with a limit that it brings or joins, and those that name mutexes, as far as they have dependencies.
        var limited: [CompoundCore] = []
        var naming: [OperationCore] = []
        /// Those that depend on something in a retried compound operation that they are not in.
        var waitingForRounds: [OperationCore] = []
        /// The retried compound operations that it brings or joins, as far as they have dependencies.
        var retried: [CompoundCore] = []
        /// True if something in it may hold what others want while it waits for something outside.
        var isEntangled = false
        /// Compound operations that must start later because of it.
        var held: HeldBackGroups?

        /// Whether it must be examined whether something in it would wait for itself.
        var isContesting: Bool {
            !limited.isEmpty || !naming.isEmpty || !waitingForRounds.isEmpty || !retried.isEmpty
        }
    }

    /// Adds an operation to the queue itself.
    func add(_ core: OperationCore) throws(UsageError) {
        if !update({ placePlain(core, in: .root, nil, &$0) }) { try add([core]) }
    }

    /// Adds operations to the queue itself, or to a compound operation that belongs to it. `producer` is the body that
    /// asked for it; nil for a call from outside. Returns false if the compound operation does not belong to the queue,
    /// no longer or not yet.
    @discardableResult
    func add(
        _ cores: [OperationCore], to parent: CompoundCore? = nil, producer: BodyControl? = nil, isBarrier: Bool = false
    ) throws(UsageError) -> Bool {
        let isAdded = try addOnly(cores, to: parent, producer, isBarrier: isBarrier)
        for core in cores { core.raiseUpstream() }
        return isAdded
    }

    /// The same, without raising what the operations wait for.
    private func addOnly(
        _ cores: [OperationCore], to parent: CompoundCore?, _ producer: BodyControl?, isBarrier: Bool
    ) throws(UsageError) -> Bool {
        if parent == nil, !isBarrier,
            let answer = update({ tryToAdd(cores, to: nil, producer, isBarrier: false, mayLink: false, nil, &$0) })
        {
            return try answer.get()
        }
        // Who waits for whom must not change between the check and the end of the call.
        typealias Answer = Result<Bool, UsageError>?
        let (answer, all) = OperationCore.withTopology { () -> (Answer, [OperationCore.Consequences]) in
            var all: [OperationCore.Consequences] = []
            var contested: [CompoundCore]?
            if let parent { parent.noteWants(of: cores) }
            let entangled = cores.filter { core in
                parent == nil ? core.awaitsRounds : core.state.withLock { $0.hasEdges }
            }
            do throws(UsageError) {
                let joining = Joining(cores: cores, parent: parent)
                if !entangled.isEmpty {
                    contested = try OperationCore.holdBack(beyond: entangled, joining: joining, besides: self, &all)
                }
            } catch {
                return (.failure(error), all)
            }
            let (answer, consequences) = decide {
                tryToAdd(cores, to: parent, producer, isBarrier: isBarrier, mayLink: true, contested, &$0)
            }
            return (answer, all + [(self, consequences)])
        }
        OperationCore.carry(all)
        return try answer?.get() ?? false
    }

    /// Returns whether it added them, or why not; nil if the topology must be locked for that. `contested` is nil if
    /// they wait for nothing here that wants a place or a mutex; otherwise, what limits its members and has such.
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
                let own = LockedQueue(self, state)
                for core in cores { try OperationCore.refuseRing(of: core, in: parent, own: own) }
            }
            try claim(&batch)
            if parent != nil { for core in cores where core.state.withLock({ $0.hasEdges }) { core.noteEdges() } }
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
        let own = LockedQueue(self, state)
        for core in batch.cores {
            if let path = OperationCore.path(from: earlier, to: .start(core), own: own) {
                throw .cycle([core.id] + path)
            }
        }
        for core in batch.cores {
            core.state.withLock { state in
                state.hasEdges = true
                // A dependency that exists keeps its kind.
                for other in earlier where state.need(of: other) == nil {
                    state.add(OperationCore.Need(core: other, kind: .done, carriesData: false))
                }
            }
        }
        for other in earlier { other.noteNeed() }
    }

    /// The operations in the queue that have not ended, without members of compound operations.
    func operations(_ state: State) -> [OperationCore] {
        (state.alone.map { [$0.core] } ?? [])
            + state.entries.compactMap(\.operation).filter { $0.parent == nil }
    }
}
