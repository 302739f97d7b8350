/// Converts a justfile: each recipe becomes a step.
struct JustfileConversion {
    private let folder: ForeignFolder
    private var statements: [JustStatement] = []
    private(set) var variables = JustVariables([], exportsAll: false, hasDotenv: false)
    var draft = WorkflowDraft()
    var ids = StepIDs()
    private(set) var recipes: [Recipe] = []
    /// Recipes that others need with arguments, each a step of its own.
    var copies: [Copy] = []
    /// The recipes that run as parts of steps, by the names of the steps, as often as they do.
    var parts: [String: [Part]] = [:]
    /// Comments above the steps that belong to none of them.
    private var notes: [String] = []
    private var dotenv: [String] = []
    private var isDotenvOptional = true
    private(set) var passesArguments = false
    private(set) var ignoresComments = false
    /// True if the shell of the file ends at the first failure inside of a line.
    private(set) var isStrict = false
    /// The shell of the steps.
    private(set) var shell = ["sh", "-euc"]
    /// The folder in which the file lets all recipes run; nil for its own.
    private(set) var otherFolder: String?
    /// The program that reads each line of the file, if it is no shell, and its options.
    private(set) var otherShell: [String]?
    var exportsAll: Bool { has("export") }
    /// The reason why no step can be trusted; nil if there is none.
    private var problem: String?

    struct Recipe {
        let recipe: JustRecipe
        let statement: JustStatement
        let id: String
    }

    /// A recipe that runs in the script of another one, with the arguments that are known.
    struct Part {
        let name: String
        let arguments: [String?]

        /// True if just may find that both are the same.
        func mayBe(_ other: Part) -> Bool {
            name == other.name
                && (arguments.count != other.arguments.count
                    || zip(arguments, other.arguments).allSatisfy { $0 == nil || $1 == nil || $0 == $1 })
        }
    }

    struct Copy: Equatable {
        let name: String
        let arguments: [String]
        let spelling: String
    }

    static func draft(of source: SourceLines, in folder: ForeignFolder) -> WorkflowDraft {
        var conversion = JustfileConversion(folder)
        conversion.read(source, folder: "", depth: 0)
        conversion.convert()
        return conversion.draft
    }

    private init(_ folder: ForeignFolder) { self.folder = folder }

    /// Reads a file and those that it imports, whose paths are relative to its own.
    private mutating func read(_ source: SourceLines, folder path: String, depth: Int) {
        for var statement in JustReader.statements(of: source) {
            statement.depth = depth
            guard case .importing(let name, let isOptional) = statement.content else {
                statements.append(statement)
                continue
            }
            let place = name.map { $0.hasPrefix("/") ? $0 : path + $0 }
            if let place, depth < 20, let imported = folder.source(place) {
                read(imported, folder: place.lastIndex(of: "/").map { String(place[...$0]) } ?? "", depth: depth + 1)
            } else if !isOptional || !folder.isKnown {
                let line = statement.origin.lines.last?.trimmed ?? "import"
                problem = problem ?? "`\(line)` was not read, and may define what this reads"
                notes += statement.origin.comments("not converted")
            } else {
                notes += statement.origin.comments("the file is not there")
            }
        }
    }

    /// True if the file has a setting, and does not switch it off.
    private func has(_ setting: String) -> Bool {
        statements.contains {
            if case .setting(let name, let value) = $0.content { name == setting && value != "false" } else { false }
        }
    }

    private mutating func convert() {
        draft.settings = [YAMLEntry("defaults", .inline([YAMLEntry("shell", .texts(shell))]))]
        draft.head = ["Steps that do not need one another run at the same time; just runs one after the other."]
        let hasDotenv = ["dotenv-load", "dotenv-filename", "dotenv-path", "dotenv-required"].contains(where: has)
        readShellAndFolder()
        variables = JustVariables(
            statements, exportsAll: exportsAll, hasDotenv: hasDotenv, folder: otherFolder,
            hasOtherShell: otherShell != nil)
        var aliases: [(name: String, target: String, statement: JustStatement)] = []
        for statement in statements {
            switch statement.content {
            case .blank, .comment, .importing: break
            case .setting(let name, let value): set(name, value, statement)
            case .assignment(let name, _, _): add(name, statement)
            case .recipe(let recipe): recipes.append(Recipe(recipe: recipe, statement: statement, id: ""))
            case .alias(let name, let target): aliases.append((name, target, statement))
            case .unexport(let name):
                notes += statement.origin.comments("not in the environment of the steps")
                draft.env.append(YAMLEntry(name, .word("null")))
            case .module:
                notes += statement.comment + statement.origin.comments("not converted: recipes of another file")
            case .other:
                let line = statement.origin.lines.first?.trimmed ?? ""
                problem = problem ?? "`\(line)` was not understood"
                notes += statement.comment + statement.origin.comments("not converted")
            }
        }
        choose()
        draft.settings[0].comments = notes + draft.settings[0].comments
        addSteps()
        for alias in aliases { add(alias.name, for: alias.target, alias.statement) }
        addDotenv()
        if recipes.contains(where: { !$0.recipe.parameters.isEmpty }) {
            draft.head.append("Arguments are variables of a script: no shell reads what is in them.")
        }
        let marked =
            recipes.first { $0.recipe.attributes.contains("default") } ?? recipes.first { $0.statement.depth == 0 }
        if let marked = marked ?? recipes.first { draft.defaultSteps = [marked.id] }
    }

    /// Chooses among recipes of one name: those for other systems than flowrun's are left out, and the last one of the
    /// file that is nearest counts.
    private mutating func choose() {
        let all = recipes
        recipes = []
        for (index, recipe) in all.enumerated() {
            let rivals = all.enumerated().filter { $0.element.recipe.name == recipe.recipe.name && $0.offset != index }
            func beats(_ other: (offset: Int, element: Recipe)) -> Bool {
                if other.element.recipe.isForLinux != recipe.recipe.isForLinux {
                    return other.element.recipe.isForLinux
                }
                if other.element.statement.depth != recipe.statement.depth {
                    return other.element.statement.depth < recipe.statement.depth
                }
                return other.offset > index
            }
            if rivals.contains(where: beats) {
                let reason = recipe.recipe.isForLinux ? "replaced by another one" : "for another system"
                draft.tail += recipe.statement.comment + recipe.statement.origin.comments(reason)
            } else {
                recipes.append(
                    Recipe(recipe: recipe.recipe, statement: recipe.statement, id: ids.id(for: recipe.recipe.name)))
            }
        }
    }

    private mutating func add(_ alias: String, for target: String, _ statement: JustStatement) {
        guard let recipe = recipes.first(where: { $0.recipe.name == target }) else {
            draft.tail += statement.origin.comments("not converted: there is no such recipe")
            return
        }
        let id = ids.id(for: alias)
        guard recipe.recipe.parameters.isEmpty else {
            // A step that is only needed gets no arguments.
            var step = step(recipe, id: id, arguments: nil)
            step.name = "\(target), as \(alias)"
            return draft.steps.append(step)
        }
        var step = StepDraft(id, .milestone, origin: statement.origin)
        step.needs = [recipe.id]
        draft.steps.append(step)
    }

    private mutating func addDotenv() {
        guard !dotenv.isEmpty else { return }
        let files = dotenv.map { YAMLEntry("path", .text($0)) }
        let values = files.map { file in
            YAMLValue.inline(isDotenvOptional ? [file, YAMLEntry("optional", .word("true"))] : [file])
        }
        draft.settings.insert(YAMLEntry("dotenv", values.count == 1 ? values[0] : .list(values)), at: 0)
        if !has("dotenv-override") { draft.requireFree(of: dotenv, in: folder) }
    }

    // MARK: - Settings and variables

    private mutating func set(_ name: String, _ value: String, _ statement: JustStatement) {
        switch name {
        case "shell":
            let words = Self.words(ofList: value)
            guard !words.isEmpty else { return doNotKnow(statement) }
            if otherShell != nil { return notes += statement.origin.comments("in each line of the steps") }
            isStrict = Interpreter.stopsAtFailure(Array(words.dropFirst()))
            let stops = isStrict ? words[...] : words.prefix(1) + ["-e"] + words.dropFirst()
            shell = Array(stops)
            setDefault("shell", .texts(shell), statement.comment)
        case "working-directory":
            guard let otherFolder else { return doNotKnow(statement) }
            setDefault("working-directory", .text(otherFolder), statement.comment)
        case "dotenv-load", "dotenv-required":
            if value != "false" { dotenv = dotenv.isEmpty ? [".env"] : dotenv }
            if value != "false", name == "dotenv-required" { isDotenvOptional = false }
        case "dotenv-filename", "dotenv-path":
            guard let file = JustExpression.value(of: value)?.literal else { return doNotKnow(statement) }
            dotenv = [file]
            if name == "dotenv-path" { isDotenvOptional = false }
        case "dotenv-override": break
        case "positional-arguments":
            passesArguments = value != "false"
            notes += statement.origin.comments("scripts have their arguments in $1, $2, …")
        case "ignore-comments": ignoresComments = value != "false"
        case "export": notes += statement.origin.comments("all variables are in the environment of the steps")
        case "windows-shell", "windows-powershell", "quiet", "unstable", "allow-duplicate-recipes",
            "allow-duplicate-variables", "fallback", "no-exit-message", "tempdir", "script-interpreter":
            notes += statement.origin.comments("of no effect here")
        default: doNotKnow(statement)
        }
    }

    /// The words of a list such as `['bash', '-c']`; none for anything else, or where one is computed.
    private static func words(ofList value: String) -> [String] {
        guard value.hasPrefix("["), let values = JustExpression.values(of: String(value.dropFirst().dropLast()))
        else { return [] }
        let words = values.compactMap(\.literal)
        return words.count == values.count ? words : []
    }

    /// Reads the settings that say how commands of variables run.
    private mutating func readShellAndFolder() {
        for statement in statements {
            guard case .setting(let name, let value) = statement.content else { continue }
            if name == "working-directory" { otherFolder = JustExpression.value(of: value)?.literal }
            guard name == "shell" else { continue }
            let words = Self.words(ofList: value)
            otherShell = words.first.map { Interpreter.isShell($0) ? nil : words } ?? nil
        }
    }

    private mutating func doNotKnow(_ statement: JustStatement) {
        problem = problem ?? "`\(statement.origin.lines.first?.trimmed ?? "set")` was not understood"
        notes += statement.origin.comments("not converted")
    }

    private mutating func setDefault(_ key: String, _ value: YAMLValue, _ comments: [String]) {
        guard case .inline(var entries) = draft.settings[0].value else { return }
        entries.removeAll { $0.key == key }
        draft.settings[0] = YAMLEntry(
            "defaults", .inline(entries + [YAMLEntry(key, value)]), comments: draft.settings[0].comments + comments)
    }

    private mutating func add(_ name: String, _ statement: JustStatement) {
        let key = variables.environmentName(of: name)
        guard !(draft.env + draft.vars).contains(where: { $0.key == key }) else { return }
        let valueKey = variables.key(of: name)
        switch variables.places[name] {
        case .env(let text, _):
            let isDecided = !text.contains("${{") && statement.origin.lines.contains { $0.contains(" if ") }
            let origin = isDecided ? statement.origin.comments("decided for Linux and the values of the file") : []
            guard variables.exported.contains(name), variables.hasCommands else {
                draft.env.append(YAMLEntry(key, .text(text), comments: statement.comment + origin))
                break
            }
            draft.vars.append(YAMLEntry(valueKey, .text(text), comments: statement.comment + origin))
            draft.env.append(YAMLEntry(key, .text("${{ vars.\(valueKey) }}")))
        case .shared(let script, _):
            let run = YAMLEntry("run", .script(script))
            let isLine = !script.contains("\n")
            draft.vars.append(
                YAMLEntry(
                    valueKey, isLine ? .inline([YAMLEntry("run", .text(script))]) : .mapping([run]),
                    comments: statement.comment))
            if variables.exported.contains(name) { draft.env.append(YAMLEntry(key, .text("${{ vars.\(valueKey) }}"))) }
        default:
            notes += statement.comment + statement.origin.comments("not converted")
            if variables.exported.contains(name) {
                problem = problem ?? "what `\(name)` is could not be converted, and it is in the environment"
            }
        }
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
            var step = step(recipe, id: ids.id(for: copy.spelling), arguments: copy.arguments)
            step.name = copy.spelling
            draft.steps.append(step)
        }
        giveUpRepeated()
    }

    mutating func step(_ known: Recipe, id: String, arguments: [String]?, depth: Int = 0) -> StepDraft {
        let (recipe, statement) = (known.recipe, known.statement)
        var step = StepDraft(id, .milestone, origin: statement.origin)
        let comment = statement.comment
        if comment.count == 1, comment[0].count < 80 { step.description = comment[0] } else { step.comments = comment }
        if !recipe.parameters.isEmpty, arguments == nil {
            step.notes.append("arguments: \(recipe.parameters.map(\.spelling).joined(separator: " "))")
        }
        var problem = problem
        var computed: [JustRecipe.Dependency] = []
        step.needs =
            recipe.needs.flatMap { need in
                self.ids(of: need, recipe, arguments, &computed) { problem = problem ?? $0 }
            }.unique
        if !recipe.followers.isEmpty {
            let names = recipe.followers.map(\.name).enumerated
            problem = problem ?? "what runs after a step needs it: add it to `needs` of \(names)"
        }
        if !recipe.isForLinux { problem = problem ?? "it is for another system than flowrun" }
        for attribute in recipe.attributes { apply(attribute, to: &step) { problem = problem ?? $0 } }
        do throws(JustProblem) {
            if let problem { throw JustProblem(problem) }
            let before = try partScripts(computed, of: recipe, arguments, &step, depth: depth)
            let body = try script(of: recipe, arguments: arguments, before: before, &step)
            if !body.isEmpty || step.needs.isEmpty { step.body = .script(body.isEmpty ? ":" : body) }
        } catch {
            step.giveUp(error.reason)
        }
        return step
    }

    private func apply(_ attribute: String, to step: inout StepDraft, problem: (String) -> Void) {
        let name = String(attribute.prefix { $0.isIDCharacter })
        let rest = attribute.dropFirst(name.count).trimmed
        let argument = rest.hasPrefix("(") ? rest.dropFirst().dropLast() : rest.hasPrefix(":") ? rest.dropFirst() : ""
        let text = JustExpression.value(of: String(argument))?.literal
        switch name {
        case "linux", "macos", "windows", "freebsd", "openbsd", "netbsd", "dragonfly":
            if JustRecipe.isPlatform(name) { addPlatforms([name], to: &step) }
        case "unix": addPlatforms(["linux", "macos", "freebsd"], to: &step)
        case "doc" where text != nil: step.description = text
        case "working-directory" where text != nil:
            let folder = text.map { $0.hasPrefix("/") ? $0 : (otherFolder.map { "\($0)/" } ?? "") + $0 } ?? ""
            step.set("working-directory", .text(folder))
        case "confirm" where argument.isEmpty || text != nil: step.set("confirm", .text(text ?? "Run \(step.id)?"))
        case "script": problem("the script of `[script]` has an interpreter of its own")
        case "default", "parallel", "positional-arguments", "private", "group", "no-exit-message", "no-quiet", "no-cd",
            "metadata", "doc":
            if name != "default", name != "doc" { step.notes.append("read as far as it matters here: [\(attribute)]") }
        default:
            step.notes.append("not converted: [\(attribute)]")
            problem("`[\(attribute)]` was not understood")
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
