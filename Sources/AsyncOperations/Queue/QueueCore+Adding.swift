// From operations to rows: all of a call or none.

extension QueueCore {
    /// One step of a walk through operations and what is inside them.
    enum Step {
        case enter(OperationCore)
        /// A member that had ended before.
        case enterEnded(OperationCore)
        case leave
    }

    /// What one call adds.
    struct Batch {
        let cores: [OperationCore]
        /// The running compound operation that gets them; nil for the queue itself.
        let parent: CompoundCore?
        /// Everything in preorder.
        var walk: [Step] = []
    }

    /// Adds an operation to the queue itself.
    func add(_ core: OperationCore) throws(UsageError) {
        if owner != nil, beginAlone(core) { return }
        if !update({ placePlain(core, in: .root, nil, &$0) }) { try add([core]) }
    }

    /// Adds operations to the queue itself or to a compound operation that it has, for the sake of `producer` where
    /// that is not nil. False if the compound operation is not here any more, or not yet.
    @discardableResult
    func add(
        _ cores: [OperationCore], to parent: CompoundCore? = nil, producer: BodyControl? = nil, isBarrier: Bool = false
    ) throws(UsageError) -> Bool {
        if parent == nil, !isBarrier,
            let answer = update({ tryToAdd(cores, to: nil, producer, isBarrier: false, mayLink: false, &$0) })
        {
            return try answer.get()
        }
        // What waits for each other has to stay as it is from the check to the end.
        let (answer, consequences) = OperationCore.topology.withLock { _ in
            decide { tryToAdd(cores, to: parent, producer, isBarrier: isBarrier, mayLink: true, &$0) }
        }
        carry(consequences)
        return try answer?.get() ?? false
    }

    /// nil if it needs the topology to be locked.
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
            if let parent { for core in cores { try OperationCore.refuseRing(of: core, in: parent) } }
            try claim(&batch)
            try refuseLateNeeds(of: batch)
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

    /// Checks operations and everything inside them, and takes them for this queue.
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

    /// False for a member that has ended, or is ending, already.
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

    /// Gives back what was claimed, from inside out: while something is taken, nobody ends what is inside it.
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
        // The walk broke off inside these.
        while let core = open.popLast() { release(core, isInside: !open.isEmpty) }
    }

    private func release(_ core: OperationCore, isInside: Bool) {
        core.state.withLock { state in
            state.lifecycle = isInside ? .member : .idle
            if !isInside { state.parent = nil }
        }
    }

    /// What joins something that has started must not wait for what waits for that.
    private func refuseLateNeeds(of batch: Batch) throws(UsageError) {
        guard let parent = batch.parent else { return }
        for case .enter(let core) in batch.walk {
            for need in core.state.withLock({ $0.needs }) where !need.core.isFinished {
                if let outer = parent.startedScope(without: need.core) { throw .alreadyStarted(outer.id) }
            }
        }
    }

    /// A barrier waits for all that is there; what comes later waits for the barrier.
    private func linkToBarrier(_ batch: Batch, isBarrier: Bool, _ state: inout State) throws(UsageError) {
        let earlier = isBarrier ? operations(&state) : state.barrier.map { [$0] } ?? []
        guard !earlier.isEmpty else { return }
        for core in batch.cores {
            if let path = OperationCore.path(from: earlier, to: .start(of: core)) { throw .cycle([core.id] + path) }
        }
        for core in batch.cores {
            core.state.withLock { state in
                state.hasEdges = true
                // What it waits for already, it waits for as it was told.
                for other in earlier where state.need(of: other) == nil {
                    state.add(OperationCore.Need(core: other, kind: .done, carriesData: false))
                }
            }
        }
        for other in earlier { other.noteNeed() }
    }

    /// What the queue has and what has not ended, members of compound operations left out.
    func operations(_ state: inout State) -> [OperationCore] {
        state.running.filter(\.isAlone).map(\.core)
            + state.entries.compactMap(\.operation).filter { $0.parent == nil }
    }
}
