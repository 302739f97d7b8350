/// Converts a makefile: each target becomes a step.
struct MakefileConversion {
    private let source: SourceLines
    private let statements: [MakeStatement]
    private let variables: MakeVariables
    private var draft = WorkflowDraft()
    private var ids = StepIDs()
    private var targets: [MakeTarget] = []
    private var rows: [String: Int] = [:]
    private var patterns: [MakePatternRule] = []
    private var goals: [String] = []
    private var phony: [String] = []
    /// Comments above the steps that belong to none of them.
    private var notes: [String] = []
    private var isOneShell = false
    /// More targets than any real makefile has, in case a pattern makes its own input.
    private static let targetLimit = 5000

    static func draft(of source: SourceLines) -> WorkflowDraft {
        var conversion = MakefileConversion(source)
        conversion.convert()
        return conversion.draft
    }

    private init(_ source: SourceLines) {
        self.source = source
        statements = MakeReader.statements(of: source)
        variables = MakeVariables(statements, fileName: source.name)
    }

    private mutating func convert() {
        for statement in statements {
            switch statement.content {
            case .blank: break
            case .comment: break
            case .assignment(let assignment): add(assignment, statement)
            case .rule(let rule): add(rule, statement)
            case .other(let first, _):
                let names = statement.origin.lines.first?.words.dropFirst() ?? []
                let isExport = first == "export" && names.allSatisfy { variables.place(of: $0) != .inline }
                notes += statement.origin.comments(
                    isExport ? "all variables at the top are in the environment of the steps" : "not converted")
            }
        }
        addPatternTargets()
        for target in targets { _ = ids.id(for: target.name) }
        draft.steps = targets.map(step)
        for rule in patterns {
            draft.tail += rule.origin.comments("a pattern, converted where a step needs it by name")
        }
        let goal = goals.last ?? targets.first { !$0.name.hasPrefix(".") }?.name
        if let goal, let id = ids.known(goal) { draft.defaultSteps = [id] }
        addShell()
        draft.settings[0].comments = notes + draft.settings[0].comments
        addHead()
    }

    private mutating func addHead() {
        draft.head = [
            "Steps that do not need one another run at the same time; make runs them in the order of the file.",
            "A step always runs: the times of files are not compared.",
        ]
    }

    // MARK: - Variables

    private mutating func add(_ assignment: MakeAssignment, _ statement: MakeStatement) {
        let name = assignment.name
        let comments = source.comment(above: statement.line)
        if name == ".DEFAULT_GOAL" { return goals.append(assignment.value) }
        if name == "SHELL" || name == ".SHELLFLAGS" {
            notes += statement.origin.comments("the shell of all steps")
            return
        }
        if name == "MAKEFLAGS", assignment.value.words.allSatisfy({ $0.hasPrefix("--no-") || $0.hasPrefix("--warn-") })
        {
            notes += statement.origin.comments("options of make, which have no counterpart")
            return
        }
        let isFirst = !(draft.params + draft.env).contains { $0.key == name }
        switch variables.place(of: name) {
        case .param where isFirst:
            let value = variables.literal(variables.variables[name]?.value ?? "") ?? ""
            let fields = [
                YAMLEntry("type", .word("string")), YAMLEntry("default", .text(value)), YAMLEntry("env", .text(name)),
            ]
            draft.params.append(YAMLEntry(name, .inline(fields), comments: comments))
        case .env where isFirst:
            draft.env.append(YAMLEntry(name, .text(variables.template(of: name) ?? ""), comments: comments))
        case .param, .env: break
        case .shared where !draft.vars.contains(where: { $0.key == name }):
            draft.vars.append(YAMLEntry(name, .text(variables.template(of: name) ?? ""), comments: comments))
        case .shared: break
        case .inline:
            let place = assignment.isExported ? ", and not in the environment of the steps" : ""
            notes += comments + statement.origin.comments("written out where a script reads it\(place)")
        }
    }

    private mutating func addShell() {
        let flags = variables.variables[".SHELLFLAGS"]
        guard let shell = variables.variables["SHELL"] ?? flags.map({ _ in .init(value: "sh", isDefault: false) })
        else {
            return draft.settings.append(YAMLEntry("defaults", .inline([YAMLEntry("shell", .text("sh"))])))
        }
        var words = variables.literal(shell.value)?.words ?? ["sh"]
        if let options = flags.flatMap({ variables.literal($0.value) })?.words, options.last?.hasSuffix("c") == true {
            words += options.contains { $0.hasPrefix("-") && $0.contains("e") } ? options : ["-e"] + options
        } else {
            words += ["-e", "-c"]
        }
        draft.settings.append(YAMLEntry("defaults", .inline([YAMLEntry("shell", .texts(words))])))
    }

    // MARK: - Rules

    private mutating func add(_ rule: MakeRule, _ statement: MakeStatement) {
        guard let names = variables.literal(rule.targets)?.words, !names.isEmpty else {
            notes += statement.origin.comments("not converted: only make knows the names of the targets")
            return
        }
        if names.count == 1, names[0].first == ".", names[0].dropFirst().allSatisfy({ $0.isUppercase || $0 == "_" }) {
            return addSpecial(names[0], rule, statement)
        }
        let needs = variables.literal(rule.needs)?.words
        let orderedAfter = variables.literal(rule.orderedAfter)?.words
        if names.contains(where: { $0.contains("%") }) {
            guard rule.assignment == nil, let needs, let orderedAfter else {
                notes += statement.origin.comments("not converted")
                return
            }
            for name in names {
                patterns.append(
                    MakePatternRule(
                        target: MakePattern(name), needs: needs, orderedAfter: orderedAfter, rule: rule,
                        origin: statement.origin))
            }
            return
        }
        let comments = source.comment(above: statement.line)
        for name in names {
            if rows[name] == nil {
                rows[name] = targets.count
                targets.append(MakeTarget(name: name, origin: .none))
            }
            guard let row = rows[name] else { continue }
            targets[row].add(rule, needs: needs ?? [], orderedAfter: orderedAfter ?? [], origin: statement.origin)
            if needs == nil || orderedAfter == nil { targets[row].problem = "only make knows what it needs" }
            targets[row].comments += name == names[0] ? comments : []
        }
    }

    /// Handles a target that has a special meaning to make.
    private mutating func addSpecial(_ name: String, _ rule: MakeRule, _ statement: MakeStatement) {
        let words = variables.literal(rule.needs)?.words ?? []
        if !rule.recipe.isEmpty { notes += statement.origin.comments("not converted") }
        switch name {
        case ".PHONY":
            phony += words
            let isKnown = words.allSatisfy { word in
                statements.contains { statement in
                    guard case .rule(let rule) = statement.content else { return false }
                    return variables.literal(rule.targets)?.words.contains(word) ?? false
                }
            }
            if !isKnown || words.isEmpty { notes += statement.origin.comments("not all of these have a rule") }
        case ".NOTPARALLEL" where words.isEmpty:
            draft.settings.append(
                YAMLEntry("max-parallel", .word("1"), comments: [".NOTPARALLEL"]))
        case ".ONESHELL":
            isOneShell = true
            notes += statement.origin.comments("each script has one shell")
        default: notes += statement.origin.comments("not converted")
        }
    }

    /// Makes targets from matching patterns if other targets need them.
    private mutating func addPatternTargets() {
        var row = 0
        while row < targets.count, targets.count < Self.targetLimit {
            if targets[row].recipe.isEmpty, !phony.contains(targets[row].name) { fillIn(row) }
            for need in targets[row].needs + targets[row].orderedAfter where rows[need] == nil {
                guard patterns.contains(where: { $0.target.stem(of: need) != nil }) else { continue }
                rows[need] = targets.count
                targets.append(MakeTarget(name: need, origin: .none))
            }
            row += 1
        }
        // A target without a recipe that needs only files is no step.
        let isStep = targets.map { target in
            !target.recipe.isEmpty || target.problem != nil || phony.contains(target.name)
                || target.needs.contains { rows[$0] != nil }
        }
        for (row, target) in targets.enumerated() where !isStep[row] {
            draft.tail += target.comments + target.origin.comments("nothing to run")
        }
        targets = zip(targets, isStep).filter(\.1).map(\.0)
        rows = Dictionary(uniqueKeysWithValues: targets.enumerated().map { ($1.name, $0) })
    }

    private mutating func fillIn(_ row: Int) {
        let name = targets[row].name
        guard let rule = patterns.last(where: { $0.target.stem(of: name) != nil }),
            let stem = rule.target.stem(of: name)
        else { return }
        func filled(_ names: [String]) -> [String] {
            names.map { name in name.cut(at: "%").map { $0.before + stem + $0.after } ?? name }
        }
        // Needs from a rule without recipe come after those of the pattern, because `$<` means the first one.
        targets[row].stem = stem
        targets[row].needs = filled(rule.needs) + targets[row].needs
        targets[row].orderedAfter += filled(rule.orderedAfter)
        targets[row].recipe = rule.rule.recipe
        targets[row].description = targets[row].description ?? rule.rule.description
        if rule.rule.isConditional { targets[row].problem = "its recipe has conditions of make" }
        if targets[row].origin.lines.isEmpty {
            targets[row].origin = rule.origin
        } else {
            targets[row].origin.add(rule.origin)
        }
    }
}

// The step of a target.
extension MakefileConversion {
    private func step(_ target: MakeTarget) -> StepDraft {
        let id = ids.known(target.name) ?? target.name
        var step = StepDraft(id, .milestone, origin: target.origin)
        if id != target.name { step.name = target.name }
        let all = (target.needs + target.orderedAfter).unique
        step.needs = all.filter { rows[$0] != nil }.compactMap { ids.known($0) }.filter { $0 != id }
        let files = all.filter { rows[$0] == nil }
        step.comments = target.comments
        if step.comments.count == 1, target.description == nil, let line = step.comments.first, line.count < 80 {
            step.description = line
            step.comments = []
        } else {
            step.description = target.description
        }
        if !files.isEmpty { step.notes.append("files it reads: \(files.joined(separator: " "))") }
        let tidying = step.needs.filter { $0.contains("clean") }
        if !tidying.isEmpty, step.needs.count > tidying.count {
            step.comments.append(
                "make runs \(tidying.enumerated) first; here the others do not wait unless they need it")
        }
        if let problem = target.problem {
            step.body = .unfinished(problem)
            return step
        }
        if target.origin.isComputed { step.notes += target.origin.head.comments("the rule") }
        let own = variables.setting(target.assignments)
        for name in target.assignments.map(\.name).unique {
            guard own.place(of: name) != .inline else { continue }
            step.env.append(YAMLEntry(name, .text(own.template(of: name) ?? "")))
        }
        if !target.assignments.isEmpty {
            step.notes.append("make gives \(target.assignments.map(\.name).unique.enumerated) to what it needs, too")
        }
        do throws(MakeProblem) {
            let commands = try commands(of: target, own)
            if !commands.isEmpty {
                step.body = .script(ShellCommand.script(commands))
            } else if step.needs.isEmpty {
                step.body = .script(":")
            }
        } catch {
            step.giveUp(error.reason)
        }
        return step
    }

    private func commands(of target: MakeTarget, _ variables: MakeVariables) throws(MakeProblem) -> [ShellCommand] {
        var lines = target.recipe
        // make removes the marks from every line that it gives to one shell, but obeys only those of the first.
        if isOneShell, let first = lines.first {
            lines = [([first] + lines.dropFirst().map { Self.marked($0).text }).joined(separator: "\n")]
        }
        var commands: [ShellCommand] = []
        for line in lines where !line.isBlank {
            let (text, isTolerated) = Self.marked(line)
            let script = try variables.script(text, automatic: target.automatic)
            if script.isBlank { continue }
            commands.append(ShellCommand(text: script, isTolerated: isTolerated))
        }
        return commands
    }

    /// Returns a line of a recipe without `@`, `-` and `+` in front, and true if it may fail.
    private static func marked(_ line: String) -> (text: String, isTolerated: Bool) {
        var text = line.drop { $0.isWhitespace }
        guard let first = text.first, "@-+".contains(first) else { return (line, false) }
        var isTolerated = false
        while let mark = text.first, "@-+".contains(mark) {
            if mark == "-" { isTolerated = true }
            text = text.dropFirst().drop { $0 == " " || $0 == "\t" }
        }
        return (String(text), isTolerated)
    }
}

extension Excerpt {
    /// True if its first line has variables or continues on the next one.
    fileprivate var isComputed: Bool {
        lines.first.map { $0.contains("$(") || $0.contains("${") || $0.hasSuffix("\\") } ?? false
    }

    /// The first line with its continuations.
    fileprivate var head: Excerpt {
        let end = lines.firstIndex { !$0.hasSuffix("\\") } ?? lines.count - 1
        return Excerpt(file: file, line: line, lines: Array(lines[...end]))
    }
}
