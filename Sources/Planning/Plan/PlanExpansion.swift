import Syntax
import Workflow

/// Makes the rows of a plan: definitions in preorder, and a fan-out as a row that encloses its instances.
struct PlanExpansion {
    private(set) var nodes: [PlanNode]
    private(set) var edges: [PlanEdge]

    private let definitions: [WorkflowNode]
    private let needs: ResolvedNeeds
    private let layout: PlanLayout
    private let numbers: RowNumbers
    /// The groups and fan-outs that enclose the next row, outermost first.
    private var frames: [Frame] = []

    private struct Frame {
        enum Content {
            /// Of one copy of a group: the definition of the next member, the end of the members, the previous
            /// member.
            case members(next: Int, end: Int, before: Int)
            /// Of a fan-out: its instances, and the index of the next one.
            case instances([FanOut.Instance], next: Int)
        }

        var content: Content
        let definition: Int
        let row: PlanIndex
        let variables: [Variable]
    }

    /// Continues after the given rows. `numbers` maps rows that the layout expects elsewhere.
    init(
        _ layout: PlanLayout, _ needs: ResolvedNeeds, behind nodes: consuming [PlanNode] = [],
        edges: consuming [PlanEdge] = [], numbers: RowNumbers = RowNumbers()
    ) {
        definitions = layout.workflow.nodes
        self.needs = needs
        self.layout = layout
        self.numbers = numbers
        self.nodes = nodes
        self.edges = edges
    }

    /// Makes all rows of the workflow. Only for a layout within the limit, and needs without a cycle.
    mutating func expandWorkflow() {
        nodes.reserveCapacity(layout.total)
        edges.reserveCapacity(needs.entries.count)
        appendCopy(of: 0, id: "", parent: .root, variables: [], edgeStart: 0)
        expandFrames()
    }

    /// Makes the instances of a fan-out among the rows, one after another.
    mutating func expand(_ fanOut: PlanIndex, into instances: [FanOut.Instance]) {
        let node = nodes[fanOut]
        frames.append(
            Frame(
                content: .instances(instances, next: 0), definition: node.definition.row, row: fanOut,
                variables: node.variables))
        expandFrames()
    }

    /// Returns the rows and edges, and leaves none here.
    mutating func takeRows() -> (nodes: [PlanNode], edges: [PlanEdge]) {
        defer { (nodes, edges) = ([], []) }
        return (nodes, edges)
    }

    private mutating func expandFrames() {
        while let frame = frames.last {
            switch frame.content {
            case .members(let next, let end, let before):
                guard next < end else {
                    frames.removeLast()
                    continue
                }
                let following = Int(definitions[next].subtreeEnd)
                frames[frames.count - 1].content = .members(next: following, end: end, before: next)
                guard !layout.isLeftOut(next) else { continue }
                appendMember(next, after: before, in: frame)
            case .instances(let instances, let next):
                guard next < instances.count else {
                    frames.removeLast()
                    continue
                }
                frames[frames.count - 1].content = .instances(instances, next: next + 1)
                let instance = instances[next]
                appendCopy(
                    of: frame.definition, id: "\(nodes[frame.row].id)[\(instance.key)]", parent: frame.row,
                    variables: frame.variables + instance.variables, edgeStart: edges.count)
            }
        }
    }

    private mutating func appendMember(_ definition: Int, after before: Int, in frame: Frame) {
        let edgeStart = edges.count
        appendEdges(of: definition, after: before, in: frame)
        let name = definitions[definition].id
        let id = frame.row == .root ? name : "\(nodes[frame.row].id).\(name)"
        guard let fanOut = definitions[definition].settings?.fanOut else {
            return appendCopy(
                of: definition, id: id, parent: frame.row, variables: frame.variables, edgeStart: edgeStart)
        }
        let instances = fanOut.isDynamic && layout.isOutline ? [Self.anyInstance] : fanOut.instances
        frames.append(
            Frame(
                content: .instances(instances, next: 0), definition: definition, row: PlanIndex(nodes.count),
                variables: frame.variables))
        append(
            definition, .fanOut, id: id, parent: frame.row, size: layout.wholeSize(of: definition),
            variables: frame.variables, edgeStart: edgeStart)
    }

    /// Represents all instances that the run will make.
    private static let anyInstance = FanOut.Instance(key: "*", variables: [])

    private mutating func appendCopy(
        of definition: Int, id: String, parent: PlanIndex, variables: [Variable], edgeStart: Int
    ) {
        var role = PlanNode.Role.step
        if case .group = definitions[definition].body {
            role = .group
            frames.append(
                Frame(
                    content: .members(
                        next: definition + 1, end: Int(definitions[definition].subtreeEnd), before: definition),
                    definition: definition, row: PlanIndex(nodes.count), variables: variables))
        }
        append(
            definition, role, id: id, parent: parent, size: layout.copySize[definition],
            variables: variables, edgeStart: edgeStart)
    }

    private mutating func append(
        _ definition: Int, _ role: PlanNode.Role, id: String, parent: PlanIndex, size: Int, variables: [Variable],
        edgeStart: Int
    ) {
        nodes.append(
            PlanNode(
                id: id, definition: NodeIndex(definition), role: role, hook: definitions[definition].hook,
                parent: parent, subtreeEnd: PlanIndex(nodes.count + size), edgeStart: UInt32(edgeStart),
                edgeEnd: UInt32(edges.count), level: 0, remainingPath: 0, variables: variables))
    }

    /// Appends the edges of a member, from its `needs` and from the order of its group. In a sequence, an explicit
    /// need of the previous member replaces the edge of the order, so that `needs: {a: done}` keeps its meaning.
    private mutating func appendEdges(of definition: Int, after before: Int, in frame: Frame) {
        guard definitions[definition].hook == nil else { return }
        var isNeeded = false
        let written = layout.workflow.needs(of: definition)
        for index in needs.range(of: definition) {
            let entry = needs.entries[index]
            let target = Int(entry.target)
            isNeeded = isNeeded || target == before
            edges.append(
                PlanEdge(
                    target: row(of: target, from: frame.row),
                    kind: written[written.startIndex + Int(entry.position)].kind,
                    isSequence: false))
        }
        if before != frame.definition, !isNeeded, definitions[frame.definition].settings?.isSequence == true {
            edges.append(PlanEdge(target: row(of: before, from: frame.row), kind: .ok, isSequence: true))
        }
    }

    /// Returns the rows outside of a fan-out that the members of its instances need: in order, each once.
    func needs(insideFanOut row: PlanIndex) -> [PlanIndex] {
        let fanOut = nodes[row].definition.row
        let inside = fanOut..<Int(definitions[fanOut].subtreeEnd)
        var found: Set<PlanIndex> = []
        for definition in inside.dropFirst()
        where definitions[definition].hook == nil && !layout.isLeftOut(definition) {
            for entry in needs.entries[needs.range(of: definition)] where !inside.contains(Int(entry.target)) {
                found.insert(self.row(of: Int(entry.target), from: nodes[row].parent))
            }
        }
        return found.sorted()
    }

    /// Returns the row of a definition as seen from inside a copy of a group: the one in the nearest enclosing copy
    /// of the definition's group.
    @inline(__always)  // A call, one for each edge, would copy all of this value.
    private func row(of definition: Int, from copy: PlanIndex) -> PlanIndex {
        let scope = definitions[definition].parent
        var copy = copy
        while nodes[copy].definition != scope || nodes[copy].role == .fanOut { copy = nodes[copy].parent }
        return numbers.row(layout.distance[definition], behind: copy)
    }
}

/// The number of rows that each definition takes in the plan, and their places, known before any of them is made.
///
/// All copies of a group have the same layout, so a member's row is its copy's row plus a fixed distance.
struct PlanLayout {
    /// Rows of one copy of a definition, itself included.
    private(set) var copySize: [Int]
    /// From the row of the enclosing copy to the row of a definition, or of its fan-out if it has one.
    private(set) var distance: [Int]
    let workflow: Workflow
    /// True if a fan-out whose items only the run knows has one instance in place of all of them; otherwise it has
    /// none.
    let isOutline: Bool
    /// By definition inside a fan-out whose items only the run knows: true if its instances omit it. Empty if they
    /// omit nothing.
    private let leftOut: [Bool]

    init(_ workflow: Workflow, isOutline: Bool, leavingOut leftOut: [Bool] = []) {
        let nodes = workflow.nodes
        self.leftOut = leftOut
        func wholeSize(_ row: Int, _ copySize: Int) -> Int {
            leftOut.isEmpty || !leftOut[row] ? Self.wholeSize(nodes[row], copySize, isOutline) : 0
        }
        var copySize = [Int](repeating: 1, count: nodes.count)
        for row in nodes.indices.dropFirst().reversed() {
            let parent = nodes[row].parent.row
            copySize[parent] = Self.sum(copySize[parent], wholeSize(row, copySize[row]))
        }
        var distance = [Int](repeating: 0, count: nodes.count)
        var taken = [Int](repeating: 1, count: nodes.count)
        for row in nodes.indices.dropFirst() {
            let parent = nodes[row].parent.row
            distance[row] = taken[parent]
            taken[parent] = Self.sum(taken[parent], wholeSize(row, copySize[row]))
        }
        self.copySize = copySize
        self.distance = distance
        self.workflow = workflow
        self.isOutline = isOutline
    }

    func isLeftOut(_ definition: Int) -> Bool { !leftOut.isEmpty && leftOut[definition] }

    /// Rows of all copies, and the fan-out that encloses them.
    func wholeSize(of row: Int) -> Int { Self.wholeSize(workflow.nodes[row], copySize[row], isOutline) }

    var total: Int { copySize[0] }

    /// Returns a finding if the plan would exceed the limit; it points to the largest fan-out.
    func sizeFinding(limit: Int) -> Diagnostic? {
        guard total > limit else { return nil }
        let fanOuts = workflow.nodes.indices.filter { workflow.nodes[$0].settings?.fanOut != nil }
        let largest = fanOuts.max { wholeSize(of: $0) < wholeSize(of: $1) }
        let size = total == Int.max ? "far more" : "\(total)"
        var range = workflow.nodes[0].range
        var notes: [Diagnostic.Note] = []
        if let largest, let fanOut = workflow.nodes[largest].settings?.fanOut {
            range = fanOut.range
            let path = workflow.path(of: NodeIndex(largest))
            notes = [Diagnostic.Note("the largest part is `\(path)` with its \(fanOut.instances.count) copies")]
        }
        return Diagnostic(
            .fanOutTooLarge, "the workflow expands to \(size) steps and groups; at most \(limit) are accepted",
            in: workflow.file, at: range, notes: notes,
            fix: Diagnostic.Fix("make fewer copies, or split the work into several workflows"))
    }

    private static func wholeSize(_ node: WorkflowNode, _ copySize: Int, _ isOutline: Bool) -> Int {
        guard let fanOut = node.settings?.fanOut else { return copySize }
        if fanOut.isDynamic { return isOutline ? sum(copySize, 1) : 1 }
        let (product, overflow) = fanOut.instances.count.multipliedReportingOverflow(by: copySize)
        return overflow ? Int.max : sum(product, 1)
    }

    private static func sum(_ left: Int, _ right: Int) -> Int {
        let (sum, overflow) = left.addingReportingOverflow(right)
        return overflow ? Int.max : sum
    }
}
