internal import Scheduling

/// Groups that each take a resource when they start and, for their contents or upstream, want a resource that another
/// takes.
///
/// If all of them started, each could keep the resource that the next one needs to end. Until then the order is open
/// and nothing waits for itself: if they run one after another, all of them end.
struct CrossedGroups {
    private typealias Resource = ResourceGraph.Resource

    private struct Member {
        let group: CompoundCore
        var takes: Set<Resource>
        /// The operations, inside or upstream, that want each resource.
        var wants: [Resource: [OperationCore]] = [:]

        /// True if a resource that the other takes may keep this one waiting: something besides the other group
        /// itself wants it.
        func mayWait(for other: Member) -> Bool {
            other.takes.contains { wants[$0]?.contains { $0 !== other.group } == true }
        }
    }

    private var members: [Member]
    private let graph: WaitGraph

    /// `graph` contains all waits upstream of the ends of `groups`.
    init(among groups: [CompoundCore], _ graph: WaitGraph, own: LockedQueue) {
        self.graph = graph
        members = groups.map { Member(group: $0, takes: Self.taken(by: $0, own)) }
        guard members.contains(where: { !$0.takes.isEmpty }) else {
            members = []
            return
        }
        let takes = members.reduce(into: [:]) { $0[ObjectIdentifier($1.group)] = $1.takes }
        for index in members.indices {
            let around = members[index].group.around
            let kept = around.reduce(into: Set<Resource>()) { $0.formUnion(takes[ObjectIdentifier($1)] ?? []) }
            members[index].wants = wanted(by: members[index].group, own).filter { !kept.contains($0.key) }
        }
        trim()
    }

    /// The groups that may be crossed with `groups` or with their upstream; a superset of those that are. `holders`
    /// are all groups that take mutexes. O(upstream operations).
    static func suspects(
        among groups: [CompoundCore], holders: [CompoundCore], _ own: LockedQueue
    ) -> [CompoundCore] {
        if groups.isEmpty { return [] }
        var graph = ResourceGraph(holders, own)
        graph.explore(groups)
        return graph.takersInRings
    }

    private static func taken(by group: CompoundCore, _ own: LockedQueue) -> Set<Resource> {
        var taken: Set<Resource> = []
        if let parent = group.parent ?? own.joining?.parent(of: group), parent.limit == .members(1) {
            taken.insert(.place(ObjectIdentifier(parent)))
        }
        if let row = group.lifecycle.row {
            // Mutexes of members that have joined since are not among these.
            let locks = own.state.scheduler?.locks(of: row) ?? []
            for name in group.takenMutexes {
                guard let lock = own.state.locks.lock(of: name), locks.contains(lock) else { continue }
                taken.insert(.mutex(name))
            }
        } else {
            taken.formUnion(group.takenMutexes.map { .mutex($0) })
        }
        return taken
    }

    private func wanted(by group: CompoundCore, _ own: LockedQueue) -> [Resource: [OperationCore]] {
        // Events before its start do not wait for resources that others take meanwhile.
        var before: Set<WaitEvent> = []
        graph.search(from: [.start(group)]) { event, _ in
            if case .place = event { return false }
            before.insert(event)
            return true
        }
        var wanted: [Resource: [OperationCore]] = [:]
        graph.search(from: [.end(group)]) { event, _ in
            if before.contains(event) { return false }
            guard let core = event.core, core !== group else { return true }
            if core.lifecycle.hasBegun, !core.isInRounds { return true }
            guard core.lifecycle.queue === own.queue else { return true }
            for name in core.takenMutexes { wanted[.mutex(name), default: []].append(core) }
            if let parent = core.parent, parent.limit == .members(1), !parent.around.includes(group) {
                wanted[.place(ObjectIdentifier(parent)), default: []].append(core)
            }
            return true
        }
        return wanted
    }

    /// Keeps only the groups that are in a ring or between two rings.
    private mutating func trim() {
        var count = 0
        while count != members.count {
            count = members.count
            let all = members
            members = all.filter { member in
                let others = all.filter { $0.group !== member.group }
                return others.contains { member.mayWait(for: $0) } && others.contains { $0.mayWait(for: member) }
            }
        }
    }

    /// Returns the waits that make the groups start one after another. Throws `cycle` if some wait for each other's
    /// members, so that none can be first.
    func waits() throws(UsageError) -> [HeldBackGroups.Wait] {
        var waits: [HeldBackGroups.Wait] = []
        var before = members.map(\.group).filter(\.lifecycle.hasBegun)
        var remaining = members.map(\.group).filter { !$0.lifecycle.hasBegun }
        while !remaining.isEmpty {
            let next = remaining.firstIndex { group in
                !remaining.contains { $0 !== group && way(from: group, to: $0) != nil }
            }
            guard let next else {
                throw .cycle(OperationCore.ids(of: ring(among: remaining)))
            }
            let group = remaining.remove(at: next)
            for earlier in before where way(from: earlier, to: group) == nil {
                waits.append(HeldBackGroups.Wait(group: group, rival: earlier))
            }
            before = [group]
        }
        return waits
    }

    /// The path on which the end of `group` waits for the start of `other`; nil if there is none.
    private func way(from group: CompoundCore, to other: CompoundCore) -> [WaitEvent]? {
        graph.way(from: .end(group), to: .start(other))
    }

    /// The path around a ring of groups. Requires that each group waits for another one.
    private func ring(among groups: [CompoundCore]) -> [WaitEvent] {
        var path: [CompoundCore] = [groups[0]]
        while let last = path.last, let next = groups.first(where: { $0 !== last && way(from: last, to: $0) != nil }) {
            if let start = path.firstIndex(where: { $0 === next }) {
                path = path[start...] + [next]
                break
            }
            path.append(next)
        }
        return zip(path, path.dropFirst()).flatMap { way(from: $0, to: $1) ?? [] }
    }
}

extension Joining {
    /// The compound operation that `core` is about to join; nil if there is none.
    fileprivate func parent(of core: OperationCore) -> CompoundCore? { contains(core) ? parent : nil }
}

/// A graph of waits that also contains the resources: whatever wants a resource waits for it, and it waits for all
/// groups that take it.
private struct ResourceGraph {
    enum Resource: Hashable {
        case mutex(String)
        /// The only place in a compound operation.
        case place(ObjectIdentifier)
    }

    private let own: LockedQueue
    private var takers: [Resource: [CompoundCore]] = [:]
    private var events: [WaitEvent] = []
    private var edges: [[Int]] = []
    private var numbers: [WaitEvent: Int] = [:]

    init(_ holders: [CompoundCore], _ own: LockedQueue) {
        self.own = own
        for holder in holders where !holder.isFinished {
            for name in holder.takenMutexes { takers[.mutex(name), default: []].append(holder) }
        }
    }

    /// Adds the ends of `groups` and everything upstream, over resources too.
    mutating func explore(_ groups: [CompoundCore]) {
        var pending = groups
        var known = Set(groups.map(ObjectIdentifier.init))
        while !pending.isEmpty {
            let first = events.count
            collect(pending)
            pending = []
            for event in events[first...] {
                for resource in wanted(by: event) {
                    for taker in takers[resource] ?? [] where known.insert(ObjectIdentifier(taker)).inserted {
                        pending.append(taker)
                    }
                }
            }
        }
    }

    private mutating func collect(_ groups: [CompoundCore]) {
        var graph = WaitGraph(for: .edge, own: own)
        graph.collect(groups.ends) { numbers[$0] != nil }
        let seen = graph.events
        let first = events.count
        for event in seen where numbers[event] == nil {
            numbers[event] = events.count
            events.append(event)
            noteTakers(ofPlaceFor: event)
        }
        edges += Array(repeating: [], count: events.count - first)
        for (event, causes) in zip(seen, graph.causes) {
            guard let number = numbers[event], number >= first else { continue }
            edges[number] = causes.compactMap { numbers[seen[$0]] }
        }
    }

    private mutating func noteTakers(ofPlaceFor event: WaitEvent) {
        guard let parent = event.core?.parent, parent.limit == .members(1) else { return }
        let place = Resource.place(ObjectIdentifier(parent))
        guard takers[place] == nil else { return }
        let members = parent.memberCores.compactMap { $0 as? CompoundCore }
        takers[place] = members.filter { $0.leadsOutside && !$0.isFinished }
    }

    private func wanted(by event: WaitEvent) -> [Resource] {
        guard let core = event.core, core.lifecycle.queue === own.queue, event == .start(core) || core.isInRounds
        else { return [] }
        let place = core.parent.map { [Resource.place(ObjectIdentifier($0))] } ?? []
        return (place + core.takenMutexes.map { .mutex($0) }).filter { takers[$0]?.isEmpty == false }
    }

    /// The groups that take a resource of a ring with at least two resources.
    var takersInRings: [CompoundCore] {
        let resources = takers.filter { !$0.value.isEmpty }.map(\.key)
        guard resources.count > 1 else { return [] }
        let first = edges.count
        let nodes = Dictionary(uniqueKeysWithValues: resources.enumerated().map { ($0.element, first + $0.offset) })
        var edges = edges
        for (index, event) in events.enumerated() { edges[index] += wanted(by: event).compactMap { nodes[$0] } }
        edges += resources.map { (takers[$0] ?? []).compactMap { numbers[.end($0)] } }
        var known: Set<ObjectIdentifier> = []
        let sources = edges.enumerated().flatMap { repeatElement(UInt32($0), count: $1.count) }
        let graph = WaitForGraph(
            vertexCount: edges.count, sources: sources, targets: edges.joined().map(UInt32.init))
        return graph.cyclicComponents().flatMap { ring -> [CompoundCore] in
            let mixed = ring.map(Int.init).filter { $0 >= first }
            guard mixed.count > 1 else { return [] }
            return mixed.flatMap { takers[resources[$0 - first]] ?? [] }
        }.filter { known.insert(ObjectIdentifier($0)).inserted }
    }
}
