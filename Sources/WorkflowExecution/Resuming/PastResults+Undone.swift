internal import RunEvents
internal import WorkflowModel
internal import WorkflowPlanning

extension PastResults {
    /// The steps and groups that hooks count as having undone. A hook's present `undoes` counts if it would start the
    /// same command; otherwise the one that it had when it started.
    func undoneIDs(in workflow: Workflow) -> IDMarks {
        var marks = IDMarks()
        guard !hooks.isEmpty else { return marks }
        let definitions = workflow.hookSteps
        for start in hooks {
            var undoing = start.undoing
            if let step = definitions[start.step.withoutInstances], let command = start.command,
                workflow.hasCommand(command, step),
                let declared = workflow.undoing(by: step)
            {
                undoing = Undoing(body: undoing.body, members: declared.members?.map(\.name))
            }
            for id in undoing.ids { marks.note(id, IDMarks.Mark(moment: start.moment, hook: start.step)) }
        }
        return marks
    }
}

extension Plan {
    /// The steps and groups that the start of a step counts as undoing; nil for a step in no hook. O(depth).
    func undoing(by row: PlanIndex) -> Undoing? {
        var body: PlanIndex?
        var next = row
        while next != .root {
            if nodes[next].hook != nil { body = parent(of: next) }
            next = parent(of: next)
        }
        guard let body, let declared = workflow.undoing(by: nodes[row].definition) else { return nil }
        return Undoing(body: nodes[body].id, members: declared.members?.map(\.name))
    }
}

extension Workflow {
    /// The steps of all hooks, by their ids without those of instances. O(rows).
    fileprivate var hookSteps: [String: NodeIndex] {
        var steps: [String: NodeIndex] = [:]
        var row = 0
        while row < nodes.count {
            guard nodes[row].hook != nil else {
                row += 1
                continue
            }
            let end = Int(nodes[row].subtreeEnd)
            for step in row..<end where nodes[step].hasCommand { steps[path(of: NodeIndex(step))] = NodeIndex(step) }
            row = end
        }
        return steps
    }

    /// True if a step's command is known to be the given one.
    fileprivate func hasCommand(_ command: StepStarted.Command, _ step: NodeIndex) -> Bool {
        switch (command, nodes[step.row].body) {
        case (.script(let text), .script(let script)): text == script.text(in: file)
        case (.arguments(let words), .arguments(let templates)): words == templates.map(\.literal)
        default: false
        }
    }
}

extension String {
    /// An id without the parts in brackets.
    fileprivate var withoutInstances: String {
        var isInside = false
        return String(
            decoding: utf8.filter { byte in
                if byte == UInt8(ascii: "[") { isInside = true }
                defer { if byte == UInt8(ascii: "]") { isInside = false } }
                return !isInside
            }, as: UTF8.self)
    }
}

/// The last mark that steps and groups have got, by id. A mark holds for everything inside; the id of a fan-out stands for
/// all its copies.
struct IDMarks {
    struct Mark: Sendable {
        /// As in `PastResults.Step`.
        let moment: Int
        /// The hook that made it; empty for a new round of a group.
        let hook: String
    }

    private var marks: [String: Mark] = [:]

    var isEmpty: Bool { marks.isEmpty }

    /// An empty id stands for the run.
    mutating func note(_ id: String, _ mark: Mark) {
        if let known = marks[id], known.moment > mark.moment { return }
        marks[id] = mark
    }

    /// The last mark of an id or of an enclosing one. O(length of the id).
    func last(of id: String) -> Mark? {
        guard !marks.isEmpty else { return nil }
        var last = marks[""]
        func look(_ id: String) {
            if let mark = marks[id], mark.moment > last?.moment ?? -1 { last = mark }
        }
        // A dot inside a label only makes a name that no row has.
        for index in id.utf8.indices where id.utf8[index] == UInt8(ascii: ".") || id.utf8[index] == UInt8(ascii: "[") {
            look(String(id[..<index]))
        }
        look(id)
        return last
    }
}
