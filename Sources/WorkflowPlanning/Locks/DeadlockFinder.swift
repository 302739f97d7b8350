import WorkflowModel

/// Finds groups that hold mutexes and wait for each other, over definitions.
///
/// What is found is a circle of groups that can all be active at the same moment, each waiting, by its members and what
/// those need, for something that has not started and wants a mutex of the next. The other way round, in a run that is
/// stuck the active groups make such a circle: so nothing is missed. What is taken for possible although it may never
/// happen: everything that is ready can start late, conditions and edge kinds may let everything run, a fan-out has as
/// many instances as the circle needs, and two orders of locks that exclude each other elsewhere can both come about.
struct DeadlockFinder {
    /// Each waits for the next one's mutex, the last one for the first one's.
    struct Turn {
        let holder: Int
        /// The edges from the holder's members to the row that wants the mutex.
        let path: [Hop]
        let waiter: Int
        let mutex: Int
    }

    struct Hop {
        let vertex: Int
        let edge: Int
    }

    enum Answer {
        case circle([Turn])
        case none
        /// The budget is used up.
        case unknown
    }

    private let graph: DependencyGraph
    private let locks: LockTable
    private(set) var relations: HolderRelations
    /// Vertices that all searches together may look at, about half a second's worth.
    private var budget = 20_000_000
    /// Per vertex: the search that reached it last, and how.
    private var search: [UInt32]
    private var arrival: [Hop]
    private var searches: UInt32 = 0

    init(_ workflow: Workflow, _ graph: DependencyGraph, _ locks: LockTable) {
        self.graph = graph
        self.locks = locks
        relations = HolderRelations(workflow, graph, locks)
        search = [UInt32](repeating: 0, count: graph.vertexCount)
        arrival = [Hop](repeating: Hop(vertex: 0, edge: 0), count: graph.vertexCount)
    }

    /// A shortest circle among entangled holders, which are rows in file order.
    mutating func circle(among holders: [Int]) -> Answer {
        var holdersByMutex: [Int: [Int]] = [:]
        for holder in holders {
            for wish in locks.wishesByRow[holder] ?? [] { holdersByMutex[wish.mutex, default: []].append(holder) }
        }
        var next: [Int: [Int]] = [:]
        for holder in holders {
            next[holder] = holdersWaited(by: holder, holdersByMutex)
            guard budget > 0 else { return .unknown }
            if next[holder]?.contains(holder) == true, let found = turns([holder]) { return .circle(found) }
        }
        guard holders.count > 1 else { return .none }
        for length in 2...holders.count {
            // No circle of this length, nor a longer one, once no path is that long.
            var isLongEnough = false
            for first in holders {
                if let found = circle(extending: [first], to: length, next, &isLongEnough) { return .circle(found) }
                guard budget > 0 else { return .unknown }
            }
            if !isLongEnough { break }
        }
        return .none
    }

    /// Extends a path whose first holder comes first in the file, so that each circle is looked at once.
    private mutating func circle(
        extending path: [Int], to length: Int, _ next: [Int: [Int]], _ isLongEnough: inout Bool
    ) -> [Turn]? {
        guard let last = path.last, let following = next[last] else { return nil }
        if path.count == length {
            isLongEnough = true
            return following.contains(path[0]) ? turns(path) : nil
        }
        for holder in following where holder > path[0] && !path.contains(holder) {
            budget -= path.count
            guard budget > 0, path.allSatisfy({ relations.canBeActiveTogether($0, holder) }) else { continue }
            if let found = circle(extending: path + [holder], to: length, next, &isLongEnough) { return found }
        }
        return nil
    }

    /// The holders of the mutexes that a holder waits for, when nobody else is looked at.
    private mutating func holdersWaited(by holder: Int, _ holdersByMutex: [Int: [Int]]) -> [Int] {
        budget -= graph.vertexCount
        let over = relations.over(whenActive: holder)
        var found: Set<Int> = []
        explore(from: holder, isOver: { over.contains($0) }) { waiter, locks, relations in
            for wish in locks.wishesByRow[waiter] ?? [] {
                for other in holdersByMutex[wish.mutex] ?? [] where !found.contains(other) {
                    guard Self.canKeepWaiting(other, waiter, relations) else { continue }
                    if other == holder || relations.canBeActiveTogether(holder, other) { found.insert(other) }
                }
            }
            return false
        }
        return found.sorted()
    }

    /// A mutex wanted again inside its holder is a finding of its own.
    private static func canKeepWaiting(_ holder: Int, _ waiter: Int, _ relations: HolderRelations) -> Bool {
        !relations.isInside(waiter, holder) && !relations.isInside(holder, waiter)
    }

    /// The circle of these holders with all that lies between them, nil where one of them is no longer waited for when
    /// all are active.
    private mutating func turns(_ holders: [Int]) -> [Turn]? {
        var turns: [Turn] = []
        let over = holders.map { relations.over(whenActive: $0) }
        for (index, holder) in holders.enumerated() {
            let following = holders[(index + 1) % holders.count]
            var goal: LockTable.Wish?
            let (graph, known) = (graph, relations)
            explore(
                from: holder,
                isOver: { vertex in
                    holders.indices.contains { other in
                        over[other].contains(vertex)
                            && !known.canBeInOtherCopy(
                                graph.row(of: vertex), waitedForBy: holder, than: holders[other])
                    }
                }
            ) { waiter, locks, relations in
                goal = locks.wishesByRow[waiter]?.first { wish in
                    locks.wish(of: following, for: wish.mutex) != nil
                        && Self.canKeepWaiting(following, waiter, relations)
                }
                return goal != nil
            }
            guard let goal else { return nil }
            turns.append(Turn(holder: holder, path: path(to: goal.row), waiter: goal.row, mutex: goal.mutex))
        }
        return turns
    }

    /// Calls the body for every row with a wish that an active holder waits for, nearest first, until it says true or the
    /// budget is used up.
    private mutating func explore(
        from holder: Int, isOver: (Int) -> Bool, _ body: (Int, LockTable, inout HolderRelations) -> Bool
    ) {
        searches += 1
        var frontier: [Int] = []
        let end = graph.end(of: holder)
        for edge in graph.memberEdges(of: holder) { reach(Hop(vertex: end, edge: edge), isOver, &frontier) }
        var position = 0
        while position < frontier.count, budget > 0 {
            let vertex = frontier[position]
            position += 1
            budget -= 1
            if graph.isStart(vertex), locks.wishesByRow[vertex] != nil, body(vertex, locks, &relations) { return }
            for edge in graph.edges(of: vertex) { reach(Hop(vertex: vertex, edge: edge), isOver, &frontier) }
        }
    }

    private mutating func reach(_ hop: Hop, _ isOver: (Int) -> Bool, _ frontier: inout [Int]) {
        let target = Int(graph.targets[hop.edge])
        guard search[target] != searches, !isOver(target) else { return }
        search[target] = searches
        arrival[target] = hop
        frontier.append(target)
    }

    /// How the last search came to a row's start.
    private func path(to row: Int) -> [Hop] {
        var hops: [Hop] = []
        var vertex = row
        while search[vertex] == searches {
            hops.append(arrival[vertex])
            vertex = arrival[vertex].vertex
        }
        return hops.reversed()
    }
}
