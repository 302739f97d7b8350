/// A test over the value of one variable.
struct MakeTest: Equatable {
    let variable: String
    /// The value that it is compared with; nil if any value will do.
    var wanted: String?
    var isNegated = false

    /// The test of `$(if …)`, without the negation.
    var reference: String { wanted.map { "$(filter \($0),$(\(variable)))" } ?? "$(\(variable))" }

    var negated: MakeTest { MakeTest(variable: variable, wanted: wanted, isNegated: !isNegated) }
}

// Conditions around parts of a makefile or of a recipe.
extension MakeEvaluation {
    mutating func read(
        _ branches: ArraySlice<(test: String?, part: [MakeStatement])>, of statement: MakeStatement
    ) {
        guard let branch = branches.first else { return }
        guard let test = branch.test else { return read(branch.part) }
        let rest = branches.dropFirst()
        if let isTaken = takes(branches, of: statement) {
            return isTaken ? read(branch.part) : read(rest, of: statement)
        }
        switch decide(test) {
        case .known(true): read(branch.part)
        case .known(false): read(rest, of: statement)
        case .choice(let condition):
            let before = self
            readBoth(branch.part, rest, condition, test, statement)
            guard hasTrouble(branches, since: before) else { return }
            let both = self
            self = before
            if fix(test, toChoice: false) { read(branches, of: statement) } else { self = both }
        case .unknown:
            if fix(test, toChoice: true) { return read(branches, of: statement) }
            readBoth(branch.part, rest, nil, test, statement)
        }
    }

    /// True if the parts of a condition have more than values that can be chosen in a run.
    private func hasTrouble(
        _ branches: ArraySlice<(test: String?, part: [MakeStatement])>, since before: MakeEvaluation
    ) -> Bool {
        if problem != before.problem { return true }
        let computed = variables.variables.filter(\.value.isComputed).keys
        if computed.contains(where: { before.variables.variables[$0]?.isComputed != true }) { return true }
        return branches.contains { $0.part.contains { !Self.isChoosable($0) } }
    }

    private static func isChoosable(_ statement: MakeStatement) -> Bool {
        switch statement.content {
        case .blank, .comment: true
        // A shell knows no marks of lines.
        case .assignment(let assignment): !assignment.isExported && !assignment.value.hasPrefix("@")
        case .condition(let condition): condition.branches.allSatisfy { $0.part.allSatisfy(isChoosable) }
        case .other(let first): first.hasPrefix("$(") || first.hasPrefix("${")
        default: false
        }
    }

    /// Lets a test have the values of the file, and refuses others in the run. Returns false if that decides nothing,
    /// not even between two values with `toChoice`.
    mutating func fix(_ test: String, toChoice: Bool) -> Bool {
        let before = variables
        guard variables.doubt == nil else { return false }
        let word = String(test.prefix { $0.isLetter })
        let rest = test.dropFirst(word.count).trimmed
        if word == "ifdef" || word == "ifndef" {
            fix([variables.literal(rest.words.first ?? "") ?? ""])
        } else {
            fixFiles(rest)
            fix(variables.names(readIn: rest))
        }
        if variables.fixed != before.fixed || variables.fixedFiles != before.fixedFiles {
            switch decide(test) {
            case .known: return true
            case .choice where toChoice: return true
            default: break
            }
        }
        variables = before
        return false
    }

    mutating func fix(_ names: Set<String>) {
        let isEverywhere: Set = ["PATH", "HOME", "USER", "LOGNAME", "LANG", "TERM", "TMPDIR", "EDITOR", "CI"]
        for name in names
        where MakeVariables.isName(name) && variables.fixed[name] == nil && !isEverywhere.contains(name) {
            if let variable = variables.variables[name] {
                // What it had before the makefile added to it.
                let inherited = [MakeBuiltIn.inherited, MakeBuiltIn.inheritedBefore].map { "$(\($0) \(name))" }
                if inherited.contains(where: variable.value.contains), MakeBuiltIn.defined[name] == nil {
                    variables.fixed[name] = ""
                    continue
                }
                guard variable.isDefault, let value = variables.literal(variable.value) else { continue }
                variables.fixed[name] = value
            } else if MakeBuiltIn.value(of: name) == nil, !MakeVariables.isMakes(name) {
                variables.fixed[name] = ""
            }
        }
    }

    /// Reads both sides of a condition that only a run can decide.
    private mutating func readBoth(
        _ part: [MakeStatement], _ rest: ArraySlice<(test: String?, part: [MakeStatement])>, _ condition: MakeTest?,
        _ test: String, _ statement: MakeStatement
    ) {
        let before = (doubt: doubt, path: path, variables: variables, problem: problem, hasStopped: hasStopped)
        doubt = doubt ?? "only make knows about `\(test)`"
        (path, hasStopped) = (condition.flatMap { test in before.path.map { $0 + [test] } }, false)
        read(part)
        let first = (variables: variables, problem: problem, hasStopped: hasStopped)
        (variables, problem, hasStopped) = (before.variables, before.problem, false)
        // What only the first side fixes holds for all of the run.
        variables.fixed.merge(first.variables.fixed) { old, _ in old }
        variables.fixedFiles.formUnion(first.variables.fixedFiles)
        variables.symbols.merge(first.variables.symbols) { old, _ in old }
        variables.filled.formUnion(first.variables.filled)
        variables.readsSilence = variables.readsSilence || first.variables.readsSilence
        path = condition.flatMap { test in before.path.map { $0 + [test.negated] } }
        read(rest, of: statement)
        problem = problem ?? first.problem
        let (fixed, files, symbols) = (variables.fixed, variables.fixedFiles, variables.symbols)
        let (filled, readsSilence) = (variables.filled, variables.readsSilence)
        if first.hasStopped == hasStopped {
            variables = Self.merged(first.variables, variables, condition)
        } else if hasStopped {
            variables = first.variables
        }
        (variables.fixed, variables.fixedFiles, variables.symbols) = (fixed, files, symbols)
        (variables.filled, variables.readsSilence) = (filled, readsSilence)
        hasStopped = before.hasStopped || hasStopped && first.hasStopped
        (doubt, path) = (before.doubt, before.path)
    }

    /// The variables after a condition, whose values are those of one side or the other.
    private static func merged(_ first: MakeVariables, _ second: MakeVariables, _ condition: MakeTest?)
        -> MakeVariables
    {
        var result = second
        result.doubt = first.doubt ?? second.doubt
        let names = Set(first.variables.keys).union(second.variables.keys)
        for name in names {
            let (one, other) = (first.variables[name], second.variables[name])
            if let one, let other, one == other { continue }
            // A test of a condition inside.
            if name.hasPrefix(MakeVariables.testPrefix) {
                result.variables[name] = one ?? other
                continue
            }
            // `ifndef X` around `X = …` is `X ?= …`.
            if let one, other == nil, let condition, condition == MakeTest(variable: name, isNegated: true),
                !one.isImmediate, MakeBuiltIn.value(of: name) == nil
            {
                result.variables[name] = one
                result.variables[name]?.isDefault = true
                continue
            }
            // A value from outside takes precedence on both sides.
            let areGiven = [one, other].allSatisfy { side in
                guard let side else { return MakeBuiltIn.value(of: name) == nil }
                return side.isDefault && second.isPlain(side.value, [:])
            }
            let missing = MakeVariables.isName(name) && !areGiven ? MakeBuiltIn.before(name) : ""
            var variable = one ?? other ?? .init(value: "", isDefault: false)
            variable.isDefault = areGiven
            variable.isMerged = true
            variable.isImmediate = one?.isImmediate == true || other?.isImmediate == true
            let values = [one?.value ?? missing, other?.value ?? missing]
            let isAlike = one.flatMap(\.isExported) == other.flatMap(\.isExported)
            let isKnown = isAlike && one?.isComputed != true && other?.isComputed != true
            // One that only one side may be given is neither.
            let isGiven = !areGiven && (one?.isDefault == true || other?.isDefault == true)
            if let condition, let choices = choices(values), isKnown, !isGiven {
                let (value, otherwise) = condition.isNegated ? (choices[1], choices[0]) : (choices[0], choices[1])
                variable.value = "$(if \(condition.reference),\(value),\(otherwise))"
            } else {
                (variable.value, variable.isComputed) = ("", true)
                if !isAlike { variable.isExported = true }
            }
            result.variables[name] = variable
        }
        if first.exportsAll != second.exportsAll { result.exportsAll = true }
        return result
    }

    /// Texts as arguments of a function; nil if one of them cannot be.
    private static func choices(_ texts: [String]) -> [String]? {
        let limit = 2000
        let escaped = texts.map { text -> String in
            var depth = 0
            var result = ""
            for character in text {
                if "({".contains(character) { depth += 1 }
                if ")}".contains(character) { depth -= 1 }
                result += character == "," && depth == 0 ? "$(\(MakeBuiltIn.comma))" : "\(character)"
            }
            return result
        }
        return escaped.allSatisfy { text in
            !text.contains("\n") && text == text.trimmed && MakePiece.arguments(of: text).count == 1
                && text.count < limit && text.count(where: { $0 == "(" }) == text.count(where: { $0 == ")" })
        } ? escaped : nil
    }

    enum Decision {
        case known(Bool)
        case choice(MakeTest)
        case unknown
    }

    mutating func decide(_ test: String) -> Decision {
        let word = String(test.prefix { $0.isLetter })
        let rest = test.dropFirst(word.count).trimmed
        let isNegated = word == "ifneq" || word == "ifndef"
        if rest.contains("$(\(MakeVariables.silence))") { variables.readsSilence = true }
        if word == "ifdef" || word == "ifndef" { return decide(isDefined: rest.words.first ?? "", isNegated) }
        guard word == "ifeq" || word == "ifneq", let (left, right) = Self.operands(rest) else { return .unknown }
        let (one, other) = (value(left), value(right))
        if let one, let other { return .known((one == other) != isNegated) }
        // What make defines is empty only if the environment says so.
        if (one ?? other) == "", let name = Self.variable(one == nil ? left : right), variables.variables[name] == nil,
            MakeBuiltIn.value(of: name)?.isEmpty == false
        {
            variables.filled.insert(name)
            return .known(isNegated)
        }
        if one == nil, other == nil, variables.doubt == nil,
            let name = testVariable("$(\(MakeBuiltIn.equal) \(left),\(right))")
        {
            return .choice(MakeTest(variable: name, isNegated: isNegated))
        }
        // One side is a text, the other one what a run may be given.
        guard let text = one ?? other, variables.doubt == nil,
            text.allSatisfy({ $0.isVariableCharacter || "-_./".contains($0) })
        else { return .unknown }
        let reference = one == nil ? left : right
        var variable = Self.variable(reference)
        if let name = variable, let known = variables.variables[name], !known.isDefault || known.isComputed {
            variable = nil
        }
        guard let name = variable ?? testVariable(reference) else { return .unknown }
        return .choice(
            text.isEmpty
                ? MakeTest(variable: name, isNegated: !isNegated)
                : MakeTest(variable: name, wanted: text, isNegated: isNegated))
    }

    private mutating func decide(isDefined text: String, _ isNegated: Bool) -> Decision {
        guard let name = variables.literal(text) else { return .unknown }
        if variables.fixed[name] == "" { return .known(isNegated) }
        if let variable = variables.variables[name] {
            guard !variable.isComputed, !variable.isMerged else { return .unknown }
            if variable.isImmediate, variables.literal(variable.value) == nil {
                guard let test = testVariable("$(\(name))") else { return .unknown }
                return .choice(MakeTest(variable: test, isNegated: isNegated))
            }
            let value = variable.isImmediate ? variables.literal(variable.value) ?? "" : variable.value
            return .known(value.isEmpty == isNegated)
        }
        if let value = MakeBuiltIn.defined[name] ?? (name == "OS" ? "" : nil) {
            return .known(value.isEmpty == isNegated)
        }
        guard MakeVariables.isName(name), variables.doubt == nil else { return .unknown }
        return .choice(MakeTest(variable: name, isNegated: isNegated))
    }

    /// A variable of `vars` with the value that a text has here; nil if no shell can compute it.
    mutating func testVariable(_ text: String) -> String? {
        guard variables.names(readIn: text).allSatisfy({ variables.variables[$0]?.isComputed != true }) else {
            return nil
        }
        let tests = variables.variables.filter { $0.key.hasPrefix(MakeVariables.testPrefix) }
        if let test = tests.first(where: { $0.value.value == text }) { return test.key }
        let name = "\(MakeVariables.testPrefix)\(testCount + 1)"
        var copy = variables
        copy.set(MakeAssignment(name: name, sign: ":=", value: text, isExported: false))
        copy.settle()
        guard copy.place(of: name) == .shared else { return nil }
        variables = copy
        testCount += 1
        return name
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
        // Without options of a call: the answer was asked with some.
        if answer != nil, names.contains("MAKEFLAGS"), variables.variables["MAKEFLAGS"] == nil {
            var plain = self
            plain.variables.variables["MAKEFLAGS"] = .init(value: "", isDefault: false)
            return plain.value(text)
        }
        guard !names.contains(where: { variables.variables[$0]?.isDefault == true && variables.fixed[$0] == nil }),
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

    /// The lines of a recipe that count, with the tests of the run, or the reason why only make knows them.
    mutating func lines(of parts: [MakeRecipePart]) -> (lines: [MakeLine], problem: String?) {
        var result: (lines: [MakeLine], problem: String?) = ([], nil)
        for part in parts {
            switch part {
            case .line(let line): result.lines.append(MakeLine(text: line))
            case .condition(let condition):
                var tests: [MakeTest] = []
                branches: for branch in condition.branches {
                    let inner = lines(of: branch.part)
                    var own = tests
                    switch branch.test.map({ decide($0) }) ?? .known(true) {
                    case .known(false): continue branches
                    case .known(true):
                        result.lines += inner.lines.map { $0.under(own) }
                        result.problem = result.problem ?? inner.problem
                        break branches
                    case .choice(let test):
                        own.append(test)
                        result.lines += inner.lines.map { $0.under(own) }
                        result.problem = result.problem ?? inner.problem
                        tests.append(test.negated)
                    case .unknown:
                        result.problem = result.problem ?? "only make knows about `\(branch.test ?? "")` in its recipe"
                        break branches
                    }
                }
            }
        }
        return result
    }
}
