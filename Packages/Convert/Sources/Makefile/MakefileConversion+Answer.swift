// Rules that only make knows.
extension MakefileConversion {
    /// The statements, with what make knows in place of what own reading does not.
    var completedStatements: [MakeStatement] {
        guard let database = evaluation.answer?.database else { return evaluation.statements }
        let foreign = evaluation.foreign.sorted().compactMap { name -> MakeStatement? in
            guard let variable = variables.variables[name] else { return nil }
            let assignment = MakeAssignment(
                name: name, sign: variable.isImmediate ? ":=" : "=", value: variable.value, isExported: false)
            return MakeStatement(
                content: .assignment(assignment), origin: .none, comment: ["`\(name)` is as make knows it"])
        }
        return foreign
            + evaluation.statements.compactMap { statement in
                switch statement.content {
                case .assignment(let assignment) where assignment.name == ".DEFAULT_GOAL": return nil
                case .rule(var rule):
                    guard let names = variables.literal(rule.targets)?.words else { return nil }
                    if names.count == 1, names[0].hasPrefix("."), variables.literal(rule.needs) == nil,
                        let known = database.rules[names[0]]?.first
                    {
                        rule.needs = known.needs.joined(separator: " ").replacing("$", with: "$$")
                    }
                    return MakeStatement(
                        content: .rule(rule), origin: statement.origin, comment: statement.comment,
                        doubt: statement.doubt)
                default: return statement
                }
            }
    }

    /// Corrects and completes the targets.
    mutating func adopt(_ database: MakeDatabase) {
        for row in targets.indices {
            guard let rules = database.rules[targets[row].name], rules.count == 1, let rule = rules.first,
                !rule.makesOthers, !rule.isBuiltIn
            else { continue }
            let wasUnknown = targets[row].problem == Self.unknownNeeds
            guard wasUnknown || targets[row].problem == nil, isPlain(rule) else { continue }
            if wasUnknown, Self.readsStem(rule), targets[row].stem == nil { continue }
            targets[row].problem = nil
            if targets[row].assignments.isEmpty { targets[row].assignments = rule.assignments }
            let names = targets[row].needs + targets[row].orderedAfter
            if wasUnknown || !names.contains(where: { $0.contains(MakeSymbol.start) }) {
                (targets[row].needs, targets[row].orderedAfter) = (rule.needs, rule.orderedAfter)
            }
            let own = targets[row].recipe
            // A run decides which lines with tests count.
            guard !rule.recipe.isEmpty, own.allSatisfy(\.tests.isEmpty) else { continue }
            if rule.recipe.map(\.trimmed) != own.map(\.text.trimmed) { targets[row].recipe = rule.lines }
        }
        adoptPatterns(of: database)
        let others = database.rules.values.flatMap { $0 }.filter { rows[$0.name] == nil && !isOwn($0) }
        for rule in others.filter({ isTarget($0, database) }).sorted(by: Self.isBefore) { add(rule) }
        // Such as `FORCE:`.
        withoutStep.formUnion(others.map(\.name).filter { rows[$0] == nil })
        if rows[database.defaultGoal] != nil { goals = [database.defaultGoal] }
    }

    private mutating func adoptPatterns(of database: MakeDatabase) {
        if database.hasPatternValues, ofPatterns.isEmpty, !patterns.contains(where: { $0.rule.assignment != nil }) {
            problem = problem ?? "only make knows variables of patterns"
        }
        let names = Set(patterns.map { $0.target.prefix + "%" + ($0.target.suffix ?? "") })
        for rule in database.patterns where !names.contains(rule.name) {
            let place = rule.place ?? MakePlace(file: fileName, line: 1)
            patterns.append(
                MakePatternRule(
                    target: MakePattern(rule.name), needs: rule.needs, orderedAfter: rule.orderedAfter,
                    rule: MakeRule(
                        targets: rule.name, needs: "", orderedAfter: "", pattern: nil, recipe: rule.lines,
                        description: nil, assignment: nil, isOneOfSeveral: false, isGrouped: false),
                    origin: Excerpt(file: place.file, line: place.line, lines: rule.recipe)))
        }
    }

    /// True if the recipe reads the part that `%` stands for, which is not in the answer.
    private static func readsStem(_ rule: MakeDatabase.Rule) -> Bool {
        rule.recipe.contains { MakePiece.names(in: $0).contains { $0.hasPrefix("*") } }
    }

    /// The problem of a target whose needs own reading does not know.
    static let unknownNeeds = "only make knows what it needs"

    /// False for names in the copy that was asked about.
    private func isPlain(_ rule: MakeDatabase.Rule) -> Bool {
        !([rule.name] + rule.needs + rule.orderedAfter).contains { $0.contains("$(CURDIR)") }
    }

    /// True for a rule whose target stands here with a value of the run in its name.
    private func isOwn(_ rule: MakeDatabase.Rule) -> Bool {
        targets.contains { target in
            guard target.name.contains(MakeSymbol.start) else { return false }
            let pattern = MakeSymbol.parts(of: target.name).map { $0.text + ($0.variable == nil ? "" : "*") }.joined()
            guard ForeignFolder.fits(rule.name[...], pattern[...]) else { return false }
            guard let place = rule.place else { return pattern != "*" }
            return target.origin.file == place.file
                && target.origin.line..<target.origin.line + max(target.origin.lines.count, 1) ~= place.line
        }
    }

    /// True for a target that may become a step.
    private func isTarget(_ rule: MakeDatabase.Rule, _ database: MakeDatabase) -> Bool {
        guard !rule.isBuiltIn, !rule.name.contains("%"), !rule.name.hasPrefix(".") || rule.name.contains("/") else {
            return false
        }
        return !rule.recipe.isEmpty || rule.isPhony || rule.needs.contains { database.rules[$0] != nil }
            || patterns.contains { $0.target.stem(of: rule.name) != nil }
    }

    private static func isBefore(_ one: MakeDatabase.Rule, _ other: MakeDatabase.Rule) -> Bool {
        let places = (one.place?.line ?? .max, other.place?.line ?? .max)
        return places.0 == places.1 ? one.name < other.name : places.0 < places.1
    }

    private mutating func add(_ rule: MakeDatabase.Rule) {
        if let row = rows[rule.name] {
            targets[row].problem = "each of its recipes has needs of its own"
            return
        }
        let statement = evaluation.statements.first { statement in
            guard let place = rule.place, statement.origin.file == place.file else { return false }
            return statement.origin.line..<statement.origin.line + max(statement.origin.lines.count, 1) ~= place.line
        }
        var target = MakeTarget(name: rule.name, origin: statement?.origin ?? .none)
        (target.needs, target.orderedAfter, target.recipe) = (rule.needs, rule.orderedAfter, rule.lines)
        target.assignments = rule.assignments
        if case .rule(let own) = statement?.content {
            target.description = own.description
            target.problem = statement?.doubt ?? own.problem
            if own.pattern != nil, Self.readsStem(rule) { target.problem = "only make knows its pattern" }
        }
        target.comments = statement?.comment ?? []
        if rule.makesOthers { target.problem = "only make knows which of its targets it makes" }
        if !isPlain(rule) { target.problem = Self.unknownNeeds }
        rows[rule.name] = targets.count
        targets.append(target)
    }

    /// Refuses other values for what has decided how make read the file.
    mutating func requireDecisiveValues() {
        let ofMachine: Set<String> = [
            "OS", "SHELL", "PATH", "HOME", "USER", "LOGNAME", "PWD", "CURDIR", "MAKE", "MAKE_VERSION", "MAKE_COMMAND",
            "MAKEFILE_LIST", "LANG", "LC_ALL", "TERM", "TMPDIR",
        ]
        var conditions: [(condition: String, message: String)] = []
        for name in evaluation.decisive.union(evaluation.foreign).sorted()
        where MakeVariables.isName(name) && !ofMachine.contains(name) {
            guard !variables.isFixed(name) else { continue }
            let variable = variables.variables[name]
            if let variable, !variable.isDefault, !evaluation.foreign.contains(name) { continue }
            let value = variable.map { variables.literal($0.value) } ?? MakeBuiltIn.value(of: name)
            let text = ExpressionText.literal(value ?? "")
            conditions.append(
                (
                    "(env.\(name) ?? \(text)) == \(text)",
                    "with another \(name), make reads \(fileName) otherwise: convert it again"
                ))
        }
        draft.require(conditions)
    }
}
