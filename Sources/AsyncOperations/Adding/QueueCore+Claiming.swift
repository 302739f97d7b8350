// Claims operations for a queue, with their contents, before they get rows.

extension QueueCore {
    /// Checks the operations and their contents, and claims them for this queue.
    func claim(_ batch: inout Batch) throws(UsageError) {
        var held: [(name: String, by: AsyncOperationID)] = []
        // Operations that join bring their dependencies to all enclosing operations.
        batch.areEdgesAround = batch.parent != nil && batch.cores.contains(where: \.hasEdges)
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
            batch.areEdgesAround = parent.around.contains(where: \.hasEdges)
        }
        // The context of the task that waits for the operations enclosing the next one.
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
            if core.namesMutexes {
                // A compound operation that names a mutex itself takes those of its contents when it starts.
                for holder in holders where !holder.namesMutexes {
                    holder.noteWayOutside()
                    batch.isEntangled = true
                }
            }
            guard let compound = core as? CompoundCore else { continue }
            batch.noteLimited(compound)
            batch.noteRetried(compound)
            before.append((held.count, holders.count, batch.areEdgesAround, context))
            if compound.isHolder { holders.append(compound) }
            batch.areEdgesAround = batch.areEdgesAround || compound.hasEdges
            context = compound.context
            held += core.options.mutexes.map { ($0, core.id) }
            pending.append(.leave)
            pending += compound.memberCores.reversed().map { .enter($0) }
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

    /// Claims one operation. Returns false for a member that has ended or is ending.
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

    /// Releases the claimed operations from the inside out: a member does not end while its enclosing operation is
    /// claimed.
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
        // The walk was interrupted inside these.
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
    /// Records in those of `holders`, which enclose it, that it needs something outside them. Returns true if it
    /// does.
    fileprivate func noteWaysOutside(of holders: [CompoundCore]) -> Bool {
        if holders.isEmpty { return false }
        var isEntangled = false
        for need in needs {
            let around = need.core.around
            for holder in holders where !around.includes(holder) {
                holder.noteWayOutside()
                isEntangled = true
            }
        }
        return isEntangled
    }

    /// Records a need in all holders that enclose the operation but not `other`. Returns true if there are any.
    func noteWayOutside(to other: OperationCore) -> Bool {
        let (around, others) = (around.dropFirst(), other.around)
        var isEntangled = false
        for case let outer as CompoundCore in around where outer.isHolder && !others.includes(outer) {
            outer.noteWayOutside()
            isEntangled = true
        }
        return isEntangled
    }
}

extension CompoundCore {
    /// Records that the joining operations make it wait for a mutex, and so everything that waits for its own
    /// mutexes.
    func noteWants(of cores: [OperationCore]) {
        guard around.contains(where: \.namesMutexes) else { return }
        var pending = cores
        while let core = pending.popLast() {
            if core.namesMutexes {
                core.state.withLock { $0.hasEdges = true }
                core.noteEdges()
                for case let outer as CompoundCore in around where outer.isHolder { outer.noteWayOutside() }
            }
            pending += core.memberCores
        }
    }
}

extension QueueCore.Batch {
    fileprivate mutating func noteNaming(_ core: OperationCore) {
        if core.namesMutexes, mayBeAwaited(core) { naming.append(core) }
    }

    fileprivate mutating func noteRounds(_ core: OperationCore) {
        if core.needs.contains(where: { $0.core.lastRound(seenFrom: core) != nil }) { waitingForRounds.append(core) }
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
            for need in core.needs { inside[ObjectIdentifier(need.core), default: 0] += 1 }
        }
        return cores.contains { core in
            let count = core.state.withLock { $0.dependents }
            return count == .max || count > inside[ObjectIdentifier(core)] ?? 0
        }
    }

    private func mayBeAwaited(_ core: OperationCore) -> Bool {
        areEdgesAround || core.hasEdges
    }

    fileprivate mutating func noteLimited(_ compound: CompoundCore) {
        if compound.isLimited, mayBeAwaited(compound) { limited.append(compound) }
    }
}

extension QueueCore {
    /// Returns the compound operations that must start later because of a batch, or in it. Requires the topology's
    /// lock. Throws `cycle` if something that has started already holds what the batch wants, and waits for the
    /// batch.
    func heldBack(for batch: Batch, _ state: State) throws(UsageError) -> HeldBackGroups {
        let own = LockedQueue(queue: self, state: state, joining: Joining(cores: batch.cores, parent: batch.parent))
        let joining = batch.naming.compactMap { $0 as? CompoundCore }.filter(\.leadsOutside)
        let holders = joining + self.holders(state)
        for holder in holders where holder.lifecycle.hasBegun {
            let names = holder.takenMutexes
            for core in batch.naming where !core.takenMutexes.isDisjoint(with: names) {
                guard !core.lifecycle.hasBegun, !core.around.includes(holder),
                    let path = OperationCore.path(from: [.end(holder)], to: .start(core), own: own)
                else { continue }
                throw .cycle([core.id] + path)
            }
        }
        for core in batch.waitingForRounds {
            let needs = core.neededCores
            let rounds = needs.compactMap { $0.lastRound(seenFrom: core) }
            if let path = OperationCore.path(from: (needs + rounds).ends, to: .start(core), own: own) {
                throw .cycle([core.id] + path)
            }
        }
        if !batch.retried.isEmpty {
            // The dependent of an operation may have been added before the operation joined the compound operation.
            var graph = WaitGraph(for: .edge, own: own)
            graph.explore(batch.retried.ends)
            for compound in batch.retried {
                if let ring = graph.ring(through: .end(compound)) { throw .cycle(OperationCore.ids(of: ring)) }
            }
        }
        // New operations without dependents affect only themselves and the groups with which they are crossed.
        let groups = batch.parent != nil || batch.mayHaveDependentsOutside ? holders : joining
        return try HeldBackGroups(in: batch.limited, groups, holders: holders, own: own)
    }
}

// An operation that runs alone and waits for nothing: started by itself, or the first in an idle queue. There is
// nothing to schedule, and a scheduler would cost more than everything else. If the operation was started by itself,
// operations that it produces are scheduled next to it; in any other queue, it gets a row as soon as there is a
// second operation.

extension QueueCore {
    /// Starts the body. Returns false if the operation needs a scheduler.
    func beginAlone(_ core: OperationCore) -> Bool {
        guard core.hasDefaultOptions, !(core is CompoundCore) else { return false }
        let control = state.withLock { state -> BodyControl? in
            guard let control = claimAlone(core, &state) else { return nil }
            state.unfinished += 1
            return control
        }
        guard let control else { return false }
        begin(control)
        return true
    }

    /// Adds an operation without options and members to the queue if that is idle. Returns false if the operation
    /// needs a scheduler.
    func placeAlone(_ core: OperationCore, _ producer: AsyncOperationID?, _ state: inout State) -> Bool {
        guard owner == nil, state.unfinished == 0, state.effects.isIdle,
            let control = claimAlone(core, &state)
        else { return false }
        state.countAdded(1)
        announce(.added(by: producer), of: core.id, &state)
        announce(.ready, of: core.id, &state)
        announce(.started(attempt: 1), of: core.id, &state)
        state.effects.appendStart(.begin(control))
        return true
    }

    private func claimAlone(_ core: OperationCore, _ state: inout State) -> BodyControl? {
        guard state.scheduler == nil, !state.isSuspended else { return nil }
        let priority = priority(of: core)
        let control = core.state.withLock { operation -> BodyControl? in
            guard case .idle = operation.lifecycle, operation.needList == nil,
                !operation.startsSuspended || owner == nil
            else { return nil }
            let control = BodyControl(
                core, Place(queue: self, row: .root), attempt: 1, progress: .executing, priority: priority,
                context: owner == nil ? operation.rare?.context : nil)
            operation.lifecycle = .running(control)
            return control
        }
        guard let control else { return nil }
        state.bodies.alone = control
        return control
    }

    /// Gives a row to the operation that runs alone, as if the new scheduler had started it.
    func scheduleAlone(_ state: inout State) {
        guard owner == nil, let control = state.bodies.alone.take() else { return }
        control.row = OperationID(row: state.entries.count)
        state.entries.append(.operation(control.core))
        state.bodies.add(control)
        // The commands have been carried out already.
        var done: [OperationScheduler.Command] = []
        _ = state.scheduler?.add(OperationGraph.Options(), to: .root, at: state.now, into: &done)
        if control.core.request != nil { state.scheduler?.handle(.cancel(control.row), at: state.now, into: &done) }
    }

    /// Ends the operation after its body. Returns false if anything else goes on in the queue or observes the end.
    func finishAlone(_ control: BodyControl, _ end: BodyEnd) -> Bool {
        let core = control.core
        let told = state.withLock { state -> (end: OperationEnd, hasListeners: Bool)? in
            guard state.bodies.alone === control, state.scheduler == nil, state.effects.isIdle,
                !state.isObserved, !core.hasCompletions
            else { return nil }
            state.bodies.alone = nil
            let end = self.end(of: core, end)
            announce(.finished(end.outcome), of: core.id, &state)
            let (hasListeners, needs) = core.setEnd(end)
            assert(needs == nil)
            state.countEnded()
            return (end, hasListeners)
        }
        guard let told else { return false }
        core.releaseBody()
        if told.hasListeners { core.tell(told.end) }
        return true
    }

    /// Ends the operation after its body, next to operations that it has produced, or if its end is observed.
    func endAlone(_ control: BodyControl, _ end: BodyEnd, _ state: inout State) {
        let end = self.end(of: control.core, end)
        announce(.finished(end.outcome), of: control.core.id, &state)
        finish(control.core, end, &state)
    }

    /// The end of the operation. A request to cancel that came before the body ended decides.
    private func end(of core: OperationCore, _ end: BodyEnd) -> OperationEnd {
        if let reason = core.request { return .cancelled(reason) }
        return switch end {
        case .success: .success
        case .failure: .failure
        case .timeout(let limit): .timeout(limit: limit, scope: core.id)
        case .stopped(let reason): .cancelled(reason)
        }
    }

    func cancelAlone(_ core: OperationCore, _ reason: AsyncOperationContext.CancellationReason, _ state: inout State) {
        guard case .running(let control) = core.lifecycle else { return }
        control.stop(reason)
        announce(.cancelRequested(reason), of: core.id, &state)
        state.effects.append(.stop(control))
    }
}

extension QueueCore.State {
    /// True if anything observes the end of an operation, or that the queue becomes idle.
    var isObserved: Bool {
        idle != nil || isClosed || isDropped || announcer.isHeard || !progressListeners.isEmpty
    }
}

extension OperationID {
    /// True for an operation that runs without a scheduler.
    var isAlone: Bool { self == .root }
}
