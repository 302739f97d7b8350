package import Syntax

/// What a workflow file and those that it uses say, names not yet resolved.
///
/// Steps and groups are rows of one array in file order (preorder), so that a hundred thousand of them are one
/// allocation: row 0 is the workflow itself, seen as the outermost group, and a group's members follow it up to its
/// `subtreeEnd`.
package struct Workflow: Sendable {
    /// The file itself, which brings along those that it uses.
    package let file: SourceFile
    package var name: String?
    package var description: String?
    /// What every step has that does not say otherwise.
    package var defaults: Settings?
    /// What runs when nobody names a step, in file order; nil for everything.
    package var defaultSteps: [StepReference]?
    /// In file order, as are the next two.
    package var parameters: [Parameter] = []
    package var secrets: [Secret] = []
    package var pools: [Pool] = []
    /// How much of the steps' output a run keeps in files, in bytes; nil if the file does not say.
    package var outputLimit: Int?
    /// Row 0 stands for the workflow: its settings hold the top level's `timeout`, `env`, `max-parallel`, …
    package var nodes: [WorkflowNode]
    /// The entries of all `needs` one after another; `WorkflowNode.needs` is a range of it.
    package var needs: [Need]
    /// In the order of their groups.
    package var uses: [Use] = []

    package init(
        file: SourceFile, name: String? = nil, description: String? = nil, defaults: Settings? = nil,
        nodes: [WorkflowNode], needs: [Need] = []
    ) {
        self.file = file
        self.name = name
        self.description = description
        self.defaults = defaults
        self.nodes = nodes
        self.needs = needs
    }

    package subscript(index: NodeIndex) -> WorkflowNode { nodes[index.row] }

    /// The less common keys of a row; cheaper than taking the whole row for them.
    package func settings(of index: NodeIndex) -> Settings? { nodes[index.row].settings }

    /// Whether a row is a step without a command.
    package func isMilestone(_ index: NodeIndex) -> Bool {
        if case .milestone = nodes[index.row].body { true } else { false }
    }

    /// Where a row's key stands in the file; cheaper than taking the whole row for it.
    package func range(of index: NodeIndex) -> SourceRange { nodes[index.row].range }

    /// What a row says it needs, in file order; the indices are those of all needs.
    package func needs(of row: Int) -> ArraySlice<Need> { needs(of: nodes[row]) }

    package func needs(of node: WorkflowNode) -> ArraySlice<Need> {
        needs[Int(node.needs.lowerBound)..<Int(node.needs.upperBound)]
    }

    /// One entry of a row's needs, counted from 0.
    package func need(_ position: Int, of row: Int) -> Need { needs[Int(nodes[row].needs.lowerBound) + position] }

    /// The direct members of a group, in file order; empty for a step.
    package func members(of group: NodeIndex) -> MemberSequence {
        MemberSequence(nodes: nodes, row: group.row + 1, end: Int(nodes[group.row].subtreeEnd))
    }

    package struct MemberSequence: Sequence, IteratorProtocol {
        let nodes: [WorkflowNode]
        var row: Int
        let end: Int

        package mutating func next() -> NodeIndex? {
            guard row < end else { return nil }
            defer { row = Int(nodes[row].subtreeEnd) }
            return NodeIndex(row)
        }
    }
}

/// The row of a step or group in `Workflow.nodes`. Inlined everywhere, so that it costs what the number in it would.
@usableFromInline
package struct NodeIndex: Hashable, Comparable, Sendable {
    @usableFromInline let value: UInt32

    @inlinable
    package init(_ row: Int) { value = UInt32(row) }

    @inlinable package var row: Int { Int(value) }
    /// The workflow itself.
    @inlinable package static var root: NodeIndex { NodeIndex(0) }

    @inlinable
    package static func == (left: NodeIndex, right: NodeIndex) -> Bool { left.value == right.value }

    @inlinable
    package static func < (left: NodeIndex, right: NodeIndex) -> Bool { left.value < right.value }
}

/// A step or group by its full id, as on the command line.
package struct StepReference: Sendable, Hashable {
    package let name: String
    /// Where the name stands.
    package let range: SourceRange

    package init(name: String, range: SourceRange) {
        self.name = name
        self.range = range
    }
}

extension Workflow {
    /// The ids from the outermost group down, such as `build.compile`; empty for the workflow itself.
    package func path(of node: NodeIndex) -> String {
        var ids: [String] = []
        var row = node.row
        while row != 0 {
            ids.append(nodes[row].id)
            row = nodes[row].parent.row
        }
        return ids.reversed().joined(separator: ".")
    }

    /// The group whose body a step in a hook counts as undoing, and the members of it, nil being all; nil for a step in
    /// no hook. Of nested hooks the outermost counts, since no hook is ever taken over. O(depth).
    package func undoing(by step: NodeIndex) -> (group: NodeIndex, members: [StepReference]?)? {
        var found: (NodeIndex, [StepReference]?)?
        var declared: [StepReference]?
        var next = step
        while next != .root {
            if nodes[next.row].hook != nil {
                found = (nodes[next.row].parent, declared)
                declared = nil
            } else if declared == nil {
                declared = nodes[next.row].settings?.undoes
            }
            next = nodes[next.row].parent
        }
        return found
    }
}

/// One of `secrets`: a value that no output ever shows.
package struct Secret: Sendable {
    package enum Source: Sendable, Hashable {
        /// A variable of flowrun's own environment.
        case environment(String)
        /// The text of a file, without the line end at its end.
        case file(String)
    }

    package let name: String
    package let source: Source
    package let range: SourceRange

    package init(name: String, source: Source, range: SourceRange) {
        self.name = name
        self.source = source
        self.range = range
    }
}
