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
        /// True for one that takes all further arguments.
        var isRest = false
        /// The value that a call leaves as it is, or that it gives; nil if only a call knows it.
        var text: String?
        /// True if no call gives another value.
        var isFixed = false
    }

    private var values: [String: JustValue] = [:]
    private(set) var exported: Set<String> = []
    private(set) var places: [String: Place] = [:]
    /// The names that scripts read by themselves.
    private var readByShells: Set<String> = []
    /// True if variables of the environment may come from a file.
    private let hasDotenv: Bool
    private static let depthLimit = 12

    init(_ statements: [JustStatement], exportsAll: Bool, hasDotenv: Bool) {
        self.hasDotenv = hasDotenv
        for statement in statements {
            switch statement.content {
            case .assignment(let name, let text, let isExported):
                values[name] = JustExpression.value(of: text)
                if isExported || exportsAll { exported.insert(name) }
                readByShells.formUnion(ShellWords.names(readIn: text))
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

    /// The name of a variable in the environment of steps: another one if scripts would find what just does not give
    /// them.
    func environmentName(of name: String) -> String {
        let shellName = Self.shellName(name)
        let isHidden = !exported.contains(name)
        return isHidden && (readByShells.contains(shellName) || VariableName.isListenedTo(shellName))
            ? "\(shellName)_" : shellName
    }

    private func newPlace(of name: String) -> Place {
        guard let value = values[name].flatMap({ resolved($0) }), VariableName.isValid(environmentName(of: name)) else {
            return .unknown
        }
        if let template = template(of: value) { return .env(template, texts: value.texts) }
        guard let lines = try? printing(value) else { return .unknown }
        return .shared(lines.joined(separator: "\n"), texts: value.texts)
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
        case .text(let text): return "'\(text.replacing("'", with: "''"))'"
        case .environment(let variable, let substitute?) where !hasDotenv:
            return "env.\(variable) ?? '\(substitute.replacing("'", with: "''"))'"
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
        guard value.parts.count == 1, let text = expression(part) else { return nil }
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
                    if inner.parts.contains(where: { if case .output = $0 { true } else { false } }) { return nil }
                    inner.parts.forEach(add)
                }
            default: add(part)
            }
        }
        if parts.count > 1 { parts.removeAll { $0 == .text("") } }
        return JustValue(parts: parts.isEmpty ? [.text("")] : parts)
    }

    // MARK: - Scripts

    /// The lines of a script that prints a value, and fails where a command of it fails.
    func printing(_ value: JustValue, local: [String: Local] = [:]) throws(JustProblem) -> [String] {
        if value.parts.count == 1 {
            if case .output(let command) = value.parts[0] { return [command] }
            if case .choice(let choice) = value.parts[0] {
                return try printing(choice, local: local)
            }
        }
        var lines: [String] = []
        var text = ""
        for part in value.parts {
            switch part {
            case .output, .choice:
                let name = "part\(lines.count + 1)"
                lines.append(
                    "\(name)=$(\(try printing(JustValue(parts: [part]), local: local).joined(separator: "\n")))")
                text += "${\(name)}"
            default: text += try word(part, local: local)
            }
        }
        return lines + ["printf %s \"\(text)\""]
    }

    private func printing(_ choice: JustValue.Choice, local: [String: Local]) throws(JustProblem) -> [String] {
        var lines: [String] = []
        var operands: [String] = []
        for (name, operand) in [("left", choice.left), ("right", choice.right)] {
            let canFail = operand.parts.contains {
                switch $0 {
                case .output, .choice: true
                default: false
                }
            }
            if let literal = operand.literal {
                operands.append(shellWord(literal))
            } else if canFail {
                lines.append("\(name)=$(\(try printing(operand, local: local).joined(separator: "\n")))")
                operands.append("\"$\(name)\"")
            } else {
                var text = ""
                for part in operand.parts { text += try word(part, local: local) }
                operands.append("\"\(text)\"")
            }
        }
        let test = "if [ \(operands[0]) \(choice.isEqual ? "=" : "!=") \(operands[1]) ]; then"
        let value = try printing(choice.value, local: local)
        let otherwise = try printing(choice.otherwise, local: local)
        if value.count == 1, otherwise.count == 1 {
            return lines + ["\(test) \(value[0]); else \(otherwise[0]); fi"]
        }
        return lines + [test] + value + ["else"] + otherwise + ["fi"]
    }

    /// A part for the inside of double quotes.
    func word(_ part: JustValue.Part, local: [String: Local]) throws(JustProblem) -> String {
        switch part {
        case .text(let text): return text.map { "\"\\$`".contains($0) ? "\\\($0)" : "\($0)" }.joined()
        case .output(let command): return "$(\(command))"
        case .environment(let name, nil): return "${\(name)?}"
        case .environment(let name, let substitute?):
            let text = try word(.text(substitute), local: local)
            guard !text.contains("}") else { throw JustProblem("the default of `\(name)` has a brace") }
            return "${\(name)-\(text)}"
        case .choice: return "$(\(try printing(JustValue(parts: [part]), local: local).joined(separator: "\n")))"
        case .folder: return "$PWD"
        case .invocation: return "$FLOWRUN_INVOCATION_DIR"
        case .call(let name, _): throw JustProblem("a script has nothing like `\(name)()`")
        case .variable(let name):
            if local[name] != nil { return "${\(Self.shellName(name))}" }
            switch places[name] {
            case .env, .shared: return "${\(environmentName(of: name))}"
            default: throw JustProblem("what `\(name)` is could not be converted")
            }
        }
    }

    /// Converts a text with `{{…}}` in it to a shell script. What a command determines is put into variables first, by
    /// lines in `before`.
    func script(
        _ text: String, local: [String: Local], before: inout [String]
    ) throws(JustProblem) -> String {
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
            try append(String(rest[..<end.lowerBound]), to: &script, local: local, before: &before)
            rest = rest[end.upperBound...]
        }
        script.append(rest)
        let result = script.finish()
        if let problem = script.problem { throw JustProblem(problem) }
        return result
    }

    /// The text with all values in it; nil if one is only known in a run.
    func literal(_ text: String) -> String? {
        var result = ""
        var rest = text[...]
        while let start = rest.firstRange(of: "{{") {
            result += rest[..<start.lowerBound]
            rest = rest[start.upperBound...]
            if rest.hasPrefix("{{") {
                result += "{{"
                rest = rest.dropFirst(2)
                continue
            }
            guard let end = rest.firstRange(of: "}}"),
                let value = JustExpression.value(of: String(rest[..<end.lowerBound])).flatMap({ resolved($0) })?.literal
            else { return nil }
            result += value
            rest = rest[end.upperBound...]
        }
        return result + rest
    }

    private func append(
        _ expression: String, to script: inout ShellText, local: [String: Local], before: inout [String]
    ) throws(JustProblem) {
        guard let value = JustExpression.value(of: expression) else {
            throw JustProblem("a script has nothing like `{{\(expression.trimmed)}}`")
        }
        for part in value.parts { try append(part, to: &script, local: local, before: &before) }
    }

    private func append(
        _ part: JustValue.Part, to script: inout ShellText, local: [String: Local], before: inout [String]
    ) throws(JustProblem) {
        if case .variable(let name) = part {
            return try append(variable: name, to: &script, local: local, before: &before)
        }
        guard let value = resolved(JustValue(parts: [part]), local: local) else {
            throw JustProblem("what `\(Self.spelling(of: part))` is could not be converted")
        }
        if let literal = value.literal { return script.append(literal) }
        guard value.texts.allSatisfy(script.readsAlike) else {
            throw JustProblem("a value has quotes or other characters of the shell")
        }
        if value.parts == [.folder] { return script.append(variable: "justfile_directory") }
        if value.parts == [.invocation] { return script.append(variable: "FLOWRUN_INVOCATION_DIR") }
        let name = "value\(before.count + 1)"
        if value.parts.count == 1, case .environment = value.parts[0] {
            before.append("\(name)=\"\(try word(value.parts[0], local: local))\"")
        } else {
            before.append("\(name)=$(\(try printing(value, local: local).joined(separator: "\n")))")
        }
        script.append(variable: name)
    }

    private func append(
        variable name: String, to script: inout ShellText, local: [String: Local], before: inout [String]
    ) throws(JustProblem) {
        if let local = local[name] {
            if local.isFixed { return script.append(variable: Self.shellName(name), value: local.text) }
            guard local.text.map(script.readsAlike) ?? true else {
                throw JustProblem("the default of `\(name)` has characters that a shell would read here")
            }
            return script.append(variable: Self.shellName(name))
        }
        switch places[name] {
        case .env(_, let texts):
            if let value = values[name].flatMap({ resolved($0) })?.literal {
                return script.append(variable: environmentName(of: name), value: value)
            }
            guard texts.allSatisfy(script.readsAlike) else {
                throw JustProblem("`\(name)` may have quotes or other characters of the shell")
            }
            script.append(variable: environmentName(of: name))
        case .shared(_, let texts):
            guard texts.allSatisfy(script.readsAlike) else {
                throw JustProblem("`\(name)` may have quotes or other characters of the shell")
            }
            script.append(variable: environmentName(of: name))
        case .unknown: throw JustProblem("what `\(name)` is could not be converted")
        case nil:
            guard let text = JustConstants.values[name] else {
                throw JustProblem("what `\(name)` is could not be converted")
            }
            script.append(text)
        }
    }

    private static func spelling(of part: JustValue.Part) -> String {
        switch part {
        case .call(let name, let arguments):
            "\(name)(\(arguments.map { $0.literal.map { "'\($0)'" } ?? "…" }.joined(separator: ", ")))"
        default: "{{…}}"
        }
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
