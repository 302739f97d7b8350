internal import Workflow

// The scripts that read the variables of a Taskfile.
extension TaskVariables {
    /// Converts a command to a shell script.
    func script(_ text: String, depth: Int = 0) throws(TaskProblem) -> String {
        let pieces = TaskTemplate.pieces(of: text.trimmed)
        if pieces.count == 1, case .choice(let choice)? = pieces.first, known(choice, depth: depth) == nil {
            return try script(text, over: decided(choice.condition, depth: depth), depth: depth)
        }
        do throws(TaskProblem) {
            return try plainScript(text, depth: depth)
        } catch {
            // One command for each branch, in which a shell reads the quotes of the values.
            guard let condition = error.condition, assumptions[condition] == nil, assumptions.count < 3 else {
                throw error
            }
            return try script(text, over: condition, depth: depth)
        }
    }

    /// A command for each truth of a condition.
    private func script(_ text: String, over condition: TaskExpression, depth: Int) throws(TaskProblem) -> String {
        let test = try condition.test { name throws(TaskProblem) in try word(of: name, depth: depth) }
        guard let test else { throw TaskProblem("a script has nothing like the condition of `\(text.trimmed)`") }
        var (yes, no) = (self, self)
        (yes.assumptions[condition], no.assumptions[condition]) = (true, false)
        let (value, otherwise) = (try yes.script(text, depth: depth), try no.script(text, depth: depth))
        if value.isBlank { return otherwise.isBlank ? "" : "\(test) || {\n\(otherwise)\n}" }
        let other = otherwise.isBlank ? "" : "else\n\(otherwise)\n"
        return "if \(test); then\n\(value)\n\(other)fi"
    }

    /// A variable for the inside of double quotes.
    private func word(of name: String, depth: Int) throws(TaskProblem) -> String {
        if name == Self.unreadable { throw TaskProblem("a function of texts gets what nothing sets") }
        if case .text(let text)? = values[name], template(text) == nil { return try quoted(text, depth: depth + 1) }
        var text = ShellText()
        text.append("\"")
        try append(expression: ".\(name)", to: &text, depth: depth)
        return String(text.finish().dropFirst())
    }

    /// A text for the inside of double quotes.
    func quoted(_ text: String, depth: Int = 0) throws(TaskProblem) -> String {
        guard depth < Self.depthLimit else { throw TaskProblem("a variable is defined by itself") }
        var result = ""
        for piece in TaskTemplate.pieces(of: text) {
            switch piece {
            case .text(let text): result += TaskExpression.inQuotes(text)
            case .choice(let choice):
                if let known = known(choice, depth: depth) {
                    result += try quoted(known, depth: depth + 1)
                } else {
                    result += "$(\(try chosen(choice, depth: depth)))"
                }
            case .expression(let expression):
                if let known = literal("{{\(expression)}}", depth: depth + 1) {
                    result += TaskExpression.inQuotes(known)
                    continue
                }
                var script = ShellText()
                script.append("\"")
                try append(expression: expression, to: &script, depth: depth)
                let word = script.finish().dropFirst()
                let isBare = word.dropFirst().allSatisfy(\.isVariableCharacter) && word.first == "$"
                result += isBare ? "${\(word.dropFirst())}" : word
            }
        }
        return result
    }

    /// A command that prints the chosen branch.
    private func chosen(_ choice: TaskChoice, depth: Int) throws(TaskProblem) -> String {
        let condition = decided(choice.condition, depth: depth)
        let test = try condition.test { name throws(TaskProblem) in try self.word(of: name, depth: depth) }
        guard let test else { throw TaskProblem("a script has nothing like the condition of `{{if …}}`") }
        func word(_ branch: String) throws(TaskProblem) -> String {
            if let literal = literal(branch, depth: depth + 1) { return shellWord(literal) }
            return "\"\(try quoted(branch, depth: depth + 1))\""
        }
        let other = choice.otherwise.isEmpty ? "" : " else printf %s \(try word(choice.otherwise));"
        return "if \(test); then printf %s \(try word(choice.value));\(other) fi"
    }

    private func plainScript(_ text: String, depth: Int) throws(TaskProblem) -> String {
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
    func sharedScript(_ command: String, hasExports: Bool = true) -> String? {
        // Without the arguments of a task.
        var own = self
        own.isInVars = true
        guard let text = try? own.script(command), let exports = try? own.exports(for: command) else { return nil }
        let script = ((hasExports ? exports : []) + [text]).joined(separator: "\n")
        guard !script.contains("$@"), !script.contains("$*") else { return nil }
        return script.contains("$ROOT_DIR") || script.contains("${ROOT_DIR}") ? "ROOT_DIR=$PWD\n\(script)" : script
    }

    /// Lines that export the variables so far, which Task gives to the commands of variables, and to no others.
    func exports(for command: String) throws(TaskProblem) -> [String] {
        let read = ShellWords.names(readIn: command)
        var lines: [String] = []
        for name in values.keys.sorted() where environmentName(of: name) != name {
            guard read.contains(name) || ShellWords.areOfPrograms(name), VariableName.isValid(name) else { continue }
            lines.append("export \(name)=\"\(try quoted("{{.\(name)}}"))\"")
        }
        return lines
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
        let texts = texts(choice.value) + texts(choice.otherwise)
        guard texts.allSatisfy(TaskChoice.isPlain) else {
            throw TaskProblem(
                "the branches of `{{if …}}` have templates, quotes or other characters of the shell",
                over: decided(choice.condition, depth: depth))
        }
        script.append(output: try chosen(choice, depth: depth))
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
            let value = TaskTemplate.expression(expression).map { decided($0, depth: depth) }
            if let literal = value?.literal { return script.append(literal) }
            if value == .variable(Self.unreadable) {
                throw TaskProblem("a script has nothing like `{{\(expression)}}`, where nothing sets the variable")
            }
            let word = try value?.word { name throws(TaskProblem) in try self.word(of: name, depth: depth) }
            guard let word else { throw TaskProblem("a script has nothing like `{{\(expression)}}`") }
            for text in value?.texts ?? [] where !script.readsAlike(text) {
                throw TaskProblem("`{{\(expression)}}` may have quotes or other characters of the shell")
            }
            script.append(word: word)
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
            guard assumptions.isEmpty || literal(text) == nil else {
                return try append(text, to: &script, depth: depth + 1)
            }
            guard let template = template(text), Self.isName(environmentName(of: name)),
                !isInVars || !template.contains("vars.")
            else {
                return try append(text, to: &script, depth: depth + 1)
            }
            if let value = literal(text) { return script.append(variable: environmentName(of: name), value: value) }
            guard texts(text).allSatisfy(script.readsAlike) else {
                guard let condition = firstCondition(in: text) else {
                    return try append(text, to: &script, depth: depth + 1)
                }
                throw TaskProblem("`\(name)` may have quotes or other characters of the shell", over: condition)
            }
            script.append(variable: environmentName(of: name))
        case .param(let substitute): try append(name, or: substitute, to: &script)
        case .shell: script.append(variable: name)
        case .shared: script.append(variable: environmentName(of: name))
        case .template(_, let texts):
            guard texts.allSatisfy(script.readsAlike) else {
                throw TaskProblem("`\(name)` may have quotes or other characters of the shell")
            }
            script.append(variable: environmentName(of: name))
        case .command: throw TaskProblem("the command of `\(name)` runs once, before the task")
        case .unknown, .list: throw TaskProblem("what `\(name)` is could not be converted")
        case nil:
            switch name {
            case TaskExpression.processor: script.append(variable: name)
            case "TASK": script.append(task ?? "")
            case "ROOT_DIR", "TASKFILE_DIR":
                // One of `vars`, whose commands run in the folder of the file, if this does not.
                script.append(variable: isElsewhere ? "TASK_ROOT_DIR" : "ROOT_DIR")
                if name == "TASKFILE_DIR", !folder.isEmpty { script.append("/\(folder)") }
            case "USER_WORKING_DIR": script.append(variable: "FLOWRUN_INVOCATION_DIR")
            default:
                guard Self.isName(name), !Self.special.contains(name) else {
                    throw TaskProblem("there is no `{{.\(name)}}` here")
                }
                if let doubt { throw TaskProblem(doubt) }
                // Task also takes it from the environment.
                script.append(variable: name)
            }
        }
    }
}
