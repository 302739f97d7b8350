// The causes of each event.

extension WaitGraph {
    /// Events of which enough have to happen for their weights to add up to `needed`, which is 0 for an event that
    /// may happen by itself or has happened.
    struct Causes {
        let events: [WaitEvent]
        let needed: Int
        /// nil if each weight is 1.
        var weights: [Int]?

        func weight(of index: Int) -> Int { weights?[index] ?? 1 }
    }

    func causes(of event: WaitEvent) -> Causes {
        switch event {
        case .start(let core): Self.all(causesOfStart(of: core))
        case .end(let core): Self.all(causesOfEnd(of: core))
        case .idle(let queue): Self.all(ask(queue) { queue.unended($0).map { .end($0) } })
        case .place(let compound): Self.places(heldBy: compound.membersInProgress, of: compound.places)
        case .units(let count, let pool): Self.units(count, of: pool)
        case .turn(let queue): ask(queue) { Self.places(heldBy: $0.waitingOperations, of: $0.width) }
        }
    }

    private static func all(_ events: [WaitEvent]) -> Causes { Causes(events: events, needed: events.count) }

    /// The ends required before one more place is free. There may be more holders than places, because the width of a
    /// queue may have been reduced.
    private static func places(heldBy holders: [OperationCore], of count: Int) -> Causes {
        Causes(events: holders.map { .end($0) }, needed: max(0, holders.count - count + 1))
    }

    /// The ends required before this many units are free.
    private static func units(_ count: Int, of pool: Pool) -> Causes {
        let holders = PoolTable.shared.withLock { $0.holders(of: pool) }.sorted { $0.core.id < $1.core.id }
        let free = pool.units - holders.reduce(0) { $0 + $1.units }
        return Causes(
            events: holders.map { .end($0.core) }, needed: max(0, count - free), weights: holders.map(\.units))
    }

    private func causesOfEnd(of core: OperationCore) -> [WaitEvent] {
        switch core.lifecycle {
        case .ended, .dissolving: []
        // It may have ended without its dependencies, and will need them in the next round.
        case .settled: purpose == .edge ? [.start(core)] + members(of: core).map { .end($0) } : []
        case .running: core.wait?.events ?? []
        case .open: members(of: core).map { .end($0) }
        case .idle, .member, .taken, .waiting: [.start(core)] + members(of: core).map { .end($0) }
        }
    }

    private func members(of core: OperationCore) -> [OperationCore] {
        guard let joining, joining.parent === core else { return core.members }
        return core.members + joining.cores
    }

    private func causesOfStart(of core: OperationCore) -> [WaitEvent] {
        switch core.lifecycle {
        case .running, .open, .ended, .dissolving: return []
        case .settled where purpose == .wait: return []
        case .waiting(let place, _), .settled(let place, _):
            let holds = ignoresHolds ? [] : holds[ObjectIdentifier(core)]
            return ask(place.queue) { place.queue.causesOfStart(of: core, for: purpose, instead: holds, $0) }
        case .idle, .member, .taken:
            let (needs, known) = core.state.withLock { ($0.needs.map(\.core), $0.parent) }
            let parent = known ?? (joining?.contains(core) == true ? joining?.parent : nil)
            // Computed only where it matters: compound operations may be deeply nested.
            let around = needs.isEmpty ? nil : placedAround(core)
            return needs.flatMap { need in around.map { need.events(seenFrom: $0) } ?? [.end(need)] }
                + (parent.map { [.start($0)] } ?? [])
                + (holds[ObjectIdentifier(core)] ?? []).map { .end($0) }
        }
    }

    /// The operation and its enclosing operations; nil if it belongs to no queue, and so may still join the compound
    /// operation with which its dependencies are tried again.
    private func placedAround(_ core: OperationCore) -> [OperationCore]? {
        let around = core.around
        guard let outermost = around.last else { return nil }
        if let joining, joining.contains(outermost) { return around + (joining.parent?.around ?? []) }
        return outermost.lifecycle.queue == nil ? nil : around
    }

    private func ask<Answer: Sendable>(_ queue: QueueCore, _ question: (QueueCore.State) -> Answer) -> Answer {
        if let own, own.queue === queue { return question(own.state) }
        return queue.state.withLock { question($0) }
    }
}

extension QueueCore {
    fileprivate func unended(_ state: State) -> [OperationCore] {
        operations(state).filter { !$0.isFinished }
    }

    fileprivate func causesOfStart(
        of core: OperationCore, for purpose: WaitGraph.Purpose, instead holds: [OperationCore]?, _ state: State
    ) -> [WaitEvent] {
        // It may have gone on since it was examined, into the next round too.
        let lifecycle = core.lifecycle
        guard lifecycle.queue === self, let scheduler = state.scheduler else { return [] }
        let place: Place
        switch lifecycle {
        case .waiting(let current, _): place = current
        case .settled(let current, _):
            if purpose == .wait { return [] }
            return needs(of: core, at: current.row, for: purpose, instead: [], state)
        case .idle, .dissolving, .member, .taken, .running, .open, .ended: return []
        }
        var events = needs(of: core, at: place.row, for: purpose, instead: holds, state)
        let parent = core.parent
        if let parent { events.append(.start(parent)) }
        guard scheduler.isReady(place.row) || purpose == .edge else { return events }
        for row in scheduler.holdersOfMissingLocks(for: place.row) {
            if case .operation(let holder) = state.entries[row.row] { events.append(.end(holder)) }
        }
        if !core.hasDefaultOptions { events += core.options.units.map { .units($0.count, of: $0.pool) } }
        if let parent, parent.limit != .unlimited { events.append(.place(in: parent)) }
        if purpose == .wait { events.append(.turn(in: self)) }
        return events
    }

    /// Its dependencies, and the operations that hold it back, as far as they have not ended for good.
    fileprivate func needs(
        of core: OperationCore, at row: OperationID, for purpose: WaitGraph.Purpose, instead holds: [OperationCore]?,
        _ state: State
    ) -> [WaitEvent] {
        guard let scheduler = state.scheduler else { return [] }
        return (holds ?? []).map { WaitEvent.end($0) }
            + scheduler.needs(of: row).flatMap { need, reason -> [WaitEvent] in
                // Needs that have ended in this round count for an edge: enclosing operations may have to start after
                // them in the next round.
                if purpose == .wait, scheduler.hasEnded(need) { return [] }
                switch state.entries[need.row] {
                case .operation(let other): return reason == .outside && holds != nil ? [] : [.end(other)]
                case .standIn(let standIn): return standIn.core.events(seenFrom: core.around)
                case .nothing, .ended: return []
                }
            }
    }
}

extension QueueCore.State {
    /// The operations whose bodies wait. All other running operations may end and leave their place.
    fileprivate var waitingOperations: [OperationCore] { bodies.filter { $0.wait != nil }.map(\.core) }
}

extension CompoundCore {
    /// The number of members that may be in progress at once.
    fileprivate var places: Int {
        if case .members(let limit) = limit { limit } else { .max }
    }

    fileprivate var membersInProgress: [OperationCore] {
        withMembers { $1.cores }.filter { core in
            switch core.lifecycle {
            case .running, .open: true
            case .idle, .dissolving, .member, .taken, .waiting, .settled, .ended: false
            }
        }
    }
}

extension OperationCore {
    /// The wait of its body; nil if it does not wait.
    var wait: BodyWait? {
        if case .running(let control) = lifecycle { control.wait } else { nil }
    }

    fileprivate var members: [OperationCore] { (self as? CompoundCore)?.withMembers { $1.cores } ?? [] }

    /// Its final end, which includes that of the outermost enclosing operation that may be tried again.
    fileprivate var finalEvents: [WaitEvent] {
        [.end(self)] + (outermostRetried.map { [.end($0)] } ?? [])
    }

    /// The end that counts for an operation enclosed by `others`, which may be in the same retried compound
    /// operation.
    fileprivate func events(seenFrom others: [OperationCore]) -> [WaitEvent] {
        [.end(self)] + (lastRound(seenFrom: others).map { [.end($0)] } ?? [])
    }

    /// True if anything could wait for its end or for an enclosing operation: because of a dependency or a wait, or
    /// because it has, or will have, a place or a mutex that others want.
    var mayHoldUp: Bool {
        around.contains { outer in
            if !outer.hasDefaultOptions, outer.options.retry != nil || outer.options.takesLocks { return true }
            return outer.state.withLock { $0.isNeeded || $0.parent?.limit ?? .unlimited != .unlimited }
        }
    }
}

extension BodyWait {
    /// The events it waits for; none if the body has been asked to stop and heeds that.
    fileprivate var events: [WaitEvent] {
        if heedsCancellation, body.reason != nil { return [] }
        return switch target {
        case .end(let core, _): core.finalEvents
        case .idle(let queue, _, _): [.idle(queue)]
        }
    }
}
