/// Vertices that wait for one another, numbered from 0, with dense edges of four bytes each. An edge leads from the
/// vertex that waits. Knows nothing of the things that its vertices stand for.
package struct WaitForGraph: Sendable {
    /// `starts[vertex]..<starts[vertex + 1]` are the vertex's edges.
    private let starts: [UInt32]
    private let targets: [UInt32]

    /// A graph in its own form: `targets[starts[vertex]..<starts[vertex + 1]]` are awaited by `vertex`.
    package init(starts: [UInt32], targets: [UInt32]) {
        self.starts = starts
        self.targets = targets
    }

    /// A graph of edges in any order, given by their ends; those of a vertex keep their order. O(V + E).
    package init(vertexCount: Int, sources: [UInt32], targets: [UInt32]) {
        var starts = [UInt32](repeating: 0, count: vertexCount + 1)
        for source in sources { starts[Int(source) + 1] += 1 }
        for vertex in 0..<vertexCount { starts[vertex + 1] += starts[vertex] }
        var next = starts
        var sorted = [UInt32](repeating: 0, count: targets.count)
        for (source, target) in zip(sources, targets) {
            sorted[Int(next[Int(source)])] = target
            next[Int(source)] += 1
        }
        self.init(starts: starts, targets: sorted)
    }

    package var vertexCount: Int { starts.count - 1 }

    package func edges(of vertex: Int) -> Range<Int> { Int(starts[vertex])..<Int(starts[vertex + 1]) }

    package func target(of edge: Int) -> Int { Int(targets[edge]) }

    /// The graph in which the awaited vertices wait for those that wait for them. O(V + E).
    package func reversed() -> WaitForGraph {
        let sources = (0..<vertexCount).flatMap { repeatElement(UInt32($0), count: edges(of: $0).count) }
        return WaitForGraph(vertexCount: vertexCount, sources: targets, targets: sources)
    }
}

// Orders.

extension WaitForGraph {
    /// Returns the vertices in an order in which each comes before everything that it waits for, without those on a
    /// cycle and those for which a cycle waits. Leaves out the edges that were `removed`. O(V + E).
    package func waitersFirst(without removed: [Bool] = []) -> [UInt32] {
        var waiters = [UInt32](repeating: 0, count: vertexCount)
        for (edge, target) in targets.enumerated() where removed.isEmpty || !removed[edge] {
            waiters[Int(target)] += 1
        }
        var order = (0..<UInt32(vertexCount)).filter { waiters[Int($0)] == 0 }
        var next = 0
        while next < order.count {
            for edge in edges(of: Int(order[next])) where removed.isEmpty || !removed[edge] {
                let target = targets[edge]
                waiters[Int(target)] -= 1
                if waiters[Int(target)] == 0 { order.append(target) }
            }
            next += 1
        }
        return order
    }

    /// By vertex: true if it is on a cycle or between two of them. O(V + E).
    package func entangledVertices() -> [Bool] {
        var isEntangled = [Bool](repeating: true, count: vertexCount)
        for vertex in waitersFirst() + reversed().waitersFirst() { isEntangled[Int(vertex)] = false }
        return isEntangled
    }

    /// Returns the vertices in the postorder of a depth-first search along the chosen edges: without cycles, each
    /// after everything that it waits for. O(V + E).
    package func postorder(from roots: some Sequence<Int>, along isChosen: (_ edge: Int) -> Bool = { _ in true })
        -> [Int]
    {
        var isReached = [Bool](repeating: false, count: vertexCount)
        var next = starts
        var order: [Int] = []
        var path: [Int] = []
        for root in roots where !isReached[root] {
            isReached[root] = true
            path.append(root)
            while let vertex = path.last {
                guard next[vertex] < starts[vertex + 1] else {
                    order.append(vertex)
                    path.removeLast()
                    continue
                }
                let edge = Int(next[vertex])
                next[vertex] += 1
                let target = target(of: edge)
                guard isChosen(edge), !isReached[target] else { continue }
                isReached[target] = true
                path.append(target)
            }
        }
        return order
    }
}

// Components.

extension WaitForGraph {
    /// Returns the strongly connected components that have a cycle, each in ascending order, ordered by their first
    /// vertex.
    ///
    /// Tarjan's algorithm (Depth-first search and linear graph algorithms, 1972) with its own stack, O(V + E).
    package func cyclicComponents() -> [[UInt32]] {
        // The time when a vertex was reached, from 1; 0 means not yet, `settled` means that its component is
        // complete.
        let settled = UInt32.max
        var reached = [UInt32](repeating: 0, count: vertexCount)
        var lowest = [UInt32](repeating: 0, count: vertexCount)
        var next = starts
        var path: [UInt32] = []
        var open: [UInt32] = []
        var selfLoops: Set<UInt32> = []
        var components: [[UInt32]] = []
        var clock: UInt32 = 0

        for root in 0..<vertexCount where reached[root] == 0 {
            var entered: UInt32? = UInt32(root)
            while true {
                if let vertex = entered {
                    clock += 1
                    reached[Int(vertex)] = clock
                    lowest[Int(vertex)] = clock
                    path.append(vertex)
                    open.append(vertex)
                    entered = nil
                }
                guard let last = path.last else { break }
                let vertex = Int(last)
                if next[vertex] < starts[vertex + 1] {
                    let target = targets[Int(next[vertex])]
                    next[vertex] += 1
                    if reached[Int(target)] == 0 {
                        entered = target
                    } else {
                        lowest[vertex] = min(lowest[vertex], reached[Int(target)])
                        if target == last { selfLoops.insert(last) }
                    }
                    continue
                }
                path.removeLast()
                if let waiting = path.last { lowest[Int(waiting)] = min(lowest[Int(waiting)], lowest[vertex]) }
                guard lowest[vertex] == reached[vertex] else { continue }
                if open.last == last {
                    open.removeLast()
                    reached[vertex] = settled
                    if selfLoops.contains(last) { components.append([last]) }
                } else {
                    let first = open.lastIndex(of: last) ?? 0
                    let component = open[first...].sorted()
                    open.removeSubrange(first...)
                    for member in component { reached[Int(member)] = settled }
                    components.append(component)
                }
            }
        }
        return components.sorted { $0[0] < $1[0] }
    }
}
