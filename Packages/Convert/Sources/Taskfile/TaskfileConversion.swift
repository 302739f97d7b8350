internal import Syntax

/// Converts a Taskfile: each task becomes a step.
struct TaskfileConversion {
    let folder: ForeignFolder
    /// The file to convert, and those that it includes.
    var files: [TaskFile] = []
    private var source: YAMLSource { files[0].source }
    var draft = WorkflowDraft()
    var ids = StepIDs()
    var variables = TaskVariables()
    private var tasks: [TaskEntry] = []
    private(set) var givenNames: Set<String> = []
    /// Requests for tasks with values of their own, each a step of its own.
    private var copies: [TaskCall] = []
    /// The limit for tasks that run inside of others, which may do so themselves.
    static let depthLimit = 4

    /// The reason why no step can be trusted; nil if there is none.
    var problem: String?
    /// The variables of the commands of the task that is being made a group.
    var commandEnvironment: [YAMLEntry] = []
    /// The steps that each step requests, as often as it does.
    private var requests: [String: [String]] = [:]
    /// The tasks that the step made last has as needs.
    private(set) var lastCalls: [TaskCall] = []
    /// The steps that run once, however often they are requested.
    private var single: Set<String> = []

    static func draft(of root: YAMLNode, source: YAMLSource, in folder: ForeignFolder) -> WorkflowDraft {
        var conversion = TaskfileConversion(folder: folder)
        conversion.files = [TaskFile(root: root, source: source, folder: "", parent: nil, include: nil)]
        conversion.load(conversion.includes(of: 0)) { $0.convert(root) }
        return conversion.draft
    }

    private init(folder: ForeignFolder) { self.folder = folder }

    private mutating func convert(_ root: YAMLNode) {
        var fields = YAMLFields(root)
        _ = fields.take("version")
        for file in files {
            variables.readByShells.formUnion(Self.names(readByShellsIn: file.root))
            // Of such a name, a template and the environment may have different values.
            variables.readByShells.formUnion(Self.names(setIn: file.root, by: ["env"]))
        }
        _ = fields.take("includes")
        checkIncluded()
        let environment = merged("env")
        variables.exported = Set(environment.map(\.key.text))
        variables.hasDotenv = fields.has("dotenv")
        addVariables(merged("vars"), exported: false)
        addVariables(environment, exported: true)
        _ = (fields.take("vars"), fields.take("env"))
        let dotenv = fields.takeTexts("dotenv")?.reversed().map { $0 }
        addDotenv(dotenv, variables, to: &draft.settings) { problem = problem ?? $0 }
        if let dotenv { draft.requireFree(of: dotenv.compactMap { variables.literal($0) }, in: folder) }
        draft.settings.append(YAMLEntry("defaults", .inline([YAMLEntry("shell", .texts(Self.shell(&fields)))])))
        var top = fields
        let runsOnce = top.takeText("run").map { $0 != "always" } ?? false
        for file in files { givenNames.formUnion(Self.names(setIn: file.root)) }
        _ = fields.take("tasks")
        tasks = entries()
        draft.tail += fields.leftOver(source)
        let harmless = ["silent", "output", "interval", "method", "run"]
        if let key = fields.otherKeys.first(where: { !$0.hasPrefix("x-") && !harmless.contains($0) }) {
            problem = problem ?? "`\(key)` was not understood"
        }
        for task in tasks { _ = ids.id(for: task.name) }
        variables.required = requiredNames(in: tasks)
        let hasDefault = tasks.contains { $0.name == "default" }
        for task in tasks {
            var step = step(of: task, id: ids.id(for: task.name), values: [])
            step.comments = files[task.file].source.comment(above: task.key) + step.comments
            step.origin = origin(of: task)
            step.isManual = step.isManual || !hasDefault
            if runsOnce || Self.runsOnce(task.value) { single.insert(step.id) }
            draft.steps.append(step)
        }
        var index = 0
        while index < copies.count, copies.count < 1000 {
            let call = copies[index]
            index += 1
            guard let task = task(call.task) else { continue }
            var step = step(of: task, id: ids.id(for: call.name), values: call.values)
            step.name = call.name
            step.origin = origin(of: task)
            step.isManual = step.isManual || !hasDefault
            if Self.runsOnce(task.value) { single.insert(step.id) }
            draft.steps.append(step)
        }
        giveUpRepeated()
        addAliases(isManual: !hasDefault)
        addOwnNames()
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
    func task(_ name: String) -> TaskEntry? {
        tasks.first { $0.name == name } ?? tasks.first { $0.aliases.contains(name) }
    }

    private func origin(of task: TaskEntry) -> Excerpt { files[task.file].source.excerpt(task.key, task.value) }

    /// Adds the variables that Task itself sets, as far as a step reads them.
    private mutating func addOwnNames() {
        let text = draft.text
        let processor =
            "case $(uname -m) in x86_64) echo amd64 ;; aarch64) echo arm64 ;; armv*) echo arm ;; i?86) echo 386 ;; "
            + "*) uname -m ;; esac"
        for (name, command) in [(TaskExpression.processor, processor), ("TASK_ROOT_DIR", "pwd")]
        where text.contains(name) {
            draft.vars.insert(YAMLEntry(name, .inline([YAMLEntry("run", .text(command))])), at: 0)
        }
    }

    private mutating func addAliases(isManual: Bool) {
        for task in tasks {
            for alias in task.aliases where !tasks.contains(where: { $0.name == alias }) {
                let origin = origin(of: task)
                if origin.lines.contains(where: { $0.contains("CLI_ARGS") }) {
                    // A step that is only needed gets no arguments.
                    var step = step(of: task, id: ids.id(for: alias), values: [])
                    (step.name, step.isManual, step.origin) = ("\(task.name), as \(alias)", isManual, origin)
                    draft.steps.append(step)
                    continue
                }
                var step = StepDraft(ids.id(for: alias), .milestone, origin: origin)
                step.needs = [ids.id(for: task.name)]
                step.isManual = isManual
                draft.steps.append(step)
            }
        }
    }

    // MARK: - Tasks

    mutating func step(
        of task: TaskEntry, id: String, values: [TaskCall.Value], depth: Int = 0
    ) -> StepDraft {
        let (name, node, source) = (task.name, task.value, files[task.file].source)
        let values = values + task.values.filter { value in !values.contains { $0.name == value.name } }
        var step = StepDraft(id, .milestone)
        if id != name, values.isEmpty { step.name = name }
        var own = variables
        own.task = name
        var fields = YAMLFields(node)
        own.isElsewhere = fields.has("dir") || task.dir != nil
        (own.path, own.folder) = (task.path, files[task.file].folder)
        while own.folder.hasSuffix("/") { own.folder.removeLast() }
        var problem = problem ?? task.problem ?? conflict(of: task)
        for value in values {
            // Task determines the variables of the files before those of an include, so that they win.
            if task.values.contains(value), variables[value.name] != nil, !variables.isParam(value.name) { continue }
            own[value.name] = value.isComputed ? .template(value.text, texts: value.texts) : .text(value.text)
            own.types[value.name] = value.type
            let name = own.environmentName(of: value.name)
            step.env.append(YAMLEntry(name, .text(value.isComputed ? value.text : value.escaped)))
        }
        var prelude: [ShellCommand] = []
        var requested: [String] = []
        var calls: [TaskCall] = []
        do throws(TaskProblem) {
            if node.kind == .mapping {
                try addOwnVariables(fields.take("vars"), exported: false, values, to: &step, &own, &prelude)
                try addOwnVariables(fields.take("env"), exported: true, values, to: &step, &own, &prelude)
            }
            try addSettings(&fields, own, task, to: &step)
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
            if let name = body.prelude.first(where: \.isOfVariable), !calls.isEmpty {
                throw TaskProblem("task determines `\(name.text.prefix { $0 != "=" })` before it runs other tasks")
            }
            requested += try setBody(of: &step, body, own, depth: depth)
            makeFolder(of: &step)
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
        _ fields: inout YAMLFields, _ own: TaskVariables, _ task: TaskEntry, to step: inout StepDraft
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
        step.isManual = step.isManual || task.isInternal
        _ = fields.take("aliases")
        if let folder = fields.takeText("dir") {
            guard let text = own.template(folder), task.dir == nil || !text.hasPrefix("$") else {
                throw TaskProblem("only a run knows the folder `\(folder)`")
            }
            let isRooted = text.hasPrefix("/") || task.dir == nil
            step.set("working-directory", .text(isRooted ? text : "\(task.dir ?? "")/\(text)"))
        } else if let folder = task.dir {
            step.set("working-directory", .text(folder))
        }
        var problem: String?
        addDotenv(fields.takeTexts("dotenv")?.reversed(), own, to: &step.settings) { problem = $0 }
        if let problem { throw TaskProblem(problem) }
        if let prompts = fields.takeTexts("prompt")?.filter({ !$0.isEmpty }), !prompts.isEmpty {
            // What a question may read is known before the run.
            let texts = prompts.compactMap { own.template($0) }.filter {
                !$0.contains("${{") || !$0.contains("vars.") && !$0.contains("env.")
            }
            guard texts.count == prompts.count else { throw TaskProblem("the question of `prompt` is computed") }
            step.set("confirm", .text(texts.joined(separator: " ")))
        }
        if fields.has("set") || fields.has("shopt") { step.set("shell", .texts(Self.shell(&fields))) }
        if let platforms = fields.takeTexts("platforms") {
            let names = platforms.flatMap { $0.split(separator: "/").map(String.init) }.map(Self.platform)
            step.set("platforms", .texts(names.unique))
        }
    }

    /// Task makes the folder of a task if it is not there.
    private func makeFolder(of step: inout StepDraft) {
        guard folder.isKnown, case .script(let script) = step.body,
            let index = step.settings.firstIndex(where: { $0.key == "working-directory" }),
            case .text(let path) = step.settings[index].value, !path.contains("${{"), !folder.exists(path)
        else { return }
        step.settings.remove(at: index)
        step.body = .script("mkdir -p \(shellWord(path))\ncd \(shellWord(path))\n\(script)")
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

    /// The variables that any task or call sets.
    private static func names(setIn node: YAMLNode, by keys: [String] = ["vars", "env"]) -> Set<String> {
        var names: Set<String> = []
        for element in node.elements { names.formUnion(Self.names(setIn: element, by: keys)) }
        for (key, value) in node.entries {
            if keys.contains(key.text) { names.formUnion(value.entries.map(\.key.text)) }
            names.formUnion(Self.names(setIn: value, by: keys))
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
                needs.append(ids.id(for: task.name))
            } else {
                if !copies.contains(call) { copies.append(call) }
                needs.append(ids.id(for: call.name))
            }
        }
        return needs
    }
}
