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
        /// A text for the `env` of a step, whose expressions only a run knows; texts that stand for all that it may be.
        case template(String, texts: [String])
        /// A value of another kind, or an unknown one.
        case unknown
    }

    private(set) var values: [String: Value] = [:]
    /// The task that is being read; nil at the top.
    var task: String?
    /// The names that scripts read by themselves, although Task does not put its variables there.
    var readByShells: Set<String> = []
    /// The values that are no texts for Task.
    var types: [String: TaskExpression] = [:]
    /// The conditions whose truth is settled where a text is read.
    var assumptions: [TaskExpression: Bool] = [:]
    /// The names before the tasks of the file that is being read, the innermost first.
    var path: [String] = []
    /// The folder of that file.
    var folder = ""
    /// The names that the files set in the environment, or may.
    var exported: Set<String> = []
    var hasDotenv = false
    /// The names that tasks require, which become parameters.
    var required: Set<String> = []
    /// True in the commands of `vars`, which do not see the variables that come from other ones.
    var isInVars = false
    /// The reason why a name may have a value that is not known here; nil if all files were read.
    var doubt: String?
    /// True in a task that runs in another folder than that of the file.
    var isElsewhere = false
    static let depthLimit = 12

    func isParam(_ name: String) -> Bool { if case .param? = values[name] { true } else { false } }

    subscript(name: String) -> Value? {
        get { values[name] }
        set { values[name] = newValue }
    }

    /// The value of a node that is no text for Task: a number, or `true` or `false`; nil for a text.
    static func type(of node: YAMLNode) -> TaskExpression? {
        guard node.kind == .scalar, node.isPlain, node.type != .string, node.type != .null else { return nil }
        return node.text == "true" || node.text == "false" ? .flag(node.text == "true") : .number(node.text)
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
                guard case .variable(let name, nil) = TaskTemplate.meaning(of: expression) else {
                    guard
                        let inner = TaskTemplate.expression(expression).flatMap({ decided($0, depth: depth).literal })
                    else { return nil }
                    result += inner
                    continue
                }
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

    /// The expression with what the file tells decided.
    func decided(_ expression: TaskExpression, depth: Int) -> TaskExpression {
        // Task fails where such a function gets what nothing has set.
        if expression.variablesOfTexts.contains(where: { values[$0] == nil && $0 != "TASK" }) {
            return .variable(Self.unreadable)
        }
        let decided = expression.decided { name in
            if let type = types[name] { return type }
            if case .text(let text)? = values[name] { return literal(text, depth: depth + 1).map(TaskExpression.text) }
            return values[name] == nil && name == "TASK" ? task.map(TaskExpression.text) : nil
        }
        return assumptions[decided].map(TaskExpression.flag) ?? decided
    }

    /// The branch of a choice over a text of the file; nil if only a run can decide.
    func known(_ choice: TaskChoice, depth: Int) -> String? {
        decided(choice.condition, depth: depth).truth.map { $0 ? choice.value : choice.otherwise }
    }

    /// The expression that reads a variable; nil if only a shell knows it.
    private func reading(_ name: String, depth: Int) -> String? {
        switch values[name] {
        case .param(let substitute): return Self.reading(name, or: substitute)
        case .shared: return "vars.\(environmentName(of: name))"
        case .text(let text): return template(text, depth: depth + 1).flatMap(ExpressionText.expression)
        case .template(let text, _): return ExpressionText.expression(of: text)
        case nil where name == TaskExpression.processor: return "vars.\(name)"
        case nil where name == "TASK" && task != nil: return ExpressionText.literal(task ?? "")
        case nil:
            if required.contains(name) { return "params.\(name)" }
            let isOfEnvironment = Self.isName(name) && doubt == nil && !hasDotenv && !exported.contains(name)
            return isOfEnvironment && !Self.special.contains(name) ? "(env.\(name) ?? '')" : nil
        default: return nil
        }
    }

    /// A name that no shell and no expression can read.
    static let unreadable = ""

    /// Variables that Task itself sets.
    static let special: Set<String> = [
        "TASK", "ROOT_DIR", "ROOT_TASKFILE", "TASKFILE", "TASKFILE_DIR", "TASK_DIR", "USER_WORKING_DIR", "CLI_ARGS",
        "CLI_ARGS_LIST", "CLI_FORCE", "CLI_SILENT", "CLI_VERBOSE", "CLI_OFFLINE", "CLI_ASSUME_YES", "TASK_EXE",
        "TASK_VERSION", "CHECKSUM", "TIMESTAMP", "ITEM", "EXIT_CODE", "MATCH", "ALIAS",
    ]

    /// An expression over variables; nil if only a shell knows one of them.
    private func expression(_ expression: TaskExpression, isTest: Bool = false, depth: Int) -> String? {
        var reads: (String) -> String? = { reading($0, depth: depth) }
        // A default that is not compared with does not matter.
        if case .call(let name, let arguments) = expression, name == "eq" || name == "ne",
            case .variable(let variable) = arguments[0], case .text(let wanted) = arguments[1], !wanted.isEmpty,
            case .param(let substitute)? = values[variable], wanted != substitute
        {
            reads = { "params.\($0)" }
        }
        return isTest ? expression.condition(reading: reads) : expression.expression(reading: reads)
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
                let condition = decided(choice.condition, depth: depth)
                guard let test = expression(condition, isTest: true, depth: depth),
                    let value = template(choice.value, depth: depth + 1).flatMap(ExpressionText.expression),
                    let otherwise = template(choice.otherwise, depth: depth + 1).flatMap(ExpressionText.expression)
                else { return nil }
                result += "${{ if(\(test), \(value), \(otherwise)) }}"
            case .expression(let expression):
                if TaskTemplate.isEmpty(expression) { continue }
                guard case .variable(let name, nil) = TaskTemplate.meaning(of: expression) else {
                    guard let inner = TaskTemplate.expression(expression).map({ decided($0, depth: depth) }) else {
                        return nil
                    }
                    if let literal = inner.literal {
                        result += literal.replacing("${{", with: "$${{")
                    } else {
                        guard let text = self.expression(inner, depth: depth) else { return nil }
                        result += "${{ \(text) }}"
                    }
                    continue
                }
                switch values[name] {
                case .text(let text):
                    guard let inner = template(text, depth: depth + 1) else { return nil }
                    result += inner
                case .template(let text, _): result += text
                case nil where name == "TASK" && task != nil: result += task ?? ""
                default:
                    guard let text = reading(name, depth: depth) else { return nil }
                    result += "${{ \(text.hasPrefix("(") ? String(text.dropFirst().dropLast()) : text) }}"
                }
            }
        }
        return result
    }

    /// The expression for a parameter, whose default also counts if it is empty.
    private static func reading(_ name: String, or substitute: String) -> String {
        let text = ExpressionText.literal(substitute)
        return substitute.isEmpty ? "params.\(name)" : "if(params.\(name) == '', \(text), params.\(name))"
    }

    /// The name of a variable in the environment of steps.
    func environmentName(of name: String) -> String {
        readByShells.contains(name) || ShellWords.areOfPrograms(name) ? "\(name)_" : name
    }

    static func isName(_ name: String) -> Bool { VariableName.isValid(name) && !VariableName.isListenedTo(name) }

    /// The first condition in a text that only a run decides.
    func firstCondition(in text: String) -> TaskExpression? {
        for case .choice(let choice) in TaskTemplate.pieces(of: text) where known(choice, depth: 0) == nil {
            return decided(choice.condition, depth: 0)
        }
        return nil
    }

    /// Texts that stand for all that a text with choices and parameters may be.
    func texts(_ text: String, depth: Int = 0) -> [String] {
        guard depth < Self.depthLimit else { return ["x"] }
        var result = [""]
        for piece in TaskTemplate.pieces(of: text) {
            var texts = ["x"]
            switch piece {
            case .text(let text): texts = [text]
            case .choice(let choice):
                let branches = known(choice, depth: depth).map { [$0] } ?? [choice.value, choice.otherwise]
                texts = branches.flatMap { self.texts($0, depth: depth + 1) }
            case .expression(let expression):
                if case .variable(let name, nil)? = TaskTemplate.meaning(of: expression) {
                    if case .param(let substitute)? = values[name] { texts = [substitute] }
                    if case .text(let inner)? = values[name] { texts = [literal(inner) ?? "x"] }
                    if case .template(_, let all)? = values[name] { texts = all }
                } else {
                    texts = TaskTemplate.expression(expression).map { decided($0, depth: 0).texts } ?? ["x"]
                }
            }
            result = Array(result.flatMap { start in texts.map { start + $0 } }.prefix(64))
        }
        return result
    }
}
