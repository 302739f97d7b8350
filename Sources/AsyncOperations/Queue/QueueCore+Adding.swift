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
    }

    /// Adds an operation to the queue itself.
    func add(_ core: OperationCore) throws(UsageError) {
        if owner != nil, beginAlone(core) { return }
        if !update({ placePlain(core, in: .root, nil, &$0) }) { try add([core]) }
    }

    /// Adds operations to the queue itself, or to a compound operation that belongs to it. `producer` is the body that
    /// asked for it; nil for a call from outside. Returns false if the compound operation does not belong to the queue, no
    /// longer or not yet.
    @discardableResult
    func add(
        _ cores: [OperationCore], to parent: CompoundCore? = nil, producer: BodyControl? = nil, isBarrier: Bool = false
    ) throws(UsageError) -> Bool {
        if parent == nil, !isBarrier,
            let answer = update({ tryToAdd(cores, to: nil, producer, isBarrier: false, mayLink: false, &$0) })
        {
            return try answer.get()
        }
        // Who waits for whom must not change between the check and the end of the call.
        let (answer, consequences) = OperationCore.topology.withLock { _ in
            decide { tryToAdd(cores, to: parent, producer, isBarrier: isBarrier, mayLink: true, &$0) }
        }
        carry(consequences)
        return try answer?.get() ?? false
    }

    /// Returns whether it added them, or why not; nil if the topology must be locked for that.
    private func tryToAdd(
        _ cores: [OperationCore], to parent: CompoundCore?, _ producer: BodyControl?, isBarrier: Bool, mayLink: Bool,
        _ state: inout State
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
        if let barrier = state.barrier, barrier.isFinished { state.barrier = nil }
        if state.barrier != nil, parent == nil, !mayLink { return nil }
        var batch = Batch(cores: cores, parent: parent)
        do throws(UsageError) {
            if let parent {
                for core in cores { try OperationCore.refuseRing(of: core, in: parent, own: (self, state)) }
            }
            try claim(&batch)
            if parent != nil { for core in cores where core.state.withLock({ $0.hasEdges }) { core.noteEdges() } }
            if parent == nil { try linkToBarrier(batch, isBarrier: isBarrier, &state) }
        } catch {
            release(batch)
            return .failure(error)
        }
        if owner != nil, state.scheduler == nil, let core = cores.first, core.id == owner {
            state.isSuspended = core.state.withLock { $0.startsSuspended }
        }
        begin(&state)
        place(batch, producer?.core.id, &state)
        if isBarrier { state.barrier = cores.last }
        return .success(true)
    }

    /// Checks the operations and everything inside them, and takes them for this queue.
    private func claim(_ batch: inout Batch) throws(UsageError) {
        var held: [(name: String, by: AsyncOperationID)] = []
        var ancestor: OperationCore? = batch.parent
        while let holder = ancestor {
            held += holder.options.mutexes.map { ($0, holder.id) }
            ancestor = holder.parent
        }
        var heldBefore: [Int] = []
        var pending = batch.cores.reversed().map { Step.enter($0) }
        while let step = pending.popLast() {
            guard case .enter(let core) = step else {
                batch.walk.append(step)
                held.removeLast(held.count - heldBefore.removeLast())
                continue
            }
            if !core.hasDefaultOptions { try check(core, held) }
            let isInside = !heldBefore.isEmpty
            guard try claim(core, isInside: isInside, parent: batch.parent) else {
                batch.walk.append(.enterEnded(core))
                continue
            }
            batch.walk.append(step)
            guard let compound = core as? CompoundCore else { continue }
            heldBefore.append(held.count)
            held += core.options.mutexes.map { ($0, core.id) }
            pending.append(.leave)
            pending += compound.withMembers { $1.cores }.reversed().map { .enter($0) }
        }
    }

    private func check(_ core: OperationCore, _ held: [(name: String, by: AsyncOperationID)]) throws(UsageError) {
        let options = core.options
        if let outer = held.first(where: { options.mutexes.contains($0.name) }) {
            throw .nestedMutex(outer: outer.by, inner: core.id, name: outer.name)
        }
        if let limit = options.invalidLimit { throw .invalidTimeout(core.id, limit) }
    }

    /// Returns false for a member that has ended or is ending.
    private func claim(_ core: OperationCore, isInside: Bool, parent: CompoundCore?) throws(UsageError) -> Bool {
        let answer = core.state.withLock { state -> Result<Bool, UsageError> in
            if isInside {
                guard case .member = state.lifecycle else { return .success(false) }
            } else {
                if let refusal = state.refusalToTake(core.id) { return .failure(refusal) }
                state.parent = parent
            }
            state.lifecycle = .taken(by: self)
            return .success(true)
        }
        return try answer.get()
    }

    /// Gives back what was claimed, from inside out: nobody ends a member while what is around it is taken.
    private func release(_ batch: Batch) {
        var open: [OperationCore] = []
        for step in batch.walk {
            switch step {
            case .enterEnded: break
            case .enter(let core) where core is CompoundCore: open.append(core)
            case .enter(let core): release(core, isInside: !open.isEmpty)
            case .leave: release(open.removeLast(), isInside: !open.isEmpty)
            }
        }
        // The walk was broken off inside these.
        while let core = open.popLast() { release(core, isInside: !open.isEmpty) }
    }

    private func release(_ core: OperationCore, isInside: Bool) {
        core.state.withLock { state in
            state.lifecycle = isInside ? .member : .idle
            if !isInside { state.parent = nil }
        }
    }

    /// Makes a barrier wait for everything in the queue, and other operations for the last barrier.
    private func linkToBarrier(_ batch: Batch, isBarrier: Bool, _ state: inout State) throws(UsageError) {
        let earlier = isBarrier ? operations(&state) : state.barrier.map { [$0] } ?? []
        guard !earlier.isEmpty else { return }
        for core in batch.cores {
            if let path = OperationCore.path(from: earlier, to: .start(core), own: (self, state)) {
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
    func operations(_ state: inout State) -> [OperationCore] {
        state.running.filter(\.isAlone).map(\.core)
            + state.entries.compactMap(\.operation).filter { $0.parent == nil }
    }
}
