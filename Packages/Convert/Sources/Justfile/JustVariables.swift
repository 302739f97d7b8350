internal import Workflow

/// The variables of a justfile, and their names in a shell.
struct JustVariables {
    private var values: [String: JustValue] = [:]
    private var exported: Set<String> = []
    /// The scripts of variables whose value is the output of one command: it runs once, for all readers.
    private(set) var sharedScripts: [String: String] = [:]
    private static let depthLimit = 12

    init(_ statements: [JustStatement]) {
        for statement in statements {
            guard case .assignment(let name, let text, let isExported) = statement.content else { continue }
            values[name] = JustExpression.value(of: text)
            if isExported { exported.insert(name) }
        }
        // In the order of the file, so that no two read each other.
        for statement in statements {
            guard case .assignment(let name, _, _) = statement.content else { continue }
            sharedScripts[name] = script(ofShared: name)
        }
    }

    /// The name for use in a shell.
    static func shellName(_ name: String) -> String { name.replacing("-", with: "_") }

    /// The value of the variable at the top of the file; nil if only a shell can determine it.
    func entry(of name: String) -> String? {
        let shellName = Self.shellName(name)
        guard let value = values[name].flatMap({ resolved($0) }), VariableName.isValid(shellName),
            !VariableName.isListenedTo(shellName)
        else { return nil }
        var text = ""
        for part in value.parts {
            switch part {
            case .text(let literal): text += literal.replacing("${{", with: "$${{")
            case .environment, .choice:
                guard let expression = Self.expression(part) else { return nil }
                text += "${{ \(expression) }}"
            case .variable, .output: return nil
            }
        }
        return text
    }

    /// A part that needs no shell, as a flowrun expression; nil for all others.
    private static func expression(_ part: JustValue.Part) -> String? {
        switch part {
        case .text(let text): return "'\(text.replacing("'", with: "''"))'"
        case .environment(let variable, let substitute?):
            return "env.\(variable) ?? '\(substitute.replacing("'", with: "''"))'"
        case .choice(let choice):
            guard let left = operand(choice.left), let right = operand(choice.right),
                let value = operand(choice.value), let otherwise = operand(choice.otherwise)
            else { return nil }
            return "if(\(left) \(choice.isEqual ? "==" : "!=") \(right), \(value), \(otherwise))"
        case .variable, .output, .environment: return nil
        }
    }

    private static func operand(_ value: JustValue) -> String? {
        guard let part = value.parts.first else { return "''" }
        guard value.parts.count == 1, let text = expression(part) else { return value.literal.map { "'\($0)'" } }
        if case .environment = part { return "(\(text))" }
        return text
    }

    /// The script of a variable whose value is the output of one command; nil for any other, and if programs find it
    /// in their environment.
    private func script(ofShared name: String) -> String? {
        let shellName = Self.shellName(name)
        guard let value = values[name], value.parts.count == 1, case .output(let command)? = value.parts.first,
            !exported.contains(name), VariableName.isValid(shellName), !VariableName.isListenedTo(shellName),
            let script = try? script(command, local: [:]), !script.contains("\n")
        else { return nil }
        return script
    }

    /// Replaces variables by their values; nil if one of them cannot be read.
    private func resolved(_ value: JustValue, depth: Int = 0) -> JustValue? {
        guard depth < Self.depthLimit else { return nil }
        var parts: [JustValue.Part] = []
        for part in value.parts {
            if case .choice(let choice) = part {
                guard let choice = choice.map({ resolved($0, depth: depth + 1) }) else { return nil }
                parts.append(.choice(choice))
                continue
            }
            guard case .variable(let name) = part else {
                parts.append(part)
                continue
            }
            guard let inner = values[name].flatMap({ resolved($0, depth: depth + 1) }) else { return nil }
            parts += inner.parts
        }
        return JustValue(parts: parts)
    }

    /// Appends an expression to a script. `local` are the parameters of the recipe, with the mark of the one that
    /// takes all further arguments.
    func append(
        _ expression: String, to script: inout ShellText, local: [String: Character?], depth: Int = 0
    ) throws(JustProblem) {
        guard let value = JustExpression.value(of: expression) else {
            throw JustProblem("a script has nothing like `{{\(expression.trimmed)}}`")
        }
        try append(value, to: &script, local: local, depth: depth)
    }

    func append(
        _ value: JustValue, to script: inout ShellText, local: [String: Character?], depth: Int = 0
    ) throws(JustProblem) {
        guard depth < Self.depthLimit else { throw JustProblem("a variable is defined by itself") }
        for part in value.parts {
            switch part {
            case .text(let text): script.append(text)
            case .output(let command): script.append(output: try self.script(command, local: local, depth: depth + 1))
            case .environment(let name, nil): script.append(expansion: "\(name):?")
            case .environment(let name, let substitute?): script.append(expansion: "\(name)-\(shellWord(substitute))")
            case .choice(let choice):
                script.append(output: try command(for: choice, local: local, depth: depth))
            case .variable(let name):
                if let mark = local[name] {
                    if mark == nil { script.append(variable: Self.shellName(name)) } else { script.appendArguments() }
                } else if entry(of: name) != nil || sharedScripts[name] != nil {
                    script.append(variable: Self.shellName(name))
                } else if let value = values[name] {
                    try append(value, to: &script, local: local, depth: depth + 1)
                } else {
                    throw JustProblem("what `\(name)` is could not be converted")
                }
            }
        }
    }

    /// Returns a command that prints the chosen value.
    func command(
        for choice: JustValue.Choice, local: [String: Character?], depth: Int = 0
    ) throws(JustProblem) -> String {
        guard choice.value.isPlain, choice.otherwise.isPlain else {
            throw JustProblem("the branches of an `if` have quotes or other characters of the shell")
        }
        let words = try [choice.left, choice.right, choice.value, choice.otherwise].map {
            value throws(JustProblem) in try quoted(value, local: local, depth: depth + 1)
        }
        let test = "[ \(words[0]) \(choice.isEqual ? "=" : "!=") \(words[1]) ]"
        return "if \(test); then printf %s \(words[2]); else printf %s \(words[3]); fi"
    }

    /// Returns a value as one word of a script.
    private func quoted(
        _ value: JustValue, local: [String: Character?], depth: Int
    ) throws(JustProblem) -> String {
        var script = ShellText()
        script.append("\"")
        for part in value.parts {
            if case .text(let text) = part {
                for character in text {
                    script.append("\"\\$`".contains(character) ? "\\\(character)" : "\(character)")
                }
            } else {
                try append(JustValue(parts: [part]), to: &script, local: local, depth: depth)
            }
        }
        script.append("\"")
        let text = script.finish()
        if let problem = script.problem { throw JustProblem(problem) }
        return text
    }

    /// Converts a text with `{{…}}` in it to a shell script.
    func script(_ text: String, local: [String: Character?], depth: Int = 0) throws(JustProblem) -> String {
        var script = ShellText()
        var rest = text[...]
        while let start = rest.firstRange(of: "{{") {
            script.append(rest[..<start.lowerBound])
            rest = rest[start.upperBound...]
            if rest.hasPrefix("{{") {
                script.append("{{")
                rest = rest.dropFirst(2)
                continue
            }
            guard let end = rest.firstRange(of: "}}") else { throw JustProblem("`{{` has no end") }
            try append(String(rest[..<end.lowerBound]), to: &script, local: local, depth: depth)
            rest = rest[end.upperBound...]
        }
        script.append(rest)
        let result = script.finish()
        if let problem = script.problem { throw JustProblem(problem) }
        return result
    }
}

/// The reason why a text of a justfile cannot be converted.
struct JustProblem: Error {
    let reason: String
    init(_ reason: String) { self.reason = reason }
}
