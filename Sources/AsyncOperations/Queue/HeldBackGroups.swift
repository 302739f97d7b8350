/// Compound operations that start later than they could, inside ones that limit their members.
///
/// A member in progress keeps one of a few places. A compound member that took one while something inside it waits, over
/// any number of steps and queues, for a sibling without a place could wait for ever. So it starts only after that sibling
/// has ended; unless that in turn waits for something inside, which then has to start first. Where there is one place
/// only, neither can be first.
struct HeldBackGroups {
    struct Wait {
        let group: CompoundCore
        let sibling: OperationCore
    }

    private(set) var waits: [Wait] = []

    /// Those directly inside `compounds`, as far as they have not started. `joining` are members that one of `compounds`,
    /// or something inside it, is about to get. With the topology locked, and the queue `own`. Throws `cycle`.
    init(
        in compounds: [CompoundCore], joining: (cores: [OperationCore], parent: CompoundCore)? = nil,
        own: (queue: QueueCore, state: QueueCore.State)
    ) throws(UsageError) {
        for compound in compounds where compound.limit != .unlimited {
            var members = compound.withMembers { $1.cores }
            if let joining, joining.parent === compound { members += joining.cores }
            guard members.count > 1 else { continue }
            let groups = members.compactMap { $0 as? CompoundCore }.filter { group in
                group.state.withLock { $0.hasEdges && !$0.lifecycle.hasBegun }
                    || joining.map { group.isAround($0.parent) } ?? false
            }
            guard !groups.isEmpty else { continue }
            var graph = WaitGraph(for: .edge, own: own)
            graph.explore(groups.map { .end($0) } + (joining?.cores.map { .end($0) } ?? []))
            for group in groups where !group.lifecycle.hasBegun {
                let inside =
                    group.withMembers { $1.cores } + (joining.map { group.isAround($0.parent) ? $0.cores : [] } ?? [])
                for (sibling, way) in graph.siblings(awaitedFrom: inside, of: group, in: compound) {
                    guard let back = graph.way(from: .end(sibling), to: .start(group)) else {
                        waits.append(Wait(group: group, sibling: sibling))
                        continue
                    }
                    if compound.limit == .members(1) {
                        throw .cycle(OperationCore.ids(of: [.end(group)] + way + back))
                    }
                }
            }
        }
    }
}

extension CompoundCore {
    fileprivate func isAround(_ core: OperationCore) -> Bool { core.around.contains { $0 === self } }
}

extension Lifecycle {
    /// Whether it has started, or has ended without.
    fileprivate var hasBegun: Bool {
        switch self {
        case .idle, .member, .taken, .waiting: false
        case .dissolving, .running, .open, .settled, .ended: true
        }
    }
}

extension WaitGraph {
    /// The members of `compound` for which something in `group` waits, each with the way there.
    fileprivate func siblings(
        awaitedFrom inside: [OperationCore], of group: CompoundCore, in compound: CompoundCore
    ) -> [(sibling: OperationCore, way: [WaitEvent])] {
        var found: [(OperationCore, [WaitEvent])] = []
        var known: Set<ObjectIdentifier> = []
        search(from: inside.map { .end($0) }) { event, way in
            guard event != .start(group), let core = event.core else { return event != .start(group) }
            let around = core.around
            guard let place = around.firstIndex(where: { $0 === compound }), place > 0 else { return true }
            let sibling = around[place - 1]
            if sibling === group { return true }
            if !sibling.lifecycle.hasBegun, known.insert(ObjectIdentifier(sibling)).inserted {
                found.append((sibling, way()))
            }
            // When the sibling is over, so is what it waits for.
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
                let other = waitingRow(of: wait.sibling)
            else { continue }
            handle(.link(dependent: row, on: other, .done), &state)
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
        for compound in graph.crowdedCompounds {
            guard let queue = compound.lifecycle.queue else { continue }
            let (error, consequences) = queue.decide { state -> UsageError? in
                do throws(UsageError) {
                    let held = try HeldBackGroups(in: [compound], own: (queue, state))
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

extension WaitGraph {
    /// Those with a limit and more than one member, of which one is waited for.
    fileprivate var crowdedCompounds: [CompoundCore] {
        var seen: Set<ObjectIdentifier> = []
        return events.compactMap { event in
            guard case .start(let core) = event, let parent = core.parent, parent.limit != .unlimited,
                seen.insert(ObjectIdentifier(parent)).inserted, parent.withMembers({ $1.cores.count > 1 })
            else { return nil }
            return parent
        }
    }
}
