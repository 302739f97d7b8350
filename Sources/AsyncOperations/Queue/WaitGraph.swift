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
        var effects: [(node: Int, weight: Int)] = []
        /// The weight of the causes that it still takes.
        var missing = 0
        var isPossible = false
    }

    let purpose: Purpose
    /// An event to be treated as impossible.
    private let denied: WaitEvent?
    let own: LockedQueue?
    let joining: Joining?
    /// What these groups are to be held back by, whatever they are held back by now.
    var holds: [ObjectIdentifier: [OperationCore]] = [:]
    /// True if what groups are held back by does not count, because it will be decided again.
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

    /// Adds `events` and everything that they wait for, and finds out which are possible.
    ///
    /// Operations start and end meanwhile, so the graph may mix several moments, and something may look stuck because
    /// a place that it has just taken is seen as taken by another. What was seen twice to wait for the same has waited
    /// all the time between; if all was seen once before any was seen again, there was a moment at which all was stuck.
    ///
    /// Returns false if these are more than `limit`.
    @discardableResult
    mutating func explore(_ events: [WaitEvent], limit: Int = .max) -> Bool {
        repeat {
            guard collect(events, limit: limit) else { return false }
        } while !isStillStuck
        return true
    }

    /// Adds `events` and everything that they wait for, as seen once, so that the graph may mix several moments. Does
    /// not go beyond an event that `isKnown`.
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

    /// Marks these events, and all that then become possible.
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

    /// Whether what seemed stuck still waits for what it was seen to wait for.
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

    /// What each of `events` waits for, as indices in them.
    var causes: [[Int]] { nodes.map(\.causes) }

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

extension WaitGraph {
    /// The path from an event back to it; nil if there is none, or if it leads over a body, whose wait will be refused.
    func ring(through event: WaitEvent) -> [WaitEvent]? {
        guard let path = path(from: event, to: event), !path.contains(where: { $0.core?.wait != nil }) else {
            return nil
        }
        return path
    }
}

// Bodies that wait.

extension WaitGraph {
    /// The way on which the body would wait for itself; nil if it would not. The wait must be noted already.
    static func ring(over wait: BodyWait) -> [WaitEvent]? {
        let core = wait.body.core
        guard wait.body.queue.owner == nil || core.mayHoldUp else { return nil }
        var graph = WaitGraph(for: .wait)
        graph.explore([.end(core)])
        return graph.path(from: .end(core), to: .end(core))
    }

    /// A body that waits for itself over one of `suspects`, and the way on which it does.
    ///
    /// The ring can be found from them and from the bodies that wait. Either may wait for very much while the other
    /// does not, so both are tried with a growing limit. O(the smaller part).
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
