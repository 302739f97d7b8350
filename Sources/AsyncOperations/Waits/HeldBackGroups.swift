/// Compound operations that must start later than they could, because of a resource that they take at their start: a
/// mutex, or one of a few places in the enclosing operation.
///
/// Something inside may wait, over any number of steps and queues, for an operation that wants the same resource, a
/// rival. Once the compound operation had started, the rival never could. So the compound operation starts only after
/// the rival has ended, unless the rival in turn waits for something inside, which must then start first. If both
/// want the only place or the same mutex, neither can be first. If there are more places, such compound operations
/// take at most all but one, which is left for the operations that they wait for.
struct HeldBackGroups {
    struct Wait {
        let group: CompoundCore
        /// The operation that must end before the group starts.
        let rival: OperationCore
    }

    private(set) var waits: [Wait] = []
    /// The examined groups that have not started. Only `waits` hold them back from now on.
    private(set) var examined: [CompoundCore] = []

    /// Examines the compound operations directly inside `limited` and those in `groups` that have not started, and
    /// all groups that may be crossed with them. `holders` are all compound operations that take mutexes, including
    /// those in `groups`. Requires the topology's lock. Throws `cycle`.
    init(
        in limited: [CompoundCore], _ groups: [CompoundCore], holders: [CompoundCore], own: LockedQueue
    ) throws(UsageError) {
        // All reasons to hold a group back are examined together.
        var limited = limited
        for parent in groups.compactMap(\.parent) where parent.isLimited { limited.include(parent) }
        let suspects = CrossedGroups.suspects(among: limited + groups, holders: holders, own)
        for parent in suspects.compactMap(\.parent) where parent.isLimited { limited.include(parent) }
        var known: Set<ObjectIdentifier> = []
        for case let group as CompoundCore in limited.flatMap(\.memberCores) + groups + suspects
        where known.insert(ObjectIdentifier(group)).inserted && !group.lifecycle.hasBegun {
            examined.append(group)
        }
        for compound in limited {
            var members = compound.memberCores
            if let joining = own.joining, joining.parent === compound { members += joining.cores }
            guard case .members(let places) = compound.limit, members.count > places else { continue }
            var entangled: [CompoundCore] = []
            for case let group as CompoundCore in members {
                let isEntangled = try add(group, own, isExclusive: places == 1) { core in
                    let around = core.around
                    guard let place = around.firstIndex(where: { $0 === compound }), place > 0 else { return nil }
                    return around[place - 1]
                }
                if isEntangled { entangled.append(group) }
            }
            if entangled.count >= places { separate(entangled, atOnce: places - 1, own) }
        }
        // Also those that have started: the operations that they wait for may want mutexes that they hold now.
        for holder in holders where known.contains(ObjectIdentifier(holder)) {
            let names = holder.takenMutexes
            _ = try add(holder, own, isExclusive: true) { core in
                core.around.last { outer in
                    !outer.takenMutexes.isDisjoint(with: names) && outer.lifecycle.queue === own.queue
                        && !holder.isAround(outer) && !outer.isAround(holder)
                }
            }
        }
        if suspects.count > 1 {
            var graph = WaitGraph(for: .edge, own: own)
            graph.holds = holds
            graph.explore(suspects.ends)
            waits += try CrossedGroups(among: suspects, graph, own: own).waits()
        }
        try refuseRings(own)
    }

    /// Throws `cycle` if groups wait for each other because of `waits`.
    private func refuseRings(_ own: LockedQueue) throws(UsageError) {
        if waits.isEmpty { return }
        var graph = WaitGraph(for: .edge, own: own)
        graph.holds = holds
        graph.explore(waits.map(\.group).ends)
        for wait in waits {
            guard let path = graph.path(from: .start(wait.group), to: .start(wait.group)) else { continue }
            throw .cycle(OperationCore.ids(of: path))
        }
    }

    /// The rivals that hold back each of the examined groups.
    private var holds: [ObjectIdentifier: [OperationCore]] {
        var holds: [ObjectIdentifier: [OperationCore]] = [:]
        for group in examined { holds[ObjectIdentifier(group)] = [] }
        for wait in waits { holds[ObjectIdentifier(wait.group), default: []].append(wait.rival) }
        return holds
    }

    /// Makes a group wait for its rivals. Returns true if something inside waits for a rival that cannot end before
    /// the group has started.
    private mutating func add(
        _ group: CompoundCore, _ own: LockedQueue, isExclusive: Bool, _ rival: (OperationCore) -> OperationCore?
    ) throws(UsageError) -> Bool {
        let lifecycle = group.lifecycle
        guard !lifecycle.hasBegun || group.isInRounds || lifecycle.isOpen && !isExclusive else { return false }
        if group.isFinished { return false }
        var inside: [OperationCore] = []
        if let joining = own.joining, let parent = joining.parent, group.isAround(parent) { inside = joining.cores }
        guard group.leadsOutside || !inside.isEmpty else { return false }
        inside += group.memberCores
        var graph = WaitGraph(for: .edge, own: own)
        // The holds so far, because they are being decided here.
        graph.holds = holds
        graph.explore(inside.ends)
        let rivals = graph.rivals(awaitedFrom: inside, of: group, rival)
        if lifecycle.hasBegun && !group.isInRounds || rivals.isEmpty { return !rivals.isEmpty }
        // The contents may wait for only a part of the rival.
        graph.explore((inside + rivals.map(\.rival)).ends)
        var isEntangled = false
        for (rival, way) in rivals {
            if let row = own.rowOfBegun(group) {
                if own.queue.isHeldBack(row, by: rival, own.state) { continue }
                isEntangled = true
                if isExclusive { throw .cycle(OperationCore.ids(of: [.end(group)] + way + [.end(group)])) }
                continue
            }
            guard let back = graph.way(from: .end(rival), to: .start(group)) else {
                waits.append(Wait(group: group, rival: rival))
                continue
            }
            if isExclusive { throw .cycle(OperationCore.ids(of: [.end(group)] + way + back)) }
            isEntangled = true
        }
        return isEntangled
    }

    /// Makes groups start one after another, `count` at once, except those whose start others of them wait for.
    private mutating func separate(_ groups: [CompoundCore], atOnce count: Int, _ own: LockedQueue) {
        var graph = WaitGraph(for: .edge, own: own)
        graph.holds = holds
        graph.explore(groups.ends)
        var order = groups.filter(\.lifecycle.hasBegun)
        for group in groups where !group.lifecycle.hasBegun {
            if order.contains(where: { graph.way(from: .end($0), to: .start(group)) != nil }) { continue }
            if order.count >= count { waits.append(Wait(group: group, rival: order[order.count - count])) }
            order.append(group)
        }
    }
}

extension [CompoundCore] {
    /// Appends an element unless it is in the array already.
    mutating func include(_ compound: CompoundCore) {
        if !includes(compound) { append(compound) }
    }
}

extension OperationCore {
    fileprivate func isAround(_ core: OperationCore) -> Bool { core.around.includes(self) }

    /// True if it may start more than once.
    var isInRounds: Bool { around.contains { $0.options.retry != nil } }
}

extension CompoundCore {
    /// The groups for which a new member may change the operations that hold them back.
    var groupsThatMembersConcern: [OperationCore] {
        around.flatMap { outer in
            guard let compound = outer as? CompoundCore, compound.isLimited else { return [outer] }
            return [outer] + compound.memberCores
        }
    }
}

extension OperationCore {
    /// The mutexes that it takes when it starts: its own and those of everything inside. Empty if it has none of its
    /// own.
    var takenMutexes: Set<String> {
        if hasDefaultOptions { return [] }
        var names = options.mutexes
        if names.isEmpty { return [] }
        var pending = memberCores
        while let core = pending.popLast() {
            names.formUnion(core.options.mutexes)
            pending += core.memberCores
        }
        return names
    }
}

extension LockedQueue {
    /// The row of a group that has begun in some round, and so can no longer be held back; nil if it has not.
    fileprivate func rowOfBegun(_ group: CompoundCore) -> OperationID? {
        guard case let lifecycle = group.lifecycle, lifecycle.queue === queue, let row = lifecycle.row,
            state.scheduler?.hasBegun(row) == true
        else { return nil }
        return row
    }
}

extension Lifecycle {
    fileprivate var isOpen: Bool {
        if case .open = self { true } else { false }
    }

    /// True if it has started, or ends without a start.
    var hasBegun: Bool {
        switch self {
        case .idle, .member, .taken, .waiting: false
        case .dissolving, .running, .open, .settled, .ended: true
        }
    }
}

extension WaitGraph {
    /// The rivals of `group` that something inside it waits for and that have not started, each with the path to it.
    /// If a rival may be tried again with an enclosing operation, that operation is returned instead.
    fileprivate func rivals(
        awaitedFrom inside: [OperationCore], of group: CompoundCore, _ rival: (OperationCore) -> OperationCore?
    ) -> [(rival: OperationCore, way: [WaitEvent])] {
        var found: [(OperationCore, [WaitEvent])] = []
        var known: Set<ObjectIdentifier> = []
        search(from: inside.ends) { event, way in
            if event == .start(group) { return false }
            guard let core = event.core, let rival = rival(core), rival !== group else { return true }
            let last = rival.lastRound(seenFrom: group) ?? rival
            // A rival that may be tried again may want the resource again.
            let mayStart = rival.isInRounds ? !last.isFinished : !rival.lifecycle.hasBegun
            if mayStart, known.insert(ObjectIdentifier(last)).inserted { found.append((last, way())) }
            // Once the rival has ended, so has everything that it waits for.
            return false
        }
        return found
    }

    /// A path over waits of any kind; nil if there is none.
    func way(from start: WaitEvent, to target: WaitEvent) -> [WaitEvent]? {
        var found: [WaitEvent]?
        search(from: [start]) { event, way in
            if found == nil, event == target { found = way() }
            return found == nil
        }
        return found
    }
}
