internal import Workflow

/// The variables of a justfile, and their names in a shell.
struct JustVariables {
    /// The place of a variable.
    enum Place {
        /// The `env` of the file, with the texts that the value may be.
        case env(String, texts: [String])
        /// The `vars` of the file, because a command determines the value: its script.
        case shared(String, texts: [String])
        /// Not known.
        case unknown
    }

    /// A parameter of a recipe, or what another recipe gives to it.
    struct Local {
        /// Its name in the script.
        var name: String
        /// The value that a call leaves as it is, or that it gives; nil if only a call knows it.
        var text: String?
        /// True if no call gives another value.
        var isFixed = false
    }

    private(set) var values: [String: JustValue] = [:]
    private(set) var exported: Set<String> = []
    private(set) var places: [String: Place] = [:]
    /// The names that scripts read by themselves.
    private var readByShells: Set<String> = []
    /// The words of all values, some of which are names that a command reads.
    private var wordsOfValues: Set<String> = []
    /// True if variables of the environment may come from a file.
    private let hasDotenv: Bool
    /// The folder in which commands run; nil for that of the file.
    private let folder: String?
    /// True if the shell of the file reads no commands as shells do.
    private let hasOtherShell: Bool
    private static let depthLimit = 12

    init(
        _ statements: [JustStatement], exportsAll: Bool, hasDotenv: Bool, folder: String? = nil,
        hasOtherShell: Bool = false
    ) {
        (self.hasDotenv, self.folder, self.hasOtherShell) = (hasDotenv, folder, hasOtherShell)
        for statement in statements {
            switch statement.content {
            case .assignment(let name, let text, let isExported):
                values[name] = JustExpression.value(of: text)
                if isExported || exportsAll { exported.insert(name) }
                readByShells.formUnion(ShellWords.names(readIn: text))
                wordsOfValues.formUnion(text.split { !$0.isVariableCharacter }.map(String.init))
            case .recipe(let recipe):
                readByShells.formUnion(ShellWords.names(readIn: recipe.body.joined(separator: "\n")))
            default: break
            }
        }
        // In the order of the file, so that no two read each other.
        for statement in statements {
            guard case .assignment(let name, _, _) = statement.content else { continue }
            places[name] = newPlace(of: name)
        }
    }

    /// The name for use in a shell.
    static func shellName(_ name: String) -> String { name.replacing("-", with: "_") }

    /// The name of a variable in the environment of steps: another one if scripts or programs would find what just
    /// does not give them.
    func environmentName(of name: String) -> String {
        exported.contains(name) ? Self.shellName(name) : hiddenName(of: name)
    }

    /// The name of a variable of scripts that just gives to no program: another one for those that programs may know.
    func hiddenName(of name: String) -> String {
        let shellName = Self.shellName(name)
        let isOfPrograms = VariableName.isListenedTo(shellName) || !shellName.contains(where: \.isLowercase)
        return isOfPrograms || readByShells.contains(shellName) ? "\(shellName)_" : shellName
    }

    /// True if a command determines a variable, and would see what is in the environment of the file.
    var hasCommands: Bool { values.values.contains(where: \.hasCommand) }

    /// The name of a value in `vars`. just's commands do not see what is exported, so that those that may have another
    /// one.
    func key(of name: String) -> String {
        let environmentName = environmentName(of: name)
        return exported.contains(name) && hasCommands && wordsOfValues.contains(environmentName)
            ? "\(environmentName)_" : environmentName
    }

    private func newPlace(of name: String) -> Place {
        guard let value = values[name].flatMap({ resolved($0) }), VariableName.isValid(environmentName(of: name)),
            !hasOtherShell || !value.hasCommand
        else { return .unknown }
        if let template = template(of: value) { return .env(template, texts: value.texts) }
        guard var lines = try? printing(value) else { return .unknown }
        if lines.contains(where: { $0.contains("justfile_directory") }) {
            guard let folderLines else { return .unknown }
            lines = folderLines + lines
        }
        return .shared(lines.joined(separator: "\n"), texts: value.texts)
    }

    /// Lines with which a command learns the folder of the file; nil if it cannot.
    private var folderLines: [String]? {
        guard let folder else { return ["justfile_directory=$PWD"] }
        guard !folder.hasPrefix("/"), !folder.contains(".."), ShellWords.arePlain(folder) else { return nil }
        let end = "/\(JustFunction.clean(folder))"
        let complaint = "echo \(shellWord("expected to run in `\(folder)`")) >&2; exit 1"
        return [
            "case $PWD in *\(shellWord(end))) ;; *) \(complaint) ;; esac",
            "justfile_directory=${PWD%\(shellWord(end))}",
        ]
    }

    /// The value in the `env` of the file; nil if only a command can determine it.
    private func template(of value: JustValue) -> String? {
        var text = ""
        for part in value.parts {
            switch part {
            case .text(let literal): text += literal.replacing("${{", with: "$${{")
            case .environment, .choice:
                guard let expression = expression(part) else { return nil }
                text += "${{ \(expression) }}"
            case .variable, .output, .call, .folder, .invocation: return nil
            }
        }
        return text
    }

    /// A part that needs no shell, as a flowrun expression; nil for all others.
    private func expression(_ part: JustValue.Part) -> String? {
        switch part {
        case .text(let text): return ExpressionText.literal(text)
        case .environment(let variable, let substitute?) where !hasDotenv:
            guard VariableName.isValid(variable) else { return nil }
            return operand(substitute).map { "env.\(variable) ?? \($0)" }
        case .choice(let choice):
            guard let left = operand(choice.left), let right = operand(choice.right),
                let value = operand(choice.value), let otherwise = operand(choice.otherwise)
            else { return nil }
            return "if(\(left) \(choice.isEqual ? "==" : "!=") \(right), \(value), \(otherwise))"
        default: return nil
        }
    }

    private func operand(_ value: JustValue) -> String? {
        guard let part = value.parts.first else { return "''" }
        guard value.parts.count == 1 else {
            let operands = value.parts.compactMap { operand(JustValue(parts: [$0])) }
            let pattern = operands.indices.map { "{\($0)}" }.joined()
            return operands.count < value.parts.count
                ? nil : "format('\(pattern)', \(operands.joined(separator: ", ")))"
        }
        guard let text = expression(part) else { return nil }
        if case .environment = part { return "(\(text))" }
        return text
    }

    /// Replaces variables by their values and evaluates what depends on them alone; nil if a variable cannot be read.
    /// `local` are the names of parameters, which remain.
    func resolved(_ value: JustValue, local: [String: Local] = [:], depth: Int = 0) -> JustValue? {
        guard depth < Self.depthLimit else { return nil }
        var parts: [JustValue.Part] = []
        func add(_ part: JustValue.Part) {
            if case .text(let text) = part, case .text(let last)? = parts.last {
                parts[parts.count - 1] = .text(last + text)
            } else {
                parts.append(part)
            }
        }
        for part in value.parts {
            switch part {
            case .choice(let choice):
                guard let choice = choice.map({ resolved($0, local: local, depth: depth + 1) }) else { return nil }
                if let left = choice.left.literal, let right = choice.right.literal {
                    ((left == right) == choice.isEqual ? choice.value : choice.otherwise).parts.forEach(add)
                } else {
                    parts.append(.choice(choice))
                }
            case .environment(let variable, let substitute?):
                guard let value = resolved(substitute, local: local, depth: depth + 1) else { return nil }
                parts.append(.environment(variable, value))
            case .call("absolute_path", let arguments):
                guard let path = resolved(arguments[0], local: local, depth: depth + 1)?.literal,
                    folder == nil || path.hasPrefix("/"), let value = JustFunction.absolute(path)
                else { return nil }
                value.parts.forEach(add)
            case .call(let name, let arguments):
                let texts = arguments.compactMap { resolved($0, local: local, depth: depth + 1)?.literal }
                guard texts.count == arguments.count, let text = JustFunction.value(of: name, texts) else { return nil }
                add(.text(text))
            case .variable(let name):
                if local[name] != nil {
                    parts.append(part)
                } else if case .shared? = places[name] {
                    parts.append(part)
                } else {
                    guard let inner = values[name].flatMap({ resolved($0, depth: depth + 1) }) else { return nil }
                    // A command of a variable further down runs once as well.
                    if inner.hasCommand { return nil }
                    inner.parts.forEach(add)
                }
            default: add(part)
            }
        }
        if parts.count > 1 { parts.removeAll { $0 == .text("") } }
        return JustValue(parts: parts.isEmpty ? [.text("")] : parts)
    }
}

enum JustConstants {
    static let values = ["HEX": "0123456789abcdef", "HEXLOWER": "0123456789abcdef", "HEXUPPER": "0123456789ABCDEF"]
}

/// The reason why a text of a justfile cannot be converted.
struct JustProblem: Error {
    let reason: String
    init(_ reason: String) { self.reason = reason }
}
