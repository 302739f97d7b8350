/// Reads a makefile from top to bottom, as make does: included files where they are named, conditions with the values
/// that variables have there. Runs nothing.
struct MakeEvaluation {
    private(set) var variables: MakeVariables
    /// Those that count, or may count.
    private(set) var statements: [MakeStatement] = []
    /// Comments on what was not read as it is.
    private(set) var notes: [String] = []
    /// The reason why no step can be trusted; nil if there is none.
    private(set) var problem: String?
    /// The variables without which make stops, and its messages.
    private(set) var requirements: [(variable: String, message: String)] = []
    private var doubt: String?
    private var depth = 0
    private let folder: ForeignFolder
    private static let depthLimit = 20

    init(_ source: SourceLines, folder: ForeignFolder) {
        self.folder = folder
        variables = MakeVariables(fileName: source.name, folder: folder)
        let all = MakeReader.statements(of: source)
        read(all)
        variables.uses = uses
        variables.settle()
    }

    private mutating func read(_ statements: [MakeStatement]) {
        for statement in statements { read(statement) }
    }

    private mutating func read(_ statement: MakeStatement) {
        var statement = statement
        statement.doubt = doubt
        switch statement.content {
        case .blank, .comment: return
        case .condition(let condition):
            if depth == 0, doubt == nil {
                notes += statement.origin.comments("decided for Linux and the values of the file, or in the run")
            }
            return read(condition.branches[...], of: statement)
        case .include(let names, let isOptional): return include(names, isOptional: isOptional, statement)
        case .assignment(let assignment):
            variables.set(assignment)
            // Make reads these right away, and they may define more.
            if assignment.value.contains("$(eval ") { problem = problem ?? "`$(eval)` may define anything" }
        case .export(let names, let isExported): export(names, isExported, statement)
        case .rule(var rule):
            (rule.recipe, rule.problem) = lines(of: rule.parts)
            note(rule)
            for part in [\MakeRule.targets, \.needs, \.orderedAfter] {
                // Later values mean nothing to them.
                guard let text = variables.literal(rule[keyPath: part]) else { continue }
                rule[keyPath: part] = text.replacing("$", with: "$$")
            }
            statement = MakeStatement(
                content: .rule(rule), origin: statement.origin, comment: statement.comment, doubt: doubt)
        case .other(let first): return noteOther(first, statement)
        }
        self.statements.append(statement)
    }

    /// Notes a line that is neither a rule nor an assignment; unless it is a message, no step can be trusted.
    private mutating func noteOther(_ first: String, _ statement: MakeStatement) {
        for word in ["$(info", "$(warning", "${info", "${warning"] where first.hasPrefix(word) {
            notes += statement.origin.comments("not converted: a message of make")
            return
        }
        notes += statement.origin.comments("not converted")
        if first.hasPrefix("$(error") {
            problem = problem ?? "make may stop at `\(statement.origin.lines.first?.trimmed ?? "")`"
        } else if first == "vpath" {
            problem = problem ?? "make looks for files in other folders, by `vpath`"
        } else {
            problem = problem ?? "`\(statement.origin.lines.first?.trimmed ?? first)` was not understood"
        }
    }

    private mutating func export(_ names: [String], _ isExported: Bool, _ statement: MakeStatement) {
        if names.isEmpty {
            variables.exportsAll = isExported
            return
        }
        guard let names = variables.literal(names.joined(separator: " "))?.words else {
            problem = problem ?? "`\(statement.origin.lines.first?.trimmed ?? "")` was not understood"
            return
        }
        for name in names {
            // What the file does not define comes from the environment anyway.
            if variables.variables[name] != nil || !isExported {
                let unknown = MakeVariables.Variable(
                    value: "$(\(MakeBuiltIn.inherited) \(name))", isDefault: false, isComputed: !isExported)
                variables.variables[name, default: unknown].isExported = isExported
            }
        }
    }

    // MARK: - Other files

    private mutating func include(_ text: String, isOptional: Bool, _ statement: MakeStatement) {
        func doubt(_ reason: String) {
            variables.doubt = variables.doubt ?? reason
            notes += statement.origin.comments("not converted: \(reason)")
        }
        let line = statement.origin.lines.first?.trimmed ?? "include"
        guard folder.isKnown, depth < Self.depthLimit else {
            // A file that may be missing defines nothing that has to be there.
            return doubt("`\(line)` was not read, and may define what this reads")
        }
        guard let names = names(text) else { return doubt("only make knows the names in `\(line)`") }
        for name in names {
            if let source = folder.source(name) {
                depth += 1
                read(MakeReader.statements(of: source))
                depth -= 1
            } else if !isOptional {
                doubt("`\(name)` is not there, and may define what this reads")
            } else {
                notes += statement.origin.comments("`\(name)` is not there")
                missing.append(name)
            }
        }
    }

    /// Optional files that are not there; a rule may make them.
    private(set) var missing: [String] = []

    /// The files that an include names.
    private func names(_ text: String) -> [String]? {
        var words: [String] = []
        for piece in MakePiece.pieces(of: text) {
            guard case .reference(let reference) = piece, reference.hasPrefix("wildcard ") else { continue }
            guard let patterns = variables.literal(String(reference.dropFirst(9)))?.words else { return nil }
            words += patterns.flatMap(folder.matches)
        }
        let rest = MakePiece.mapped(text) { $0.hasPrefix("wildcard ") ? " " : nil }
        guard let literal = variables.literal(rest) else { return nil }
        return words
            + literal.words.flatMap { word in
                word.contains { "*?[".contains($0) } ? folder.matches(word) : [word]
            }
    }

    // MARK: - Conditions

    private mutating func read(
        _ branches: ArraySlice<(test: String?, part: [MakeStatement])>, of statement: MakeStatement
    ) {
        guard let branch = branches.first else { return }
        guard let test = branch.test else { return read(branch.part) }
        let rest = branches.dropFirst()
        if rest.isEmpty, doubt == nil, let requirement = requirement(test, branch.part) {
            requirements.append(requirement)
            return
        }
        switch decide(test) {
        case .known(true): read(branch.part)
        case .known(false): read(rest, of: statement)
        case .choice(let condition): readBoth(branch.part, rest, condition, test, statement)
        case .unknown: readBoth(branch.part, rest, nil, test, statement)
        }
    }

    /// The variable that a condition requires, if it does nothing but stop make without it.
    private func requirement(_ test: String, _ part: [MakeStatement]) -> (variable: String, message: String)? {
        let parts = part.filter {
            switch $0.content {
            case .blank, .comment: false
            default: true
            }
        }
        guard parts.count == 1, case .other? = parts.first?.content, let line = parts[0].origin.lines.first?.trimmed,
            case .reference(let reference)? = MakePiece.pieces(of: line).first, reference.hasPrefix("error "),
            MakePiece.pieces(of: line).count == 1,
            let message = variables.literal(String(reference.dropFirst(6)))
        else { return nil }
        let words = test.words
        var name: String?
        if words.first == "ifndef", words.count == 2 { name = words[1] }
        if test.hasPrefix("ifeq"), let (left, right) = Self.operands(test.dropFirst(4).trimmed) {
            if right.isEmpty { name = Self.variable(left) } else if left.isEmpty { name = Self.variable(right) }
        }
        guard let name, MakeVariables.isName(name) else { return nil }
        return (name, message)
    }

    /// Reads both sides of a condition that only a run can decide.
    private mutating func readBoth(
        _ part: [MakeStatement], _ rest: ArraySlice<(test: String?, part: [MakeStatement])>, _ condition: Condition?,
        _ test: String, _ statement: MakeStatement
    ) {
        let before = (doubt, variables, problem)
        doubt = doubt ?? "only make knows about `\(test)`"
        read(part)
        let first = (variables, problem)
        (variables, problem) = (before.1, before.2)
        read(rest, of: statement)
        problem = problem ?? first.1
        variables = Self.merged(first.0, variables, condition)
        doubt = before.0
    }

    /// The variables after a condition, whose values are those of one side or the other.
    private static func merged(_ first: MakeVariables, _ second: MakeVariables, _ condition: Condition?)
        -> MakeVariables
    {
        var result = second
        result.doubt = first.doubt ?? second.doubt
        let names = Set(first.variables.keys).union(second.variables.keys)
        for name in names {
            let (one, other) = (first.variables[name], second.variables[name])
            if let one, let other, one.value == other.value, one.isComputed == other.isComputed { continue }
            // `ifndef X` around `X = …` is `X ?= …`.
            if let one, other == nil, let condition, condition.isNegated, condition.reference == "$(\(name))",
                !one.isImmediate, MakeBuiltIn.value(of: name) == nil
            {
                result.variables[name] = one
                result.variables[name]?.isDefault = true
                continue
            }
            let missing = MakeBuiltIn.value(of: name) ?? ""
            var variable = one ?? other ?? .init(value: "", isDefault: false)
            variable.isDefault = false
            variable.isImmediate = one?.isImmediate == true || other?.isImmediate == true
            variable.isExported = one?.isExported == other?.isExported ? one?.isExported : true
            let values = [one?.value ?? missing, other?.value ?? missing]
            if let condition, values.allSatisfy(isArgument), one?.isComputed != true, other?.isComputed != true {
                let (value, otherwise) = condition.isNegated ? (values[1], values[0]) : (values[0], values[1])
                variable.value = "$(if \(condition.reference),\(value),\(otherwise))"
            } else {
                (variable.value, variable.isComputed) = ("", true)
            }
            result.variables[name] = variable
        }
        if first.exportsAll != second.exportsAll { result.exportsAll = true }
        return result
    }

    /// True if a text can be an argument of a function.
    private static func isArgument(_ text: String) -> Bool {
        !text.contains("\n") && text == text.trimmed && MakePiece.arguments(of: text).count == 1
            && text.count(where: { $0 == "(" }) == text.count(where: { $0 == ")" })
    }

    /// A test of `$(if …)`.
    private struct Condition {
        let reference: String
        var isNegated = false
    }

    private enum Decision {
        case known(Bool)
        case choice(Condition)
        case unknown
    }

    private func decide(_ test: String) -> Decision {
        let word = String(test.prefix { $0.isLetter })
        let rest = test.dropFirst(word.count).trimmed
        let isNegated = word == "ifneq" || word == "ifndef"
        if word == "ifdef" || word == "ifndef" {
            guard let name = variables.literal(rest.words.first ?? "") else { return .unknown }
            if let variable = variables.variables[name] {
                return variable.isComputed ? .unknown : .known(variable.value.isEmpty == isNegated)
            }
            if let value = MakeBuiltIn.defined[name] ?? (name == "OS" ? "" : nil) {
                return .known(value.isEmpty == isNegated)
            }
            guard MakeVariables.isName(name), variables.doubt == nil else { return .unknown }
            return .choice(Condition(reference: "$(\(name))", isNegated: isNegated))
        }
        guard let (left, right) = Self.operands(rest) else { return .unknown }
        let (one, other) = (value(left), value(right))
        if let one, let other { return .known((one == other) != isNegated) }
        // One side is a text, the other one what a run may be given.
        guard let text = one ?? other, variables.doubt == nil else { return .unknown }
        let reference = one == nil ? left : right
        guard let name = Self.variable(reference),
            variables.variables[name].map({ $0.isDefault && !$0.isComputed }) ?? true
        else { return .unknown }
        if text.isEmpty { return .choice(Condition(reference: "$(\(name))", isNegated: !isNegated)) }
        guard text.allSatisfy({ $0.isVariableCharacter || "-_./".contains($0) }) else { return .unknown }
        return .choice(Condition(reference: "$(filter \(text),$(\(name)))", isNegated: isNegated))
    }

    /// The value of an operand where the makefile alone decides it; nil for what a run may be given.
    private func value(_ text: String) -> String? {
        let pieces = MakePiece.pieces(of: text)
        if folder.isKnown, pieces.count == 1, case .reference(let reference)? = pieces.first,
            reference.hasPrefix("wildcard "), let patterns = variables.literal(String(reference.dropFirst(9)))
        {
            return patterns.words.flatMap(folder.matches).joined(separator: " ")
        }
        let names = variables.names(readIn: text)
        guard !names.contains(where: { variables.variables[$0]?.isDefault == true }),
            variables.doubt == nil || names.isEmpty
        else { return nil }
        return variables.literal(text)
    }

    /// The variable that a text consists of.
    private static func variable(_ text: String) -> String? {
        let pieces = MakePiece.pieces(of: text)
        guard pieces.count == 1, case .reference(let reference)? = pieces.first else { return nil }
        if let (name, rest) = reference.cut(at: " "), name == "strip" { return variable(rest.trimmed) }
        return MakeVariables.isName(reference) ? reference : nil
    }

    /// The operands of `ifeq (a,b)` or `ifeq "a" 'b'`.
    private static func operands(_ text: String) -> (String, String)? {
        if text.hasPrefix("(") {
            guard let end = text.lastIndex(of: ")") else { return nil }
            let parts = MakePiece.arguments(of: String(text[text.index(after: text.startIndex)..<end]))
            return parts.count == 2 ? (parts[0].trimmed, parts[1].trimmed) : nil
        }
        var operands: [String] = []
        var rest = text[...]
        while operands.count < 2 {
            rest = rest.drop(while: \.isWhitespace)
            guard let quote = rest.popFirst(), quote == "\"" || quote == "'", let end = rest.firstIndex(of: quote)
            else {
                return nil
            }
            operands.append(String(rest[..<end]))
            rest = rest[rest.index(after: end)...]
        }
        return (operands[0], operands[1])
    }

    /// The lines of a recipe that count, or the reason why only make knows them.
    private func lines(of parts: [MakeRecipePart]) -> (lines: [String], problem: String?) {
        var result: (lines: [String], problem: String?) = ([], nil)
        for part in parts {
            switch part {
            case .line(let line): result.lines.append(line)
            case .condition(let condition):
                var isDecided = false
                for branch in condition.branches where !isDecided {
                    switch branch.test.map(decide) ?? .known(true) {
                    case .known(false): continue
                    case .known(true):
                        let inner = lines(of: branch.part)
                        result.lines += inner.lines
                        result.problem = result.problem ?? inner.problem
                    default:
                        result.problem = result.problem ?? "only make knows about `\(branch.test ?? "")` in its recipe"
                    }
                    isDecided = true
                }
            }
        }
        return result
    }

    /// The names that are read elsewhere than in texts for the shell.
    private var uses = MakeVariables.Uses()

    private mutating func note(_ rule: MakeRule) {
        for text in [rule.targets, rule.needs, rule.orderedAfter, rule.pattern ?? ""] {
            uses.inHeads.formUnion(variables.names(readIn: text))
        }
        for line in rule.recipe {
            uses.byShells.formUnion(ShellWords.names(readIn: MakePiece.mapped(line) { _ in " " }))
            let words = line.split { $0.isWhitespace || ";&|@-".contains($0) }.map(String.init)
            let others = ["$(MAKE)", "${MAKE}", "make", "configure", "cmake"]
            uses.callsOthers = uses.callsOthers || words.contains { others.contains($0) || $0.hasSuffix("/configure") }
        }
    }
}
