internal import Workflow

/// Converts a makefile: each target becomes a step.
struct MakefileConversion {
    let fileName: String
    let evaluation: MakeEvaluation
    var variables: MakeVariables
    let folder: ForeignFolder
    var draft = WorkflowDraft()
    var ids = StepIDs()
    var targets: [MakeTarget] = []
    var rows: [String: Int] = [:]
    var patterns: [MakePatternRule] = []
    var goals: [String] = []
    var phony: [String] = []
    /// Comments above the steps that belong to none of them.
    var notes: [String] = []
    var isOneShell = false
    /// True if the shell of the makefile ends at the first failure inside of a line.
    var isStrict = false
    /// The targets whose commands may fail, or `*` for all of them.
    var tolerant: Set<String> = []
    var suffixes: Set<String> = [
        ".out", ".a", ".o", ".c", ".cc", ".C", ".cpp", ".p", ".f", ".F", ".m", ".r", ".y", ".l", ".s", ".S", ".h",
        ".info", ".dvi", ".tex", ".texinfo", ".texi", ".txinfo", ".w", ".web", ".sh", ".elc", ".el",
    ]
    /// More targets than any real makefile has, in case a pattern makes its own input.
    static let targetLimit = 5000
    /// The targets that any rule names.
    private(set) var evaluationTargets: Set<String> = []
    /// The texts of targets that only make knows.
    private(set) var unknownTargets: Set<String> = []
    /// True if make uses none of its own rules.
    var hasOwnRulesOnly = false
    /// The reason why no step can be trusted; nil if there is none.
    var problem: String?
    /// The targets with rules that have nothing to run.
    var withoutStep: Set<String> = []
    /// The values of variables for the targets that match a pattern.
    var ofPatterns: [(pattern: MakePattern, assignment: MakeAssignment)] = []
    /// The names that make looks for in other folders, and these.
    var searches: [(pattern: MakePattern, folders: [String])] = []
    /// The computed variables of the environment, as commands at the start of each script.
    var exports: [ShellCommand] = []

    static func draft(
        of source: SourceLines, in folder: ForeignFolder, answer: MakeAnswer? = nil
    ) -> WorkflowDraft {
        var conversion = MakefileConversion(source, folder, answer)
        conversion.convert()
        return conversion.draft
    }

    private init(_ source: SourceLines, _ folder: ForeignFolder, _ answer: MakeAnswer?) {
        fileName = source.name
        self.folder = folder
        evaluation = MakeEvaluation(source, folder: folder, answer: answer)
        variables = evaluation.variables
        (notes, problem) = (evaluation.notes, evaluation.problem)
        for line in evaluation.searches {
            guard let words = variables.literal(line)?.words, words.count > 2 else {
                problem = problem ?? "make looks for files in other folders, by `vpath`"
                continue
            }
            let folders = words.dropFirst(2).flatMap { $0.split(separator: ":").map(String.init) }
            searches.append((MakePattern(words[1]), folders))
        }
    }

    private mutating func convert() {
        let statements = completedStatements
        for case .rule(let rule) in statements.map(\.content) {
            evaluationTargets.formUnion(variables.literal(rule.targets)?.words ?? [])
            if variables.literal(rule.targets) == nil { unknownTargets.formUnion(MakePiece.words(of: rule.targets)) }
            if rule.targets.trimmed == ".EXPORT_ALL_VARIABLES" { variables.exportsAll = true }
        }
        variables.settle()
        for (name, value) in variables.symbols where variables.variables[name]?.value != value {
            problem = problem ?? "`\(name)` has another value where it is part of a name"
        }
        for statement in statements {
            switch statement.content {
            case .assignment(let assignment): add(assignment, statement)
            case .rule(let rule): add(rule, statement)
            case .export(let names, let isExported): add(exported: names, isExported, statement)
            default: break
            }
        }
        for name in variables.variables.keys.sorted() where variables.place(of: name) == .shared { addShared(name, []) }
        if let database = evaluation.answer?.database { adopt(database) }
        // An answer has what make has made.
        for name in evaluation.answer == nil ? evaluation.missing : []
        where rows[name] != nil || mayMake(name, []) {
            variables.doubt = variables.doubt ?? "a rule makes `\(name)`, which may define what this reads"
        }
        addExports()
        addChecks()
        addInherited()
        addPatternTargets()
        for target in targets { _ = ids.id(for: target.name) }
        draft.steps = targets.map(step)
        for rule in patterns {
            draft.tail += rule.origin.comments("a pattern, converted where a step needs it by name")
        }
        let goal = goals.last ?? targets.first { !$0.name.hasPrefix(".") || $0.name.contains("/") }?.name
        if let goal, let id = ids.known(goal) { draft.defaultSteps = [id] }
        addShell()
        addRequirements()
        dropUnused()
        requireDecisiveValues()
        draft.settings[0].comments = notes + draft.settings[0].comments
        draft.head = [
            "Steps that do not need one another run at the same time; make runs them in the order of the file.",
            "A step always runs: the times of files are not compared.",
        ]
    }

    // MARK: - Variables

    private mutating func add(_ assignment: MakeAssignment, _ statement: MakeStatement) {
        let name = assignment.name
        let comments = statement.comment
        switch name {
        case ".DEFAULT_GOAL":
            guard let goal = variables.literal(assignment.value)?.trimmed, statement.doubt == nil else {
                problem = problem ?? "only make knows `.DEFAULT_GOAL`"
                return
            }
            return goals.append(goal)
        case "SHELL", ".SHELLFLAGS":
            if variables.literal(variables.variables[name]?.value ?? "") == nil {
                problem = problem ?? "only make knows `\(name)`"
            }
            notes += statement.origin.comments("the shell of all steps")
            return
        case "MAKEFLAGS", "GNUMAKEFLAGS":
            let isHarmless: (String) -> Bool = { word in
                word.hasPrefix("--no-") || word.hasPrefix("--warn-") || word.hasPrefix("-j") || word.hasPrefix("--jobs")
                    || ["-s", "--silent", "--quiet", "-r", "-R", "-rR", "--output-sync", "-O"].contains(word)
                    || word.hasPrefix("--output-sync=")
            }
            if !assignment.value.words.allSatisfy(isHarmless) {
                problem = problem ?? "`\(name)` has options that change what make does"
            }
            if assignment.value.words.contains(where: { $0 == "--no-builtin-rules" || $0.hasPrefix("-r") }) {
                hasOwnRulesOnly = true
            }
            notes += statement.origin.comments("options of make, which have no counterpart")
            return
        case ".RECIPEPREFIX":
            problem = problem ?? "recipes begin with another character than a tab"
        case "VPATH":
            problem = problem ?? "make looks for files in other folders, by `VPATH`"
        default: break
        }
        let key = variables.place(of: name) == .shared ? variables.sharedKey(name) : name
        let isFirst = !(draft.params + draft.env + draft.vars).contains { $0.key == key }
        switch variables.place(of: name) {
        case _ where !isFirst: break
        case .param:
            let variable = variables.variables[name]
            var fields = [
                YAMLEntry("type", .word("string")),
                YAMLEntry("default", .text(variables.literal(variable?.value ?? "") ?? "")),
            ]
            if variable?.isDefault == true { fields.append(YAMLEntry("env", .text(name))) }
            let isDefined = assignment.sign == "?=" && MakeBuiltIn.defined[name] != nil
            let origin = isDefined ? statement.origin.comments("make defines it already, so that `?=` leaves it") : []
            draft.params.append(YAMLEntry(name, .inline(fields), comments: comments + origin))
        case .env: draft.env.append(YAMLEntry(name, .text(variables.template(of: name) ?? ""), comments: comments))
        case .shared: addShared(name, comments)
        case .inline:
            notes += comments + statement.origin.comments("written out where a script reads it")
        }
    }

    private mutating func addShared(_ name: String, _ comments: [String]) {
        let key = variables.sharedKey(name)
        guard !draft.vars.contains(where: { $0.key == key }), let value = variables.value(ofShared: name) else {
            return
        }
        draft.vars.append(YAMLEntry(key, value, comments: comments))
        if variables.isExported(name) { draft.env.append(YAMLEntry(name, .text("${{ vars.\(key) }}"))) }
    }

    /// Leaves out the values of conditions that nothing asks for.
    private mutating func dropUnused() {
        while let index = draft.vars.firstIndex(where: { entry in
            entry.key.hasPrefix(MakeVariables.testPrefix) && !isRead(entry.key)
        }) {
            draft.vars.remove(at: index)
        }
    }

    private func isRead(_ key: String) -> Bool {
        let others = draft.vars.filter { $0.key != key } + draft.env + draft.steps.flatMap(\.env)
        return YAMLWriter(others).lines.contains { $0.contains(key) }
            || draft.steps.contains { step in
                if case .script(let script) = step.body { script.contains(key) } else { false }
            }
    }

    private mutating func add(exported names: [String], _ isExported: Bool, _ statement: MakeStatement) {
        if statement.doubt != nil { problem = problem ?? statement.doubt }
        if isExported {
            notes += statement.origin.comments(
                names.isEmpty
                    ? "all variables at the top are in the environment of the steps" : "in the environment of the steps"
            )
            return
        }
        notes += statement.origin.comments("not in the environment of the steps")
        for name in names where MakeVariables.isName(name) && !draft.env.contains(where: { $0.key == name }) {
            draft.env.append(YAMLEntry(name, .word("null")))
        }
    }

    /// Sets exported variables that are no entry of the file at the start of each script.
    private mutating func addExports() {
        for name in variables.variables.keys.sorted()
        where variables.isExported(name) && variables.place(of: name) == .inline && MakeVariables.isName(name) {
            guard let variable = variables.variables[name], !["SHELL", "MAKEFLAGS"].contains(name) else { continue }
            do throws(MakeProblem) {
                guard !variable.isComputed, !variable.isMerged,
                    !variable.isImmediate || !variable.value.contains("$(shell ")
                else {
                    throw MakeProblem("only make knows `\(name)`, which is in the environment")
                }
                // A name that stands for the environment's value is there already.
                if variable.value == "$(\(MakeBuiltIn.inherited) \(name))" { continue }
                let value = try variables.quoted("$(\(name))")
                exports.append(ShellCommand(text: "export \(name)=\(value)", isShared: true))
            } catch {
                problem = problem ?? error.reason
            }
        }
    }

    /// Stops each script where make would stop before all.
    private mutating func addChecks() {
        for (tests, message) in evaluation.stops {
            do throws(MakeProblem) {
                var text = "{ echo \(shellWord(message)) >&2; exit 1; }"
                for (index, test) in tests.reversed().enumerated() {
                    if index == 0 {
                        text = "\(try variables.shell(test.negated)) || \(text)"
                    } else {
                        text = "if \(try variables.shell(test)); then \(text); fi"
                    }
                }
                exports.append(ShellCommand(text: text, isShared: true))
            } catch {
                problem = problem ?? error.reason
            }
        }
    }

    /// True for a default that scripts cannot replace by a value from the environment.
    private func isGivenInVain(_ name: String, _ variable: MakeVariables.Variable) -> Bool {
        variables.place(of: name) == .inline && variables.literal(variable.value) == nil
            && !variables.isPlain(variable.value, [:])
    }

    /// Gives programs the makefile's value of a variable that is in the environment of the run: make does so even if
    /// the file does not export it.
    private mutating func addInherited() {
        var names: [String] = []
        for name in variables.variables.keys.sorted() {
            guard let variable = variables.variables[name], variable.isExported == nil, !variables.exportsAll,
                !variable.isDefault || isGivenInVain(name, variable), MakeVariables.isName(name),
                !MakeVariables.isMakes(name),
                !name.hasPrefix("make_"), [.inline, .shared].contains(variables.place(of: name))
            else { continue }
            if VariableName.isListenedTo(name) || MakeBuiltIn.value(of: name) != nil, !variable.isComputed,
                let value = try? variables.quoted("$(\(name))")
            {
                exports.append(
                    ShellCommand(text: "[ -z \"${\(name)+x}\" ] || \(name)=\(value)", isShared: true))
            } else {
                names.append(name)
            }
        }
        guard !names.isEmpty else { return }
        draft.require([
            (
                names.map { "env.\($0) == null" }.joined(separator: " && "),
                "make gives programs the values of \(fileName) for these variables of the environment, if they are "
                    + "set: \(names.enumerated). Unset them"
            )
        ])
    }

    private mutating func addShell() {
        let flags = variables.variables[".SHELLFLAGS"]
        guard let shell = variables.variables["SHELL"] ?? flags.map({ _ in .init(value: "sh", isDefault: false) })
        else {
            return draft.settings.append(YAMLEntry("defaults", .inline([YAMLEntry("shell", .text("sh"))])))
        }
        var words = variables.literal(shell.value)?.words ?? ["sh"]
        if let options = flags.flatMap({ variables.literal($0.value) })?.words, options.last?.hasSuffix("c") == true {
            words += Interpreter.stopsAtFailure(options) ? options : ["-e"] + options
        } else {
            words += ["-e", "-c"]
        }
        draft.settings.append(YAMLEntry("defaults", .inline([YAMLEntry("shell", .texts(words))])))
    }

    /// Refuses values from outside for what is written out in steps and their names.
    private mutating func addRequirements() {
        draft.require(
            variables.filled.sorted().map {
                ("(env.\($0) ?? 'x') != ''", "\($0) is empty, which \(fileName) was not read for")
            })
        if variables.readsSilence {
            draft.require([("(env.MAKEFLAGS ?? '') != 's'", "steps have no counterpart of `make -s`")])
        }
        draft.require(
            variables.fileConditions.map { pattern, condition in
                (condition, "\(pattern): not the files from which \(fileName) was converted, convert it again")
            })
        let fixed = Set(variables.variables.keys.filter(variables.isFixed)).union(variables.fixed.keys).sorted()
        draft.require(
            fixed.map { name in
                let value = variables.fixed[name] ?? variables.literal(variables.variables[name]?.value ?? "") ?? ""
                let text = ExpressionText.literal(value)
                return (
                    "(env.\(name) ?? \(text)) == \(text)", "\(name) is written out in this file, from \(fileName)"
                )
            })
    }
}
