/// Compound operations that start later than they could, because of what they take when they start: one of a few places
/// in what is around them, or a mutex.
///
/// If something inside waits, over any number of steps and queues, for an operation that wants the same, that could
/// never start. So the compound operation starts only after it has ended; unless that in turn waits for something
/// inside, which then must start first. If both want the only place or the same mutex, neither can be first.
struct HeldBackGroups {
    struct Wait {
        let group: CompoundCore
        /// Who wants the same.
        let rival: OperationCore
    }

    private(set) var waits: [Wait] = []

    /// Examines the compound operations directly inside `limited`, and `holders`, as far as they have not started.
    /// `joining` are members that one of those, or something inside it, is about to get. With the topology locked.
    /// Throws `cycle`.
    init(
        in limited: [CompoundCore], _ holders: [CompoundCore],
        joining: (cores: [OperationCore], parent: CompoundCore)? = nil, own: LockedQueue
    ) throws(UsageError) {
        for compound in limited {
            var members = compound.withMembers { $1.cores }
            if let joining, joining.parent === compound { members += joining.cores }
            guard members.count > 1 else { continue }
            for case let group as CompoundCore in members {
                try add(group, joining, own, isExclusive: compound.limit == .members(1)) { core in
                    let around = core.around
                    guard let place = around.firstIndex(where: { $0 === compound }), place > 0 else { return nil }
                    return around[place - 1]
                }
            }
        }
        for holder in holders {
            let names = holder.takenMutexes
            try add(holder, joining, own, isExclusive: true) { core in
                core.around.last { outer in
                    !outer.options.mutexes.isDisjoint(with: names) && outer.lifecycle.queue === own.queue
                        && !holder.isAround(outer) && !outer.isAround(holder)
                }
            }
        }
    }

    private mutating func add(
        _ group: CompoundCore, _ joining: (cores: [OperationCore], parent: CompoundCore)?, _ own: LockedQueue,
        isExclusive: Bool, _ rival: (OperationCore) -> OperationCore?
    ) throws(UsageError) {
        var inside: [OperationCore] = []
        if let joining, group.isAround(joining.parent) { inside = joining.cores }
        guard !group.lifecycle.hasBegun, group.state.withLock({ $0.hasEdges }) || !inside.isEmpty else { return }
        inside += group.withMembers { $1.cores }
        var graph = WaitGraph(for: .edge, own: own)
        graph.explore(inside.map { .end($0) })
        for (rival, way) in graph.rivals(awaitedFrom: inside, of: group, rival) {
            guard let back = graph.way(from: .end(rival), to: .start(group)) else {
                waits.append(Wait(group: group, rival: rival))
                continue
            }
            if isExclusive { throw .cycle(OperationCore.ids(of: [.end(group)] + way + back)) }
        }
    }
}

extension OperationCore {
    fileprivate func isAround(_ core: OperationCore) -> Bool { core.around.contains { $0 === self } }
}

extension CompoundCore {
    /// The mutexes that it takes when it starts: its own and those of everything inside; none if it has none of its
    /// own.
    var takenMutexes: Set<String> {
        var names = options.mutexes
        guard !names.isEmpty else { return [] }
        var pending = withMembers { $1.cores }
        while let core = pending.popLast() {
            names.formUnion(core.options.mutexes)
            if let compound = core as? CompoundCore { pending += compound.withMembers { $1.cores } }
        }
        return names
    }
}

extension Lifecycle {
    /// Whether it has started, or has ended without.
    var hasBegun: Bool {
        switch self {
        case .idle, .member, .taken, .waiting: false
        case .dissolving, .running, .open, .settled, .ended: true
        }
    }
}

extension WaitGraph {
    /// The rivals of `group` that something inside it waits for and that have not started, each with the way there.
    fileprivate func rivals(
        awaitedFrom inside: [OperationCore], of group: CompoundCore, _ rival: (OperationCore) -> OperationCore?
    ) -> [(rival: OperationCore, way: [WaitEvent])] {
        var found: [(OperationCore, [WaitEvent])] = []
        var known: Set<ObjectIdentifier> = []
        search(from: inside.map { .end($0) }) { event, way in
            if event == .start(group) { return false }
            guard let core = event.core, let rival = rival(core), rival !== group else { return true }
            if !rival.lifecycle.hasBegun, known.insert(ObjectIdentifier(rival)).inserted {
                found.append((rival, way()))
            }
            // When the rival is over, so is what it waits for.
            return false
        }
        return found
    }

    /// A way over whatever there is; nil where there is none.
    fileprivate func way(from start: WaitEvent, to target: WaitEvent) -> [WaitEvent]? {
        var found: [WaitEvent]?
        search(from: [start]) { event, way in
            if found == nil, event == target { found = way() }
            return found == nil
        }
        return found
    }
}

extension QueueCore {
    /// Lets compound operations that wait here start after what they must not hold up, those in `rows` apart.
    func holdBack(_ held: HeldBackGroups, besides first: Int = .max, _ state: inout State) {
        for wait in held.waits {
            guard let row = waitingRow(of: wait.group), row.row < first, state.scheduler?.hasBegun(row) == false,
                let other = waitingRow(of: wait.rival)
            else { continue }
            handle(.link(dependent: row, on: other, .done, .outside), &state)
        }
    }
}

extension OperationCore {
    /// Looks again at the compound operations that limit their members and have some that the ends of `cores` wait for.
    /// With the topology locked. Throws `cycle`, and what was added for `cores` has to go.
    static func holdBack(
        beyond cores: [OperationCore]
    ) throws(UsageError) -> [(queue: QueueCore, consequences: QueueCore.Consequences)] {
        var graph = WaitGraph(for: .edge)
        graph.explore(cores.map { .end($0) })
        var all: [(QueueCore, QueueCore.Consequences)] = []
        for (queue, limited) in graph.contested {
            let (error, consequences) = queue.decide { state -> UsageError? in
                do throws(UsageError) {
                    let held = try HeldBackGroups(in: limited, queue.holders(state), own: LockedQueue(queue, state))
                    queue.holdBack(held, &state)
                    return nil
                } catch {
                    return error
                }
            }
            all.append((queue, consequences))
            if let error { throw error }
        }
        return all
    }
}

extension QueueCore {
    /// The compound operations that hold mutexes or will, and have dependencies inside.
    func holders(_ state: State) -> [CompoundCore] {
        if state.locks.isEmpty { return [] }
        return state.entries.compactMap { $0.operation as? CompoundCore }.filter { compound in
            !compound.options.mutexes.isEmpty && compound.state.withLock { $0.hasEdges }
        }
    }
}

extension WaitGraph {
    /// The queues in which something waits for a place in a compound operation, with these, or for a mutex.
    fileprivate var contested: [(queue: QueueCore, limited: [CompoundCore])] {
        var found: [ObjectIdentifier: (queue: QueueCore, limited: [CompoundCore])] = [:]
        var seen: Set<ObjectIdentifier> = []
        for case .start(let core) in events {
            guard let queue = core.lifecycle.queue else { continue }
            let limited = core.parent.flatMap { parent in
                parent.limit != .unlimited && seen.insert(ObjectIdentifier(parent)).inserted ? parent : nil
            }
            guard limited != nil || !core.hasDefaultOptions && !core.options.mutexes.isEmpty else { continue }
            found[ObjectIdentifier(queue), default: (queue, [])].limited += [limited].compactMap(\.self)
        }
        return Array(found.values)
    }
}
