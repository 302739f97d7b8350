internal import Syntax

/// One action of a task, in the order of its `cmds`.
enum TaskItem {
    case command(ShellCommand)
    /// Another task that runs here, with values of its own.
    case call(TaskCall)
    /// Runs when the task has ended, with any outcome.
    case deferred(ShellCommand)
}

/// Another task, as requested by `deps` or `cmds`.
struct TaskCall: Hashable {
    struct Value: Hashable {
        let name: String
        /// Without templates, unless it is computed.
        let text: String
        /// True for a text for the `env` of a step, whose expressions only a run knows.
        var isComputed = false
        /// Texts that stand for all that it may be, if it is computed.
        var texts: [String] = []
        /// The value, if it is no text.
        var type: TaskExpression?
        /// As the file spells it.
        var spelling: String?

        var escaped: String { text.replacing("${{", with: "$${{") }
    }

    let task: String
    /// The variables that it gets.
    let values: [Value]

    /// The name of exactly this request.
    var name: String { ([task] + values.map { "\($0.name)=\($0.spelling ?? $0.text)" }).joined(separator: " ") }
}

/// Reads the `cmds` and `deps` of tasks.
struct TaskItemReader {
    let variables: TaskVariables
    /// The files that the task reads; nil if it does not say, or in more than plain patterns.
    var sources: [String]?
    /// True in a task that goes on after a failure.
    var isTolerant = false

    func items(_ node: YAMLNode) throws(TaskProblem) -> [TaskItem] {
        guard node.kind == .scalar else { return try mapped(node) }
        return [.command(try command(try variables.script(node.text)))]
    }

    /// A command, whose shell ends at the first failure.
    private func command(_ script: String, isTolerated: Bool = false) throws(TaskProblem) -> ShellCommand {
        if ShellShape(script).leavesProcess { throw TaskProblem("`&` leaves a process when the step has ended") }
        return ShellCommand(text: script, isTolerated: isTolerated || isTolerant, isStrict: true)
    }

    private func mapped(_ node: YAMLNode) throws(TaskProblem) -> [TaskItem] {
        var fields = YAMLFields(node)
        if let loop = fields.take("for") { return try looped(loop, fields) }
        if let deferred = fields.take("defer") {
            guard deferred.kind == .scalar else { throw TaskProblem("a deferred task has no counterpart") }
            _ = fields.take("silent")
            try expectNothing(fields)
            return [.deferred(try command(try variables.script(deferred.text), isTolerated: true))]
        }
        if fields.has("task") { return [.call(try call(&fields))] }
        guard let text = fields.takeText("cmd") else { throw TaskProblem("a command of an unknown form") }
        _ = fields.take("silent")
        let isTolerated = fields.takeFlag("ignore_error") ?? false
        var script = try variables.script(text)
        if let condition = fields.takeText("if") {
            script = "if \(TaskfileConversion.hidden(try variables.script(condition))); then\n\(script)\nfi"
        }
        if let platforms = fields.takeTexts("platforms") {
            // Where flowrun runs.
            let isHere = platforms.contains { $0 == "linux" || $0.hasPrefix("linux/") }
            if platforms.contains(where: { $0.contains("/") || ["amd64", "arm64", "386", "arm"].contains($0) }) {
                throw TaskProblem("a command for one kind of processor has no counterpart")
            }
            try expectNothing(fields)
            if !isHere { return [] }
        }
        try expectNothing(fields)
        return [.command(try command(script, isTolerated: isTolerated))]
    }

    /// Returns the tasks that an entry of `deps` or `cmds` names.
    func calls(_ node: YAMLNode) throws(TaskProblem) -> [TaskCall] {
        guard node.kind == .mapping else { return [TaskCall(task: try name(node.text), values: [])] }
        var fields = YAMLFields(node)
        guard let loop = fields.take("for") else { return [try call(&fields)] }
        return try looped(loop, fields).compactMap { if case .call(let call) = $0 { call } else { nil } }
    }

    private func call(_ fields: inout YAMLFields) throws(TaskProblem) -> TaskCall {
        let task = try name(fields.takeText("task") ?? "")
        var values: [TaskCall.Value] = []
        for (key, value) in fields.take("vars")?.entries.map({ ($0.key.text, $0.value) }) ?? [] {
            guard value.kind == .scalar, TaskVariables.isName(variables.environmentName(of: key)) else {
                throw TaskProblem("what `\(key)` of the task `\(task)` gets is computed")
            }
            if let text = variables.literal(value.text) {
                values.append(TaskCall.Value(name: key, text: text, type: TaskVariables.type(of: value)))
                continue
            }
            guard let template = variables.template(value.text) else {
                throw TaskProblem("what `\(key)` of the task `\(task)` gets is computed")
            }
            values.append(
                TaskCall.Value(
                    name: key, text: template, isComputed: true, texts: variables.texts(value.text),
                    spelling: value.text))
        }
        _ = fields.take("silent")
        try expectNothing(fields)
        return TaskCall(task: task, values: values)
    }

    /// The name of a task in the file to convert; one of the file around this one has a colon in front.
    private func name(_ text: String) throws(TaskProblem) -> String {
        guard var name = variables.literal(text) else { throw TaskProblem("which task runs is computed") }
        for space in variables.path { name = name.hasPrefix(":") ? String(name.dropFirst()) : "\(space):\(name)" }
        return name.hasPrefix(":") ? String(name.dropFirst()) : name
    }

    private func expectNothing(_ fields: YAMLFields) throws(TaskProblem) {
        if let key = fields.firstKey { throw TaskProblem("`\(key)` of a command has no counterpart") }
    }

    // MARK: - Loops

    private func looped(_ loop: YAMLNode, _ rest: YAMLFields) throws(TaskProblem) -> [TaskItem] {
        var name = "ITEM"
        var words: [String]?
        var variable: String?
        switch loop.kind {
        case .sequence: words = loop.elements.map(\.text)
        case .mapping:
            var fields = YAMLFields(loop)
            name = fields.takeText("as") ?? name
            variable = fields.takeText("var")
            if let separator = fields.takeText("split"), let known = variable {
                words = variables.literal("{{.\(known)}}")?.split(separator: separator).map(String.init)
                guard words != nil else { throw TaskProblem("what `for` splits is computed") }
            }
            if variable == nil || !fields.isEmpty { throw TaskProblem("`for` over this has no counterpart") }
        case .scalar where loop.text == "sources" && sources != nil && !rest.has("task"): break
        default: throw TaskProblem("`for: \(loop.text)` has no counterpart")
        }
        guard TaskVariables.isName(name) else { throw TaskProblem("`\(name)` is a name that programs listen to") }
        var rest = rest
        var inner = variables
        if rest.has("task") {
            words = words ?? variable.flatMap(variables.words)
            guard let words else { throw TaskProblem("the tasks that `for` runs are computed") }
            var items: [TaskItem] = []
            for word in words {
                inner[name] = .text(word)
                var fields = rest
                items.append(.call(try TaskItemReader(variables: inner).call(&fields)))
            }
            return items
        }
        guard let text = rest.takeText("cmd") else { throw TaskProblem("a command of an unknown form") }
        _ = rest.take("silent")
        try expectNothing(rest)
        words = words ?? variable.flatMap(variables.words)
        var list = words?.map(shellWord).joined(separator: " ") ?? ""
        if loop.kind == .scalar {
            list = sources?.joined(separator: " ") ?? ""
        } else if words == nil {
            list = try variables.script("{{.\(variable ?? "")}}")
        }
        if let words, !words.allSatisfy(ShellWords.arePlain) {
            // A shell would read such a word differently in a variable.
            var items: [TaskItem] = []
            for word in words {
                inner[name] = .text(word)
                items.append(.command(try command(try inner.literalScript(text))))
            }
            return items
        }
        inner[name] = .shell
        // Each command of the loop has a shell of its own.
        let body = ShellCommand.script([try command(try inner.script(text)), ShellCommand(text: "")]).trimmed
        return [.command(try command("for \(name) in \(list); do\n\(body)\ndone"))]
    }
}
