/// Which events must happen before which others, as far as the library knows, and which of them never can.
///
/// The end of an operation waits for its start, its members, and what its body waits for; a start for the dependencies
/// and for what is around the operation; an operation that is ready for a place, a mutex, its turn. Anything else that
/// runs may end, and what has not been started may be. Everything that remains is stuck: it waits for itself, over any
/// number of steps and queues. With the topology locked. O(what is upstream).
struct WaitGraph {
    enum Purpose {
        /// Whether a body may wait. Only an operation that is ready needs a place for certain; others may end without
        /// one.
        case wait
        /// Whether a dependency or member may be added. An operation that has not started will need its places.
        case edge
    }

    private struct Node {
        let event: WaitEvent
        var causes: [Int] = []
        var effects: [Int] = []
        /// How many more of the causes it takes.
        var missing = 0
        var isPossible = false
    }

    private let purpose: Purpose
    /// An event to be treated as impossible.
    private let denied: WaitEvent?
    /// The queue whose lock the caller holds, and its state.
    private let own: (queue: QueueCore, state: QueueCore.State)?
    private var nodes: [Node] = []
    private var indices: [WaitEvent: Int] = [:]

    init(for purpose: Purpose, denied: WaitEvent? = nil, own: (queue: QueueCore, state: QueueCore.State)? = nil) {
        self.purpose = purpose
        self.denied = denied
        self.own = own
    }

    /// Adds `events` and everything that they wait for, and finds out which are possible.
    mutating func explore(_ events: [WaitEvent]) {
        var pending: [Int] = []
        for event in events { _ = index(of: event, &pending) }
        var possible: [Int] = []
        while let next = pending.popLast() {
            let event = nodes[next].event
            if event == denied { continue }
            let causes = causes(of: event)
            guard causes.needed > 0 else {
                possible.append(next)
                continue
            }
            let indices = causes.events.map { index(of: $0, &pending) }
            nodes[next].causes = indices
            nodes[next].missing = causes.needed
            for index in indices { nodes[index].effects.append(next) }
        }
        settle(possible)
    }

    private mutating func index(of event: WaitEvent, _ pending: inout [Int]) -> Int {
        if let known = indices[event] { return known }
        indices[event] = nodes.count
        pending.append(nodes.count)
        nodes.append(Node(event: event))
        return nodes.count - 1
    }

    /// Marks these events, and all that then become possible.
    private mutating func settle(_ possible: [Int]) {
        var pending = possible
        while let next = pending.popLast() {
            guard !nodes[next].isPossible else { continue }
            nodes[next].isPossible = true
            for effect in nodes[next].effects {
                nodes[effect].missing -= 1
                if nodes[effect].missing == 0 { pending.append(effect) }
            }
        }
    }

    var events: [WaitEvent] { nodes.map(\.event) }

    /// Visits `starts` and everything they wait for, once each and the nearest first, with the way there; goes on
    /// beyond an event if `visit` returns true.
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

// Bodies that wait.

extension WaitGraph {
    /// Whether the body would wait for itself. The wait must be noted already.
    static func isCircular(_ wait: BodyWait) -> Bool {
        let core = wait.body.core
        guard wait.body.queue.owner == nil || core.mayHoldUp else { return false }
        var graph = WaitGraph(for: .wait)
        graph.explore([.end(core)])
        return graph.path(from: .end(core), to: .end(core)) != nil
    }

    /// A body that waits for itself, among all that `suspects` wait for.
    static func circularWait(beyond suspects: [OperationCore]) -> BodyWait? {
        var graph = WaitGraph(for: .wait)
        graph.explore(suspects.map { .end($0) })
        for node in graph.nodes where !node.isPossible {
            guard case .end(let core) = node.event, let wait = core.wait else { continue }
            if graph.path(from: node.event, to: node.event) != nil { return wait }
        }
        return nil
    }
}

// What waits for what.

extension WaitGraph {
    /// `needed` of the events have to happen; 0 for what may happen by itself, or has happened.
    typealias Causes = (events: [WaitEvent], needed: Int)

    private func causes(of event: WaitEvent) -> Causes {
        switch event {
        case .start(let core): Self.all(causesOfStart(of: core))
        case .end(let core): Self.all(causesOfEnd(of: core))
        case .idle(let queue): Self.all(ask(queue) { queue.unended($0).map { .end($0) } })
        case .place(let compound): Self.places(heldBy: compound.membersInProgress, of: compound.places)
        case .turn(let queue): ask(queue) { Self.places(heldBy: $0.waitingOperations, of: $0.width) }
        }
    }

    private static func all(_ events: [WaitEvent]) -> Causes { (events, events.count) }

    /// What has to end before one more finds a place. There may be more holders than places, because a queue may have
    /// been made narrower.
    private static func places(heldBy holders: [OperationCore], of count: Int) -> Causes {
        (holders.map { .end($0) }, max(0, holders.count - count + 1))
    }

    private func causesOfEnd(of core: OperationCore) -> [WaitEvent] {
        switch core.lifecycle {
        case .ended, .settled, .dissolving: []
        case .running: core.wait?.events ?? []
        case .open: core.members.map { .end($0) }
        case .idle, .member, .taken, .waiting: [.start(core)] + core.members.map { .end($0) }
        }
    }

    private func causesOfStart(of core: OperationCore) -> [WaitEvent] {
        switch core.lifecycle {
        case .running, .open, .settled, .ended, .dissolving: return []
        case .waiting(let place, _):
            return ask(place.queue) { place.queue.causesOfStart(of: core, for: purpose, $0) }
        case .idle, .member, .taken:
            let (needs, parent) = core.state.withLock { ($0.needs.map(\.core), $0.parent) }
            // What belongs to no queue may still join what its dependencies are tried again with.
            let isPlaced = core.around.last?.lifecycle.queue != nil
            return needs.flatMap { isPlaced ? $0.events(seenFrom: core) : [.end($0)] }
                + (parent.map { [.start($0)] } ?? [])
        }
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
        of core: OperationCore, for purpose: WaitGraph.Purpose, _ state: State
    ) -> [WaitEvent] {
        guard case .waiting(let place, _) = core.lifecycle, place.queue === self, let scheduler = state.scheduler else {
            return []
        }
        var events = scheduler.unendedNeeds(of: place.row).flatMap { row -> [WaitEvent] in
            switch state.entries[row.row] {
            case .operation(let core): [.end(core)]
            case .standIn(let standIn): standIn.core.finalEvents
            case .nothing, .ended: []
            }
        }
        let parent = core.parent
        if let parent { events.append(.start(parent)) }
        guard scheduler.isReady(place.row) || purpose == .edge else { return events }
        for row in scheduler.holdersOfMissingLocks(for: place.row) {
            if case .operation(let holder) = state.entries[row.row] { events.append(.end(holder)) }
        }
        if let parent, parent.limit != .unlimited { events.append(.place(in: parent)) }
        if purpose == .wait { events.append(.turn(in: self)) }
        return events
    }
}

extension QueueCore.State {
    /// The operations whose bodies wait. All others that run may end and leave their place.
    fileprivate var waitingOperations: [OperationCore] { running.filter { $0.wait != nil }.map(\.core) }
}

extension CompoundCore {
    /// How many members may be in progress at once.
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
    /// The wait of its body, if it waits.
    fileprivate var wait: BodyWait? {
        if case .running(let control) = lifecycle { control.wait } else { nil }
    }

    fileprivate var members: [OperationCore] { (self as? CompoundCore)?.withMembers { $1.cores } ?? [] }

    /// Its final end, which includes that of the outermost compound operation around it that may be tried again.
    fileprivate var finalEvents: [WaitEvent] {
        [.end(self)] + (around.dropFirst().last { $0.options.retry != nil }.map { [.end($0)] } ?? [])
    }

    /// The end that counts for `other`, which may be inside the same retried compound operation.
    fileprivate func events(seenFrom other: OperationCore) -> [WaitEvent] {
        [.end(self)] + (lastRound(seenFrom: other).map { [.end($0)] } ?? [])
    }

    /// Whether anything could wait for its end, or for something around it: because of a dependency or a wait, or
    /// because it has, or will have, a place or a mutex that others want.
    var mayHoldUp: Bool {
        around.contains { outer in
            if !outer.hasDefaultOptions, outer.options.retry != nil || !outer.options.mutexes.isEmpty { return true }
            return outer.state.withLock { $0.isNeeded || $0.parent?.limit ?? .unlimited != .unlimited }
        }
    }
}

extension BodyWait {
    /// What it waits for; nothing if the body has been told to stop and heeds that.
    fileprivate var events: [WaitEvent] {
        if heedsCancellation, body.reason != nil { return [] }
        return switch target {
        case .end(let core, _): core.finalEvents
        case .idle(let queue, _, _): [.idle(queue)]
        }
    }
}
