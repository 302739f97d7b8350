// Dependencies and memberships. What would close a cycle is refused.

extension OperationCore {
    /// Held by every change of who waits for whom, so that of two changes that only together close a cycle one is
    /// refused.
    private static let topology = Lock(())
    /// What searches have met since the topology was locked, and may be the last to hold. Guarded by it.
    private nonisolated(unsafe) static var met: [OperationCore] = []

    /// Calls `body` with the topology locked. What it has met is freed after that, because freeing it may run user code.
    static func withTopology<Answer: Sendable>(_ body: () -> Answer) -> Answer {
        topology.withLock { _ in
            let answer = body()
            defer { met = [] }
            return (answer, met)
        }.0
    }

    /// Keeps an operation until the topology is free again. With the topology locked.
    static func keepMet(_ core: OperationCore) { met.append(core) }

    func noteNeed() {
        state.withLock { state in
            if state.dependents < .max { state.dependents += 1 }
            state.hasEdges = true
        }
        noteEdges()
    }

    /// Notes in everything around it that something inside has edges. Cheap, because each is told once.
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
        let (error, consequences) = Self.withTopology { () -> (UsageError?, [Consequences]) in
            var consequences: [Consequences] = []
            do throws(UsageError) {
                try link(to: other, kind, &consequences)
                return (nil, consequences)
            } catch {
                return (error, consequences)
            }
        }
        Self.carry(consequences)
        if let error { throw error }
        raiseUpstream()
    }

    typealias Consequences = (queue: QueueCore, consequences: QueueCore.Consequences)

    /// Carries out what changes of several queues have come to, once no lock is held.
    static func carry(_ all: [Consequences]) {
        for (queue, consequences) in all { queue.carry(consequences) }
    }

    /// With the topology locked.
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
                    // A queue has taken it meanwhile, and does not know this one.
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
        guard isNew, WaitEvent.start(self).canBeFound(from: [other]) else { return }
        do throws(UsageError) {
            try Self.holdBack(beyond: ends(of: other), &consequences)
            try refuseRing()
        } catch {
            // It has not started: what it would wait for has not ended.
            _ = try? unlink(from: other, &consequences)
            throw error
        }
    }

    /// What has to end before it may start, if it depends on `other`.
    private func ends(of other: OperationCore) -> [OperationCore] {
        // What has no place yet may still join what the other is tried again with.
        let isPlaced = around.last?.lifecycle.queue != nil
        return [other] + (isPlaced ? other.lastRound(seenFrom: self).map { [$0] } ?? [] : [])
    }

    /// What is around it, or holds what the other wants, may have started since the dependency was examined.
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

    /// The same for a caller that has locked the topology, under which nothing may be carried out.
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

    /// Makes `child` a member of `compound`, which belongs to no queue. Returns false if a queue has taken it
    /// meanwhile.
    static func adopt(_ child: OperationCore, into compound: CompoundCore) throws(UsageError) -> Bool {
        let (answer, consequences) = withTopology { () -> (Result<Bool, UsageError>, [Consequences]) in
            var consequences: [Consequences] = []
            do throws(UsageError) {
                try refuseRing(of: child, in: compound)
                guard try compound.take(child) else { return (.success(false), []) }
                guard child.state.withLock({ $0.hasEdges }) else { return (.success(true), []) }
                child.noteEdges()
                do throws(UsageError) {
                    try holdBack(beyond: [child], &consequences)
                    return (.success(true), consequences)
                } catch {
                    compound.giveBack(1)
                    throw error
                }
            } catch {
                return (.failure(error), consequences)
            }
        }
        carry(consequences)
        return try answer.get()
    }

    /// A member makes everything around it wait for it, and waits for what they depend on, so this can close a cycle
    /// too.
    static func refuseRing(
        of child: OperationCore, in compound: CompoundCore, own: LockedQueue? = nil
    ) throws(UsageError) {
        if child === compound { throw .selfDependency(compound.id) }
        // With members, it may contain `compound` itself.
        let isEmpty = (child as? CompoundCore)?.withMembers { $1.cores.isEmpty } ?? true
        if !isEmpty, compound.around.contains(where: { $0 === child }) { throw .cycle([compound.id, child.id]) }
        guard child.state.withLock({ $0.hasEdges }) else { return }
        let holds = IgnoredHolds.of(compound.groupsThatMembersConcern)
        if let path = path(from: [child], to: .end(compound), own: own, ignoring: holds) {
            throw .cycle([compound.id] + path)
        }
        let needs = compound.around.flatMap { $0.state.withLock { $0.needs.map(\.core) } }
        let path =
            path(from: needs, to: .start(child), own: own, ignoring: holds)
            ?? path(fromPlaceIn: compound, to: .start(child), own: own, ignoring: holds)
            ?? path(fromStartOf: compound, to: .start(child), own: own, ignoring: holds)
        if let path { throw .cycle([child.id] + path) }
    }

    /// The operation and everything around it, from inside out.
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
