package import WorkflowModel

/// A workflow that is known to finish: names resolved, fan-outs expanded, no cycle.
///
/// Nodes are rows in preorder, so that a group's members are the rows up to its `subtreeEnd`; row 0 is the workflow
/// itself. Ids of rows are final: the executor uses them as they are.
package struct Plan: Sendable {
    package let workflow: Workflow
    package let nodes: [PlanNode]
    /// The edges of all nodes one after another; `PlanNode.edges` is a range of it.
    package let edges: [PlanEdge]

    package init(workflow: Workflow, nodes: [PlanNode], edges: [PlanEdge]) {
        self.workflow = workflow
        self.nodes = nodes
        self.edges = edges
    }

    /// Rows whose `level` and `remainingPath` are still to be found. O(rows + edges).
    init(workflow: Workflow, measuring nodes: consuming [PlanNode], edges: [PlanEdge]) {
        let lengths = PathLengths(copy nodes, edges) { _ in 1 }
        for row in nodes.indices {
            nodes[row].level = UInt32(lengths.beforeStart[row])
            nodes[row].remainingPath = UInt32(lengths.remaining[row])
        }
        self.init(workflow: workflow, nodes: nodes, edges: edges)
    }

    /// Steps, instances counted one by one.
    package var stepCount: Int { nodes.count { $0.role == .step } }

    /// What a row waits for, in the order of the file; an edge the file names twice stands here once.
    package func edges(of row: Int) -> ArraySlice<PlanEdge> {
        edges[nodes[row].edgeRange]
    }

    /// The direct members of a group, the instances of a fan-out, in file order; none for a step.
    package func members(of row: Int) -> [Int] {
        var members: [Int] = []
        var member = row + 1
        while member < Int(nodes[row].subtreeEnd) {
            members.append(member)
            member = Int(nodes[member].subtreeEnd)
        }
        return members
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
    /// The row of the group around it; row 0's is 0.
    package let parent: UInt32
    package let subtreeEnd: UInt32
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
        id: String, definition: NodeIndex, role: Role, parent: UInt32, subtreeEnd: UInt32, edgeStart: UInt32,
        edgeEnd: UInt32, level: UInt32, remainingPath: UInt32, variables: [Variable]
    ) {
        self.id = id
        self.definition = definition
        self.role = role
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

/// One thing a row waits for: the end of another row, of the same group or an enclosing one.
package struct PlanEdge: Sendable, Hashable {
    package let target: UInt32
    package let kind: Need.Kind
    /// Whether `order: sequence` made the edge, not a `needs`.
    package let isSequence: Bool

    package init(target: UInt32, kind: Need.Kind, isSequence: Bool) {
        self.target = target
        self.kind = kind
        self.isSequence = isSequence
    }
}
