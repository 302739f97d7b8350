import Basics
import Workflow

/// The graph of waiting definitions: a step is one vertex, a group has one for its start and one for its end. An edge
/// leads from the vertex that waits.
///
/// A member starts only after its group, but that is not an edge: a way back to the member would lead through the end
/// of the group, which itself waits for the group's start. So there is always a shorter cycle without the member.
///
/// Vertex numbers below the number of rows are steps and starts of groups, by row; the ends of groups follow. The
/// edges of a vertex are adjacent, and their order implies their reason, so that an edge is four bytes.
struct DependencyGraph {
    /// The reason why a vertex waits for another.
    enum Reason: Equatable {
        /// An index in `ResolvedNeeds.entries`.
        case need(Int)
        /// A group ends only when its member has.
        case memberEnds
        /// The previous member, in a group with `order: sequence`.
        case sequence
        /// A group ends after its own start; findings do not show this hop.
        case ownStart
    }

    private let rows: Int
    private let needStarts: [UInt32]
    /// Groups in file order, without the workflow itself.
    private let groups: [UInt32]
    /// `starts[vertex]..<starts[vertex + 1]` are the vertex's edges.
    private(set) var starts: [UInt32] = [0]
    private(set) var targets: [UInt32] = []

    init(_ workflow: Workflow, _ needs: ResolvedNeeds) {
        let nodes = workflow.nodes
        var ends = [UInt32](repeating: 0, count: nodes.count)
        var groups: [UInt32] = []
        for row in nodes.indices {
            ends[row] = UInt32(row)
            if row != 0, case .group = nodes[row].body {
                ends[row] = UInt32(nodes.count + groups.count)
                groups.append(UInt32(row))
            }
        }
        self.groups = groups
        rows = nodes.count
        needStarts = needs.starts

        starts.reserveCapacity(nodes.count + groups.count + 1)
        targets.reserveCapacity(needs.entries.count + 2 * groups.count)
        // The last member of each group so far, for sequences.
        var before = [UInt32](repeating: 0, count: nodes.count)
        for row in nodes.indices {
            for entry in needs.range(of: row) { targets.append(ends[Int(needs.entries[entry].target)]) }
            if row != 0 {
                // Nothing can need a hook, which runs after all other members, so it closes no cycle.
                guard nodes[row].hook == nil else {
                    starts.append(UInt32(targets.count))
                    continue
                }
                let parent = nodes[row].parent.row
                if before[parent] != 0, nodes[parent].settings?.isSequence == true {
                    targets.append(ends[Int(before[parent])])
                }
                before[parent] = UInt32(row)
            }
            starts.append(UInt32(targets.count))
        }
        // Nothing can need the workflow itself, so its own end is on no cycle.
        for group in groups {
            targets.append(group)
            for member in workflow.members(of: NodeIndex(Int(group))) { targets.append(ends[member.row]) }
            starts.append(UInt32(targets.count))
        }
    }

    var vertexCount: Int { starts.count - 1 }

    /// The definition whose start or end a vertex is.
    func row(of vertex: Int) -> Int { vertex < rows ? vertex : Int(groups[vertex - rows]) }

    /// True if a vertex is a step or the start of a group.
    func isStart(_ vertex: Int) -> Bool { vertex < rows }

    /// The vertex at which a step or group ends; a step has only one vertex. O(log groups).
    func end(of row: Int) -> Int {
        let index = groups.partitioningIndex { $0 >= UInt32(row) }
        return index < groups.count && Int(groups[index]) == row ? rows + index : row
    }

    func edges(of vertex: Int) -> Range<Int> { Int(starts[vertex])..<Int(starts[vertex + 1]) }

    func reason(_ edge: Int, of vertex: Int) -> Reason {
        let offset = edge - Int(starts[vertex])
        guard vertex < rows else { return offset == 0 ? .ownStart : .memberEnds }
        let entry = Int(needStarts[vertex]) + offset
        return entry < Int(needStarts[vertex + 1]) ? .need(entry) : .sequence
    }
}

extension DependencyGraph {
    /// Returns the strongly connected components that have a cycle, each in ascending order, ordered by their first
    /// vertex.
    func cyclicComponents() -> [[UInt32]] { Self.cyclicComponents(starts: starts, targets: targets) }

    /// Returns the cyclic components of any graph in the form of `starts` and `targets`.
    ///
    /// Tarjan's algorithm (Depth-first search and linear graph algorithms, 1972) with its own stack, O(V + E).
    static func cyclicComponents(starts: [UInt32], targets: [UInt32]) -> [[UInt32]] {
        let vertexCount = starts.count - 1
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
