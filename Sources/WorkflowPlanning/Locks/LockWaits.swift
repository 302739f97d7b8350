import WorkflowModel

/// The dependency graph with what holders of mutexes keep waiting: coarse, in that it does not ask who can be active at
/// the same time. Where it has no cycle, no lock can deadlock.
struct LockWaits {
    /// The holders that wait for each other on some cycle, by index in `LockTable.holders`: each set is to be looked at.
    let entangled: [[Int]]

    /// After the vertices of the graph come the holders, each as a group that has started and waits for its members, and
    /// then the mutexes. O(rows + needs + wishes).
    init(_ graph: DependencyGraph, _ locks: LockTable) {
        let firstHolder = graph.vertexCount
        let firstMutex = firstHolder + locks.holders.count
        var isHeld = [[UInt32]](repeating: [], count: locks.names.count)
        for (index, holder) in locks.holders.enumerated() {
            for wish in locks.wishesByRow[holder] ?? [] { isHeld[wish.mutex].append(UInt32(firstHolder + index)) }
        }
        var starts: [UInt32] = [0]
        var targets: [UInt32] = []
        starts.reserveCapacity(firstMutex + locks.names.count + 1)
        targets.reserveCapacity(graph.targets.count + locks.wishes.count * 2)
        for vertex in 0..<graph.vertexCount {
            targets += graph.targets[graph.edges(of: vertex)]
            // A row's start is the vertex of its number, and only starts wait for locks.
            for wish in locks.wishesByRow[vertex] ?? [] where !isHeld[wish.mutex].isEmpty {
                targets.append(UInt32(firstMutex + wish.mutex))
            }
            starts.append(UInt32(targets.count))
        }
        for holder in locks.holders {
            targets += graph.targets[graph.memberEdges(of: holder)]
            starts.append(UInt32(targets.count))
        }
        for holders in isHeld {
            targets += holders
            starts.append(UInt32(targets.count))
        }
        entangled = DependencyGraph.cyclicComponents(starts: starts, targets: targets)
            .map { $0.filter { (firstHolder..<firstMutex).contains(Int($0)) }.map { Int($0) - firstHolder } }
            .filter { !$0.isEmpty }
    }
}
