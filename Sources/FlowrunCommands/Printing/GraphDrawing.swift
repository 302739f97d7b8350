internal import Planning
internal import Syntax
internal import Workflow

/// The boxes, frames and arrows of a plan's picture, with every fan-out folded into one.
struct GraphDrawing {
    /// A step, or a group with or without something in it.
    struct Box {
        /// Also its index.
        let number: Int
        let path: String
        /// The id, with the number of instances behind it.
        let label: String
        /// `step`, `group`, or `hook` for the block of one.
        let kind: String
        /// nil if there is no fan-out, or where only the run knows.
        let instances: Int?
        /// The text of its `if`.
        let condition: String?
        let line: Int
        /// The box around it; nil at the top.
        let parent: Int?
        /// One past the last box inside.
        var end: Int
        /// The boxes inside that start first and end last; itself where nothing is inside.
        var firstLeaf: Int
        var lastLeaf: Int
        let level: Int

        /// Whether there is something to draw inside.
        var isFrame: Bool { end > number + 1 }
    }

    struct Arrow {
        let from: Int
        let to: Int
        let kind: Need.Kind
        let isSequence: Bool

        /// What the arrow says where it is more than an order.
        var label: String? { kind == .ok ? nil : "\(kind)" }
    }

    enum Event {
        case box(Box)
        case frameStart(Box)
        case frameEnd
    }

    let title: String
    let file: String
    /// In file order, what is inside after what is around it.
    private(set) var boxes: [Box] = []
    private(set) var arrows: [Arrow] = []

    init(_ plan: Plan) {
        let plan = plan.outline
        let workflow = plan.workflow
        file = workflow.file.name
        title = workflow.name ?? workflow.file.name
        let boxRows = Self.drawnRows(plan)
        // The box of each row; an instance has its fan-out's, row 0 and the other instances have none.
        var boxOfRow = [Int](repeating: -1, count: plan.nodes.count)
        for (number, row) in boxRows.enumerated() {
            let node = plan.nodes[row]
            let definition = workflow[node.definition]
            let parent = boxOfRow[node.parent]
            boxOfRow[row] = number
            let fanOut = definition.settings?.fanOut
            // Of those in the file, what is chosen.
            let instances = node.role == .fanOut && fanOut?.isDynamic == false ? plan.members(of: row).count : nil
            let count = fanOut == nil ? "" : instances.map { " × \($0)" } ?? "[*]"
            if node.role == .fanOut, node.subtreeEnd > row.next { boxOfRow[row.next] = number }
            boxes.append(
                Box(
                    number: number, path: workflow.path(of: node.definition),
                    label: definition.id + count,
                    kind: definition.hook != nil ? "hook" : definition.isGroup ? "group" : "step",
                    instances: instances, condition: definition.settings?.condition?.text, line: plan.line(of: row),
                    parent: parent < 0 ? nil : parent, end: number + 1,
                    firstLeaf: number, lastLeaf: number, level: Int(node.level)))
        }
        for (number, row) in boxRows.enumerated() {
            for edge in plan.edges(of: row) {
                let from = boxOfRow[edge.target]
                arrows.append(Arrow(from: from, to: number, kind: edge.kind, isSequence: edge.isSequence))
            }
        }
        closeFrames()
    }

    /// Fan-outs without their instances, and of those the members of the first.
    private static func drawnRows(_ plan: Plan) -> [PlanIndex] {
        var isHidden = [Bool](repeating: false, count: plan.nodes.count)
        var drawn: [PlanIndex] = []
        for row in plan.rows.dropFirst() {
            let parent = plan.nodes[row].parent
            let isInstance = plan.nodes[parent].role == .fanOut
            isHidden[row] = isHidden[parent] || (isInstance && row != parent.next)
            if !isHidden[row], !isInstance { drawn.append(row) }
        }
        return drawn
    }

    private mutating func closeFrames() {
        for number in boxes.indices.reversed() {
            guard let parent = boxes[number].parent else { continue }
            let (box, around) = (boxes[number], boxes[parent])
            boxes[parent].end = max(around.end, box.end)
            // From the back: of equals, the first box is the one that stays.
            if around.firstLeaf == parent || boxes[box.firstLeaf].level <= boxes[around.firstLeaf].level {
                boxes[parent].firstLeaf = box.firstLeaf
            }
            if around.lastLeaf == parent || boxes[box.lastLeaf].level >= boxes[around.lastLeaf].level {
                boxes[parent].lastLeaf = box.lastLeaf
            }
        }
    }

    /// Calls the body for every box in file order, and for the start and end of every frame, with the number of frames
    /// around it.
    func walk(_ body: (Event, Int) -> Void) {
        var open: [Int] = []
        for box in boxes {
            while let end = open.last, end <= box.number {
                open.removeLast()
                body(.frameEnd, open.count)
            }
            if box.isFrame {
                body(.frameStart(box), open.count)
                open.append(box.end)
            } else {
                body(.box(box), open.count)
            }
        }
        while open.popLast() != nil { body(.frameEnd, open.count) }
    }
}
