internal import Syntax
internal import Workflow

/// The variables of a Taskfile that are visible in one place, and the expansion of texts with `{{…}}`.
struct TaskVariables {
    enum Value {
        /// A text that may have templates.
        case text(String)
        case list([String])
        /// The output of a command.
        case command(String)
        /// A parameter with a default.
        case param(String)
        /// A variable that the shell has already.
        case shell
        /// A value of another kind, or an unknown one.
        case unknown
    }

    private var values: [String: Value] = [:]
    /// The task that is being read; nil at the top.
    var task: String?
    private static let depthLimit = 12

    subscript(name: String) -> Value? {
        get { values[name] }
        set { values[name] = newValue }
    }

    /// The value of an entry of `vars` or `env`.
    static func value(of name: String, _ node: YAMLNode) -> Value {
        switch node.kind {
        case .scalar:
            let text = node.text
            if let (variable, substitute) = TaskTemplate.defaulted(text), variable == name { return .param(substitute) }
            return .text(text)
        case .mapping:
            var fields = YAMLFields(node)
            // Any other key would be lost.
            guard let command = fields.takeText("sh"), fields.isEmpty else { return .unknown }
            return .command(command)
        case .sequence where node.elements.allSatisfy { $0.kind == .scalar }: return .list(node.elements.map(\.text))
        default: return .unknown
        }
    }

    /// The words of a variable, one by one; nil if a shell has to determine them.
    func words(of name: String) -> [String]? {
        if case .list(let words)? = values[name] { return words }
        return literal("{{.\(name)}}")?.words
    }

    /// Expands a text; nil if a shell has to determine a part of it.
    func literal(_ text: String, depth: Int = 0) -> String? {
        guard depth < Self.depthLimit else { return nil }
        var result = ""
        for piece in TaskTemplate.pieces(of: text) {
            switch piece {
            case .text(let text): result += text
            case .choice(let choice):
                guard let inner = known(choice, depth: depth).flatMap({ literal($0, depth: depth + 1) }) else {
                    return nil
                }
                result += inner
            case .expression(let expression):
                if TaskTemplate.isEmpty(expression) { continue }
                guard case .variable(let name, nil) = TaskTemplate.meaning(of: expression) else { return nil }
                switch values[name] {
                case .text(let text):
                    guard let inner = literal(text, depth: depth + 1) else { return nil }
                    result += inner
                case nil where name == "TASK" && task != nil: result += task ?? ""
                default: return nil
                }
            }
        }
        return result
    }

    /// The branch of a choice over a text of the file; nil if only a run can decide.
    private func known(_ choice: TaskChoice, depth: Int) -> String? {
        guard case .text(let text)? = values[choice.variable], let value = literal(text, depth: depth + 1) else {
            return nil
        }
        return choice.wanted.map { $0 == value } ?? !value.isEmpty ? choice.value : choice.otherwise
    }

    /// The expression that reads the variable of a choice; nil if only a shell knows it.
    private func reading(_ choice: TaskChoice) -> String? {
        switch values[choice.variable] {
        case .param: "params.\(choice.variable)"
        case nil where Self.isName(choice.variable): "(env.\(choice.variable) ?? '')"
        default: nil
        }
    }

    /// The value in the `env` of a file or step, where parameters can be read; nil if a shell has to determine it.
    func template(_ text: String, depth: Int = 0) -> String? {
        guard depth < Self.depthLimit else { return nil }
        var result = ""
        for piece in TaskTemplate.pieces(of: text) {
            switch piece {
            case .text(let text): result += text.replacing("${{", with: "$${{")
            case .choice(let choice):
                if let inner = known(choice, depth: depth).flatMap({ template($0, depth: depth + 1) }) {
                    result += inner
                    continue
                }
                guard let read = reading(choice), let value = literal(choice.value, depth: depth + 1),
                    let otherwise = literal(choice.otherwise, depth: depth + 1)
                else { return nil }
                result += choice.expression(reading: read, value, otherwise)
            case .expression(let expression):
                if TaskTemplate.isEmpty(expression) { continue }
                guard case .variable(let name, nil) = TaskTemplate.meaning(of: expression) else { return nil }
                switch values[name] {
                case .text(let text):
                    guard let inner = template(text, depth: depth + 1) else { return nil }
                    result += inner
                case .param: result += "${{ params.\(name) }}"
                case nil where name == "TASK" && task != nil: result += task ?? ""
                default: return nil
                }
            }
        }
        return result
    }

    static func isName(_ name: String) -> Bool { VariableName.isValid(name) && !VariableName.isListenedTo(name) }

    /// Converts a command to a shell script.
    func script(_ text: String, depth: Int = 0) throws(TaskProblem) -> String {
        let pieces = TaskTemplate.pieces(of: text.trimmed)
        if pieces.count == 1, case .choice(let choice)? = pieces.first {
            let (value, otherwise) = (
                try script(choice.value, depth: depth), try script(choice.otherwise, depth: depth)
            )
            let other = otherwise.isBlank ? "" : "else\n\(otherwise)\n"
            return "if \(choice.test(reading: try reading(choice, depth: depth))); then\n\(value)\n\(other)fi"
        }
        var script = ShellText()
        try append(text, to: &script, depth: depth)
        let result = script.finish()
        if let problem = script.problem { throw TaskProblem(problem) }
        return result
    }

    /// The script of a command that runs once, for all readers of its output; nil if it cannot be shared.
    func sharedScript(_ command: String) -> String? {
        // On one line, and without the arguments of a task.
        guard let script = try? script(command), !script.contains("\n"), !script.contains("$@") else { return nil }
        return script
    }

    private func append(_ text: String, to script: inout ShellText, depth: Int) throws(TaskProblem) {
        guard depth < Self.depthLimit else { throw TaskProblem("a variable is defined by itself") }
        for piece in TaskTemplate.pieces(of: text) {
            switch piece {
            case .text(let text): script.append(text)
            case .choice(let choice): try append(choice, to: &script, depth: depth)
            case .expression(let expression): try append(expression: expression, to: &script, depth: depth)
            }
        }
    }

    private func append(_ choice: TaskChoice, to script: inout ShellText, depth: Int) throws(TaskProblem) {
        guard let value = literal(choice.value, depth: depth + 1), TaskChoice.isPlain(value),
            let otherwise = literal(choice.otherwise, depth: depth + 1), TaskChoice.isPlain(otherwise)
        else { throw TaskProblem("the branches of `{{if …}}` have templates, quotes or other characters of the shell") }
        script.append(output: choice.shell(reading: try reading(choice, depth: depth), value, otherwise))
    }

    /// The shell text that reads the variable of a choice.
    private func reading(_ choice: TaskChoice, depth: Int) throws(TaskProblem) -> String {
        var variable = ShellText()
        try append(expression: ".\(choice.variable)", to: &variable, depth: depth)
        return variable.finish()
    }

    private func append(expression: String, to script: inout ShellText, depth: Int) throws(TaskProblem) {
        if TaskTemplate.isEmpty(expression) { return }
        switch TaskTemplate.meaning(of: expression) {
        case .arguments: script.appendArguments()
        case .variable(let name, let substitute?):
            if case .param? = values[name] { return script.append(variable: name) }
            guard values[name] == nil, Self.isName(name) else {
                return try append(expression: ".\(name)", to: &script, depth: depth)
            }
            script.append(expansion: "\(name):-\(shellWord(substitute))")
        case .variable(let name, nil):
            switch values[name] {
            case .text(let text):
                if template(text) != nil, Self.isName(name) { return script.append(variable: name) }
                try append(text, to: &script, depth: depth + 1)
            case .param, .shell: script.append(variable: name)
            case .command(let command): script.append(output: try self.script(command, depth: depth + 1))
            case .unknown, .list: throw TaskProblem("what `\(name)` is could not be converted")
            case nil:
                switch name {
                case "TASK": script.append(task ?? "")
                case "ROOT_DIR", "TASKFILE_DIR", "USER_WORKING_DIR": script.append(variable: "PWD")
                default:
                    guard Self.isName(name) else { throw TaskProblem("there is no `{{.\(name)}}` here") }
                    // Task also takes it from the environment.
                    script.append(variable: name)
                }
            }
        case nil: throw TaskProblem("a script has nothing like `{{\(expression)}}`")
        }
    }
}

/// The reason why a text of a Taskfile cannot be converted.
struct TaskProblem: Error {
    let reason: String
    init(_ reason: String) { self.reason = reason }
}

/// The templates of a Taskfile that do no more than read a variable.
enum TaskTemplate {
    enum Piece {
        case text(String)
        /// The text between the braces.
        case expression(String)
        case choice(TaskChoice)
    }

    enum Meaning {
        /// A variable, and the text in its place if it is empty.
        case variable(String, String?)
        case arguments
    }

    static func pieces(of text: String) -> [Piece] {
        var pieces: [Piece] = []
        var rest = text[...]
        while let start = rest.firstRange(of: "{{"), let end = rest[start.upperBound...].firstRange(of: "}}") {
            if start.lowerBound > rest.startIndex { pieces.append(.text(String(rest[..<start.lowerBound]))) }
            if let (choice, behind) = TaskChoice.first(in: rest[start.lowerBound...]) {
                pieces.append(.choice(choice))
                rest = behind
                continue
            }
            pieces.append(.expression(String(rest[start.upperBound..<end.lowerBound])))
            rest = rest[end.upperBound...]
        }
        if !rest.isEmpty { pieces.append(.text(String(rest))) }
        return pieces
    }

    /// True for an expression that is empty wherever flowrun runs.
    static func isEmpty(_ expression: String) -> Bool { expression.trimmed == "exeExt" }

    /// nil for anything more than the name of a variable with a default.
    static func meaning(of expression: String) -> Meaning? {
        var text = expression[...]
        // `{{-` only removes blanks.
        if text.hasPrefix("- ") { text = text.dropFirst() }
        if text.hasSuffix(" -") { text = text.dropLast() }
        let words = text.trimmed
        if words == ".CLI_ARGS" { return .arguments }
        if let name = name(words) { return .variable(name, nil) }
        if let (before, after) = words.cut(at: "|"), let name = name(before.trimmed) {
            guard after.words.first == "default" else { return nil }
            return unquoted(after.trimmed.dropFirst(7).trimmed).map { .variable(name, $0) }
        }
        if words.hasPrefix("default "), let last = words.words.last, let name = name(last) {
            return unquoted(words.dropFirst(8).dropLast(last.count).trimmed).map { .variable(name, $0) }
        }
        return nil
    }

    /// The variable and its default, if the whole text is `{{.NAME | default "…"}}`.
    static func defaulted(_ text: String) -> (String, String)? {
        guard case .variable(let name, let substitute?)? = only(text) else { return nil }
        return (name, substitute)
    }

    /// The meaning of a text that is one template and nothing else.
    static func only(_ text: String) -> Meaning? {
        let pieces = pieces(of: text)
        guard pieces.count == 1, case .expression(let expression)? = pieces.first else { return nil }
        return meaning(of: expression)
    }

    static func name(_ text: String) -> String? {
        guard text.first == ".", text.count > 1, text.dropFirst().allSatisfy(\.isVariableCharacter) else { return nil }
        return String(text.dropFirst())
    }

    static func unquoted(_ text: String) -> String? {
        if let quote = text.first, "\"'`".contains(quote), text.last == quote, text.count > 1 {
            let inner = text.dropFirst().dropLast()
            return inner.contains(quote) || inner.contains("\\") ? nil : String(inner)
        }
        return !text.isEmpty && text.allSatisfy { $0.isNumber } || text == "true" || text == "false" ? text : nil
    }
}
