// Holds back compound operations that wait here, or refuses a change that would make them wait forever.

extension QueueCore {
    /// Makes compound operations that wait here start after operations that they must not hold up, and removes holds
    /// that are no longer needed. Operations in rows from `first` on have just been placed.
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
                // An operation that has ended may start again in the next round.
                let isOver = state.entries[other.row].operation?.lifecycle.latestEnd != nil
                if !isNeeded, !isOver { handle(.unlink(dependent: row, prerequisite: other, .outside), &state) }
            }
        }
    }

    /// True if `rival`, which may have ended in this round, holds or held back a group.
    func isHeldBack(_ row: OperationID, by rival: OperationCore, _ state: State) -> Bool {
        guard let other = rival.lifecycle.row else { return false }
        return state.scheduler?.outsideNeeds(of: row).contains(other) == true
    }

    /// The rows of the operations that hold back a group.
    func heldBackBy(_ row: OperationID, _ state: State) -> [OperationID] {
        (state.scheduler?.outsideNeeds(of: row) ?? []).filter { state.entries[$0.row].operation != nil }
    }
}

extension OperationCore {
    /// Examines again the compound operations that limit their members, if `ends` wait for such members. Those in the
    /// queue `known`, which `joining` is about to join, are returned instead; nil if nothing there wants a place or a
    /// mutex. Requires the topology's lock. Throws `cycle`; the addition that `ends` belong to must then be undone.
    @discardableResult
    static func holdBack(
        beyond ends: [WaitEvent], joining: Joining? = nil, besides known: QueueCore? = nil,
        _ all: inout [Consequences]
    ) throws(UsageError) -> [CompoundCore]? {
        var graph = WaitGraph(for: .edge, joining: joining)
        graph.explore(ends)
        var left: [CompoundCore]?
        for (queue, limited) in graph.contested {
            if queue === known {
                left = limited
                continue
            }
            let (error, consequences) = queue.decide { state -> UsageError? in
                do throws(UsageError) {
                    let own = LockedQueue(queue: queue, state: state, joining: joining)
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
    /// Examines again the groups on a path of waits that are held back by a rival that has started by now: the rival
    /// has its place, and only its end was awaited. Requires the topology's lock. Returns false if nothing has
    /// changed.
    static func letGo(on way: [WaitEvent], _ all: inout [Consequences]) -> Bool {
        let held = zip(way, way.dropFirst()).compactMap { event, next -> (group: CompoundCore, rival: OperationCore)? in
            guard case (.start(let group as CompoundCore), .end(let rival)) = (event, next),
                rival.lifecycle.hasBegun, group.isHeldBack(by: rival)
            else { return nil }
            return (group, rival)
        }
        for (group, _) in held {
            // A change that would form a ring is not made.
            _ = try? holdBack(beyond: [.end(group)], &all)
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
    /// The compound operations that hold mutexes, or will, and meanwhile wait for something outside.
    func holders(_ state: State) -> [CompoundCore] {
        if !state.locks.hasMutexes { return [] }
        return state.entries.compactMap { $0.operation as? CompoundCore }.filter { compound in
            compound.namesMutexes && compound.leadsOutside
        }
    }
}

extension WaitGraph {
    /// The queues in which something waits for a mutex, or for a place in a compound operation, with these compound
    /// operations.
    fileprivate var contested: [(queue: QueueCore, limited: [CompoundCore])] {
        var found: [ObjectIdentifier: (queue: QueueCore, limited: [CompoundCore])] = [:]
        var seen: Set<ObjectIdentifier> = []
        for event in events {
            guard let core = event.core, event == .start(core) || core.isInRounds, let queue = core.lifecycle.queue
            else { continue }
            let limited = core.parent.flatMap { parent in
                parent.isLimited && seen.insert(ObjectIdentifier(parent)).inserted ? parent : nil
            }
            guard limited != nil || core.namesMutexes else { continue }
            found[ObjectIdentifier(queue), default: (queue, [])].limited += [limited].compactMap(\.self)
        }
        return Array(found.values)
    }
}

// A wait raises everything upstream: over dependencies, members, places, mutexes, pools and the waits of bodies.

extension OperationCore {
    /// Raises the bodies for which its end waits, now or later, to `priority`. O(upstream operations not yet raised
    /// to that priority), and O(1) if no priority can be lower.
    func raiseUpstream(to priority: Priority) {
        guard priority.mayRaise else { return }
        let controls = Self.withTopology {
            var graph = WaitGraph(for: .wait)
            graph.collect([.end(self)]) { event in
                if case .end(let core) = event, core !== self { !core.noteRaise(to: priority) } else { false }
            }
            return graph.events.flatMap { event -> [BodyControl] in
                switch event {
                case .start(let core), .end(let core): core.expectWaiter(of: priority).map { [$0] } ?? []
                case .turn(let queue): queue.hurry(for: self, priority)
                case .place, .units, .idle: []
                }
            }
        }
        // Escalation handlers are user code.
        for control in controls { control.raise(to: priority) }
    }

    /// Raises everything upstream to its own priority, if that is above medium, and to that of the tasks that wait
    /// for it.
    func raiseUpstream() {
        let waiter = state.withLock { $0.rare?.waiterPriority }
        let own = ownPriority.flatMap { $0 > .medium ? $0 : nil }
        if let priority = Priority.higher(waiter, own) { raiseUpstream(to: priority) }
    }

    private func noteRaise(to priority: Priority) -> Bool {
        state.withLock { state in
            // An operation that has ended waits for nothing.
            state.lifecycle.end == nil && state.withRare { $0.noteRaise(to: priority) }
        }
    }

    private var ownPriority: Priority? { hasDefaultOptions ? nil : options.bodyPriority }

    /// Makes its body begin with at least `priority`. Returns the running attempt.
    private func expectWaiter(of priority: Priority) -> BodyControl? {
        let own = ownPriority
        return state.withLock { state in
            switch state.lifecycle {
            case .ended: return nil
            case .running(let control): return control
            case .idle, .dissolving, .member, .taken, .waiting, .open, .settled: break
            }
            guard priority > state.rare?.waiterPriority ?? own ?? state.lifecycle.queue?.priority ?? .medium else {
                return nil
            }
            state.withRare { $0.waiterPriority = priority }
            return nil
        }
    }
}

extension QueueCore {
    /// Gives `priority` to operations that begin before `core`. Returns the attempts that run now.
    fileprivate func hurry(for core: OperationCore, _ priority: Priority) -> [BodyControl] {
        state.withLock { state in
            guard state.bodies.all.count >= state.width, state.scheduler != nil else { return [] }
            state.urgent.append(Urgent(core: core, priority: priority))
            return state.bodies.all
        }
    }
}
