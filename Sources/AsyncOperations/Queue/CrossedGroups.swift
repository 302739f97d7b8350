/// Groups of which each takes something when it starts and wants, inside or for what that waits for, what another
/// takes.
///
/// If they started at once, each could keep what the next one needs to end. Which of them would come first is open, so
/// nothing waits for itself yet, and one after the other they end.
struct CrossedGroups {
    private typealias Resource = ResourceGraph.Resource

    private struct Member {
        let group: CompoundCore
        var takes: Set<Resource>
        /// What wants each of the resources, inside or upstream.
        var wants: [Resource: [OperationCore]] = [:]

        /// True if what the other takes keeps this one waiting: what takes it does not also wait for it.
        func mayWait(for other: Member) -> Bool {
            other.takes.contains { wants[$0]?.contains { $0 !== other.group } == true }
        }
    }

    private var members: [Member]
    private let graph: WaitGraph

    /// `graph` knows what the ends of all `groups` wait for.
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

    /// Groups that may be crossed with `groups` or with what these wait for, at least all that are. `holders` are all
    /// that take mutexes. O(what is upstream).
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
            // What has joined it since is not among these.
            let locks = own.state.scheduler?.locks(of: row) ?? []
            for name in group.takenMutexes {
                guard let index = own.state.locks[name], locks.contains(LockID(index: index)) else { continue }
                taken.insert(.mutex(name))
            }
        } else {
            taken.formUnion(group.takenMutexes.map { .mutex($0) })
        }
        return taken
    }

    private func wanted(by group: CompoundCore, _ own: LockedQueue) -> [Resource: [OperationCore]] {
        // What has happened before it starts does not wait for what others take meanwhile.
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
            if let parent = core.parent, parent.limit == .members(1), !parent.around.contains(where: { $0 === group }) {
                wanted[.place(ObjectIdentifier(parent)), default: []].append(core)
            }
            return true
        }
        return wanted
    }

    /// Leaves those that are in a ring, or between two.
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

    /// The order in which they start, one after the other. Throws `cycle` if some wait for each other's members, so
    /// that none can be first.
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

    /// The way on which the end of one waits for the start of the other.
    private func way(from group: CompoundCore, to other: CompoundCore) -> [WaitEvent]? {
        graph.way(from: .end(group), to: .start(other))
    }

    /// Each waits for another one.
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
    /// What `core` is about to join.
    fileprivate func parent(of core: OperationCore) -> CompoundCore? { contains(core) ? parent : nil }
}

/// A graph of waits, with those for each resource and for those that take it, as if whatever wants one waited for all
/// that take it.
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

    /// Adds the ends of `groups` and what they wait for, over resources too.
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
        graph.collect(groups.map { .end($0) }) { numbers[$0] != nil }
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
        let members = parent.withMembers { $1.cores }.compactMap { $0 as? CompoundCore }
        takers[place] = members.filter { $0.leadsOutside && !$0.isFinished }
    }

    private func wanted(by event: WaitEvent) -> [Resource] {
        guard let core = event.core, core.lifecycle.queue === own.queue, event == .start(core) || core.isInRounds
        else { return [] }
        let place = core.parent.map { [Resource.place(ObjectIdentifier($0))] } ?? []
        return (place + core.takenMutexes.map { .mutex($0) }).filter { takers[$0]?.isEmpty == false }
    }

    /// The groups that take one of two resources or more in one ring.
    var takersInRings: [CompoundCore] {
        let resources = takers.filter { !$0.value.isEmpty }.map(\.key)
        guard resources.count > 1 else { return [] }
        let first = edges.count
        let nodes = Dictionary(uniqueKeysWithValues: resources.enumerated().map { ($0.element, first + $0.offset) })
        var edges = edges
        for (index, event) in events.enumerated() { edges[index] += wanted(by: event).compactMap { nodes[$0] } }
        edges += resources.map { (takers[$0] ?? []).compactMap { numbers[.end($0)] } }
        var known: Set<ObjectIdentifier> = []
        return Rings(edges).found.flatMap { ring -> [CompoundCore] in
            let mixed = ring.filter { $0 >= first }
            guard mixed.count > 1 else { return [] }
            return mixed.flatMap { takers[resources[$0 - first]] ?? [] }
        }.filter { known.insert(ObjectIdentifier($0)).inserted }
    }
}

/// The parts of a graph in which every node can be reached from every other. By Tarjan's algorithm, without recursion.
private struct Rings {
    private(set) var found: [[Int]] = []

    init(_ edges: [[Int]]) {
        var number = Array(repeating: 0, count: edges.count)
        var lowest = number
        var isOpen = Array(repeating: false, count: edges.count)
        var open: [Int] = []
        var next = 1
        for start in edges.indices where number[start] == 0 {
            var path: [(node: Int, edge: Int)] = [(start, 0)]
            while let (node, edge) = path.last {
                if edge == 0 {
                    number[node] = next
                    lowest[node] = next
                    next += 1
                    open.append(node)
                    isOpen[node] = true
                }
                if edge < edges[node].count {
                    path[path.count - 1].edge += 1
                    let other = edges[node][edge]
                    if number[other] == 0 {
                        path.append((other, 0))
                    } else if isOpen[other] {
                        lowest[node] = min(lowest[node], number[other])
                    }
                    continue
                }
                path.removeLast()
                if let (outer, _) = path.last { lowest[outer] = min(lowest[outer], lowest[node]) }
                guard lowest[node] == number[node] else { continue }
                var ring: [Int] = []
                while let last = open.popLast() {
                    isOpen[last] = false
                    ring.append(last)
                    if last == node { break }
                }
                found.append(ring)
            }
        }
    }
}
