internal import Syntax

/// Converts a Taskfile: each task becomes a step.
struct TaskfileConversion {
    private let source: YAMLSource
    private var draft = WorkflowDraft()
    var ids = StepIDs()
    private var variables = TaskVariables()
    private var tasks: [(key: YAMLNode, value: YAMLNode)] = []
    private var givenNames: Set<String> = []
    /// Requests for tasks with values of their own, each a step of its own.
    private var copies: [TaskCall] = []
    /// The computed variables of the environment, as commands at the start of each script.
    var exports: [ShellCommand] = []
    /// The limit for tasks that run inside of others, which may do so themselves.
    static let depthLimit = 4

    static func draft(of root: YAMLNode, source: YAMLSource) -> WorkflowDraft {
        var conversion = TaskfileConversion(source: source)
        conversion.convert(root)
        return conversion.draft
    }

    private init(source: YAMLSource) { self.source = source }

    private mutating func convert(_ root: YAMLNode) {
        var fields = YAMLFields(root)
        _ = fields.take("version")
        addVariables(fields.take("vars"), exported: false)
        addVariables(fields.take("env"), exported: true)
        addDotenv(fields.takeTexts("dotenv"), variables, to: &draft.settings, notes: &draft.tail)
        addShell(&fields)
        givenNames = Self.names(setIn: root)
        tasks = fields.take("tasks").map { Array($0.entries) } ?? []
        draft.tail += fields.leftOver(source)
        for task in tasks { _ = ids.id(for: task.key.text) }
        let hasDefault = tasks.contains { $0.key.text == "default" }
        for task in tasks {
            var step = step(of: task.key.text, task.value, id: ids.id(for: task.key.text), values: [])
            step.comments = source.comment(above: task.key) + step.comments
            step.origin = source.excerpt(task.key, task.value)
            step.isManual = step.isManual || !hasDefault
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
            draft.steps.append(step)
        }
        addAliases(isManual: !hasDefault)
        if hasDefault { draft.defaultSteps = [ids.id(for: "default")] }
    }

    /// Returns the task of this name; nil if there is none.
    func task(_ name: String) -> (key: YAMLNode, value: YAMLNode)? {
        tasks.first { $0.key.text == name }
    }

    // MARK: - The top

    private mutating func addVariables(_ node: YAMLNode?, exported: Bool) {
        for (key, node) in node?.entries.map({ ($0.key, $0.value) }) ?? [] {
            let name = key.text
            let value = TaskVariables.value(of: name, node)
            variables[name] = value
            let comments = source.comment(above: key)
            switch value {
            case .param(let substitute) where TaskVariables.isName(name):
                let fields = [
                    YAMLEntry("type", .word("string")), YAMLEntry("default", .text(substitute)),
                    YAMLEntry("env", .text(name)),
                ]
                draft.params.append(YAMLEntry(name, .inline(fields), comments: comments))
                variables[name] = .param(substitute)
                continue
            case .text(let text):
                if let template = variables.template(text), exported || TaskVariables.isName(name) {
                    draft.env.append(YAMLEntry(name, .text(template), comments: comments))
                    if exported { variables[name] = .shell }
                    continue
                }
            case .command(let command) where !exported && TaskVariables.isName(name):
                if let script = variables.sharedScript(command) {
                    let run = YAMLEntry("run", .text(script))
                    draft.vars.append(YAMLEntry(name, .inline([run]), comments: comments))
                    variables[name] = .shell
                    continue
                }
            default: break
            }
            if exported, case .command(let command) = value, let script = try? variables.script(command) {
                exports.append(ShellCommand(text: "export \(name)=\"$(\(script))\"", isShared: true))
                variables[name] = .shell
            }
            draft.tail += comments + source.excerpt(key, node).comments("written out where a script reads it")
        }
    }

    private func addDotenv(
        _ files: [String]?, _ variables: TaskVariables, to settings: inout [YAMLEntry], notes: inout [String]
    ) {
        var values: [YAMLValue] = []
        for file in files ?? [] {
            // A path with a template in it names no file, and as an optional file it would be missed silently.
            guard let path = variables.literal(file) else {
                notes.append("not converted: dotenv: \(file)")
                continue
            }
            values.append(.inline([YAMLEntry("path", .text(path)), YAMLEntry("optional", .word("true"))]))
        }
        guard !values.isEmpty else { return }
        settings.append(YAMLEntry("dotenv", values.count == 1 ? values[0] : .list(values)))
    }

    private mutating func addShell(_ fields: inout YAMLFields) {
        let set = fields.takeTexts("set") ?? []
        let options = fields.takeTexts("shopt") ?? []
        guard !set.isEmpty || !options.isEmpty else { return }
        var words = ["bash", "-e"]
        for option in set.filter({ $0 != "e" && $0 != "errexit" }) {
            words += option.count == 1 ? ["-\(option)"] : ["-o", option]
        }
        for option in options { words += ["-O", option] }
        draft.settings.append(YAMLEntry("defaults", .inline([YAMLEntry("shell", .texts(words + ["-c"]))])))
    }

    private mutating func addAliases(isManual: Bool) {
        for task in tasks {
            var fields = YAMLFields(task.value)
            for alias in fields.takeTexts("aliases") ?? [] {
                var step = StepDraft(ids.id(for: alias), .milestone, origin: source.excerpt(task.key, task.value))
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
        var problem: String?
        for value in values {
            own[value.name] = .text(value.text)
            step.env.append(YAMLEntry(value.name, .text(value.text)))
        }
        if node.kind == .mapping {
            addOwnVariables(fields.take("vars"), exported: false, values, to: &step, &own)
            addOwnVariables(fields.take("env"), exported: true, values, to: &step, &own)
        }
        addSettings(&fields, own, to: &step)
        var items: [TaskItem] = []
        do throws(TaskProblem) {
            items = try checks(&fields, own, notes: &step.notes)
            let reader = TaskItemReader(variables: own, sources: Self.sources(of: node, own))
            if let deps = fields.take("deps") {
                for dep in deps.elements { step.needs += try needs(reader.calls(dep)) }
            }
            let commands = node.kind == .mapping ? fields.take("cmds") ?? fields.take("cmd") : node
            if let commands, commands.kind == .sequence {
                for element in commands.elements { items += try reader.items(element) }
            } else if let commands {
                items += try reader.items(commands)
            }
            try setBody(of: &step, items, status: fields.takeTexts("status") ?? [], own, depth: depth)
        } catch {
            problem = error.reason
        }
        step.needs = step.needs.unique
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

    private func addOwnVariables(
        _ node: YAMLNode?, exported: Bool, _ given: [TaskCall.Value], to step: inout StepDraft,
        _ own: inout TaskVariables
    ) {
        for (key, node) in node?.entries.map({ ($0.key, $0.value) }) ?? [] {
            let name = key.text
            // A value from the caller takes precedence over the task's own.
            if given.contains(where: { $0.name == name }) { continue }
            if case .variable(name, nil)? = TaskTemplate.only(node.text) {
                own[name] = own[name] ?? .shell
                continue
            }
            let value = TaskVariables.value(of: name, node)
            if case .param(let substitute) = value {
                // Here it is a variable that the caller may have set.
                own[name] = .shell
                step.env.append(
                    YAMLEntry(name, .text("${{ env.\(name) ?? '\(substitute.replacing("'", with: "''"))' }}")))
                continue
            }
            own[name] = value
            if case .text(let text) = value, let template = own.template(text), exported || TaskVariables.isName(name) {
                step.env.append(YAMLEntry(name, .text(template)))
            } else if exported {
                step.notes += source.excerpt(key, node).comments(
                    "written out where the script reads it, not in the environment")
            } else {
                step.notes += source.excerpt(key, node).comments("written out where the script reads it")
            }
        }
    }

    private func addSettings(_ fields: inout YAMLFields, _ own: TaskVariables, to step: inout StepDraft) {
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
                step.notes.append("not converted: dir: \(folder)")
            }
        }
        addDotenv(fields.takeTexts("dotenv"), own, to: &step.settings, notes: &step.notes)
        if let prompts = fields.takeTexts("prompt")?.filter({ !$0.isEmpty }), !prompts.isEmpty {
            step.set("confirm", .text(prompts.map { own.literal($0) ?? $0 }.joined(separator: " ")))
        }
        if fields.takeFlag("ignore_error") == true { step.set("continue-on-error", .word("true")) }
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
        _ fields: inout YAMLFields, _ own: TaskVariables, notes: inout [String]
    ) throws(TaskProblem) -> [TaskItem] {
        var commands: [ShellCommand] = []
        if let requires = fields.take("requires") {
            var inner = YAMLFields(requires)
            for variable in inner.take("vars").map({ Array($0.elements) }) ?? [] {
                var fields = YAMLFields(variable)
                let name = variable.kind == .scalar ? variable.text : fields.takeText("name") ?? ""
                let choices = fields.takeTexts("enum")
                notes += fields.leftOver(source)
                if addRequiredParam(name, choices) { continue }
                commands.append(ShellCommand(text: ": \"${\(name):?\(name) is missing, give it with --env}\""))
                guard let choices else { continue }
                let message = "echo '\(name): expected \(choices.joined(separator: " or "))' >&2; exit 1"
                let words = choices.map(shellWord).joined(separator: "|")
                commands.append(ShellCommand(text: "case \"$\(name)\" in \(words)) ;; *) \(message) ;; esac"))
            }
            notes += inner.leftOver(source)
        }
        for condition in fields.take("preconditions").map({ Array($0.elements) }) ?? [] {
            var inner = YAMLFields(condition)
            let test = try own.script(condition.kind == .scalar ? condition.text : inner.takeText("sh") ?? "true")
            let message = inner.takeText("msg") ?? "`\(test)` failed"
            notes += inner.leftOver(source)
            commands.append(ShellCommand(text: "(\(test)) || { echo \(shellWord(message)) >&2; exit 1; }"))
        }
        if let condition = fields.takeText("if") {
            commands.append(ShellCommand(text: "(\(try own.script(condition))) || exit 0"))
        }
        return commands.map { command in
            var command = command
            command.isShared = true
            return .command(command)
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
            guard task(call.task) != nil else { throw TaskProblem("there is no task `\(call.task)` in this file") }
            if call.values.isEmpty {
                needs.append(ids.id(for: call.task))
            } else {
                if !copies.contains(call) { copies.append(call) }
                needs.append(ids.id(for: call.name))
            }
        }
        return needs
    }
}
