internal import Syntax
package import Workflow

/// A workflow that is known to finish: names resolved, fan-outs expanded, no cycle.
///
/// Nodes are rows in preorder, so that a group's members are the rows up to its `subtreeEnd`; row 0 is the workflow
/// itself. Ids of rows are final: the executor uses them as they are.
///
/// A fan-out whose items only the run knows has no instances until `expand(_:into:)` adds them behind all other rows:
/// `members(of:)` and `rows(inside:)` know of them, `subtreeEnd` does not.
package struct Plan: Sendable {
    let origin: PlanOrigin
    package internal(set) var nodes: [PlanNode]
    /// The edges of all nodes one after another; `PlanNode.edges` is a range of it.
    package internal(set) var edges: [PlanEdge]
    /// The rows that a run has added, by their fan-out's.
    var expansions: [PlanIndex: Range<PlanIndex>] = [:]

    init(_ origin: PlanOrigin, nodes: [PlanNode], edges: [PlanEdge]) {
        self.origin = origin
        self.nodes = nodes
        self.edges = edges
    }

    /// Rows whose `level` and `remainingPath` are still to be found. O(rows + edges).
    init(_ origin: PlanOrigin, measuring nodes: consuming [PlanNode], edges: [PlanEdge]) {
        let lengths = PathLengths(copy nodes, edges) { _ in 1 }
        for row in nodes.rows {
            nodes[row].level = UInt32(lengths.beforeStart[row])
            nodes[row].remainingPath = UInt32(lengths.remaining[row])
        }
        self.init(origin, nodes: nodes, edges: edges)
    }

    /// By row, the longest path from its start to the end of the run, for given lengths of steps: whole numbers of any
    /// unit, at least 0; sums beyond 2^32 lose digits. O(rows + edges).
    package func remainingPaths(byLength length: (PlanIndex) -> Int) -> [UInt32] {
        let lengths = PathLengths(nodes, edges, length: length)
        let unit = lengths.remaining[.root] / Int(UInt32.max) + 1
        return lengths.remaining.map { UInt32($0 / unit) }
    }

    package var workflow: Workflow { _read { yield origin.workflow } }

    /// Steps whose standard output some expression reads, so that it has to be kept; not those that have it as an
    /// output.
    package var standardOutputReads: Set<NodeIndex> { origin.standardOutputReads }

    /// nil where the file says all instances.
    var blueprint: InstanceBlueprint? { origin.blueprint }

    /// What the command line or `default` names; nil where that is everything.
    var chosen: ChosenSteps? { origin.chosen }

    /// All rows, the workflow itself first.
    package var rows: Range<PlanIndex> { nodes.rows }

    /// Steps, instances counted one by one, without those that only the run knows.
    package var stepCount: Int { nodes.count { $0.role == .step } }

    /// The outermost fan-outs whose instances only the run knows; nothing once they are expanded. O(rows).
    package var fanOutsOfRun: [PlanIndex] {
        blueprint == nil ? [] : rows.filter { isDynamicFanOut($0) && expansions[$0] == nil }
    }

    /// What a row waits for, in the order of the file; an edge that the file names twice is here once.
    package func edges(of row: PlanIndex) -> ArraySlice<PlanEdge> {
        edges[nodes[row].edgeRange]
    }

    /// The direct members of a group with its hooks, the instances of a fan-out, in file order; none for a step, nor
    /// for a fan-out that is yet to be expanded.
    package func members(of row: PlanIndex) -> [PlanIndex] {
        var members: [PlanIndex] = []
        let rows = expansions[row] ?? row.next..<nodes[row].subtreeEnd
        var member = rows.lowerBound
        while member < rows.upperBound {
            members.append(member)
            member = nodes[member].subtreeEnd
        }
        return members
    }
}

extension Plan {
    /// `FILE:LINE` of a row's definition.
    package func place(of row: PlanIndex) -> String { "\(file(of: row)):\(line(of: row))" }

    /// The name of the file that has a row's definition.
    package func file(of row: PlanIndex) -> String {
        workflow.file.file(at: workflow.range(of: nodes[row].definition).lowerOffset).name
    }

    /// The line of a row's definition.
    package func line(of row: PlanIndex) -> Int {
        workflow.file.line(at: workflow[nodes[row].definition].range.lowerOffset)
    }
}

/// What all rows of a plan come from. Apart, because a run copies its plan several times per step, and a copy of a
/// workflow is ten references.
final class PlanOrigin: Sendable {
    let workflow: Workflow
    let standardOutputReads: Set<NodeIndex>
    let blueprint: InstanceBlueprint?
    let chosen: ChosenSteps?

    init(
        _ workflow: Workflow, standardOutputReads: Set<NodeIndex>, blueprint: InstanceBlueprint? = nil,
        chosen: ChosenSteps? = nil
    ) {
        self.workflow = workflow
        self.standardOutputReads = standardOutputReads
        self.blueprint = blueprint
        self.chosen = chosen
    }
}

package struct PlanNode: Sendable {
    package enum Role: UInt8, Sendable {
        case step
        /// Also an instance of a fanned-out group.
        case group
        /// The node that a fan-out makes around its instances.
        case fanOut
    }

    /// The full id, such as `build[x86_64].compile`; empty for row 0.
    package let id: String
    package let definition: NodeIndex
    package let role: Role
    /// Of the block of a hook itself: when it runs. It waits for all other members of its group but later hooks, which
    /// no edge says.
    package let hook: WorkflowNode.Hook?
    /// The group around it; the workflow's is itself.
    package let parent: PlanIndex
    package let subtreeEnd: PlanIndex
    package let edgeStart: UInt32
    package let edgeEnd: UInt32
    /// Steps on the longest path that must be over before this row can start, from 0. A member may be further down than
    /// the group around it.
    package internal(set) var level: UInt32
    /// Steps on the longest path from the start of this row to the end of the run, itself included.
    package internal(set) var remainingPath: UInt32
    /// The variables that fan-outs around it give it, outermost first.
    package let variables: [Variable]

    package init(
        id: String, definition: NodeIndex, role: Role, hook: WorkflowNode.Hook? = nil, parent: PlanIndex,
        subtreeEnd: PlanIndex, edgeStart: UInt32, edgeEnd: UInt32, level: UInt32, remainingPath: UInt32,
        variables: [Variable]
    ) {
        self.id = id
        self.definition = definition
        self.role = role
        self.hook = hook
        self.parent = parent
        self.subtreeEnd = subtreeEnd
        self.edgeStart = edgeStart
        self.edgeEnd = edgeEnd
        self.level = level
        self.remainingPath = remainingPath
        self.variables = variables
    }

    var edgeRange: Range<Int> { Int(edgeStart)..<Int(edgeEnd) }
}

extension [PlanNode] {
    /// The rows of a plan that has these nodes.
    var rows: Range<PlanIndex> { .root..<PlanIndex(count) }
}

/// One thing a row waits for: the end of another row, of the same group or an enclosing one.
package struct PlanEdge: Sendable, Hashable {
    package let target: PlanIndex
    package let kind: Need.Kind
    /// Whether `order: sequence` made the edge, not a `needs`.
    package let isSequence: Bool

    package init(target: PlanIndex, kind: Need.Kind, isSequence: Bool) {
        self.target = target
        self.kind = kind
        self.isSequence = isSequence
    }
}

extension Plan {
    /// The values of the innermost fan-out around a row, or of the row itself where it is an instance, in axis order
    /// with commas between them, or those of its `include` where it has no axes; nil outside of a fan-out. O(depth).
    package func item(of row: PlanIndex) -> String? {
        var next = row
        while next != .root {
            let parent = nodes[next].parent
            if nodes[parent].role == .fanOut {
                let axes = workflow.settings(of: nodes[next].definition)?.fanOut?.axes.count ?? 0
                let own = nodes[next].variables.dropFirst(nodes[parent].variables.count)
                // A matrix of `include` alone has no axes.
                return own.prefix(axes > 0 ? axes : own.count).map(\.value).joined(separator: ",")
            }
            next = parent
        }
        return nil
    }
}
