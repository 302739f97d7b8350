internal import Planning
internal import RunLog
internal import Workflow

extension PastResults {
    /// Returns the steps and groups that hooks count as having undone. A hook's present `undoes` counts if it would
    /// start the same command; otherwise the one that it had when it started.
    func undoneIDs(in workflow: Workflow) -> IDMarks {
        var marks = IDMarks()
        guard !hooks.isEmpty else { return marks }
        let definitions = workflow.hookSteps
        for start in hooks {
            var undoing = start.undoing
            if let step = definitions[start.step.withoutInstances], let command = start.undoing.command,
                workflow.hasCommand(command, step),
                let declared = workflow.undoing(by: step)
            {
                undoing.members = declared.members?.map(\.name)
            }
            for id in undoing.ids { marks.note(id, IDMarks.Mark(moment: start.moment, hook: start.step)) }
        }
        return marks
    }
}

extension Plan {
    /// Returns the steps and groups that the start of a step counts as undoing; nil for a step in no hook. O(depth).
    func undoing(by row: PlanIndex) -> Undoing? {
        var body: PlanIndex?
        var next = row
        while next != .root {
            if nodes[next].hook != nil { body = parent(of: next) }
            next = parent(of: next)
        }
        guard let body, let declared = workflow.undoing(by: nodes[row].definition) else { return nil }
        return Undoing { undoing in
            undoing.body = nodes[body].id
            undoing.members = declared.members?.map(\.name)
        }
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

    /// Returns true if a step's command is known to be the given one.
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
    var withoutInstances: String {
        var isInside = false
        return String(
            decoding: utf8.filter { byte in
                if byte == UInt8(ascii: "[") { isInside = true }
                defer { if byte == UInt8(ascii: "]") { isInside = false } }
                return !isInside
            }, as: UTF8.self)
    }
}

/// The last mark of steps and groups, by id. A mark holds for everything inside; the id of a fan-out means all its
/// instances.
struct IDMarks {
    struct Mark: Sendable {
        /// As in `PastResults.Step`.
        let moment: Int
        /// The hook that made it; empty for a new round of a group.
        let hook: String
    }

    private var marks: [String: Mark] = [:]
    /// The moment of the last mark by each hook, by id; for no more than `mostHooks` hooks of one id.
    private var moments: [String: [String: Int]] = [:]
    private static let mostHooks = 64

    var isEmpty: Bool { marks.isEmpty }

    /// Notes a mark; an empty id is the run.
    mutating func note(_ id: String, _ mark: Mark) {
        if !mark.hook.isEmpty {
            var hooks = moments.removeValue(forKey: id) ?? [:]
            if let known = hooks[mark.hook] {
                hooks[mark.hook] = max(known, mark.moment)
            } else if hooks.count < Self.mostHooks {
                hooks[mark.hook] = mark.moment
            }
            moments[id] = hooks
        }
        if let known = marks[id], known.moment > mark.moment { return }
        marks[id] = mark
    }

    /// Returns the hooks that have marked an id or an enclosing one after a moment, the last one first.
    func hooks(of id: String, after moment: Int) -> [String] {
        var found: [String: Int] = [:]
        if let last = last(of: id), last.moment > moment { found[last.hook] = last.moment }
        forEachAround(id) { id in
            found.merge((moments[id] ?? [:]).filter { $0.value > moment }, uniquingKeysWith: max)
        }
        return found.sorted { $0.value > $1.value }.map(\.key)
    }

    /// Returns the last mark of an id or of an enclosing one. O(length of the id).
    func last(of id: String) -> Mark? {
        guard !marks.isEmpty else { return nil }
        var last: Mark?
        forEachAround(id) { id in
            if let mark = marks[id], mark.moment > last?.moment ?? -1 { last = mark }
        }
        return last
    }

    /// Calls `body` with the run, the enclosing groups and the id itself.
    private func forEachAround(_ id: String, _ body: (String) -> Void) {
        body("")
        // A dot inside a label only makes a name that no row has.
        for index in id.utf8.indices where id.utf8[index] == UInt8(ascii: ".") || id.utf8[index] == UInt8(ascii: "[") {
            body(String(id[..<index]))
        }
        body(id)
    }
}
