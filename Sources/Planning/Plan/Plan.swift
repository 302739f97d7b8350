internal import Syntax
package import Workflow

/// A workflow that is known to finish: names resolved, fan-outs expanded, no cycle.
///
/// Nodes are rows in preorder, so that a group's members are the rows up to its `subtreeEnd`; row 0 is the workflow
/// itself. Ids of rows are final: the executor uses them as they are.
///
/// A fan-out whose items only the run knows has no instances until `expand(_:into:)` appends them after all other
/// rows. `members(of:)` and `rows(inside:)` include them, `subtreeEnd` does not.
package struct Plan: Sendable {
    let origin: PlanOrigin
    package internal(set) var nodes: [PlanNode]
    /// The edges of all nodes one after another; `PlanNode.edgeRange` is a range of it.
    package internal(set) var edges: [PlanEdge]
    /// The rows that a run has added, by the row of their fan-out.
    var expansions: [PlanIndex: Range<PlanIndex>] = [:]

    init(_ origin: PlanOrigin, nodes: [PlanNode], edges: [PlanEdge]) {
        self.origin = origin
        self.nodes = nodes
        self.edges = edges
    }

    /// Rows whose `level` and `remainingPath` are still to be computed. O(rows + edges).
    init(_ origin: PlanOrigin, measuring nodes: consuming [PlanNode], edges: [PlanEdge]) {
        let lengths = PathLengths(copy nodes, edges) { _ in 1 }
        for row in nodes.rows {
            nodes[row].level = UInt32(lengths.beforeStart[row])
            nodes[row].remainingPath = UInt32(lengths.remaining[row])
        }
        self.init(origin, nodes: nodes, edges: edges)
    }

    /// By row, the longest path from its start to the end of the run, for given lengths of steps: whole numbers of
    /// any unit, at least 0; sums beyond 2^32 lose digits. O(rows + edges).
    package func remainingPaths(byLength length: (PlanIndex) -> Int) -> [UInt32] {
        let lengths = PathLengths(nodes, edges, length: length)
        let unit = lengths.remaining[.root] / Int(UInt32.max) + 1
        return lengths.remaining.map { UInt32($0 / unit) }
    }

    package var workflow: Workflow { _read { yield origin.workflow } }

    /// The command of a step, or the members of a group. Asked for every step of a run: nothing of the workflow but the
    /// body is copied.
    package func body(of row: PlanIndex) -> WorkflowNode.Body { origin.workflow.nodes[nodes[row].definition.row].body }

    /// Steps whose standard output some expression reads, so that it has to be kept; without those that have it as an
    /// output.
    package var standardOutputReads: Set<NodeIndex> { origin.standardOutputReads }

    /// nil if the file lists all instances.
    var blueprint: InstanceBlueprint? { origin.blueprint }

    /// The steps and groups that the command line or `default` names; nil if that is everything.
    var chosen: ChosenSteps? { origin.chosen }

    /// All rows, the workflow itself first.
    package var rows: Range<PlanIndex> { nodes.rows }

    /// The number of steps, with instances counted one by one, without those that only the run knows.
    package var stepCount: Int { nodes.count { $0.role == .step } }

    /// The outermost fan-outs whose instances only the run knows; empty once they are expanded. O(rows).
    package var fanOutsOfRun: [PlanIndex] {
        blueprint == nil ? [] : rows.filter { isDynamicFanOut($0) && expansions[$0] == nil }
    }

    /// The edges to the rows that a row waits for, in file order; one that the file names twice is included once.
    package func edges(of row: PlanIndex) -> ArraySlice<PlanEdge> {
        edges[nodes[row].edgeRange]
    }

    /// True if a row starts after others: it, or a group that encloses it, has needs or is a hook.
    package func followsOthers(_ row: PlanIndex) -> Bool {
        var row = row
        while row != .root {
            if nodes[row].hook != nil || !nodes[row].edgeRange.isEmpty { return true }
            row = nodes[row].parent
        }
        return false
    }

    /// The direct members of a group, including its hooks, or the instances of a fan-out, in file order; empty for a
    /// step, and for a fan-out that has not been expanded yet.
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
        workflow.file.line(at: workflow.range(of: nodes[row].definition).lowerOffset)
    }
}

/// The data that all rows of a plan share. A separate object, because a run copies its plan several times per step,
/// and copying a workflow retains ten references.
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
        /// The node of a fan-out, which encloses its instances.
        case fanOut
    }

    /// The full id, such as `build[x86_64].compile`; empty for row 0.
    package let id: String
    package let definition: NodeIndex
    package let role: Role
    /// For the block of a hook itself: the reason to run it. It waits for all other members of its group except later
    /// hooks; no edge says so.
    package let hook: WorkflowNode.Hook?
    /// The enclosing group; that of the workflow is itself.
    package let parent: PlanIndex
    package let subtreeEnd: PlanIndex
    package let edgeStart: UInt32
    package let edgeEnd: UInt32
    /// The number of steps on the longest path that must have ended before this row can start. A member may have a
    /// higher level than its enclosing group.
    package internal(set) var level: UInt32
    /// The number of steps on the longest path from the start of this row to the end of the run, itself included.
    package internal(set) var remainingPath: UInt32
    /// The variables from its enclosing fan-outs, outermost first.
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

/// A wait of one row for the end of another one, which is in the same group or in an enclosing one.
package struct PlanEdge: Sendable, Hashable {
    package let target: PlanIndex
    package let kind: Need.Kind
    /// True if `order: sequence` made the edge, not a `needs`.
    package let isSequence: Bool

    package init(target: PlanIndex, kind: Need.Kind, isSequence: Bool) {
        self.target = target
        self.kind = kind
        self.isSequence = isSequence
    }
}

extension Plan {
    /// The values of the innermost fan-out that has a row among its instances or inside of them: those of the axes in
    /// order, with commas between them, or those of its `include` if it has no axes. nil outside of a fan-out.
    /// O(depth).
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

extension Plan {
    /// True for a fan-out whose items only the run knows.
    package func isDynamicFanOut(_ row: PlanIndex) -> Bool {
        fanOut(of: row)?.isDynamic == true
    }

    /// True if the instances that a run makes omit a definition, because it was not chosen.
    package func isLeftOut(_ definition: NodeIndex) -> Bool { blueprint?.layout.isLeftOut(definition.row) ?? false }

    /// The plan with one instance `[*]` in place of those that only the run knows, to show and to measure it. The
    /// plan itself if there are none.
    package var outline: Plan { blueprint?.outline ?? self }

    /// Appends the instances of a dynamic fan-out after all other rows and returns their rows, as one interval in
    /// preorder. Fan-outs among them are expanded by separate calls. A second call, for the next round of a retried
    /// group, replaces the first one, whose rows remain but belong to nothing.
    ///
    /// O(rows added), amortised.
    package mutating func expand(_ row: PlanIndex, into instances: [FanOut.Instance]) -> Range<PlanIndex> {
        guard let blueprint, isDynamicFanOut(row) else {
            preconditionFailure("`\(nodes[row].id)` is not a dynamic fan-out")
        }
        let start = PlanIndex(nodes.count)
        var nodes: [PlanNode] = []
        var edges: [PlanEdge] = []
        // Moved, not copied: a plan may be large and the instances few.
        swap(&nodes, &self.nodes)
        swap(&edges, &self.edges)
        var expansion = PlanExpansion(
            blueprint.layout, blueprint.needs, behind: nodes, edges: edges, numbers: blueprint.numbers)
        (nodes, edges) = ([], [])
        expansion.expand(row, into: instances)
        (nodes, edges) = expansion.takeRows()
        swap(&nodes, &self.nodes)
        swap(&edges, &self.edges)
        let rows = start..<self.rows.upperBound
        for row in rows { blueprint.measure(&self.nodes[row]) }
        expansions[row] = rows
        return rows
    }

    /// Returns the rows outside of a dynamic fan-out that its instances will need: in order, each once. O(definitions
    /// inside).
    package func outsideNeeds(ofInstancesOf row: PlanIndex) -> [PlanIndex] {
        guard let blueprint else { return [] }
        let rows = PlanExpansion(blueprint.layout, blueprint.needs, behind: nodes, numbers: blueprint.numbers)
        return rows.needs(insideFanOut: row)
    }

    /// Returns all rows inside a row, without the row itself, in the order in which they were made: those of an
    /// expansion come after those of the file. O(rows inside).
    package func rows(inside row: PlanIndex) -> [PlanIndex] {
        guard !expansions.isEmpty else { return Array(row.next..<nodes[row].subtreeEnd) }
        var rows: [PlanIndex] = []
        var intervals = [row.next..<nodes[row].subtreeEnd]
        if let expansion = expansions[row] { intervals.append(expansion) }
        while let interval = intervals.popLast() {
            for row in interval {
                rows.append(row)
                if nodes[row].role == .fanOut, let expansion = expansions[row] { intervals.append(expansion) }
            }
        }
        return rows.sorted()
    }
}

/// The data for making the instances of fan-outs whose items only the run knows.
final class InstanceBlueprint: Sendable {
    /// The plan with one instance in place of each of them, measured.
    let outline: Plan
    let needs: ResolvedNeeds
    let layout: PlanLayout
    let numbers: RowNumbers
    /// By definition: the measures in the outline, for rows inside such a fan-out.
    private let levels: [UInt32]
    private let remainingPaths: [UInt32]

    init(outline: Plan, needs: ResolvedNeeds, layout: PlanLayout, numbers: RowNumbers = RowNumbers()) {
        self.outline = outline
        self.needs = needs
        self.layout = layout
        self.numbers = numbers
        var levels = [UInt32](repeating: 0, count: outline.workflow.nodes.count)
        var remainingPaths = levels
        for node in outline.nodes {
            levels[node.definition.row] = node.level
            remainingPaths[node.definition.row] = node.remainingPath
        }
        self.levels = levels
        self.remainingPaths = remainingPaths
    }

    /// Gives a new row the measures of the one instance in the outline: all instances are alike, and so are their
    /// paths to the end.
    func measure(_ node: inout PlanNode) {
        node.level = levels[node.definition.row]
        node.remainingPath = remainingPaths[node.definition.row]
    }
}

/// Maps the rows of a whole plan to those of a plan that leaves some out. Without numbers, every row keeps its place.
struct RowNumbers: Sendable {
    /// By row of the whole plan; for a row that is left out, the number of the next one.
    private var numbers: [PlanIndex] = []
    /// By row of the restricted plan; later rows were added afterwards, and their layout has no gaps.
    private var originals: [PlanIndex] = []

    init() {}

    init(keeping isKept: some Sequence<Bool>) {
        for isKept in isKept {
            let original = PlanIndex(numbers.count)
            numbers.append(PlanIndex(originals.count))
            if isKept { originals.append(original) }
        }
    }

    /// Returns the row that is at this distance from `row` in the whole plan; both are rows of the restricted plan.
    func row(_ distance: Int, behind row: PlanIndex) -> PlanIndex {
        row.offset < originals.count
            ? numbers[originals[row].advanced(by: distance)] : row.advanced(by: distance)
    }
}

/// The row of a step, group or fan-out in `Plan.nodes`: a place in the run, whereas a `NodeIndex` is a place in the
/// file.
///
/// As large as the number in it, and inlined everywhere, so that it costs no more than the bare number.
@usableFromInline
package struct PlanIndex: Hashable, Strideable, Sendable {
    @usableFromInline let value: UInt32

    /// The row number `offset`, from 0, in the order of the plan.
    @inlinable
    package init(_ offset: Int) { value = UInt32(offset) }

    /// The workflow itself.
    @inlinable package static var root: PlanIndex { PlanIndex(0) }

    /// The number of rows before this one.
    @inlinable package var offset: Int { Int(value) }

    /// The row after this one.
    @inlinable package var next: PlanIndex { PlanIndex(offset + 1) }

    @inlinable
    package static func == (left: PlanIndex, right: PlanIndex) -> Bool { left.value == right.value }

    /// The order of the plan: preorder, and then the rows that the run has added.
    @inlinable
    package static func < (left: PlanIndex, right: PlanIndex) -> Bool { left.value < right.value }

    @inlinable
    package func hash(into hasher: inout Hasher) { hasher.combine(value) }

    @inlinable
    package func distance(to other: PlanIndex) -> Int { other.offset - offset }

    @inlinable
    package func advanced(by distance: Int) -> PlanIndex { PlanIndex(offset + distance) }
}

extension PlanIndex: CustomStringConvertible {
    /// The number, such as `12`.
    @usableFromInline package var description: String { "\(value)" }
}

extension Array {
    /// The element for this row in a table with an element for each row of a plan.
    @inlinable
    package subscript(row: PlanIndex) -> Element {
        @inline(__always) _read { yield self[row.offset] }
        @inline(__always) _modify { yield &self[row.offset] }
    }
}
