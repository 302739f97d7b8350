extension DependencyGraph {
    /// The strongly connected components that hold a cycle, each in ascending order, in the order of their first vertex.
    func cyclicComponents() -> [[UInt32]] { Self.cyclicComponents(starts: starts, targets: targets) }

    /// The same of any graph in the form of `starts` and `targets`.
    ///
    /// Tarjan's algorithm (Depth-first search and linear graph algorithms, 1972) with its own stack, O(V + E).
    static func cyclicComponents(starts: [UInt32], targets: [UInt32]) -> [[UInt32]] {
        let vertexCount = starts.count - 1
        // When a vertex was reached, from 1; 0 is not yet, `settled` has its component.
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
