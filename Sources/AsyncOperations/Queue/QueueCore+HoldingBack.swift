// Compound operations that wait here are held back, or a change that would make them wait forever is refused.

extension QueueCore {
    /// Lets compound operations that wait here start after what they must not hold up, and no longer after what they
    /// need not wait for by now; those in `rows` from `first` on have just been placed.
    func holdBack(_ held: HeldBackGroups, besides first: Int = .max, _ state: inout State) {
        for wait in held.waits {
            guard let row = waitingRow(of: wait.group), row.row < first, state.scheduler?.hasBegun(row) == false,
                wait.rival.lifecycle.queue === self, let other = wait.rival.lifecycle.row
            else { continue }
            handle(.link(dependent: row, on: other, .done, .outside), &state)
            if state.scheduler?.isReady(row) == false {
                wait.group.state.withLock { $0.lifecycle = .waiting(Place(queue: self, row: row), isReady: false) }
            }
        }
        for group in held.examined {
            guard let row = waitingRow(of: group), state.scheduler?.hasBegun(row) == false else { continue }
            for other in heldBackBy(row, state) {
                let isNeeded = held.waits.contains { $0.group === group && $0.rival.lifecycle.row == other }
                // What has ended may start again in the next round.
                let isOver = state.entries[other.row].operation?.lifecycle.latestEnd != nil
                if !isNeeded, !isOver { handle(.unlink(dependent: row, prerequisite: other, .outside), &state) }
            }
        }
    }

    /// True if a group was held back by something, which may have ended in this round.
    func isHeldBack(_ row: OperationID, by rival: OperationCore, _ state: State) -> Bool {
        guard let other = rival.lifecycle.row else { return false }
        return state.scheduler?.outsideNeeds(of: row).contains(other) == true
    }

    /// The rows of the operations that a group is held back by.
    func heldBackBy(_ row: OperationID, _ state: State) -> [OperationID] {
        (state.scheduler?.outsideNeeds(of: row) ?? []).filter { state.entries[$0.row].operation != nil }
    }
}

extension OperationCore {
    /// Looks again at the compound operations that limit their members and have some that the ends of `cores` wait for.
    /// Those in the queue `known`, which `joining` is about to join, are returned instead; nil if nothing there wants a
    /// place or a mutex. With the topology locked. Throws `cycle`, and what was added for `cores` has to go.
    @discardableResult
    static func holdBack(
        beyond cores: [OperationCore], joining: Joining? = nil, besides known: QueueCore? = nil,
        _ all: inout [Consequences]
    ) throws(UsageError) -> [CompoundCore]? {
        var graph = WaitGraph(for: .edge, joining: joining)
        graph.explore(cores.map { .end($0) })
        var left: [CompoundCore]?
        for (queue, limited) in graph.contested {
            if queue === known {
                left = limited
                continue
            }
            let (error, consequences) = queue.decide { state -> UsageError? in
                do throws(UsageError) {
                    let own = LockedQueue(queue, state, joining: joining)
                    let holders = queue.holders(state)
                    let held = try HeldBackGroups(in: limited, holders, holders: holders, own: own)
                    queue.holdBack(held, &state)
                    return nil
                } catch {
                    return error
                }
            }
            all.append((queue, consequences))
            if let error { throw error }
        }
        return left
    }
}

extension OperationCore {
    /// Looks again at the groups on a way of waits that are held back by what has started by now: it has its place, and
    /// only its end was awaited. With the topology locked. Returns false if nothing has changed.
    static func letGo(on way: [WaitEvent], _ all: inout [Consequences]) -> Bool {
        let held = zip(way, way.dropFirst()).compactMap { event, next -> (group: CompoundCore, rival: OperationCore)? in
            guard case (.start(let group as CompoundCore), .end(let rival)) = (event, next),
                rival.lifecycle.hasBegun, group.isHeldBack(by: rival)
            else { return nil }
            return (group, rival)
        }
        for (group, _) in held {
            // What would form a ring stays as it is.
            _ = try? holdBack(beyond: [group], &all)
        }
        return held.contains { group, rival in !group.isHeldBack(by: rival) }
    }

    private func isHeldBack(by rival: OperationCore) -> Bool {
        guard let queue = lifecycle.queue, rival.lifecycle.queue === queue else { return false }
        return queue.state.withLock { state in
            queue.waitingRow(of: self).map { queue.isHeldBack($0, by: rival, state) } ?? false
        }
    }
}

extension QueueCore {
    /// The compound operations that hold mutexes or will, and wait for something outside meanwhile.
    func holders(_ state: State) -> [CompoundCore] {
        if state.locks.isEmpty { return [] }
        return state.entries.compactMap { $0.operation as? CompoundCore }.filter { compound in
            !compound.options.mutexes.isEmpty && compound.leadsOutside
        }
    }
}

extension WaitGraph {
    /// The queues in which something waits for a place in a compound operation, with these, or for a mutex.
    fileprivate var contested: [(queue: QueueCore, limited: [CompoundCore])] {
        var found: [ObjectIdentifier: (queue: QueueCore, limited: [CompoundCore])] = [:]
        var seen: Set<ObjectIdentifier> = []
        for event in events {
            guard let core = event.core, event == .start(core) || core.isInRounds, let queue = core.lifecycle.queue
            else { continue }
            let limited = core.parent.flatMap { parent in
                parent.limit != .unlimited && seen.insert(ObjectIdentifier(parent)).inserted ? parent : nil
            }
            guard limited != nil || !core.hasDefaultOptions && !core.options.mutexes.isEmpty else { continue }
            found[ObjectIdentifier(queue), default: (queue, [])].limited += [limited].compactMap(\.self)
        }
        return Array(found.values)
    }
}
