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

    let purpose: Purpose
    /// An event that is treated as impossible.
    private let denied: WaitEvent?
    let own: LockedQueue?
    let joining: Joining?
    /// The operations that hold back each of these groups, in place of the current ones.
    var holds: [ObjectIdentifier: [OperationCore]] = [:]
    /// True if holds on groups do not count, because they will be decided again.
    private(set) var ignoresHolds = false
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

// Waits of bodies.

extension WaitGraph {
    /// The path on which the body would wait for itself; nil if it would not. The wait must be recorded already.
    static func ring(over wait: BodyWait) -> [WaitEvent]? {
        let core = wait.body.core
        guard wait.body.queue.owner == nil || core.mayHoldUp else { return nil }
        var graph = WaitGraph(for: .wait)
        graph.explore([.end(core)])
        return graph.path(from: .end(core), to: .end(core))
    }

    /// A body that waits for itself over one of `suspects`, with the path of its wait; nil if there is none.
    ///
    /// The ring can be found from the suspects and from the waiting bodies. Either search may be very large while the
    /// other is small, so both are tried with a growing limit. O(the smaller part).
    static func circularWait(beyond suspects: [OperationCore]) -> (wait: BodyWait, ring: [WaitEvent])? {
        var limit = 32
        while true {
            for starts in [suspects, BodyWait.waiting] {
                var graph = WaitGraph(for: .wait)
                if graph.explore(starts.map { .end($0) }, limit: limit) { return graph.circularWait }
            }
            limit *= 4
        }
    }

    private var circularWait: (wait: BodyWait, ring: [WaitEvent])? {
        for node in nodes where !node.isPossible {
            guard case .end(let core) = node.event, let wait = core.wait else { continue }
            if let ring = path(from: node.event, to: node.event) { return (wait, ring) }
        }
        return nil
    }
}
