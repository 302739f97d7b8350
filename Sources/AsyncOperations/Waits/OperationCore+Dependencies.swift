// Dependencies and memberships. Changes that would close a cycle are refused.

extension OperationCore {
    /// Held during every change of the waits between operations. So if two changes close a cycle only together, one
    /// of them is refused.
    private static let topology = Lock(())
    /// Operations that searches have met since the topology was locked, and of which this may be the last reference.
    /// Guarded by the topology's lock.
    private nonisolated(unsafe) static var met: [OperationCore] = []

    /// Calls `body` with the topology locked. Releases the operations that it has met afterwards, because that may
    /// run user code.
    static func withTopology<Answer: Sendable>(_ body: () -> Answer) -> Answer {
        topology.withLock { _ in
            let answer = body()
            defer { met = [] }
            return (answer, met)
        }.0
    }

    /// Calls `change` with the topology locked. Carries out the consequences that it has collected afterwards, also if
    /// it throws.
    static func changingWaits<Answer: Sendable, Failure: Error>(
        _ change: (inout [Consequences]) throws(Failure) -> Answer
    ) throws(Failure) -> Answer {
        let (answer, all) = withTopology { () -> (Result<Answer, Failure>, [Consequences]) in
            var all: [Consequences] = []
            let answer = Result { () throws(Failure) in try change(&all) }
            return (answer, all)
        }
        carry(all)
        return try answer.get()
    }

    /// Retains an operation until the topology is unlocked. Requires the topology's lock.
    static func keepMet(_ core: OperationCore) { met.append(core) }

    func noteNeed() {
        state.withLock { state in
            if state.dependents < .max { state.dependents += 1 }
            state.hasEdges = true
        }
        noteEdges()
    }

    /// Records in all enclosing operations that something inside has edges. Cheap, because each is marked only once.
    func noteEdges() {
        var next = parent
        while let outer = next {
            let isNews = outer.state.withLock { state in
                defer { state.hasEdges = true }
                return !state.hasEdges
            }
            next = isNews ? outer.parent : nil
        }
    }

    func addDependency(on other: OperationCore, _ kind: DependencyKind) throws(UsageError) {
        try Self.changingWaits { (all: inout [Consequences]) throws(UsageError) in try link(to: other, kind, &all) }
        raiseUpstream()
    }

    typealias Consequences = (queue: QueueCore, consequences: QueueCore.Consequences)

    /// Carries out the consequences of changes in several queues, once no lock is held.
    @inline(never)  // It would be copied into every change.
    static func carry(_ all: [Consequences]) {
        for (queue, consequences) in all { queue.carry(consequences) }
    }

    /// Adds the dependency. Requires the topology's lock.
    private func link(
        to other: OperationCore, _ kind: DependencyKind, _ consequences: inout [Consequences]
    ) throws(UsageError) {
        if other === self { throw .selfDependency(id) }
        if let error = state.withLock({ $0.refusalToChange(id) }) { throw error }
        if let path = Self.path(from: ends(of: other), to: .start(self), ignoring: .all) { throw .cycle([id] + path) }
        let isNew = state.withLock { $0.need(of: other) == nil }
        while true {
            if let queue = lifecycle.queue {
                let (answer, next) = queue.link(self, to: other, kind)
                consequences.append((queue, next))
                guard let answer else { continue }
                try answer.get()
            } else {
                let answer = state.withLock { state -> Result<Void, UsageError>? in
                    if let error = state.refusalToChange(id) { return .failure(error) }
                    // A queue has added it meanwhile, and does not know this dependency.
                    guard state.lifecycle.queue == nil else { return nil }
                    state.add(Need(core: other, kind: kind, carriesData: false))
                    return .success(())
                }
                guard let answer else { continue }
                try answer.get()
            }
            break
        }
        state.withLock { $0.hasEdges = true }
        noteEdges()
        other.noteNeed()
        guard isNew, WaitEvent.start(self).canBeFound(from: [.end(other)]) else { return }
        do throws(UsageError) {
            try Self.holdBack(beyond: ends(of: other), &consequences)
            try refuseRing()
        } catch {
            // It has not started, because the dependency that it would wait for has not ended.
            _ = try? unlink(from: other, &consequences)
            throw error
        }
    }

    /// The ends that must come before this operation may start if it depends on `other`.
    private func ends(of other: OperationCore) -> [WaitEvent] {
        // Before it has a place, it may still join the compound operation with which `other` is tried again.
        let isPlaced = around.last?.lifecycle.queue != nil
        return [.end(other)] + (isPlaced ? other.lastRound(seenFrom: self).map { [.end($0)] } ?? [] : [])
    }

    /// Throws `cycle` if the operation waits for itself now: an enclosing operation, or one that holds what `other`
    /// wants, may have started since the dependency was examined.
    private func refuseRing() throws(UsageError) {
        var graph = WaitGraph(for: .edge)
        graph.explore([.start(self)])
        if let ring = graph.ring(through: .start(self)) { throw .cycle(Self.ids(of: ring)) }
    }

    /// Removes a dependency. Returns false if there is none, or if it carries data.
    func removeDependency(on other: OperationCore) throws(UsageError) -> Bool {
        var consequences: [Consequences] = []
        defer { Self.carry(consequences) }
        return try unlink(from: other, &consequences)
    }

    /// Removes a dependency for a caller that has locked the topology, under which no consequences may be carried
    /// out.
    private func unlink(
        from other: OperationCore, _ consequences: inout [Consequences]
    ) throws(UsageError) -> Bool {
        while true {
            let (queue, answer) = state.withLock { state -> (QueueCore?, Result<Bool, UsageError>) in
                if let error = state.refusalToChange(id) { return (nil, .failure(error)) }
                if let queue = state.lifecycle.queue { return (queue, .success(false)) }
                return (nil, .success(state.needList?.remove(other) != nil))
            }
            guard let queue else { return try answer.get() }
            let (unlinked, next) = queue.unlink(self, from: other)
            consequences.append((queue, next))
            if let unlinked { return try unlinked.get() }
        }
    }

    /// Makes `children` members of `compound`, which belongs to no queue: all or, with an error, none. Returns their
    /// number, which is smaller than that of `children` if a queue adds `compound` meanwhile.
    static func adopt(_ children: ArraySlice<OperationCore>, into compound: CompoundCore) throws(UsageError) -> Int {
        try changingWaits { (all: inout [Consequences]) throws(UsageError) in
            var count = 0
            do throws(UsageError) {
                for child in children {
                    try refuseRing(of: child, in: compound)
                    guard try compound.take(child) else { break }
                    count += 1
                    guard child.hasEdges else { continue }
                    child.noteEdges()
                    try holdBack(beyond: [.end(child)], &all)
                }
                return count
            } catch {
                compound.giveBack(count)
                throw error
            }
        }
    }

    /// Throws if adding `child` would close a cycle: all enclosing operations wait for a member, and it waits for
    /// their dependencies.
    static func refuseRing(
        of child: OperationCore, in compound: CompoundCore, own: LockedQueue? = nil
    ) throws(UsageError) {
        if child === compound { throw .selfDependency(compound.id) }
        // With members, it may contain `compound` itself.
        if !child.memberCores.isEmpty, compound.around.includes(child) { throw .cycle([compound.id, child.id]) }
        guard child.hasEdges else { return }
        let holds = IgnoredHolds.of(compound.groupsThatMembersConcern)
        if let path = path(from: [.end(child)], to: .end(compound), own: own, ignoring: holds) {
            throw .cycle([compound.id] + path)
        }
        // It waits for their dependencies, for a place, and for the places and mutexes that they want.
        let needs = compound.around.flatMap(\.neededCores).ends
        let place = compound.isLimited ? [WaitEvent.place(in: compound)] : []
        let causes = needs + place + [.start(compound)]
        if let path = path(from: causes, to: .start(child), own: own, ignoring: holds) {
            throw .cycle([child.id] + path)
        }
    }

    /// The operation and its enclosing operations, from the inside out.
    var around: [OperationCore] { Array(sequence(first: self) { $0.parent }) }
}

extension OperationCore.State {
    func refusalToChange(_ id: AsyncOperationID) -> UsageError? {
        switch lifecycle {
        case .ended, .dissolving: .alreadyFinished(id)
        case .running, .open, .settled: .alreadyStarted(id)
        case .idle, .member, .taken, .waiting: nil
        }
    }

    func refusalToTake(_ id: AsyncOperationID) -> UsageError? {
        switch lifecycle {
        case .ended, .dissolving: .alreadyFinished(id)
        case .running, .open, .settled: .alreadyStarted(id)
        case .taken, .waiting: lifecycle.queue?.owner == id ? .alreadyStarted(id) : .alreadyEnqueued(id)
        case .member: .alreadyEnqueued(id)
        case .idle: nil
        }
    }
}

// Finds the path on which something would wait for itself. Requires the topology's lock.

extension OperationCore {
    /// The holds on groups that a search ignores, because they will be decided again.
    enum IgnoredHolds {
        case none
        case of([OperationCore])
        case all
    }

    /// The path from one of `starts` to `target`, for which it waits; nil if there is none. It follows dependencies,
    /// members, waits of bodies, and places and mutexes that are taken. `own` is the queue whose lock the caller
    /// holds. O(upstream operations), and O(1) for a target that nothing could wait for.
    static func path(
        from starts: [WaitEvent], to target: WaitEvent, own: LockedQueue? = nil,
        ignoring holds: IgnoredHolds = .none
    ) -> [AsyncOperationID]? {
        guard target.canBeFound(from: starts) else { return nil }
        var graph = WaitGraph(for: .edge, denied: target, own: own)
        graph.ignore(holds)
        graph.explore(starts)
        return starts.lazy.compactMap { graph.path(from: $0, to: target) }.first.map(ids)
    }

    /// The operations on a path. The start and end of one operation count once; operations that only enclose the
    /// waiting one do not count.
    static func ids(of path: [WaitEvent]) -> [AsyncOperationID] {
        var ids: [AsyncOperationID] = []
        for (index, event) in path.enumerated() {
            guard let core = event.core, ids.last != core.id else { continue }
            if case .start = event, index > 0, index < path.count - 1, case .start = path[index - 1] { continue }
            ids.append(core.id)
        }
        return ids
    }
}

extension WaitEvent {
    /// True if a search could find the event: something must be able to wait for it, for an enclosing operation or,
    /// for a start, for something inside.
    func canBeFound(from starts: [WaitEvent]) -> Bool {
        guard let core else { return false }
        if case .start = self, !core.memberCores.isEmpty { return true }
        return core.mayHoldUp || core.around.contains { starts.contains(.end($0)) }
    }
}
