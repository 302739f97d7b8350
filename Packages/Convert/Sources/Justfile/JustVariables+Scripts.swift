// The scripts that read the variables of a justfile.
extension JustVariables {
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
            case .environment(let variable, let substitute?) where substitute.hasCommand:
                // just asks the command in any case.
                let name = "part\(lines.count + 1)"
                lines.append("\(name)=$(\(try printing(substitute, local: local).joined(separator: "\n")))")
                text += "${\(variable)-$\(name)}"
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
                case .environment(_, let substitute): substitute?.hasCommand ?? false
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
            var text = ""
            for part in substitute.parts { text += try word(part, local: local) }
            guard !substitute.texts.contains(where: { $0.contains("}") }) else {
                throw JustProblem("the default of `\(name)` has a brace")
            }
            return "${\(name)-\(text)}"
        case .choice: return "$(\(try printing(JustValue(parts: [part]), local: local).joined(separator: "\n")))"
        case .folder: return "${justfile_directory}"
        case .invocation: return "$FLOWRUN_INVOCATION_DIR"
        case .call(let name, _): throw JustProblem("a script has nothing like `\(name)()`")
        case .variable(let name):
            if let local = local[name] { return "${\(local.name)}" }
            switch places[name] {
            case .env, .shared: return "${\(key(of: name))}"
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

    /// Converts a text with `{{…}}` in it to one word of a shell, which is that text.
    func quoted(
        _ text: String, local: [String: Local], before: inout [String]
    ) throws(JustProblem) -> String {
        guard let value = JustExpression.formatted(text) else {
            throw JustProblem("a script has nothing like `\(text.trimmed)`")
        }
        return try word(of: value, local: local, before: &before)
    }

    /// A value as one word of a shell. What a command determines is put into a variable first.
    func word(
        of value: JustValue, local: [String: Local], before: inout [String]
    ) throws(JustProblem) -> String {
        guard let value = resolved(value, local: local) else {
            throw JustProblem("what `\(value.parts.map(Self.spelling).joined())` is could not be converted")
        }
        if let literal = value.literal { return shellWord(literal) }
        if value.hasCommand {
            let name = "value\(before.count + 1)"
            before.append("\(name)=$(\(try printing(value, local: local).joined(separator: "\n")))")
            return "\"$\(name)\""
        }
        var text = ""
        for part in value.parts { text += try word(part, local: local) }
        return "\"\(text)\""
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
        if case .call("quote", let arguments) = part, script.isOutsideQuotes,
            resolved(JustValue(parts: [part]), local: local) == nil
        {
            // One word, whatever is in it.
            return script.append(
                word: try word(of: arguments[0], local: local, before: &before))
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
            if local.isFixed { return script.append(variable: local.name, value: local.text) }
            guard local.text.map(script.readsAlike) ?? true else {
                throw JustProblem("the default of `\(name)` has characters that a shell would read here")
            }
            return script.append(variable: local.name)
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
