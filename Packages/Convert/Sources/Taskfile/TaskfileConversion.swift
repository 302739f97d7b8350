internal import Syntax

/// Converts a Taskfile: each task becomes a step.
struct TaskfileConversion {
    let source: YAMLSource
    let folder: ForeignFolder
    var draft = WorkflowDraft()
    var ids = StepIDs()
    var variables = TaskVariables()
    private var tasks: [(key: YAMLNode, value: YAMLNode)] = []
    private var givenNames: Set<String> = []
    /// Requests for tasks with values of their own, each a step of its own.
    private var copies: [TaskCall] = []
    /// The limit for tasks that run inside of others, which may do so themselves.
    static let depthLimit = 4

    /// The reason why no step can be trusted; nil if there is none.
    var problem: String?
    /// The steps that each step requests, as often as it does.
    private var requests: [String: [String]] = [:]
    /// The tasks that the step made last has as needs.
    private(set) var lastCalls: [TaskCall] = []
    /// The steps that run once, however often they are requested.
    private var single: Set<String> = []

    static func draft(of root: YAMLNode, source: YAMLSource, in folder: ForeignFolder) -> WorkflowDraft {
        var conversion = TaskfileConversion(source: source, folder: folder)
        conversion.convert(root)
        return conversion.draft
    }

    private init(source: YAMLSource, folder: ForeignFolder) { (self.source, self.folder) = (source, folder) }

    private mutating func convert(_ root: YAMLNode) {
        var fields = YAMLFields(root)
        _ = fields.take("version")
        variables.readByShells = Self.names(readByShellsIn: root)
        if let (key, value) = fields.takeEntry("includes") { addIncludes(value, source.excerpt(key, value)) }
        addVariables(fields.take("vars"), exported: false)
        addVariables(fields.take("env"), exported: true)
        let files = fields.takeTexts("dotenv")?.reversed().map { $0 }
        addDotenv(files, variables, to: &draft.settings) { problem = problem ?? $0 }
        if let files { draft.requireFree(of: files.compactMap { variables.literal($0) }, in: folder) }
        draft.settings.append(YAMLEntry("defaults", .inline([YAMLEntry("shell", .texts(Self.shell(&fields)))])))
        var top = fields
        let runsOnce = top.takeText("run").map { $0 != "always" } ?? false
        givenNames = Self.names(setIn: root)
        tasks = fields.take("tasks").map { Array($0.entries) } ?? []
        draft.tail += fields.leftOver(source)
        let harmless = ["silent", "output", "interval", "method", "run"]
        if let key = fields.otherKeys.first(where: { !$0.hasPrefix("x-") && !harmless.contains($0) }) {
            problem = problem ?? "`\(key)` was not understood"
        }
        for task in tasks { _ = ids.id(for: task.key.text) }
        let hasDefault = tasks.contains { $0.key.text == "default" }
        for task in tasks {
            var step = step(of: task.key.text, task.value, id: ids.id(for: task.key.text), values: [])
            step.comments = source.comment(above: task.key) + step.comments
            step.origin = source.excerpt(task.key, task.value)
            step.isManual = step.isManual || !hasDefault
            if runsOnce || Self.runsOnce(task.value) { single.insert(step.id) }
            draft.steps.append(step)
        }
        var index = 0
        while index < copies.count, copies.count < 1000 {
            let call = copies[index]
            index += 1
            guard let task = task(call.task) else { continue }
            var step = step(of: call.task, task.value, id: ids.id(for: call.name), values: call.values)
            step.name = call.name
            step.origin = source.excerpt(task.key, task.value)
            step.isManual = step.isManual || !hasDefault
            if Self.runsOnce(task.value) { single.insert(step.id) }
            draft.steps.append(step)
        }
        giveUpRepeated()
        addAliases(isManual: !hasDefault)
        if hasDefault { draft.defaultSteps = [ids.id(for: "default")] }
    }

    /// Task runs a task for each request of it, a step runs once: gives up the steps that would tell the difference.
    private mutating func giveUpRepeated() {
        for index in draft.steps.indices {
            var counts: [String: Int] = [:]
            var seen: Set<String> = []
            var pending = [draft.steps[index].id]
            while let id = pending.popLast() {
                guard seen.insert(id).inserted else { continue }
                for request in requests[id] ?? [] {
                    counts[request, default: 0] += 1
                    pending.append(request)
                }
            }
            guard
                let (id, count) = counts.filter({ $0.value > 1 && !single.contains($0.key) }).min(by: {
                    $0.key < $1.key
                })
            else { continue }
            draft.steps[index].giveUp(
                "task runs `\(id)` \(count) times for it, a step once: say `run: once` in `\(id)`")
        }
    }

    /// True if Task runs a task once, or finds that it is up to date when it is requested again.
    private static func runsOnce(_ node: YAMLNode) -> Bool {
        var fields = YAMLFields(node)
        if let text = fields.takeText("run") { return text != "always" }
        return fields.has("status") || fields.has("sources") || fields.has("generates")
    }

    /// Returns the task of this name; nil if there is none.
    func task(_ name: String) -> (key: YAMLNode, value: YAMLNode)? {
        tasks.first { $0.key.text == name }
            ?? tasks.first { task in
                var fields = YAMLFields(task.value)
                return fields.takeTexts("aliases")?.contains(name) ?? false
            }
    }

    private mutating func addAliases(isManual: Bool) {
        for task in tasks {
            var fields = YAMLFields(task.value)
            for alias in fields.takeTexts("aliases") ?? [] {
                let origin = source.excerpt(task.key, task.value)
                if origin.lines.contains(where: { $0.contains("CLI_ARGS") }) {
                    // A step that is only needed gets no arguments.
                    var step = step(of: task.key.text, task.value, id: ids.id(for: alias), values: [])
                    (step.name, step.isManual, step.origin) = ("\(task.key.text), as \(alias)", isManual, origin)
                    draft.steps.append(step)
                    continue
                }
                var step = StepDraft(ids.id(for: alias), .milestone, origin: origin)
                step.needs = [ids.id(for: task.key.text)]
                step.isManual = isManual
                draft.steps.append(step)
            }
        }
    }

    // MARK: - Tasks

    mutating func step(
        of name: String, _ node: YAMLNode, id: String, values: [TaskCall.Value], depth: Int = 0
    ) -> StepDraft {
        var step = StepDraft(id, .milestone)
        if id != name, values.isEmpty { step.name = name }
        var own = variables
        own.task = name
        var fields = YAMLFields(node)
        own.isElsewhere = fields.has("dir")
        var problem = problem
        for value in values {
            own[value.name] = .text(value.text)
            step.env.append(YAMLEntry(own.environmentName(of: value.name), .text(value.text)))
        }
        var prelude: [ShellCommand] = []
        var requested: [String] = []
        var calls: [TaskCall] = []
        do throws(TaskProblem) {
            if node.kind == .mapping {
                try addOwnVariables(fields.take("vars"), exported: false, values, to: &step, &own, &prelude)
                try addOwnVariables(fields.take("env"), exported: true, values, to: &step, &own, &prelude)
            }
            try addSettings(&fields, own, to: &step)
            let isTolerant = fields.takeFlag("ignore_error") ?? false
            let hasCondition = fields.has("if")
            let checks = try checks(&fields, own)
            var items: [TaskItem] = []
            let reader = TaskItemReader(variables: own, sources: Self.sources(of: node, own), isTolerant: isTolerant)
            if let deps = fields.take("deps") {
                for dep in deps.elements { calls += try reader.calls(dep) }
                requested += try needs(calls)
            }
            let commands = node.kind == .mapping ? fields.take("cmds") ?? fields.take("cmd") : node
            if let commands, commands.kind == .sequence {
                for element in commands.elements { items += try reader.items(element) }
            } else if let commands {
                items += try reader.items(commands)
            }
            let told = [
                "sources", "generates", "status", "silent", "method", "run", "prefix", "interactive", "watch",
            ]
            if let key = fields.otherKeys.first(where: { !told.contains($0) }) {
                throw TaskProblem("`\(key)` was not understood")
            }
            let body = TaskBody(
                checks: checks, hasCondition: hasCondition, prelude: prelude, items: items,
                status: fields.takeTexts("status") ?? [], isTolerant: isTolerant)
            if let first = leadingCall(of: body) { calls.append(first) }
            requested += try setBody(of: &step, body, own, depth: depth)
        } catch {
            problem = problem ?? error.reason
        }
        step.needs = (step.needs + requested).unique
        lastCalls = calls
        if depth == 0 { requests[id] = requested }
        if node.kind == .mapping {
            let always = fields.has("sources") || fields.has("generates")
            step.notes += fields.leftOver(source, always ? "not converted, the step always runs" : "not converted")
        }
        if let problem {
            step.giveUp(problem)
            step.origin = source.excerpt(node)
        }
        return step
    }

    private func addSettings(
        _ fields: inout YAMLFields, _ own: TaskVariables, to step: inout StepDraft
    ) throws(TaskProblem) {
        step.description = fields.takeText("desc")
        if let summary = fields.takeText("summary") {
            step.comments += summary.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
            if step.comments.last?.isEmpty == true { step.comments.removeLast() }
        }
        if let label = fields.takeText("label") {
            let text = own.literal(label)
            if let text { step.name = text } else { step.notes.append("not converted: label: \(label)") }
        }
        step.isManual = fields.takeFlag("internal") ?? false
        _ = fields.take("aliases")
        if let folder = fields.takeText("dir") {
            if let text = own.template(folder) {
                step.set("working-directory", .text(text))
            } else {
                throw TaskProblem("only a run knows the folder `\(folder)`")
            }
        }
        var problem: String?
        addDotenv(fields.takeTexts("dotenv")?.reversed(), own, to: &step.settings) { problem = $0 }
        if let problem { throw TaskProblem(problem) }
        if let prompts = fields.takeTexts("prompt")?.filter({ !$0.isEmpty }), !prompts.isEmpty {
            let texts = prompts.compactMap { own.literal($0) }
            guard texts.count == prompts.count else { throw TaskProblem("the question of `prompt` is computed") }
            step.set("confirm", .text(texts.joined(separator: " ")))
        }
        if fields.has("set") || fields.has("shopt") { step.set("shell", .texts(Self.shell(&fields))) }
        if let platforms = fields.takeTexts("platforms") {
            let names = platforms.flatMap { $0.split(separator: "/").map(String.init) }.map(Self.platform)
            step.set("platforms", .texts(names.unique))
        }
    }

    /// The sources that a shell lists in the same way as the task; nil if there are others.
    private static func sources(of node: YAMLNode, _ own: TaskVariables) -> [String]? {
        var fields = YAMLFields(node)
        guard let texts = fields.takeTexts("sources") else { return nil }
        let patterns = texts.compactMap { own.literal($0) }
        let arePlain = patterns.allSatisfy { pattern in
            !pattern.contains("**") && pattern.allSatisfy { $0.isVariableCharacter || "*?./-".contains($0) }
        }
        return arePlain && patterns.count == texts.count ? patterns : nil
    }

    private static func platform(_ name: String) -> String {
        ["darwin": "macos", "amd64": "x86_64"][name] ?? name
    }

    /// Returns the checks that come before all actions of the task, as commands.
    private mutating func checks(
        _ fields: inout YAMLFields, _ own: TaskVariables
    ) throws(TaskProblem) -> [ShellCommand] {
        var commands: [ShellCommand] = []
        if let requires = fields.take("requires") {
            var inner = YAMLFields(requires)
            for variable in inner.take("vars").map({ Array($0.elements) }) ?? [] {
                var fields = YAMLFields(variable)
                let name = variable.kind == .scalar ? variable.text : fields.takeText("name") ?? ""
                let choices = fields.takeTexts("enum")
                if let key = fields.firstKey { throw TaskProblem("`\(key)` of `requires` was not understood") }
                if addRequiredParam(name, choices) { continue }
                if own[name] != nil, choices == nil { continue }
                if own[name] != nil { throw TaskProblem("`\(name)` has to be one of some values") }
                commands.append(ShellCommand(text: ": \"${\(name):?\(name) is missing, give it with --env}\""))
                guard let choices else { continue }
                let message = "echo '\(name): expected \(choices.joined(separator: " or "))' >&2; exit 1"
                let words = choices.map(shellWord).joined(separator: "|")
                commands.append(ShellCommand(text: "case \"$\(name)\" in \(words)) ;; *) \(message) ;; esac"))
            }
            if let key = inner.firstKey { throw TaskProblem("`\(key)` of `requires` was not understood") }
        }
        for condition in fields.take("preconditions").map({ Array($0.elements) }) ?? [] {
            var inner = YAMLFields(condition)
            let test = try own.script(condition.kind == .scalar ? condition.text : inner.takeText("sh") ?? "true")
            let message = inner.takeText("msg") ?? "`\(test)` failed"
            if condition.kind == .mapping, let key = inner.firstKey {
                throw TaskProblem("`\(key)` of `preconditions` was not understood")
            }
            commands.append(ShellCommand(text: "(\(test)) || { echo \(shellWord(message)) >&2; exit 1; }"))
        }
        if let condition = fields.takeText("if") {
            commands.append(ShellCommand(text: "(\(try own.script(condition))) || exit 0"))
        }
        return commands.map { command in
            var command = command
            command.isShared = true
            return command
        }
    }

    /// Makes a variable that a task requires a parameter, unless the file gives it a value somewhere. Returns true if
    /// it is a parameter.
    private mutating func addRequiredParam(_ name: String, _ choices: [String]?) -> Bool {
        if draft.params.contains(where: { $0.key == name }) { return true }
        guard variables[name] == nil, TaskVariables.isName(name), !givenNames.contains(name) else { return false }
        var fields = [YAMLEntry("type", .word(choices == nil ? "string" : "enum"))]
        if let choices { fields.append(YAMLEntry("values", .texts(choices))) }
        fields += [YAMLEntry("required", .word("true")), YAMLEntry("env", .text(name))]
        draft.params.append(YAMLEntry(name, .inline(fields)))
        return true
    }

    /// The variables that any task or call sets.
    private static func names(setIn node: YAMLNode) -> Set<String> {
        var names: Set<String> = []
        for element in node.elements { names.formUnion(Self.names(setIn: element)) }
        for (key, value) in node.entries {
            if ["vars", "env"].contains(key.text) { names.formUnion(value.entries.map(\.key.text)) }
            names.formUnion(Self.names(setIn: value))
        }
        return names
    }

    mutating func needs(_ calls: [TaskCall]) throws(TaskProblem) -> [String] {
        var needs: [String] = []
        for call in calls {
            guard let task = task(call.task) else {
                throw TaskProblem("there is no task `\(call.task)` in this file")
            }
            if call.values.isEmpty {
                needs.append(ids.id(for: task.key.text))
            } else {
                if !copies.contains(call) { copies.append(call) }
                needs.append(ids.id(for: call.name))
            }
        }
        return needs
    }
}
