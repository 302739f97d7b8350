/// One strongly connected component as a graph of its own, its vertices numbered from 0 in ascending order.
struct WaitComponent {
    struct Edge {
        let source: Int
        let target: Int
        let reason: DependencyGraph.Reason

        /// The entry of `ResolvedNeeds.entries` that made the edge; nil for one that the layout of the file makes.
        var need: Int? {
            if case .need(let entry) = reason { entry } else { nil }
        }
    }

    /// The vertices' numbers in the whole graph.
    let vertices: [UInt32]
    /// By source; what leads out of the component is left out.
    private(set) var edges: [Edge] = []
    private(set) var starts: [Int] = [0]

    init(_ vertices: [UInt32], of graph: DependencyGraph) {
        self.vertices = vertices
        var local: [UInt32: Int] = [:]
        local.reserveCapacity(vertices.count)
        for (index, vertex) in vertices.enumerated() { local[vertex] = index }
        for (source, vertex) in vertices.enumerated() {
            for edge in graph.edges(of: Int(vertex)) {
                guard let target = local[graph.targets[edge]] else { continue }
                edges.append(Edge(source: source, target: target, reason: graph.reason(edge, of: Int(vertex))))
            }
            starts.append(edges.count)
        }
    }

    func edges(of vertex: Int) -> Range<Int> { starts[vertex]..<starts[vertex + 1] }

    /// The edges that a change of `needs` can remove, in file order.
    var needEdges: [Int] {
        edges.indices.filter { edges[$0].need != nil }.sorted { (edges[$0].need ?? 0) < (edges[$1].need ?? 0) }
    }

    /// Whether the component falls apart into a plain order without the removed edges. O(V + E).
    func isAcyclic(without removed: [Bool]) -> Bool {
        var waiters = [Int](repeating: 0, count: vertices.count)
        for (index, edge) in edges.enumerated() where !removed[index] { waiters[edge.target] += 1 }
        var free = waiters.indices.filter { waiters[$0] == 0 }
        var count = 0
        while let vertex = free.popLast() {
            count += 1
            for index in edges(of: vertex) where !removed[index] {
                waiters[edges[index].target] -= 1
                if waiters[edges[index].target] == 0 { free.append(edges[index].target) }
            }
        }
        return count == vertices.count
    }
}
