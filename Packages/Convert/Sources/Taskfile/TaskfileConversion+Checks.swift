internal import Syntax

// What has to hold before a task runs.
extension TaskfileConversion {
    /// Returns the checks that come before all actions of the task, as commands.
    mutating func checks(
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
            commands.append(ShellCommand(text: "\(Self.hidden(test)) || { echo \(shellWord(message)) >&2; exit 1; }"))
        }
        if let condition = fields.takeText("if") {
            commands.append(ShellCommand(text: "\(Self.hidden(try own.script(condition))) || exit 0"))
        }
        return commands.map { command in
            var command = command
            command.isShared = true
            return command
        }
    }

    /// A command whose output Task does not show.
    static func hidden(_ test: String) -> String {
        let isLine = !test.contains("\n") && !test.contains("#")
        return isLine ? "(\(test)) >/dev/null 2>&1" : "(\n\(test)\n) >/dev/null 2>&1"
    }

    /// A variable of the files that would have another value with the variables of the include.
    func conflict(of task: TaskEntry) -> String? {
        for value in task.values {
            for file in files {
                var fields = YAMLFields(file.root)
                for (name, node) in fields.take("vars")?.entries.map({ ($0.key.text, $0.value) }) ?? []
                where name != value.name && node.reads(value.name) {
                    return "`\(name)` depends on `\(value.name)` of the include"
                }
            }
            var fields = YAMLFields(task.value)
            if fields.take("vars")?.entries.contains(where: { $0.key.text == value.name }) ?? false {
                return "the include and the task set `\(value.name)`"
            }
        }
        return nil
    }

    /// The names that tasks require and that are going to be parameters.
    func requiredNames(in tasks: [TaskEntry]) -> Set<String> {
        var names: Set<String> = []
        for task in tasks {
            var fields = YAMLFields(task.value)
            var inner = fields.take("requires").map { YAMLFields($0) }
            for variable in inner?.take("vars").map({ Array($0.elements) }) ?? [] {
                var own = YAMLFields(variable)
                let name = variable.kind == .scalar ? variable.text : own.takeText("name") ?? ""
                if canBeParam(name) { names.insert(name) }
            }
        }
        return names
    }

    private func canBeParam(_ name: String) -> Bool {
        variables[name] == nil && TaskVariables.isName(name) && !givenNames.contains(name)
    }

    /// Makes a variable that a task requires a parameter, unless the file gives it a value somewhere. Returns true if
    /// it is a parameter.
    private mutating func addRequiredParam(_ name: String, _ choices: [String]?) -> Bool {
        if draft.params.contains(where: { $0.key == name }) { return true }
        guard canBeParam(name) else { return false }
        var fields = [YAMLEntry("type", .word(choices == nil ? "string" : "enum"))]
        if let choices { fields.append(YAMLEntry("values", .texts(choices))) }
        fields += [YAMLEntry("required", .word("true")), YAMLEntry("env", .text(name))]
        draft.params.append(YAMLEntry(name, .inline(fields)))
        return true
    }
}

extension YAMLNode {
    /// True if a template in it reads a variable.
    fileprivate func reads(_ name: String) -> Bool {
        switch kind {
        case .scalar:
            text.split { !$0.isVariableCharacter && $0 != "." }.contains { $0 == ".\(name)" }
        case .sequence: elements.contains { $0.reads(name) }
        case .mapping: entries.contains { $0.value.reads(name) }
        case .invalid: false
        }
    }
}
