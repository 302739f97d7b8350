internal import Syntax

// The variables of the file and of its tasks, and the files that they come from.
extension TaskfileConversion {
    /// The variables that scripts read by themselves.
    static func names(readByShellsIn node: YAMLNode) -> Set<String> {
        switch node.kind {
        case .scalar: ShellWords.names(readIn: node.text)
        case .sequence: node.elements.reduce(into: []) { $0.formUnion(names(readByShellsIn: $1)) }
        case .mapping: node.entries.reduce(into: []) { $0.formUnion(names(readByShellsIn: $1.value)) }
        case .invalid: []
        }
    }

    mutating func addVariables(_ entries: [TaskSetting], exported: Bool) {
        for (index, entry) in entries.enumerated() {
            let (key, node, source) = (entry.key, entry.value, files[entry.file].source)
            let name = key.text
            var value = TaskVariables.value(of: name, node)
            let later = entries[index...].map(\.key.text)
            if case .text(let text) = value, later.contains(where: { text.contains(".\($0)") }) { value = .unknown }
            if case .unknown = value, case .text(let text) = TaskVariables.value(of: name, node), !exported,
                !later.dropFirst().contains(where: { text.contains(".\($0)") }), TaskVariables.isName(name),
                let template = variables.template(text)
            {
                // Made from the variable of the environment.
                value = .template(template, texts: variables.texts(text))
            }
            if entry.isUnclear || entry.file > 0 && node.readsOwnFolder { value = .unknown }
            // Such a command runs in the folder of the include.
            if case .command = value, files[entry.file].include?.dir != nil { value = .unknown }
            if !exported { variables.types[name] = TaskVariables.type(of: node) }
            let comments = source.comment(above: key)
            if exported {
                addExported(name, value, source.excerpt(key, node), comments)
                continue
            }
            variables[name] = value
            let environmentName = variables.environmentName(of: name)
            switch value {
            case .param(let substitute) where TaskVariables.isName(name):
                let fields = [
                    YAMLEntry("type", .word("string")), YAMLEntry("default", .text(substitute)),
                    YAMLEntry("env", .text(name)),
                ]
                draft.params.append(YAMLEntry(name, .inline(fields), comments: comments))
                continue
            case .template(let template, _):
                draft.env.append(YAMLEntry(environmentName, .text(template), comments: comments))
                continue
            case .text(let text) where TaskVariables.isName(environmentName):
                if let template = variables.template(text) {
                    draft.env.append(YAMLEntry(environmentName, .text(template), comments: comments))
                    continue
                }
            case .command(let command) where TaskVariables.isName(environmentName):
                if let script = variables.sharedScript(command) {
                    addShared(environmentName, script, comments)
                    variables[name] = .shared
                    continue
                }
                variables[name] = .unknown
            default: break
            }
            draft.tail += comments + source.excerpt(key, node).comments("written out where a script reads it")
        }
    }

    private mutating func addShared(_ name: String, _ script: String, _ comments: [String]) {
        let isLine = !script.contains("\n")
        let run = YAMLEntry("run", isLine ? .text(script) : .script(script))
        draft.vars.append(YAMLEntry(name, isLine ? .inline([run]) : .mapping([run]), comments: comments))
    }

    /// Adds a variable of the environment; one that Task finds in its own wins.
    private mutating func addExported(
        _ name: String, _ value: TaskVariables.Value, _ origin: Excerpt, _ comments: [String]
    ) {
        var expression: String?
        switch value {
        case .text(let text): expression = variables.template(text).flatMap(ExpressionText.expression)
        case .param(let substitute): expression = ExpressionText.expression(of: substitute)
        case .command(let command):
            // Task gives its variables to no command of the environment.
            if let script = variables.sharedScript(command, hasExports: false) {
                addShared(name, script, comments)
                expression = "vars.\(name)"
            }
        default: break
        }
        guard let expression else {
            problem = problem ?? "what `\(name)` of the environment is could not be converted"
            draft.tail += comments + origin.comments("not converted")
            return
        }
        draft.env.append(YAMLEntry(name, .text("${{ env.\(name) ?? \(expression) }}"), comments: comments))
    }

    func addDotenv(
        _ files: [String]?, _ variables: TaskVariables, to settings: inout [YAMLEntry], problem: (String) -> Void
    ) {
        var values: [YAMLValue] = []
        for file in files ?? [] {
            // A path with a template in it names no file, and as an optional file it would be missed silently.
            guard let path = variables.literal(file) else {
                problem("the name of the dotenv file `\(file)` is computed")
                continue
            }
            values.append(.inline([YAMLEntry("path", .text(path)), YAMLEntry("optional", .word("true"))]))
        }
        guard !values.isEmpty else { return }
        settings.append(YAMLEntry("dotenv", values.count == 1 ? values[0] : .list(values)))
    }

    /// The shell with the options of `set` and `shopt`.
    static func shell(_ fields: inout YAMLFields) -> [String] {
        var words = ["bash", "-e"]
        for option in (fields.takeTexts("set") ?? []).filter({ $0 != "e" && $0 != "errexit" }) {
            words += option.count == 1 ? ["-\(option)"] : ["-o", option]
        }
        for option in fields.takeTexts("shopt") ?? [] { words += ["-O", option] }
        return words + ["-c"]
    }

    func addOwnVariables(
        _ node: YAMLNode?, exported: Bool, _ given: [TaskCall.Value], to step: inout StepDraft,
        _ own: inout TaskVariables, _ prelude: inout [ShellCommand]
    ) throws(TaskProblem) {
        let entries = node?.entries.map { ($0.key.text, $0.value) } ?? []
        for (index, (name, node)) in entries.enumerated() {
            // A value from the caller takes precedence over the task's own.
            if !exported, given.contains(where: { $0.name == name }) { continue }
            if case .variable(name, nil)? = TaskTemplate.only(node.text),
                !exported || own[name] == nil
            {
                own[name] = own[name] ?? .shell
                continue
            }
            let value = TaskVariables.value(of: name, node)
            if !exported { own.types[name] = TaskVariables.type(of: node) }
            if exported {
                try addOwnExported(name, value, to: &step, own, &prelude)
                continue
            }
            let later = entries[(index + 1)...].map(\.0)
            if case .text(let text) = value, later.contains(where: { text.contains(".\($0)") }) {
                own[name] = .unknown
                continue
            }
            let environmentName = own.environmentName(of: name)
            if case .param(let substitute) = value {
                // Here it is a variable that the caller may have set.
                let text = ExpressionText.literal(substitute)
                own[name] = .param(substitute)
                if own.readByShells.contains(name) { throw TaskProblem("`\(name)` is a variable of the shell as well") }
                step.env.append(YAMLEntry(name, .text("${{ env.\(name) ?? \(text) }}")))
                continue
            }
            if case .text(let text) = value, text.contains(".\(name)") {
                // Made from what it was before.
                guard let template = own.template(text), TaskVariables.isName(environmentName) else {
                    own[name] = .unknown
                    continue
                }
                own[name] = .template(template, texts: own.texts(text))
                step.env.append(YAMLEntry(environmentName, .text(template)))
                continue
            }
            own[name] = value
            switch value {
            case .text(let text):
                guard let template = own.template(text), TaskVariables.isName(environmentName) else { continue }
                step.env.append(YAMLEntry(environmentName, .text(template)))
            case .command(let command):
                guard TaskVariables.isName(environmentName) else {
                    own[name] = .unknown
                    continue
                }
                // Once, before the commands.
                own[name] = .shared
                let exports = try own.exports(for: command).map { "\($0)\n" }.joined()
                prelude.append(
                    ShellCommand(text: "\(environmentName)=$(\(exports)\(try own.script(command)))", isShared: true))
            default: break
            }
        }
    }

    func addOwnExported(
        _ name: String, _ value: TaskVariables.Value, to step: inout StepDraft, _ own: TaskVariables,
        _ prelude: inout [ShellCommand]
    ) throws(TaskProblem) {
        let isAtTop = draft.env.contains { $0.key == name }
        switch value {
        case .text(let text):
            // A variable of the environment wins over both.
            if isAtTop { throw TaskProblem("`\(name)` of the environment has a value for all tasks as well") }
            guard let template = own.template(text), let expression = ExpressionText.expression(of: template),
                !template.contains("vars."), !template.contains("env.\(name) ")
            else {
                guard !TaskTemplate.pieces(of: text).contains(where: \.isChoice) else {
                    throw TaskProblem("what `\(name)` of the environment is could not be converted")
                }
                let value = "${\(name)-$(printf %s \"\(try own.quoted(text))\")}"
                prelude.append(ShellCommand(text: "\(name)=\"\(value)\"", isShared: true))
                prelude.append(ShellCommand(text: "export \(name)", isShared: true))
                return
            }
            step.env.append(YAMLEntry(name, .text("${{ env.\(name) ?? \(expression) }}")))
        case .command(let command):
            if isAtTop { throw TaskProblem("`\(name)` of the environment has a value for all tasks as well") }
            let value = "$(\(try own.script(command)))"
            prelude.append(ShellCommand(text: "\(name)=${\(name)-\(value)}", isShared: true))
            prelude.append(ShellCommand(text: "export \(name)", isShared: true))
        default: throw TaskProblem("what `\(name)` of the environment is could not be converted")
        }
    }
}

extension YAMLNode {
    /// True if a text in it names the folder of its file.
    fileprivate var readsOwnFolder: Bool {
        switch kind {
        case .scalar: text.contains(".TASKFILE") || text.contains(".TASK_DIR")
        case .sequence: elements.contains { $0.readsOwnFolder }
        case .mapping: entries.contains { $0.value.readsOwnFolder }
        case .invalid: false
        }
    }
}

extension TaskTemplate.Piece {
    fileprivate var isChoice: Bool { if case .choice = self { true } else { false } }
}
