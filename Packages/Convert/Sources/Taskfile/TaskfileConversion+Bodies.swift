internal import Syntax

// The actions of tasks.
extension TaskfileConversion {
    mutating func setBody(
        of step: inout StepDraft, _ items: [TaskItem], status: [String], _ own: TaskVariables, depth: Int
    ) throws(TaskProblem) {
        var items = items
        var calls: [TaskCall] = []
        while case .call(let call)? = items.first, call.values.isEmpty {
            calls.append(call)
            items.removeFirst()
        }
        let hasCalls = items.contains { if case .call = $0 { true } else { false } }
        if !hasCalls || items.isEmpty {
            step.needs += try needs(calls)
            if calls.count > 1 { step.comments.append("task runs what this needs one after the other") }
        } else {
            items = calls.map(TaskItem.call) + items
        }
        let deferred = items.compactMap { if case .deferred(let command) = $0 { command } else { nil } }
        let commands = items.compactMap { if case .command(let command) = $0 { command } else { nil } }
        guard hasCalls || !deferred.isEmpty else {
            var lines: [String] = []
            if !status.isEmpty {
                var tests: [String] = []
                for test in status { tests.append("(\(try own.script(test)))") }
                lines.append("if \(tests.joined(separator: " && ")); then exit 0; fi")
            }
            if !commands.isEmpty { step.body = .script((lines + [script(commands)]).joined(separator: "\n")) }
            if commands.isEmpty, step.needs.isEmpty { step.body = .script(":") }
            return
        }
        guard status.isEmpty else { throw TaskProblem("`status` beside calls of other tasks has no counterpart") }
        guard depth < Self.depthLimit else { throw TaskProblem("tasks that run in one another") }
        try setGroup(of: &step, items, deferred, depth: depth)
    }

    /// Makes a group of members that run one after the other, with the deferred commands at its end.
    private mutating func setGroup(
        of step: inout StepDraft, _ items: [TaskItem], _ deferred: [ShellCommand], depth: Int
    ) throws(TaskProblem) {
        var members: [StepDraft] = []
        var inner = StepIDs()
        var commands: [ShellCommand] = []
        func close() {
            guard !commands.isEmpty else { return }
            let id = inner.id(for: members.isEmpty ? "commands" : "commands \(members.count + 1)")
            members.append(StepDraft(id, .script(script(commands))))
            commands = []
        }
        for item in items {
            switch item {
            case .command(let command): commands.append(command)
            case .deferred: break
            case .call(let call):
                close()
                guard let task = task(call.task) else {
                    throw TaskProblem("there is no task `\(call.task)` in this file")
                }
                let id = inner.id(
                    for: members.contains { $0.id == call.task } ? "\(call.name) \(members.count + 1)" : call.task)
                var member = self.step(of: call.task, task.value, id: id, values: call.values, depth: depth + 1)
                member.name = call.name
                (member.comments, member.description, member.isManual) = ([], nil, false)
                if case .unfinished(let reason) = member.body { throw TaskProblem(reason) }
                members.append(member)
            }
        }
        close()
        if members.count > 1 { step.set("order", .word("sequence")) }
        if let index = step.settings.firstIndex(where: { $0.key == "platforms" }) {
            let platforms = step.settings.remove(at: index)
            for index in members.indices { members[index].settings.append(platforms) }
        }
        let last = deferred.reversed().enumerated().map { index, command in
            StepDraft("deferred-\(index + 1)", .script(script([command])))
        }
        step.body = .group(members, finally: last)
    }

    private func script(_ commands: [ShellCommand]) -> String { ShellCommand.script(exports + commands) }
}
