internal import Workflow

// The scripts of recipes.
extension JustfileConversion {
    /// `before` are lines that run before the recipe's own, with its parameters.
    func script(
        of recipe: JustRecipe, arguments: [String]?, before: [String], _ step: inout StepDraft
    ) throws(JustProblem) -> String {
        let isPositional = passesArguments || recipe.attributes.contains("positional-arguments")
        let local = try locals(of: recipe, arguments)
        let shebang = recipe.body.first.flatMap { $0.hasPrefix("#!") ? $0 : nil }
        var lines: [String]
        let body: String
        if let shebang {
            guard let command = Interpreter.command(ofFirstLine: shebang) else {
                throw JustProblem("`\(shebang)` takes no script as an argument")
            }
            step.set("shell", .texts(command))
            let text = recipe.body.dropFirst().joined(separator: "\n")
            lines = []
            if Interpreter.isShell(command[0]) {
                body = try variables.script(text, local: local, before: &lines)
                if ShellShape(body).leavesProcess { throw JustProblem("`&` leaves a process when the step has ended") }
                for name in ["$0", "BASH_SOURCE"] where text.contains(name) {
                    throw JustProblem("`\(name)` is the path of a file that just writes")
                }
            } else {
                guard recipe.parameters.isEmpty, before.isEmpty, let literal = variables.literal(text) else {
                    throw JustProblem("only a shell can read values")
                }
                body = literal
            }
        } else {
            lines = []
            body = ShellCommand.script(try commands(of: recipe, local, isPositional))
        }
        let readsPosition = body.contains { $0 == "$" } && Self.readsPosition(body)
        if isPositional, body.contains("$0") || body.contains("${0}") {
            throw JustProblem("`$0` is the name of the recipe")
        }
        var prelude = try prelude(recipe.parameters, arguments, isPositional, readsPosition: readsPosition)
        prelude += before + lines
        if (prelude + [body]).contains(where: {
            $0.contains("$justfile_directory") || $0.contains("${justfile_directory}")
        }) {
            var head = ["justfile_directory=$PWD"]
            // Begins in the folder of the file, to know it.
            if let folder = step.folder ?? otherFolder {
                step.settings.removeAll { $0.key == "working-directory" }
                if otherFolder != nil { step.set("working-directory", .text(".")) }
                head.append("cd \(shellWord(folder)) || exit")
            }
            prelude = head + prelude
        }
        if recipe.attributes.contains("no-cd") { prelude.append("cd \"$FLOWRUN_INVOCATION_DIR\"") }
        return ((shebang.map { [$0] } ?? []) + prelude + (body.isEmpty ? [] : [body])).joined(separator: "\n")
    }

    private func commands(
        of recipe: JustRecipe, _ local: [String: JustVariables.Local], _ isPositional: Bool
    ) throws(JustProblem) -> [ShellCommand] {
        var commands: [ShellCommand] = []
        for line in recipe.body where !line.isBlank {
            if ignoresComments, line.hasPrefix("#") { continue }
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
            var before: [String] = []
            if let otherShell {
                var words = otherShell.map(shellWord)
                let parts = String(text).split(separator: "\\\n", omittingEmptySubsequences: false)
                let joined = parts[0] + parts.dropFirst().map { $0.drop(while: \.isWhitespace) }.joined()
                words.append(try variables.quoted(String(joined), local: local, before: &before))
                if isPositional { words += [recipe.name, "\"$@\""] }
                commands += before.map { ShellCommand(text: $0, isShared: true) }
                commands.append(ShellCommand(text: words.joined(separator: " "), isTolerated: isTolerated))
                continue
            }
            let script = try variables.script(String(text), local: local, before: &before)
            if ShellShape(script).leavesProcess { throw JustProblem("`&` leaves a process when the step has ended") }
            commands += before.map { ShellCommand(text: $0, isShared: true) }
            commands.append(ShellCommand(text: script, isTolerated: isTolerated, isStrict: isStrict))
        }
        return commands
    }

    /// True if a script reads its arguments by their positions.
    private static func readsPosition(_ script: String) -> Bool {
        let names = ShellWords.names(readIn: script)
        return names.contains { $0.first?.isNumber == true && $0 != "0" }
            || ["$@", "$*", "$#", "${@", "${*", "${#}"].contains(where: script.contains)
    }

    // MARK: - Parameters

    /// The values that a recipe's parameters are known to have.
    func locals(
        of recipe: JustRecipe, _ given: [String]?
    ) throws(JustProblem) -> [String: JustVariables.Local] {
        var local: [String: JustVariables.Local] = [:]
        let single = recipe.parameters.count { $0.mark == nil }
        for (index, parameter) in recipe.parameters.enumerated() {
            let isRest = parameter.mark != nil
            let text = parameter.defaultValue.flatMap { JustExpression.value(of: $0) }
                .flatMap { variables.resolved($0, local: local) }?.texts.first
            let name = self.name(of: parameter)
            if name == JustVariables.shellName(parameter.name), VariableName.isListenedTo(name) {
                throw JustProblem("programs listen to its parameter `\(name)`")
            }
            var value = JustVariables.Local(name: name, text: text ?? (parameter.defaultValue == nil ? nil : "x"))
            if let given, isRest ? given.count > single : index < given.count {
                let text = isRest ? given.dropFirst(single).joined(separator: " ") : given[index]
                value = JustVariables.Local(name: name, text: text, isFixed: true)
            }
            local[parameter.name] = value
        }
        return local
    }

    /// The name of a parameter in the script. One that just gives to no program must not be one that they know.
    func name(of parameter: JustRecipe.Parameter) -> String {
        parameter.isExported || exportsAll
            ? JustVariables.shellName(parameter.name) : variables.hiddenName(of: parameter.name)
    }

    /// Gives the recipe's parameters their values: the arguments of the script, or those from another recipe.
    private func prelude(
        _ parameters: [JustRecipe.Parameter], _ given: [String]?, _ isPositional: Bool, readsPosition: Bool
    ) throws(JustProblem) -> [String] {
        guard !parameters.isEmpty else { return [] }
        var lines: [String] = []
        var local: [String: JustVariables.Local] = [:]
        let single = parameters.filter { $0.mark == nil }
        let rest = parameters.first { $0.mark != nil }
        // A default is an argument as well.
        let resetsPosition = isPositional && readsPosition && parameters.contains { $0.defaultValue != nil }
        if isPositional, readsPosition, let given {
            lines.append("set -- \(given.map(shellWord).joined(separator: " "))")
        }
        if given == nil, rest == nil {
            let message = "expected \(single.map(\.name).enumerated) and no more arguments"
            lines.append("[ $# -le \(single.count) ] || { echo '\(message)' >&2; exit 1; }")
        }
        for (index, parameter) in single.enumerated() {
            let name = self.name(of: parameter)
            defer { local[parameter.name] = JustVariables.Local(name: name) }
            let export = parameter.isExported || exportsAll ? "export " : ""
            if let given, index < given.count {
                lines.append("\(export)\(name)=\(shellWord(given[index]))")
                continue
            }
            var value = "${\(index + 1):?\(name) is missing}"
            if let text = parameter.defaultValue {
                value = try word(text, of: parameter, local)
                if given == nil { value = "${\(index + 1)-\(value)}" }
            } else if given != nil {
                throw JustProblem("`\(parameter.name)` is missing")
            }
            lines.append("\(export)\(name)=\"\(value)\"")
        }
        let all = single.map { "\"$\(self.name(of: $0))\"" }
        guard let rest else {
            if resetsPosition { lines.append("set -- \(all.joined(separator: " "))") }
            return lines + (readsPosition && !isPositional && given == nil ? ["set --"] : [])
        }
        let name = self.name(of: rest)
        let export = rest.isExported || exportsAll ? "export " : ""
        let count = single.count
        if resetsPosition {
            let (words, value) = (
                all.joined(separator: " "),
                try rest.defaultValue.map { text throws(JustProblem) in
                    try word(text, of: rest, local)
                }
            )
            if let given {
                let others = given.dropFirst(count)
                let text = others.isEmpty ? "\"\(value ?? "")\"" : shellWord(others.joined(separator: " "))
                lines.append("\(export)\(name)=\(text)")
                let own = others.isEmpty && value != nil ? ["\"$\(name)\""] : others.map(shellWord)
                return lines + ["set -- \((all + own).joined(separator: " "))"]
            }
            if count > 0 { lines.append("shift $(( $# < \(count) ? $# : \(count) ))") }
            if let value { lines.append("[ $# -gt 0 ] || set -- \"\(value)\"") }
            return lines + ["\(export)\(name)=\"$*\"", "set -- \(words) \"$@\""]
        }
        if let given, given.count > count {
            lines.append("\(export)\(name)=\(shellWord(given.dropFirst(count).joined(separator: " ")))")
            return lines
        }
        let value = try rest.defaultValue.map { text throws(JustProblem) in try word(text, of: rest, local) } ?? ""
        if rest.mark == "+", rest.defaultValue == nil {
            if given != nil { throw JustProblem("`\(rest.name)` is missing") }
            lines.append(": \"${\(count + 1)?\(rest.name) is missing}\"")
        }
        guard given == nil else { return lines + ["\(export)\(name)=\"\(value)\""] }
        let shift = count > 0 ? "shift $(( $# < \(count) ? $# : \(count) ))" : nil
        if isPositional, readsPosition, let shift {
            lines.append("\(export)\(name)=$(\(shift); printf %s \"$*\")")
        } else {
            lines += [shift].compactMap { $0 }
            lines.append("\(export)\(name)=\"\(value.isEmpty ? "$*" : "${*:-\(value)}")\"")
            if readsPosition, !isPositional { lines.append("set --") }
        }
        return lines
    }

    /// Returns a default for the inside of double quotes.
    private func word(
        _ text: String, of parameter: JustRecipe.Parameter, _ local: [String: JustVariables.Local]
    ) throws(JustProblem) -> String {
        guard let value = JustExpression.value(of: text).flatMap({ variables.resolved($0, local: local) }) else {
            throw JustProblem("the default of `\(parameter.name)` is computed")
        }
        var word = ""
        for part in value.parts { word += try variables.word(part, local: local) }
        guard !value.texts.contains(where: { $0.contains("}") }) else {
            throw JustProblem("the default of `\(parameter.name)` has a brace")
        }
        return word
    }
}

extension StepDraft {
    /// The folder in which it runs, if it is not that of the file.
    fileprivate var folder: String? {
        let value = settings.first { $0.key == "working-directory" }?.value
        return if case .text(let text)? = value { text } else { nil }
    }
}
