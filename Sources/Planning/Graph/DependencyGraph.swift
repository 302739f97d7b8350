import Scheduling
import Workflow

/// The graph of waiting definitions: a step is one vertex, a group has one for its start and one for its end. An edge
/// leads from the vertex that waits.
///
/// A member starts only after its group, but that is not an edge: a way back to the member would lead through the end
/// of the group, which itself waits for the group's start. So there is always a shorter cycle without the member.
///
/// Vertex numbers below the number of rows are steps and starts of groups, by row; the ends of groups follow. The
/// order of a vertex's edges implies their reason, so nothing is stored for it.
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

        /// The entry; nil if the layout of the file makes the vertex wait.
        var need: Int? { if case .need(let entry) = self { entry } else { nil } }
    }

    private let rows: Int
    private let needStarts: [UInt32]
    /// Groups in file order, without the workflow itself.
    private let groups: [UInt32]
    let waits: WaitForGraph

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

        var starts: [UInt32] = [0]
        var targets: [UInt32] = []
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
        waits = WaitForGraph(starts: starts, targets: targets)
    }

    /// The definition whose start or end a vertex is.
    func row(of vertex: Int) -> Int { vertex < rows ? vertex : Int(groups[vertex - rows]) }

    func reason(_ edge: Int, of vertex: Int) -> Reason {
        let offset = edge - waits.edges(of: vertex).lowerBound
        guard vertex < rows else { return offset == 0 ? .ownStart : .memberEnds }
        let entry = Int(needStarts[vertex]) + offset
        return entry < Int(needStarts[vertex + 1]) ? .need(entry) : .sequence
    }
}
