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
    /// Every cycle has a `needs` edge, so the search starts at each vertex that has one, in file order. Each visited
    /// edge takes one from the budget; once that is used up, the shortest cycle found so far is returned.
    mutating func shortest(without removed: [Bool], budget: inout Int) -> [Int]? {
        var best: [Int]?
        var bestLength = Int.max
        for start in component.vertices.indices {
            if budget <= 0, best != nil { break }
            let edges = component.edges(of: start)
            guard edges.contains(where: { component.edges[$0].need != nil && !removed[$0] }) else { continue }
            if let found = cycle(through: start, shorterThan: bestLength, without: removed, budget: &budget) {
                best = found.edges
                bestLength = found.length
            }
            if bestLength == 1 { break }
        }
        return best
    }

    /// Finds a cycle through a vertex. The edge to a group's own start has length 0, because it is not shown as a
    /// hop.
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
                for index in component.edges(of: vertex) where !removed[index] {
                    budget -= 1
                    let edge = component.edges[index]
                    let length = edge.reason == .ownStart ? 0 : 1
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
