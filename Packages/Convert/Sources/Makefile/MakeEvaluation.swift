/// Reads a makefile from top to bottom, as make does: included files where they are named, conditions with the values
/// that variables have there. Runs nothing.
struct MakeEvaluation {
    var variables: MakeVariables
    /// Those that count, or may count.
    private(set) var statements: [MakeStatement] = []
    /// Comments on what was not read as it is.
    private(set) var notes: [String] = []
    /// The reason why no step can be trusted; nil if there is none.
    var problem: String?
    /// The tests that stop make if all of them hold, and its messages.
    private(set) var stops: [(tests: [MakeTest], message: String)] = []
    var doubt: String?
    /// The tests that hold in the branch that is read, unless one of them is unknown.
    var path: [MakeTest]? = []
    /// True if make stops in the branch that is read.
    var hasStopped = false
    private var depth = 0
    var testCount = 0
    let folder: ForeignFolder
    private(set) var answer: MakeAnswer?
    /// The files that were read, and the names that decided what make has read.
    private(set) var sources: Set<String>
    var decisive: Set<String> = []
    /// The names whose values only make knows.
    var foreign: Set<String> = []
    private static let depthLimit = 20

    init(_ source: SourceLines, folder: ForeignFolder, answer: MakeAnswer? = nil) {
        self.folder = folder
        self.answer = answer
        sources = [source.name]
        variables = MakeVariables(fileName: source.name, folder: folder)
        let all = MakeReader.statements(of: source)
        read(all)
        if let answer { adopt(answer.database) }
        variables.uses = uses
        variables.uses.inHeads.formUnion(decisive)
        variables.settle()
    }

    mutating func forgetAnswer() { answer = nil }

    mutating func read(_ statements: [MakeStatement]) {
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
        case .recipe(let parts): return add(parts, statement)
        case .include(let names, let isOptional):
            openRule = nil
            return include(names, isOptional: isOptional, statement)
        case .assignment(var assignment):
            openRule = nil
            if let command = MakeBuiltIn.change(in: assignment) {
                problem = problem ?? "make runs `\(command)` before all steps"
            }
            if let (value, test) = orElse(assignment) {
                assignment.value = value
                stops.append(test)
            }
            variables.set(assignment)
            // Make reads these right away, and they may define more.
            if assignment.value.contains("$(eval "), !isAnswered(assignment.value) {
                problem = problem ?? "`$(eval)` may define anything"
            }
            if assignment.sign.hasPrefix(":"), assignment.value.contains("$(error "), !isAnswered(assignment.value) {
                noteError(assignment.value, statement)
            }
        case .export(let names, let isExported):
            openRule = nil
            export(names, isExported, statement)
        case .rule(var rule):
            openRule = rule.assignment == nil ? self.statements.count : nil
            (rule.recipe, rule.problem) = lines(of: rule.parts)
            // What has a value for some targets has none for the others.
            if let assignment = rule.assignment, variables.doubt == nil {
                fix(variables.variables[assignment.name] == nil ? [assignment.name] : [])
            }
            note(rule)
            for part in [\MakeRule.targets, \.needs, \.orderedAfter] {
                // Later values mean nothing to them.
                guard let text = fixed(rule[keyPath: part]) ?? symbolic(rule[keyPath: part]) else { continue }
                rule[keyPath: part] = text.replacing("$", with: "$$")
            }
            statement = MakeStatement(
                content: .rule(rule), origin: statement.origin, comment: statement.comment, doubt: doubt)
        case .other(let first): return noteOther(first, statement)
        }
        self.statements.append(statement)
    }

    /// The index of the rule to which a line with a tab belongs.
    private var openRule: Int?

    /// Adds lines to the recipe of the last rule.
    private mutating func add(_ parts: [MakeRecipePart], _ statement: MakeStatement) {
        guard let openRule, case .rule(var rule) = statements[openRule].content, doubt == nil,
            statements[openRule].doubt == nil
        else {
            notes += statement.origin.comments("not converted")
            problem = problem ?? "`\(statement.origin.lines.first?.trimmed ?? "")` was not understood"
            return
        }
        let added = lines(of: parts)
        rule.recipe += added.lines
        rule.problem = rule.problem ?? added.problem
        var rest = rule
        rest.recipe = added.lines
        note(rest)
        var origin = statements[openRule].origin
        origin.add(statement.origin)
        statements[openRule] = MakeStatement(
            content: .rule(rule), origin: origin, comment: statements[openRule].comment, doubt: nil)
    }

    /// The value of `$(or …,$(error …))`, and the test that stops make; nil for anything else.
    private mutating func orElse(
        _ assignment: MakeAssignment
    ) -> (String, (tests: [MakeTest], message: String))? {
        let pieces = MakePiece.pieces(of: assignment.value)
        guard assignment.sign.hasPrefix(":"), let path, pieces.count == 1,
            case .reference(let reference)? = pieces.first,
            reference.hasPrefix("or "), case let parts = MakePiece.arguments(of: String(reference.dropFirst(3))),
            parts.count == 2, case .reference(let stop)? = MakePiece.pieces(of: parts[1].trimmed).first,
            stop.hasPrefix("error "), variables.doubt == nil, let test = testVariable(parts[0].trimmed)
        else { return nil }
        let message = variables.literal(String(stop.dropFirst(6))) ?? String(stop.dropFirst(6))
        return ("$(\(test))", (path + [MakeTest(variable: test, isNegated: true)], message))
    }

    /// Notes a line that is neither a rule nor an assignment; unless it is a message, no step can be trusted.
    private mutating func noteOther(_ first: String, _ statement: MakeStatement) {
        let line = statement.origin.lines.joined(separator: " ").replacing("\\ ", with: " ").trimmed
        for word in ["$(info ", "$(warning ", "${info ", "${warning "] where line.hasPrefix(word) && first != "\t" {
            notes += statement.origin.comments("not converted: a message of make")
            return
        }
        if first != "\t", first != "vpath" {
            if line.hasPrefix("$(error ") || line.hasPrefix("${error ") { return noteError(line, statement) }
            if MakePiece.pieces(of: line).allSatisfy({ if case .reference = $0 { true } else { false } }) {
                if fixed(line)?.isBlank == true {
                    notes += statement.origin.comments("of no effect here")
                    return
                }
                if let text = evaluated(line, [:]), depth < Self.depthLimit {
                    notes += statement.origin.comments("read as what it becomes")
                    depth += 1
                    read(MakeReader.statements(of: SourceLines(name: variables.fileName, text: text)))
                    depth -= 1
                    return
                }
            }
            if doubt == nil, isAnswered(line) {
                notes += statement.origin.comments("as make has read it")
                return
            }
        }
        notes += statement.origin.comments("not converted")
        if first == "vpath" {
            searches.append(line)
        } else {
            problem = problem ?? "`\(statement.origin.lines.first?.trimmed ?? first)` was not understood"
        }
    }

    /// The lines that name folders in which make looks for files.
    private(set) var searches: [String] = []

    /// The text that `$(eval …)` reads, also inside of `$(foreach …)`; nil if only make knows it.
    private mutating func evaluated(_ line: String, _ automatic: [String: String]) -> String? {
        var result = ""
        for piece in MakePiece.pieces(of: line.trimmed) {
            guard case .reference(let reference) = piece, let (name, rest) = reference.cut(at: " ") else {
                if case .text(let text) = piece, text.isBlank { continue }
                return nil
            }
            switch name {
            case "eval":
                guard let text = fixed(rest, automatic) else { return nil }
                result += text + "\n"
            case "foreach":
                let parts = rest.split(separator: ",", maxSplits: 2, omittingEmptySubsequences: false).map(String.init)
                guard parts.count == 3, let name = fixed(parts[0].trimmed, automatic),
                    let words = fixed(parts[1], automatic)?.words
                else { return nil }
                for word in words {
                    guard let text = evaluated(parts[2], automatic.merging([name: word]) { $1 }) else { return nil }
                    result += text
                }
            default: return nil
            }
        }
        return result
    }

    /// Expands a text that make expands while it reads the file. What a run may be given is fixed to what it is here.
    mutating func fixed(_ text: String, _ automatic: [String: String] = [:]) -> String? {
        guard variables.doubt == nil else { return nil }
        let before = variables
        fixFiles(text)
        fix(variables.names(readIn: text))
        if let value = variables.literal(text, automatic: automatic) { return value }
        variables = before
        return nil
    }

    /// Expands names of files of which only a run knows a part.
    private mutating func symbolic(_ text: String) -> String? {
        let before = variables
        fixFiles(text)
        fix(variables.names(readIn: text))
        for name in variables.names(readIn: text) where MakeVariables.isName(name) {
            guard let variable = variables.variables[name], variable.isDefault,
                variables.literal(variable.value) == nil, variables.variables["make_\(name)"] == nil
            else { continue }
            variables.set(MakeAssignment(name: "make_\(name)", sign: ":=", value: "$(\(name))", isExported: false))
        }
        variables.settle()
        if let value = variables.symbolic(text) {
            for name in MakeSymbol.variables(in: value) { variables.symbols[name] = variables.variables[name]?.value }
            return value
        }
        variables = before
        return nil
    }

    /// Lets patterns of files stand for those that are there.
    mutating func fixFiles(_ text: String) {
        guard folder.isKnown, text.contains("$") else { return }
        let texts = [text] + variables.names(readIn: text).compactMap { variables.variables[$0]?.value }
        for patterns in texts.flatMap({ MakePiece.patterns(in: $0) }) {
            let words = variables.literal(patterns)?.words ?? []
            guard words.allSatisfy(MakeVariables.isFilePattern) else { continue }
            variables.fixedFiles.formUnion(words)
        }
    }

    /// Notes that make stops here.
    private mutating func noteError(_ line: String, _ statement: MakeStatement) {
        guard let path, !path.isEmpty, variables.doubt == nil else {
            notes += statement.origin.comments("not converted")
            problem = problem ?? "make may stop at `\(statement.origin.lines.first?.trimmed ?? "")`"
            return
        }
        var message = statement.origin.lines.first?.trimmed ?? ""
        if case .reference(let reference)? = MakePiece.pieces(of: line).first, reference.hasPrefix("error ") {
            message = variables.literal(String(reference.dropFirst(6))) ?? message
        } else {
            notes += statement.origin.comments("not converted")
            problem = problem ?? "make may stop at `\(message)`"
            return
        }
        stops.append((path, message))
        hasStopped = true
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
        guard let names = names(text) ?? answer?.files(like: text, except: sources) else {
            return doubt("only make knows the names in `\(line)`")
        }
        for name in names {
            if let source = folder.source(name) {
                depth += 1
                sources.insert(ForeignFolder.normal(name))
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
    private mutating func names(_ text: String) -> [String]? {
        var words: [String] = []
        for piece in MakePiece.pieces(of: text) {
            guard case .reference(let reference) = piece, reference.hasPrefix("wildcard ") else { continue }
            guard let patterns = fixed(String(reference.dropFirst(9)))?.words else { return nil }
            words += patterns.flatMap(folder.matches)
        }
        let rest = MakePiece.mapped(text) { $0.hasPrefix("wildcard ") ? " " : nil }
        guard let literal = fixed(rest) else { return nil }
        return words
            + literal.words.flatMap { word in
                word.contains { "*?[".contains($0) } ? folder.matches(word) : [word]
            }
    }

    /// The names that are read elsewhere than in texts for the shell.
    private var uses = MakeVariables.Uses()

    private mutating func note(_ rule: MakeRule) {
        for text in [rule.targets, rule.needs, rule.orderedAfter, rule.pattern ?? ""] {
            uses.inHeads.formUnion(variables.names(readIn: text))
        }
        for line in rule.recipe.map(\.text) {
            uses.byShells.formUnion(ShellWords.names(readIn: MakePiece.mapped(line) { _ in " " }))
            let words = line.split { $0.isWhitespace || ";&|@-".contains($0) }.map(String.init)
            let others = ["$(MAKE)", "${MAKE}", "make", "configure", "cmake"]
            uses.callsOthers = uses.callsOthers || words.contains { others.contains($0) || $0.hasSuffix("/configure") }
        }
    }
}
