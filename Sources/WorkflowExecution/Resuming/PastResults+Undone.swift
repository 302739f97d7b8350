internal import RunEvents
internal import WorkflowModel

extension PastResults {
    /// What hooks count as having undone. What a hook says now counts if it would start the same command; otherwise,
    /// what it said when it started.
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

    /// Whether a step's command is known to be a given one.
    fileprivate func hasCommand(_ command: StepStarted.Command, _ step: NodeIndex) -> Bool {
        switch (command, nodes[step.row].body) {
        case (.script(let text), .script(let script)): text == script.text(in: file)
        case (.arguments(let words), .arguments(let templates)): words == templates.map(\.literal)
        default: false
        }
    }
}

extension String {
    /// An id without what stands in brackets.
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
