internal import Basics
internal import Planning
internal import Syntax
internal import Workflow

/// The boxes, frames and arrows of a plan's drawing, with each fan-out folded into one box.
struct GraphDrawing {
    /// A step, or a group with or without members.
    struct Box {
        /// The box's index.
        let number: Int
        let path: String
        /// The id, followed by the number of instances.
        let label: String
        /// `step`, `group`, or `hook` for the block of a hook.
        let kind: String
        /// nil if there is no fan-out, or if the number becomes known only during the run.
        let instances: Int?
        /// The text of its `if`.
        let condition: String?
        let line: Int
        /// The enclosing box; nil at the top level.
        let parent: Int?
        /// One past the last box inside.
        var end: Int
        /// The boxes inside that start first and end last; the box itself if it is empty.
        var firstLeaf: Int
        var lastLeaf: Int
        let level: Int

        /// True if there are boxes inside.
        var isFrame: Bool { end > number + 1 }
    }

    struct Arrow {
        let from: Int
        let to: Int
        let kind: Need.Kind
        let isSequence: Bool

        /// The text of the arrow; nil if it is a plain order.
        var label: String? { kind == .ok ? nil : kind.word }
    }

    enum Event {
        case box(Box)
        case frameStart(Box)
        case frameEnd
    }

    let title: String
    let file: String
    /// In file order, enclosing boxes before the boxes inside.
    private(set) var boxes: [Box] = []
    private(set) var arrows: [Arrow] = []

    init(_ plan: Plan) {
        let plan = plan.outline
        let workflow = plan.workflow
        file = workflow.file.name
        title = workflow.name ?? workflow.file.name
        let boxRows = Self.drawnRows(plan)
        // The box of each row. The first instance of a fan-out has the fan-out's box; row 0 and all other instances
        // have none.
        var boxOfRow = [Int](repeating: -1, count: plan.nodes.count)
        for (number, row) in boxRows.enumerated() {
            let node = plan.nodes[row]
            let definition = workflow[node.definition]
            let parent = boxOfRow[node.parent]
            boxOfRow[row] = number
            let fanOut = definition.settings?.fanOut
            // Of the instances in the file, the selected ones.
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

    /// Returns all rows without the instances of fan-outs; of each fan-out, the members of the first instance.
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
            // In reverse order, so that among equal levels the first box remains.
            if around.firstLeaf == parent || boxes[box.firstLeaf].level <= boxes[around.firstLeaf].level {
                boxes[parent].firstLeaf = box.firstLeaf
            }
            if around.lastLeaf == parent || boxes[box.lastLeaf].level >= boxes[around.lastLeaf].level {
                boxes[parent].lastLeaf = box.lastLeaf
            }
        }
    }

    /// Calls the body for each box in file order, and for the start and end of each frame, with the number of
    /// enclosing frames.
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

extension String {
    /// The first line, made harmless, with spaces for tabs.
    var asOneLine: String {
        let line = unicodeScalars.prefix { $0 != "\n" && $0 != "\r" }
        return String(String.UnicodeScalarView(line.map { $0 == "\t" ? " " : $0 })).visible
    }

    func indented(to width: Int) -> String { String(repeating: " ", count: max(0, width - count)) + self }

    func padded(to width: Int) -> String { self + String(repeating: " ", count: max(0, width - count)) }

    /// The text without spaces at its end.
    var withoutEndSpaces: String { String(self[..<(lastIndex { $0 != " " }.map { index(after: $0) } ?? startIndex)]) }
}

extension JSONWriter {
    /// Returns the text that `body` writes, as one line.
    static func line(_ body: (inout JSONWriter) -> Void) -> String {
        var json = JSONWriter()
        body(&json)
        json.newline()
        return json.text
    }
}
