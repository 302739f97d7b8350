/// The order in which events must happen, as far as the library knows it, and the events that can never happen.
///
/// The end of an operation waits for its start, its members and the target of its body's wait. A start waits for the
/// dependencies and for the enclosing operation; if the operation is ready, also for a place, a mutex and its turn.
/// Any other running operation may end, and one that was not started may be started. All other events are stuck: they
/// wait for themselves, over any number of steps and queues. Requires the topology's lock. O(upstream operations).
struct WaitGraph {
    enum Purpose {
        /// Decides if a body may wait. Only a ready operation is certain to need a place; others may end without one.
        case wait
        /// Decides if a dependency or member may be added. An operation that has not started will need its places.
        case edge
    }

    private struct Node {
        let event: WaitEvent
        var causes: [Int] = []
        var effects: [(node: Int, weight: Int)] = []
        /// The total weight of the causes that must still happen.
        var missing = 0
        var isPossible = false
    }

    private let purpose: Purpose
    /// An event that is treated as impossible.
    private let denied: WaitEvent?
    private let own: LockedQueue?
    private let joining: Joining?
    /// The operations that hold back each of these groups, in place of the current ones.
    var holds: [ObjectIdentifier: [OperationCore]] = [:]
    /// True if holds on groups do not count, because they will be decided again.
    private var ignoresHolds = false
    private var nodes: [Node] = []
    private var indices: [WaitEvent: Int] = [:]

    init(for purpose: Purpose, denied: WaitEvent? = nil, own: LockedQueue? = nil, joining: Joining? = nil) {
        self.purpose = purpose
        self.denied = denied
        self.own = own
        self.joining = own?.joining ?? joining
    }

    mutating func ignore(_ ignored: OperationCore.IgnoredHolds) {
        switch ignored {
        case .none: break
        case .of(let groups): for group in groups { holds[ObjectIdentifier(group)] = [] }
        case .all: ignoresHolds = true
        }
    }

    /// Adds `events` and everything upstream, and determines the possible ones.
    ///
    /// Operations start and end meanwhile, so the graph may mix several moments. An event may look stuck because a
    /// place that its operation has just taken is seen as taken by another. An event that is seen twice with the same
    /// causes has waited for them all the time in between. If all events were seen once before any was seen again,
    /// there was a moment at which all were stuck.
    ///
    /// Returns false if there are more than `limit` events.
    @discardableResult
    mutating func explore(_ events: [WaitEvent], limit: Int = .max) -> Bool {
        repeat {
            guard collect(events, limit: limit) else { return false }
        } while !isStillStuck
        return true
    }

    /// Adds `events` and everything upstream, as seen once, so that the graph may mix several moments. Does not go
    /// beyond an event that `isKnown`.
    @discardableResult
    mutating func collect(
        _ events: [WaitEvent], limit: Int = .max, isKnown: (WaitEvent) -> Bool = { _ in false }
    ) -> Bool {
        nodes = []
        indices = [:]
        var pending: [Int] = []
        for event in events { _ = index(of: event, &pending) }
        var possible: [Int] = []
        while let next = pending.popLast() {
            guard nodes.count <= limit else { return false }
            let event = nodes[next].event
            if event == denied || isKnown(event) { continue }
            let causes = causes(of: event)
            guard causes.needed > 0 else {
                possible.append(next)
                continue
            }
            let indices = causes.events.map { index(of: $0, &pending) }
            nodes[next].causes = indices
            nodes[next].missing = causes.needed
            for (place, index) in indices.enumerated() {
                nodes[index].effects.append((next, causes.weight(of: place)))
            }
        }
        settle(possible)
        return true
    }

    private mutating func index(of event: WaitEvent, _ pending: inout [Int]) -> Int {
        if let known = indices[event] { return known }
        indices[event] = nodes.count
        pending.append(nodes.count)
        nodes.append(Node(event: event))
        if let core = event.core { OperationCore.keepMet(core) }
        return nodes.count - 1
    }

    /// Marks these events as possible, and all that become possible because of them.
    private mutating func settle(_ possible: [Int]) {
        var pending = possible
        while let next = pending.popLast() {
            guard !nodes[next].isPossible else { continue }
            nodes[next].isPossible = true
            for effect in nodes[next].effects {
                nodes[effect.node].missing -= effect.weight
                if nodes[effect.node].missing <= 0 { pending.append(effect.node) }
            }
        }
    }

    /// True if all events that seemed stuck still wait for the same causes.
    private var isStillStuck: Bool {
        nodes.allSatisfy { node in
            if node.isPossible || node.event == denied { return true }
            let stuck = Set(node.causes.filter { !nodes[$0].isPossible })
            let causes = causes(of: node.event)
            let others = causes.events.enumerated().reduce(0) { sum, cause in
                indices[cause.element].map(stuck.contains) == true ? sum : sum + causes.weight(of: cause.offset)
            }
            return others < causes.needed
        }
    }

    var events: [WaitEvent] { nodes.map(\.event) }

    /// The events that can never happen.
    var stuckEvents: [WaitEvent] { nodes.filter { !$0.isPossible }.map(\.event) }

    /// The causes of each of `events`, as indices into `events`.
    var causes: [[Int]] { nodes.map(\.causes) }

    /// Visits `starts` and everything upstream, once each and the nearest first, with the path there. Goes on beyond
    /// an event if `visit` returns true.
    func search(from starts: [WaitEvent], _ visit: (_ event: WaitEvent, _ way: () -> [WaitEvent]) -> Bool) {
        var cameFrom: [Int: Int] = [:]
        var pending = starts.compactMap { indices[$0] }
        var seen = Set(pending)
        var next = 0
        while next < pending.count {
            let node = pending[next]
            next += 1
            let goesOn = visit(nodes[node].event) {
                sequence(first: node) { cameFrom[$0] }.map { nodes[$0].event }.reversed()
            }
            guard goesOn else { continue }
            for cause in nodes[node].causes where seen.insert(cause).inserted {
                cameFrom[cause] = node
                pending.append(cause)
            }
        }
    }

    /// The path over stuck events from `start`, or what it waits for, to `target`; nil if there is none.
    func path(from start: WaitEvent, to target: WaitEvent) -> [WaitEvent]? {
        guard let first = indices[start], let last = indices[target], !nodes[first].isPossible else { return nil }
        var cameFrom: [Int: Int] = [:]
        var pending = [first]
        var next = 0
        if first == last, denied == target { return [start] }
        while next < pending.count {
            let node = pending[next]
            next += 1
            for cause in nodes[node].causes where !nodes[cause].isPossible {
                if cause == last {
                    var path = [last, node]
                    while let end = path.last, end != first, let previous = cameFrom[end] { path.append(previous) }
                    return path.reversed().map { nodes[$0].event }
                }
                guard cause != first, cameFrom[cause] == nil else { continue }
                cameFrom[cause] = node
                pending.append(cause)
            }
        }
        return nil
    }
}

extension WaitGraph {
    /// The path from an event back to itself; nil if there is none, or if it leads over a body, whose wait will be
    /// refused.
    func ring(through event: WaitEvent) -> [WaitEvent]? {
        guard let path = path(from: event, to: event), !path.contains(where: { $0.core?.wait != nil }) else {
            return nil
        }
        return path
    }
}

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
        case .idle(let queue): Self.all(ask(queue) { queue.unended($0).ends })
        case .place(let compound): Self.places(heldBy: compound.membersInProgress, of: compound.places)
        case .units(let count, let pool): Self.units(count, of: pool)
        case .turn(let queue): ask(queue) { Self.places(heldBy: $0.waitingOperations, of: $0.width) }
        }
    }

    private static func all(_ events: [WaitEvent]) -> Causes { Causes(events: events, needed: events.count) }

    /// The ends required before one more place is free. There may be more holders than places, because the width of a
    /// queue may have been reduced.
    private static func places(heldBy holders: [OperationCore], of count: Int) -> Causes {
        Causes(events: holders.ends, needed: max(0, holders.count - count + 1))
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
        case .settled: purpose == .edge ? [.start(core)] + members(of: core).ends : []
        case .running: core.wait?.events ?? []
        case .open: members(of: core).ends
        case .idle, .member, .taken, .waiting: [.start(core)] + members(of: core).ends
        }
    }

    private func members(of core: OperationCore) -> [OperationCore] {
        guard let joining, joining.parent === core else { return core.memberCores }
        return core.memberCores + joining.cores
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
                + (holds[ObjectIdentifier(core)] ?? []).ends
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
        if let parent, parent.isLimited { events.append(.place(in: parent)) }
        if purpose == .wait { events.append(.turn(in: self)) }
        return events
    }

    /// Its dependencies, and the operations that hold it back, as far as they have not ended for good.
    fileprivate func needs(
        of core: OperationCore, at row: OperationID, for purpose: WaitGraph.Purpose, instead holds: [OperationCore]?,
        _ state: State
    ) -> [WaitEvent] {
        guard let scheduler = state.scheduler else { return [] }
        return (holds ?? []).ends
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
    fileprivate var waitingOperations: [OperationCore] { bodies.all.filter { $0.wait != nil }.map(\.core) }
}

extension CompoundCore {
    /// The number of members that may be in progress at once.
    fileprivate var places: Int {
        if case .members(let limit) = limit { limit } else { .max }
    }

    fileprivate var membersInProgress: [OperationCore] {
        memberCores.filter { core in
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
            return outer.state.withLock { $0.isNeeded || $0.parent?.isLimited == true }
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
