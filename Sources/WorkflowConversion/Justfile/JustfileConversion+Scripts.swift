// The scripts of recipes.
extension JustfileConversion {
    func script(
        of recipe: JustRecipe, arguments: String?, _ step: inout StepDraft
    ) throws(JustProblem) -> String {
        var local: [String: Character?] = [:]
        for parameter in recipe.parameters { local[parameter.name] = .some(parameter.mark) }
        let shebang = recipe.body.first.flatMap { $0.hasPrefix("#!") ? $0 : nil }
        var body: String
        if let shebang {
            guard let command = Interpreter.command(ofFirstLine: shebang) else {
                throw JustProblem("`\(shebang)` takes no script as an argument")
            }
            step.set("shell", .texts(command))
            let text = recipe.body.joined(separator: "\n")
            if Interpreter.isShell(command[0]) {
                body = try variables.script(text, local: local)
            } else {
                guard !text.contains("{{"), recipe.parameters.isEmpty else {
                    throw JustProblem("only a shell can read values")
                }
                body = text
            }
        } else {
            var commands: [ShellCommand] = []
            for line in recipe.body where !line.isBlank {
                var text = line[...]
                var isTolerated = false
                while let mark = text.first, mark == "@" || mark == "-" {
                    if mark == "-" { isTolerated = true }
                    text.removeFirst()
                }
                let words = text.words
                if words.first == "just", words.count == 2, ["--list", "-l"].contains(words[1]) {
                    text = "flowrun list"
                }
                commands.append(
                    ShellCommand(text: try variables.script(String(text), local: local), isTolerated: isTolerated))
            }
            body = ShellCommand.script(commands)
        }
        let prelude = try prelude(recipe.parameters, arguments)
        guard !prelude.isEmpty else { return body }
        guard shebang == nil else {
            let lines = body.cut(at: "\n")
            return ([lines?.before ?? body] + prelude + [lines?.after ?? ""]).joined(separator: "\n")
        }
        return (prelude + (body.isEmpty ? [] : [body])).joined(separator: "\n")
    }

    /// Gives the recipe's parameters their values: the arguments of the script, or those from another recipe.
    private func prelude(_ parameters: [JustRecipe.Parameter], _ given: String?) throws(JustProblem) -> [String] {
        guard !parameters.isEmpty else { return [] }
        var lines: [String] = []
        let values = given.map { JustExpression.values(of: $0)?.compactMap(\.literal) ?? [] }
        let single = parameters.filter { $0.mark == nil }
        if let values {
            lines += [values.dropFirst(single.count)].filter { !$0.isEmpty }.map {
                "set -- \($0.map(shellWord).joined(separator: " "))"
            }
        }
        for (index, parameter) in single.enumerated() {
            let name = JustVariables.shellName(parameter.name)
            let export = parameter.isExported ? "export " : ""
            if let values, index < values.count {
                lines.append("\(export)\(name)=\(shellWord(values[index]))")
                continue
            }
            let value: String
            if let text = parameter.defaultValue {
                guard let parsed = JustExpression.value(of: text) else {
                    throw JustProblem("the default of `\(parameter.name)` is computed")
                }
                value = "${\(index + 1)-\(try word(parsed))}"
            } else {
                value = "${\(index + 1):?\(name) is missing}"
            }
            lines.append("\(export)\(name)=\"\(value)\"")
        }
        if let rest = parameters.first(where: { $0.mark != nil }) {
            let count = single.count
            if count > 0, given == nil { lines.append("shift $(( $# < \(count) ? $# : \(count) ))") }
            if let text = rest.defaultValue {
                guard let value = JustExpression.value(of: text) else {
                    throw JustProblem("the default of `\(rest.name)` is computed")
                }
                // As in the recipe, where the text is not in quotes.
                let literal = value.literal?.words.map(shellWord).joined(separator: " ")
                let words = if let literal { literal } else { "\"\(try word(value))\"" }
                if !words.isEmpty { lines.append("[ $# -gt 0 ] || set -- \(words)") }
            } else if rest.mark == "+" {
                lines.append(": \"${1:?\(rest.name) is missing}\"")
            }
        }
        return lines
    }

    /// Returns a value for the inside of double quotes.
    private func word(_ value: JustValue) throws(JustProblem) -> String {
        var text = ""
        for part in value.parts {
            switch part {
            case .text(let literal):
                for character in literal { text += "\"\\$`".contains(character) ? "\\\(character)" : "\(character)" }
            case .output(let command): text += "$(\(command))"
            case .environment(let name, nil): text += "${\(name):?}"
            case .environment(let name, let substitute?): text += "${\(name)-\(substitute)}"
            case .choice(let choice): text += "$(\(try variables.command(for: choice, local: [:])))"
            case .variable(let name):
                guard variables.entry(of: name) != nil else { throw JustProblem("the default `\(name)` is computed") }
                text += "${\(JustVariables.shellName(name))}"
            }
        }
        return text
    }
}
