/// Converts a justfile: each recipe becomes a step.
struct JustfileConversion {
    private let source: SourceLines
    private let statements: [JustStatement]
    private let variables: JustVariables
    private var draft = WorkflowDraft()
    private var ids = StepIDs()
    private var recipes: [Recipe] = []
    /// Recipes that others need with arguments, each a step of its own.
    private var copies: [JustRecipe.Dependency] = []
    /// Comments above the steps that belong to none of them.
    private var notes: [String] = []
    private var dotenv: [String] = []
    private var isDotenvOptional = true
    private var passesArguments = false

    private struct Recipe {
        let recipe: JustRecipe
        let statement: JustStatement
        let id: String
    }

    static func draft(of source: SourceLines) -> WorkflowDraft {
        var conversion = JustfileConversion(source)
        conversion.convert()
        return conversion.draft
    }

    private init(_ source: SourceLines) {
        self.source = source
        statements = JustReader.statements(of: source)
        variables = JustVariables(statements)
    }

    private mutating func convert() {
        draft.settings = [YAMLEntry("defaults", .inline([YAMLEntry("shell", .texts(["sh", "-euc"]))]))]
        draft.head = ["Steps that do not need one another run at the same time; just runs one after the other."]
        var aliases: [StepDraft] = []
        for statement in statements {
            switch statement.content {
            case .blank, .comment: break
            case .setting(let name, let value): set(name, value, statement)
            case .assignment(let name, _, let isExported): add(name, isExported, statement)
            case .recipe(let recipe):
                // A recipe may be written once for each platform.
                let number = recipes.count { $0.recipe.name == recipe.name }
                let id = ids.id(for: number == 0 ? recipe.name : "\(recipe.name) \(number + 1)")
                recipes.append(Recipe(recipe: recipe, statement: statement, id: id))
            case .alias(let name, let target):
                var step = StepDraft(name, .milestone, origin: statement.origin)
                step.needs = [target]
                aliases.append(step)
            case .other: notes += source.comment(above: statement.line) + statement.origin.comments("not converted")
            }
        }
        draft.settings[0].comments = notes + draft.settings[0].comments
        addSteps()
        for var alias in aliases {
            let targets = recipes.filter { $0.recipe.name == alias.needs[0] }.map(\.id)
            guard !targets.isEmpty else {
                draft.tail += alias.origin.comments("not converted: there is no such recipe")
                continue
            }
            alias.id = ids.id(for: alias.id)
            alias.needs = targets
            draft.steps.append(alias)
        }
        if !dotenv.isEmpty {
            let files = dotenv.map { YAMLEntry("path", .text($0)) }
            let values = files.map { file in
                YAMLValue.inline(isDotenvOptional ? [file, YAMLEntry("optional", .word("true"))] : [file])
            }
            draft.settings.insert(YAMLEntry("dotenv", values.count == 1 ? values[0] : .list(values)), at: 0)
        }
        let marked = recipes.first { $0.recipe.attributes.contains("default") } ?? recipes.first
        if let marked { draft.defaultSteps = [marked.id] }
    }

    // MARK: - Settings and variables

    private mutating func set(_ name: String, _ value: String, _ statement: JustStatement) {
        switch name {
        case "shell":
            let words = JustExpression.values(of: String(value.dropFirst().dropLast()))?.compactMap(\.literal) ?? []
            guard value.hasPrefix("["), let program = words.first else {
                notes += statement.origin.comments("not converted")
                return
            }
            let stops = Interpreter.isShell(program) ? words.prefix(1) + ["-e"] + words.dropFirst() : words[...]
            let comments = source.comment(above: statement.line)
            draft.settings[0] = YAMLEntry(
                "defaults", .inline([YAMLEntry("shell", .texts(Array(stops)))]), comments: comments)
        case "dotenv-load" where value != "false": dotenv = dotenv.isEmpty ? [".env"] : dotenv
        case "dotenv-filename", "dotenv-path":
            guard let file = JustExpression.value(of: value)?.literal else { fallthrough }
            dotenv = [file]
        case "dotenv-required" where value != "false": isDotenvOptional = false
        case "positional-arguments" where value != "false": passesArguments = true
        default: notes += statement.origin.comments("not converted")
        }
        if name == "positional-arguments" {
            notes += statement.origin.comments("scripts have their arguments in $1, $2, …")
        }
    }

    private mutating func add(_ name: String, _ isExported: Bool, _ statement: JustStatement) {
        let comments = source.comment(above: statement.line)
        if let script = variables.sharedScripts[name] {
            let run = YAMLEntry("run", .text(script))
            draft.vars.append(YAMLEntry(JustVariables.shellName(name), .inline([run]), comments: comments))
            return
        }
        guard let value = variables.entry(of: name) else {
            let reason = "written out where a script reads it"
            notes += comments + statement.origin.comments(isExported ? "\(reason), not in the environment" : reason)
            return
        }
        draft.env.append(YAMLEntry(JustVariables.shellName(name), .text(value), comments: comments))
    }

    // MARK: - Recipes

    private mutating func addSteps() {
        for recipe in recipes { draft.steps.append(step(recipe, id: recipe.id, arguments: nil)) }
        var index = 0
        // Copies may need further ones.
        while index < copies.count, copies.count < 1000 {
            let copy = copies[index]
            index += 1
            guard let recipe = recipes.first(where: { $0.recipe.name == copy.name }) else { continue }
            var step = step(recipe, id: ids.id(for: "\(copy.name) \(copy.arguments)"), arguments: copy.arguments)
            step.name = "\(copy.name) \(copy.arguments)"
            draft.steps.append(step)
        }
    }

    private mutating func step(_ known: Recipe, id: String, arguments: String?) -> StepDraft {
        let (recipe, statement) = (known.recipe, known.statement)
        var step = StepDraft(id, .milestone, origin: statement.origin)
        let comment = source.comment(above: statement.line)
        if comment.count == 1, comment[0].count < 80 { step.description = comment[0] } else { step.comments = comment }
        if !recipe.parameters.isEmpty, arguments == nil {
            step.notes.append("arguments: \(recipe.parameters.map(\.spelling).joined(separator: " "))")
        }
        var problem: String?
        step.needs = recipe.needs.flatMap { need in self.ids(of: need) { problem = problem ?? $0 } }.unique
        if !recipe.followers.isEmpty {
            let names = recipe.followers.map(\.name).enumerated
            problem = problem ?? "what runs after a step needs it: add it to `needs` of \(names)"
        }
        for attribute in recipe.attributes { apply(attribute, to: &step) { problem = problem ?? $0 } }
        do throws(JustProblem) {
            if let problem { throw JustProblem(problem) }
            let body = try script(of: recipe, arguments: arguments, &step)
            if !body.isEmpty || step.needs.isEmpty { step.body = .script(body.isEmpty ? ":" : body) }
        } catch {
            step.giveUp(error.reason)
        }
        return step
    }

    private mutating func ids(of need: JustRecipe.Dependency, problem: (String) -> Void) -> [String] {
        guard recipes.contains(where: { $0.recipe.name == need.name }) else {
            problem("there is no recipe `\(need.name)` here")
            return []
        }
        guard need.arguments.isEmpty else {
            guard JustExpression.values(of: need.arguments)?.allSatisfy({ $0.literal != nil }) == true else {
                problem("the arguments of `\(need.name)` are computed")
                return []
            }
            if !copies.contains(need) { copies.append(need) }
            return [ids.id(for: "\(need.name) \(need.arguments)")]
        }
        return recipes.filter { $0.recipe.name == need.name }.map(\.id)
    }

    private func apply(_ attribute: String, to step: inout StepDraft, problem: (String) -> Void) {
        let name = String(attribute.prefix { $0.isIDCharacter })
        let rest = attribute.dropFirst(name.count).trimmed
        let argument = rest.hasPrefix("(") ? rest.dropFirst().dropLast() : rest.hasPrefix(":") ? rest.dropFirst() : ""
        let text = JustExpression.value(of: String(argument))?.literal
        switch name {
        case "linux", "macos", "windows", "freebsd": addPlatforms([name], to: &step)
        case "unix": addPlatforms(["linux", "macos", "freebsd"], to: &step)
        case "doc" where text != nil: step.description = text
        case "working-directory" where text != nil: step.set("working-directory", .text(text ?? ""))
        case "confirm": step.set("confirm", .text(text ?? "Run \(step.id)?"))
        case "script": problem("the script of `[script]` has an interpreter of its own")
        case "default", "parallel", "positional-arguments": break
        default: step.notes.append("not converted: [\(attribute)]")
        }
    }

    private func addPlatforms(_ names: [String], to step: inout StepDraft) {
        if let index = step.settings.firstIndex(where: { $0.key == "platforms" }),
            case .list(let before) = step.settings[index].value
        {
            step.settings[index].value = .list((before.map(YAMLText.word) + names).unique.map(YAMLValue.text))
        } else {
            step.set("platforms", .texts(names))
        }
    }
}

extension YAMLText {
    fileprivate static func word(_ value: YAMLValue) -> String {
        if case .text(let text) = value { text } else { "" }
    }
}

// The scripts of recipes.
extension JustfileConversion {
    private func script(
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
