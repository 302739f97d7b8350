/// A strongly connected component as a graph of its own, its vertices numbered from 0 in ascending order. Some of its
/// edges can be removed, and every cycle has one of those.
package struct WaitComponent: Sendable {
    package struct Edge: Sendable {
        package let source: Int
        package let target: Int
        /// The number of the edge in the whole graph.
        package let number: Int
        package let traits: Traits
    }

    /// The caller's view of an edge.
    package struct Traits: Sendable {
        /// The rank of the edge among those that can be removed; nil for one that cannot.
        package let removal: Int?
        /// False if the edge does not count in the length of a cycle.
        package let isHop: Bool

        package init(removal: Int?, isHop: Bool) {
            self.removal = removal
            self.isHop = isHop
        }
    }

    /// The numbers of the vertices in the whole graph.
    package let vertices: [UInt32]
    /// Sorted by source; edges that leave the component are omitted.
    package let edges: [Edge]
    let waits: WaitForGraph

    /// O(V + E) of the component.
    package init(
        _ vertices: [UInt32], of graph: WaitForGraph, traits: (_ edge: Int, _ vertex: Int) -> Traits
    ) {
        self.vertices = vertices
        var local: [UInt32: Int] = [:]
        local.reserveCapacity(vertices.count)
        for (index, vertex) in vertices.enumerated() { local[vertex] = index }
        var edges: [Edge] = []
        var starts: [UInt32] = [0]
        for (source, vertex) in vertices.enumerated() {
            for edge in graph.edges(of: Int(vertex)) {
                guard let target = local[UInt32(graph.target(of: edge))] else { continue }
                edges.append(Edge(source: source, target: target, number: edge, traits: traits(edge, Int(vertex))))
            }
            starts.append(UInt32(edges.count))
        }
        self.edges = edges
        waits = WaitForGraph(starts: starts, targets: edges.map { UInt32($0.target) })
    }

    /// Returns the edges of a shortest cycle, in order. Each visited edge takes one from the budget; once that is
    /// used up, the shortest cycle found so far is returned.
    package func shortestCycle(budget: inout Int) -> [Int] {
        var finder = CycleFinder(self)
        return finder.shortest(without: [Bool](repeating: false, count: edges.count), budget: &budget) ?? []
    }

    /// Finds the fewest edges whose removal leaves no cycle, as far as the budget lasts.
    package func smallestCut(budget: inout Int) -> Cut {
        var finder = CutFinder(self, budget: budget)
        defer { budget = finder.budget }
        return finder.find()
    }

    /// A set of edges whose removal leaves no cycle.
    package struct Cut: Sendable {
        /// The ranks of the edges, in ascending order.
        package let removals: [Int]
        /// True if it is certain that fewer edges do not suffice.
        package let isSmallest: Bool
    }

    /// The edges that can be removed, by rank.
    var removable: [Int] { ranked(edges.indices.filter { edges[$0].traits.removal != nil }) }

    func ranked(_ removable: [Int]) -> [Int] {
        removable.sorted { (edges[$0].traits.removal ?? 0) < (edges[$1].traits.removal ?? 0) }
    }

    /// True if the component has no cycle without the removed edges. O(V + E).
    func isAcyclic(without removed: [Bool]) -> Bool { waits.waitersFirst(without: removed).count == vertices.count }
}

/// Finds short cycles in a component, breadth first.
struct CycleFinder {
    private let component: WaitComponent
    /// Per vertex: the last search that reached it, its distance in that search and the edge that led to it.
    private var search: [Int]
    private var distance: [Int]
    private var arrival: [Int]
    private var searches = 0

    init(_ component: WaitComponent) {
        self.component = component
        search = [Int](repeating: 0, count: component.vertices.count)
        distance = search
        arrival = search
    }

    /// Returns the edges of a shortest cycle, in order, without the removed ones; nil if there is none.
    ///
    /// Every cycle has a removable edge, so the search starts at each vertex that has one, in order. Each visited
    /// edge takes one from the budget; once that is used up, the shortest cycle found so far is returned.
    mutating func shortest(without removed: [Bool], budget: inout Int) -> [Int]? {
        var best: [Int]?
        var bestLength = Int.max
        for start in component.vertices.indices {
            if budget <= 0, best != nil { break }
            let edges = component.waits.edges(of: start)
            guard edges.contains(where: { component.edges[$0].traits.removal != nil && !removed[$0] }) else { continue }
            if let found = cycle(through: start, shorterThan: bestLength, without: removed, budget: &budget) {
                best = found.edges
                bestLength = found.length
            }
            if bestLength == 1 { break }
        }
        return best
    }

    /// Finds a cycle through a vertex. An edge that is no hop has length 0.
    private mutating func cycle(
        through start: Int, shorterThan limit: Int, without removed: [Bool], budget: inout Int
    ) -> (edges: [Int], length: Int)? {
        searches += 1
        search[start] = searches
        distance[start] = 0
        var limit = limit
        var closing: Int?
        var frontier = [start]
        var following: [Int] = []
        var depth = 0
        while !frontier.isEmpty, depth < limit {
            var position = 0
            while position < frontier.count {
                let vertex = frontier[position]
                position += 1
                guard distance[vertex] == depth else { continue }
                for index in component.waits.edges(of: vertex) where !removed[index] {
                    budget -= 1
                    let edge = component.edges[index]
                    let length = edge.traits.isHop ? 1 : 0
                    if edge.target == start {
                        if depth + length < limit { (limit, closing) = (depth + length, index) }
                    } else if search[edge.target] != searches || distance[edge.target] > depth + length {
                        search[edge.target] = searches
                        distance[edge.target] = depth + length
                        arrival[edge.target] = index
                        if length == 0 { frontier.append(edge.target) } else { following.append(edge.target) }
                    }
                }
            }
            (frontier, following) = (following, [])
            depth += 1
        }
        guard let closing else { return nil }
        var edges = [closing]
        var vertex = component.edges[closing].source
        while vertex != start {
            edges.append(arrival[vertex])
            vertex = component.edges[arrival[vertex]].source
        }
        return (edges.reversed(), limit)
    }
}
