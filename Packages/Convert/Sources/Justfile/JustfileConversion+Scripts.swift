// The scripts of recipes.
extension JustfileConversion {
    func script(
        of recipe: JustRecipe, arguments: [String]?, _ step: inout StepDraft
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
                guard recipe.parameters.isEmpty, let literal = variables.literal(text) else {
                    throw JustProblem("only a shell can read values")
                }
                body = literal
            }
        } else {
            lines = []
            body = ShellCommand.script(try commands(of: recipe, local))
        }
        let readsPosition = body.contains { $0 == "$" } && Self.readsPosition(body)
        var prelude = try prelude(recipe.parameters, arguments, isPositional, readsPosition: readsPosition)
        prelude += lines
        if (prelude + [body]).contains(where: {
            $0.contains("$justfile_directory") || $0.contains("${justfile_directory}")
        }) {
            guard !hasOtherFolder, !step.settings.contains(where: { $0.key == "working-directory" }) else {
                throw JustProblem("it runs in another folder than that of the file, and needs both")
            }
            prelude.insert("justfile_directory=$PWD", at: 0)
        }
        if recipe.attributes.contains("no-cd") { prelude.append("cd \"$FLOWRUN_INVOCATION_DIR\"") }
        return ((shebang.map { [$0] } ?? []) + prelude + (body.isEmpty ? [] : [body])).joined(separator: "\n")
    }

    private func commands(
        of recipe: JustRecipe, _ local: [String: JustVariables.Local]
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
    private func locals(
        of recipe: JustRecipe, _ given: [String]?
    ) throws(JustProblem) -> [String: JustVariables.Local] {
        var local: [String: JustVariables.Local] = [:]
        let single = recipe.parameters.count { $0.mark == nil }
        for (index, parameter) in recipe.parameters.enumerated() {
            let isRest = parameter.mark != nil
            let text = parameter.defaultValue.flatMap { JustExpression.value(of: $0) }
                .flatMap { variables.resolved($0, local: local) }?.texts.first
            var value = JustVariables.Local(isRest: isRest, text: text ?? (parameter.defaultValue == nil ? nil : "x"))
            if let given, isRest || index < given.count {
                let rest = given.dropFirst(single).joined(separator: " ")
                let isGiven = !isRest || given.count > single
                if isGiven {
                    value = JustVariables.Local(isRest: isRest, text: isRest ? rest : given[index], isFixed: true)
                }
            }
            local[parameter.name] = value
        }
        return local
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
        if isPositional, readsPosition {
            guard parameters.allSatisfy({ $0.defaultValue == nil }) else {
                throw JustProblem("a default is an argument of the script as well")
            }
            if let given { lines.append("set -- \(given.map(shellWord).joined(separator: " "))") }
        }
        if given == nil, rest == nil {
            let message = "expected \(single.map(\.name).enumerated) and no more arguments"
            lines.append("[ $# -le \(single.count) ] || { echo '\(message)' >&2; exit 1; }")
        }
        for (index, parameter) in single.enumerated() {
            defer { local[parameter.name] = JustVariables.Local() }
            let name = JustVariables.shellName(parameter.name)
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
        guard let rest else { return lines + (readsPosition && !isPositional && given == nil ? ["set --"] : []) }
        let name = JustVariables.shellName(rest.name)
        let export = rest.isExported || exportsAll ? "export " : ""
        let count = single.count
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
