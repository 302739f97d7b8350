internal import Syntax

/// The actions of a task.
struct TaskBody {
    /// Commands before all others.
    let checks: [ShellCommand]
    /// True if one of the checks ends the task without a failure.
    let hasCondition: Bool
    /// The variables that commands determine, as commands.
    let prelude: [ShellCommand]
    var items: [TaskItem]
    let status: [String]
    /// True if the task goes on after a failure.
    let isTolerant: Bool
}

// The actions of tasks.
extension TaskfileConversion {
    /// Sets the body of a step and returns the steps that it requests.
    mutating func setBody(
        of step: inout StepDraft, _ body: TaskBody, _ own: TaskVariables, depth: Int
    ) throws(TaskProblem) -> [String] {
        var body = body
        var requested: [String] = []
        if let call = leadingCall(of: body) {
            requested = try needs([call])
            body.items.removeFirst()
        }
        let hasCalls = body.items.contains { if case .call = $0 { true } else { false } }
        let hasDeferred = body.items.contains { if case .deferred = $0 { true } else { false } }
        let commands = body.items.compactMap { if case .command(let command) = $0 { command } else { nil } }
        guard hasCalls || hasDeferred else {
            var lines = body.prelude + body.checks
            if !body.status.isEmpty {
                var tests: [String] = []
                for test in body.status { tests.append(Self.hidden(try own.script(test))) }
                lines.append(
                    ShellCommand(text: "if \(tests.joined(separator: " && ")); then exit 0; fi", isShared: true))
            }
            if !(body.checks + commands).isEmpty || !body.status.isEmpty {
                step.body = .script(Self.script(lines + commands))
            } else if step.needs.isEmpty, requested.isEmpty {
                step.body = .script(":")
            }
            return requested
        }
        guard body.status.isEmpty else { throw TaskProblem("`status` beside calls of other tasks has no counterpart") }
        guard !body.hasCondition else { throw TaskProblem("`if` beside calls of other tasks has no counterpart") }
        guard body.prelude.isEmpty else {
            throw TaskProblem("a command of `vars` beside calls of other tasks runs once")
        }
        guard !body.isTolerant else {
            throw TaskProblem("`ignore_error` beside calls of other tasks has no counterpart")
        }
        guard depth < Self.depthLimit else { throw TaskProblem("tasks that run in one another") }
        var taken = StepIDs()
        // The variables of the task are those of its own commands, and not of the tasks that it calls.
        let around = commandEnvironment
        (commandEnvironment, step.env) = (step.env, [])
        defer { commandEnvironment = around }
        let group = try group(
            body.checks.map(TaskItem.command)[...] + body.items[...], &taken, isFirst: true, depth: depth)
        if group.members.count > 1 { step.set("order", .word("sequence")) }
        var members = group.members
        if let index = step.settings.firstIndex(where: { $0.key == "platforms" }) {
            let platforms = step.settings.remove(at: index)
            for index in members.indices { members[index].settings.append(platforms) }
        }
        step.body = .group(members, finally: group.last)
        return requested + group.requested
    }

    /// One call before all commands, which is a need; several would run at the same time.
    func leadingCall(of body: TaskBody) -> TaskCall? {
        guard case .call(let call)? = body.items.first, call.values.isEmpty, body.checks.isEmpty, body.status.isEmpty,
            !body.items.dropFirst().contains(where: { if case .call = $0 { true } else { false } })
        else { return nil }
        return call
    }

    private typealias Group = (members: [StepDraft], last: [StepDraft], requested: [String])

    /// Makes members that run one after the other. What is deferred belongs to a group of what follows it, so that it
    /// runs only if it was reached.
    private mutating func group(
        _ items: some Collection<TaskItem>, _ taken: inout StepIDs, isFirst: Bool, depth: Int
    ) throws(TaskProblem) -> Group {
        var result: Group = ([], [], [])
        var commands: [ShellCommand] = []
        func close() {
            guard !commands.isEmpty else { return }
            let id = taken.id(for: result.members.isEmpty ? "commands" : "commands \(result.members.count + 1)")
            result.members.append(StepDraft(id, .script(Self.script(commands))))
            result.members[result.members.count - 1].env = commandEnvironment
            commands = []
        }
        var rest = items[...]
        while let item = rest.first {
            switch item {
            case .command(let command): commands.append(command)
            case .deferred(let command):
                close()
                guard result.members.isEmpty else {
                    var inner = StepIDs()
                    let group = try group(rest, &inner, isFirst: false, depth: depth)
                    var step = StepDraft(taken.id(for: "rest"), .group(group.members, finally: group.last))
                    if group.members.count > 1 { step.set("order", .word("sequence")) }
                    result.members.append(step)
                    result.requested += group.requested
                    return result
                }
                var last = StepDraft("deferred-\(result.last.count + 1)", .script(Self.script([command])))
                last.env = commandEnvironment
                result.last.insert(last, at: 0)
            case .call(let call):
                close()
                let member = try member(
                    call, &taken, isFirst: isFirst && result.members.isEmpty, result.members, depth: depth)
                result.requested += member.needs
                result.members.append(member)
            }
            rest = rest.dropFirst()
        }
        close()
        for index in result.last.indices { result.last[index].id = "deferred-\(index + 1)" }
        if result.members.isEmpty { result.members = [StepDraft(taken.id(for: "commands"), .script(":"))] }
        return result
    }

    private mutating func member(
        _ call: TaskCall, _ taken: inout StepIDs, isFirst: Bool, _ members: [StepDraft], depth: Int
    ) throws(TaskProblem) -> StepDraft {
        guard let task = task(call.task) else {
            throw TaskProblem("there is no task `\(call.task)` in this file")
        }
        let base = ids.known(call.task) ?? call.task
        let id = taken.id(for: members.contains { $0.id == base } ? "\(call.name) \(members.count + 1)" : call.task)
        var member = self.step(of: task, id: id, values: call.values, depth: depth + 1)
        if call.name != id { member.name = call.name }
        (member.comments, member.description, member.isManual) = ([], nil, false)
        if case .unfinished(let reason) = member.body { throw TaskProblem(reason) }
        guard !isFirst, !member.needs.isEmpty else { return member }
        // Its needs must not run before what comes before it, so that they are copies as well.
        guard depth < Self.depthLimit else { throw TaskProblem("tasks that run in one another") }
        var inner = StepIDs()
        var steps: [StepDraft] = []
        for need in lastCalls { steps.append(try self.member(need, &inner, isFirst: false, steps, depth: depth + 1)) }
        if member.body != .milestone {
            var body = member
            (body.id, body.name, body.needs) = (inner.id(for: "commands"), nil, steps.map(\.id))
            steps.append(body)
        }
        var group = StepDraft(id, .group(steps))
        group.name = member.name
        return group
    }

    private static func script(_ commands: [ShellCommand]) -> String {
        var commands = commands
        if commands.contains(where: { $0.text.contains("$ROOT_DIR") || $0.text.contains("${ROOT_DIR}") }) {
            commands.insert(ShellCommand(text: "ROOT_DIR=$PWD", isShared: true), at: 0)
        }
        return ShellCommand.script(commands)
    }
}
