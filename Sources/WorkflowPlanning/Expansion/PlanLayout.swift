import SourceDiagnostics
import WorkflowModel

/// How many rows each definition takes in the plan and where they lie, known before any of them is made.
///
/// All copies of a group are laid out alike, so a member's row is its copy's row plus a fixed distance.
struct PlanLayout {
    /// Rows of one copy of a definition, itself included.
    private(set) var copySize: [Int]
    /// From the row of the copy around it to the row of a definition (of its fan-out, where it has one).
    private(set) var distance: [Int]
    let workflow: Workflow
    /// Whether a fan-out whose items only the run knows has one instance that stands for all of them, or none.
    let isOutline: Bool

    init(_ workflow: Workflow, isOutline: Bool) {
        let nodes = workflow.nodes
        var copySize = [Int](repeating: 1, count: nodes.count)
        for row in nodes.indices.dropFirst().reversed() {
            let parent = nodes[row].parent.row
            copySize[parent] = Self.sum(copySize[parent], Self.wholeSize(nodes[row], copySize[row], isOutline))
        }
        var distance = [Int](repeating: 0, count: nodes.count)
        var taken = [Int](repeating: 1, count: nodes.count)
        for row in nodes.indices.dropFirst() {
            let parent = nodes[row].parent.row
            distance[row] = taken[parent]
            taken[parent] = Self.sum(taken[parent], Self.wholeSize(nodes[row], copySize[row], isOutline))
        }
        self.copySize = copySize
        self.distance = distance
        self.workflow = workflow
        self.isOutline = isOutline
    }

    /// Rows of all copies and the fan-out around them.
    func wholeSize(of row: Int) -> Int { Self.wholeSize(workflow.nodes[row], copySize[row], isOutline) }

    var total: Int { copySize[0] }

    /// What is wrong where the plan would be larger than the limit; it points to the largest fan-out.
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
            notes = [Diagnostic.Note("the largest part is `\(path)` with its \(fanOut.instances.count) instances")]
        }
        return Diagnostic(
            .fanOutTooLarge, "the workflow expands to \(size) steps and groups; at most \(limit) are accepted",
            in: workflow.file, at: range, notes: notes,
            fix: Diagnostic.Fix("make fewer instances, or split the work into several workflows"))
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
