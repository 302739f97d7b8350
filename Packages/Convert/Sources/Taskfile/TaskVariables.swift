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
        /// The output of a command, which is one of the file's `vars`.
        case shared
        /// A variable that the shell has already.
        case shell
        /// A value of another kind, or an unknown one.
        case unknown
    }

    private var values: [String: Value] = [:]
    /// The task that is being read; nil at the top.
    var task: String?
    /// The names that scripts read by themselves, although Task does not put its variables there.
    var readByShells: Set<String> = []
    /// The reason why a name may have a value that is not known here; nil if all files were read.
    var doubt: String?
    /// True in a task that runs in another folder than that of the file.
    var isElsewhere = false
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
        case .param(let substitute):
            choice.wanted.map { $0.isEmpty || $0 == substitute } ?? true
                ? Self.reading(choice.variable, or: substitute) : "params.\(choice.variable)"
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
                guard doubt == nil, let read = reading(choice), let value = literal(choice.value, depth: depth + 1),
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
                case .param(let substitute): result += "${{ \(Self.reading(name, or: substitute)) }}"
                case .shared: result += "${{ vars.\(environmentName(of: name)) }}"
                case nil where name == "TASK" && task != nil: result += task ?? ""
                default: return nil
                }
            }
        }
        return result
    }

    /// The expression for a parameter, whose default also counts if it is empty.
    private static func reading(_ name: String, or substitute: String) -> String {
        let text = "'\(substitute.replacing("'", with: "''"))'"
        return substitute.isEmpty ? "params.\(name)" : "if(params.\(name) == '', \(text), params.\(name))"
    }

    /// The name of a variable in the environment of steps.
    func environmentName(of name: String) -> String { readByShells.contains(name) ? "\(name)_" : name }

    static func isName(_ name: String) -> Bool { VariableName.isValid(name) && !VariableName.isListenedTo(name) }

    /// Converts a command to a shell script.
    func script(_ text: String, depth: Int = 0) throws(TaskProblem) -> String {
        let pieces = TaskTemplate.pieces(of: text.trimmed)
        if pieces.count == 1, case .choice(let choice)? = pieces.first {
            if let known = known(choice, depth: depth) { return try script(known, depth: depth + 1) }
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

    /// Converts a command with the texts of variables in their places.
    func literalScript(_ text: String) throws(TaskProblem) -> String {
        guard let text = literal(text) else { throw TaskProblem("a loop over words with characters of the shell") }
        return text
    }

    /// The script of a command that runs once, for all readers of its output; nil if it cannot be shared.
    func sharedScript(_ command: String) -> String? {
        // Without the arguments of a task.
        guard let script = try? script(command), !script.contains("$@"), !script.contains("$*") else { return nil }
        return script.contains("$ROOT_DIR") || script.contains("${ROOT_DIR}") ? "ROOT_DIR=$PWD\n\(script)" : script
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
        if let known = known(choice, depth: depth) { return try append(known, to: &script, depth: depth + 1) }
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
            guard values[name] == nil, Self.isName(name) else {
                if case .text(let text)? = values[name], literal(text)?.isEmpty == true {
                    return script.append(substitute)
                }
                return try append(expression: ".\(name)", to: &script, depth: depth)
            }
            if let doubt { throw TaskProblem(doubt) }
            try append(name, or: substitute, to: &script)
        case .variable(let name, nil): try append(variable: name, to: &script, depth: depth)
        case nil:
            switch expression.trimmed {
            case "OS": script.append("linux")
            default: throw TaskProblem("a script has nothing like `{{\(expression)}}`")
            }
        }
    }

    private func append(_ name: String, or substitute: String, to script: inout ShellText) throws(TaskProblem) {
        guard script.readsAlike(substitute) else {
            throw TaskProblem("the default of `\(name)` has characters that a shell would read here")
        }
        if substitute.isEmpty { return script.append(variable: name) }
        script.append(expansion: "\(name):-\(substitute.contains("}") ? shellWord(substitute) : substitute)")
    }

    private func append(variable name: String, to script: inout ShellText, depth: Int) throws(TaskProblem) {
        switch values[name] {
        case .text(let text):
            guard template(text) != nil, Self.isName(environmentName(of: name)) else {
                return try append(text, to: &script, depth: depth + 1)
            }
            if let value = literal(text) { return script.append(variable: environmentName(of: name), value: value) }
            for text in texts(text) where !script.readsAlike(text) {
                throw TaskProblem("`\(name)` may have quotes or other characters of the shell")
            }
            script.append(variable: environmentName(of: name))
        case .param(let substitute): try append(name, or: substitute, to: &script)
        case .shell: script.append(variable: name)
        case .shared: script.append(variable: environmentName(of: name))
        case .command: throw TaskProblem("the command of `\(name)` runs once, before the task")
        case .unknown, .list: throw TaskProblem("what `\(name)` is could not be converted")
        case nil:
            switch name {
            case "TASK": script.append(task ?? "")
            case "ROOT_DIR", "TASKFILE_DIR":
                if isElsewhere { throw TaskProblem("it runs in another folder than that of the file, and needs both") }
                script.append(variable: "ROOT_DIR")
            case "USER_WORKING_DIR": script.append(variable: "FLOWRUN_INVOCATION_DIR")
            default:
                guard Self.isName(name) else { throw TaskProblem("there is no `{{.\(name)}}` here") }
                if let doubt { throw TaskProblem(doubt) }
                // Task also takes it from the environment.
                script.append(variable: name)
            }
        }
    }

    /// Texts that stand for all that a text with choices and parameters may be.
    private func texts(_ text: String) -> [String] {
        var result = [""]
        for piece in TaskTemplate.pieces(of: text) {
            var texts = ["x"]
            switch piece {
            case .text(let text): texts = [text]
            case .choice(let choice): texts = [choice.value, choice.otherwise]
            case .expression(let expression):
                if case .variable(let name, nil)? = TaskTemplate.meaning(of: expression) {
                    if case .param(let substitute)? = values[name] { texts = [substitute] }
                    if case .text(let inner)? = values[name] { texts = [literal(inner) ?? "x"] }
                }
            }
            result = Array(result.flatMap { start in texts.map { start + $0 } }.prefix(64))
        }
        return result
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
            var before = String(rest[..<start.lowerBound])
            let inner = rest[start.upperBound..<end.lowerBound]
            // A dash inside of the braces takes the blanks outside of them away.
            if inner.hasPrefix("- ") || inner.hasPrefix("-\n") {
                while before.last?.isWhitespace == true { before.removeLast() }
            }
            if !before.isEmpty { pieces.append(.text(before)) }
            if let (choice, behind) = TaskChoice.first(in: rest[start.lowerBound...]) {
                pieces.append(.choice(choice))
                rest = behind
                continue
            }
            pieces.append(.expression(String(inner)))
            rest = rest[end.upperBound...]
            if inner.hasSuffix(" -") { rest = rest.drop(while: \.isWhitespace) }
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
