// Taking operations for a queue, with everything inside them, before they get rows.

extension QueueCore {
    /// Checks the operations and everything inside them, and takes them for this queue.
    func claim(_ batch: inout Batch) throws(UsageError) {
        var held: [(name: String, by: AsyncOperationID)] = []
        // What joins brings its dependencies to everything around it.
        batch.areEdgesAround = batch.parent != nil && batch.cores.contains { $0.state.withLock { $0.hasEdges } }
        var holders: [CompoundCore] = []
        for holder in batch.parent?.around ?? [] {
            held += holder.options.mutexes.map { ($0, holder.id) }
            batch.noteNaming(holder)
            if let compound = holder as? CompoundCore {
                batch.noteLimited(compound)
                batch.noteRetried(compound)
                if compound.isHolder { holders.append(compound) }
                if compound.leadsOutside { batch.isEntangled = true }
            }
        }
        if let parent = batch.parent, !batch.areEdgesAround {
            batch.areEdgesAround = parent.around.contains { $0.state.withLock { $0.hasEdges } }
        }
        // That of the task that waits for what is around the next one.
        var context = batch.parent?.context
        var before: [(heldCount: Int, holderCount: Int, areEdgesAround: Bool, context: TaskContext?)] = []
        var pending = batch.cores.reversed().map { Step.enter($0) }
        while let step = pending.popLast() {
            guard case .enter(let core) = step else {
                batch.walk.append(step)
                let outer = before.removeLast()
                held.removeLast(held.count - outer.heldCount)
                holders.removeLast(holders.count - outer.holderCount)
                batch.areEdgesAround = outer.areEdgesAround
                context = outer.context
                continue
            }
            if !core.hasDefaultOptions { try check(core, held) }
            let isInside = !before.isEmpty
            guard try claim(core, isInside: isInside, parent: batch.parent) else {
                batch.walk.append(.enterEnded(core))
                continue
            }
            batch.walk.append(step)
            if let context { core.inherit(context) }
            batch.noteNaming(core)
            batch.noteRounds(core)
            if core.noteWaysOutside(of: holders) { batch.isEntangled = true }
            if !core.hasDefaultOptions, !core.options.mutexes.isEmpty {
                // One that names a mutex itself takes those of everything inside when it starts.
                for holder in holders where holder.options.mutexes.isEmpty {
                    holder.noteWayOutside()
                    batch.isEntangled = true
                }
            }
            guard let compound = core as? CompoundCore else { continue }
            batch.noteLimited(compound)
            batch.noteRetried(compound)
            before.append((held.count, holders.count, batch.areEdgesAround, context))
            if compound.isHolder { holders.append(compound) }
            batch.areEdgesAround = batch.areEdgesAround || compound.state.withLock { $0.hasEdges }
            context = compound.context
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
        for (pool, asked) in options.units {
            if core is CompoundCore { throw .poolOfCompound(core.id, pool: pool.name) }
            guard asked >= 1, asked <= pool.units else {
                throw .invalidUnits(core.id, pool: pool.name, asked: asked, of: pool.units)
            }
        }
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
    func release(_ batch: Batch) {
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
        let isAbandoned = core.state.withLock { state in
            state.lifecycle = isInside ? .member : .idle
            if isInside { state.rare?.context = nil } else { state.parent = nil }
            return !isInside && state.rare?.isAbandoned == true
        }
        if isAbandoned { launch { core.cancel(.neverStarted) } }
    }
}

extension OperationCore {
    /// Notes in those of `holders`, which are around it, that it needs something outside them. Returns whether it does.
    fileprivate func noteWaysOutside(of holders: [CompoundCore]) -> Bool {
        if holders.isEmpty { return false }
        var isEntangled = false
        for need in state.withLock({ $0.needs }) {
            let around = need.core.around
            for holder in holders where !around.contains(where: { $0 === holder }) {
                holder.noteWayOutside()
                isEntangled = true
            }
        }
        return isEntangled
    }

    /// The same for one more need, and all that is around it.
    func noteWayOutside(to other: OperationCore) -> Bool {
        let (around, others) = (around.dropFirst(), other.around)
        var isEntangled = false
        for case let outer as CompoundCore in around where outer.isHolder && !others.contains(where: { $0 === outer }) {
            outer.noteWayOutside()
            isEntangled = true
        }
        return isEntangled
    }
}

extension CompoundCore {
    /// Notes that what is about to join keeps it waiting for a mutex, and so what waits for its own.
    func noteWants(of cores: [OperationCore]) {
        guard around.contains(where: { !$0.options.mutexes.isEmpty }) else { return }
        var pending = cores
        while let core = pending.popLast() {
            if !core.hasDefaultOptions, !core.options.mutexes.isEmpty {
                core.state.withLock { $0.hasEdges = true }
                core.noteEdges()
                for case let outer as CompoundCore in around where outer.isHolder { outer.noteWayOutside() }
            }
            if let compound = core as? CompoundCore { pending += compound.withMembers { $1.cores } }
        }
    }
}

extension QueueCore.Batch {
    fileprivate mutating func noteNaming(_ core: OperationCore) {
        guard !core.hasDefaultOptions, !core.options.mutexes.isEmpty, mayBeAwaited(core) else { return }
        naming.append(core)
    }

    fileprivate mutating func noteRounds(_ core: OperationCore) {
        let needs = core.state.withLock { $0.needs }
        if needs.contains(where: { $0.core.lastRound(seenFrom: core) != nil }) { waitingForRounds.append(core) }
    }

    fileprivate mutating func noteRetried(_ compound: CompoundCore) {
        guard !compound.hasDefaultOptions, compound.options.retry != nil else { return }
        if mayBeAwaited(compound) { retried.append(compound) }
    }

    /// True if something outside may depend on something in it.
    fileprivate var mayHaveDependentsOutside: Bool {
        let cores = walk.compactMap { step in if case .enter(let core) = step { core } else { nil } }
        var inside: [ObjectIdentifier: Int] = [:]
        for core in cores {
            for need in core.state.withLock({ $0.needs }) { inside[ObjectIdentifier(need.core), default: 0] += 1 }
        }
        return cores.contains { core in
            let count = core.state.withLock { $0.dependents }
            return count == .max || count > inside[ObjectIdentifier(core)] ?? 0
        }
    }

    private func mayBeAwaited(_ core: OperationCore) -> Bool {
        areEdgesAround || core.state.withLock { $0.hasEdges }
    }

    fileprivate mutating func noteLimited(_ compound: CompoundCore) {
        if compound.limit != .unlimited, mayBeAwaited(compound) { limited.append(compound) }
    }
}

extension QueueCore {
    /// What has to start later for the sake of a batch, or in it. With the topology locked. Throws `cycle` if something
    /// that has started already holds what the batch wants, and waits for it.
    func heldBack(for batch: Batch, _ state: State) throws(UsageError) -> HeldBackGroups {
        let own = LockedQueue(self, state, joining: Joining(cores: batch.cores, parent: batch.parent))
        let joining = batch.naming.compactMap { $0 as? CompoundCore }.filter(\.leadsOutside)
        let holders = joining + self.holders(state)
        for holder in holders where holder.lifecycle.hasBegun {
            let names = holder.takenMutexes
            for core in batch.naming where !core.takenMutexes.isDisjoint(with: names) {
                guard !core.lifecycle.hasBegun, !core.around.contains(where: { $0 === holder }),
                    let path = OperationCore.path(from: [holder], to: .start(core), own: own)
                else { continue }
                throw .cycle([core.id] + path)
            }
        }
        for core in batch.waitingForRounds {
            let needs = core.state.withLock { $0.needs.map(\.core) }
            let rounds = needs.compactMap { $0.lastRound(seenFrom: core) }
            if let path = OperationCore.path(from: needs + rounds, to: .start(core), own: own) {
                throw .cycle([core.id] + path)
            }
        }
        if !batch.retried.isEmpty {
            // What needs something inside may have been there first, when it was not yet inside.
            var graph = WaitGraph(for: .edge, own: own)
            graph.explore(batch.retried.map { .end($0) })
            for compound in batch.retried {
                if let ring = graph.ring(through: .end(compound)) { throw .cycle(OperationCore.ids(of: ring)) }
            }
        }
        // What is new and has no dependents concerns only itself, and what it is crossed with.
        let groups = batch.parent != nil || batch.mayHaveDependentsOutside ? holders : joining
        return try HeldBackGroups(in: batch.limited, groups, holders: holders, own: own)
    }
}
