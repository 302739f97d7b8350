/// Splits a makefile into statements; expands nothing.
struct MakeReader {
    private let source: SourceLines
    private var index = 0
    private let end: Int
    private var statements: [MakeStatement] = []
    private var recipe: Recipe

    /// The meaning of a line with a tab: a rule takes it, but without one it is a line like others.
    private enum Recipe { case none, open, unknown }

    static func statements(of source: SourceLines) -> [MakeStatement] {
        read(source, 0..<source.lines.count, .none).statements
    }

    private static func read(_ source: SourceLines, _ range: Range<Int>, _ recipe: Recipe) -> MakeReader {
        var reader = MakeReader(source: source, range, recipe)
        while reader.index < reader.end { reader.readStatement() }
        return reader
    }

    private init(source: SourceLines, _ range: Range<Int>, _ recipe: Recipe) {
        self.source = source
        self.recipe = recipe
        index = range.lowerBound
        end = range.upperBound
    }

    private mutating func readStatement() {
        let start = index
        let line = source.lines[index]
        if line.isBlank { return add(.blank, from: start, to: index + 1) }
        let (text, end) = logicalLine(at: index)
        if line.trimmed.hasPrefix("#") { return add(.comment, from: start, to: line.hasPrefix("\t") ? index + 1 : end) }
        if line.hasPrefix("\t"), recipe != .none {
            let (parts, end) = recipeParts(from: start, to: self.end)
            return add(.recipe(parts), from: start, to: end)
        }
        let words = text.words
        let first = words.first ?? ""
        if Self.conditions.contains(Self.directive(first)) { return readCondition(from: start) }
        if first == "define" || words.count > 1 && ["override", "export"].contains(first) && words[1] == "define" {
            return readDefinition(words, from: start)
        }
        if ["include", "-include", "sinclude"].contains(first) {
            let names = Self.withoutComment(text.trimmed).dropFirst(first.count).trimmed
            recipe = .none
            return add(.include(names, isOptional: first != "include"), from: start, to: end)
        }
        if let assignment = Self.assignment(in: text) {
            recipe = .none
            return add(.assignment(assignment), from: start, to: end)
        }
        if first == "export" || first == "unexport" {
            recipe = .none
            let names = Self.withoutComment(text).words.dropFirst()
            return add(.export(Array(names), isExported: first == "export"), from: start, to: end)
        }
        if first == "vpath" { recipe = .none }
        if first != "vpath", let rule = Self.rule(in: text) { return readRecipe(of: rule, from: start, after: end) }
        // make stops at a line with a tab that is none of the above.
        add(.other(first: line.hasPrefix("\t") ? "\t" : first), from: start, to: end)
    }

    private mutating func readCondition(from start: Int) {
        let (branches, end) = branches(from: start, isInRecipe: recipe == .open)
        var parts: [(test: String?, part: [MakeStatement])] = []
        var after = branches.last?.test == nil ? [] : [recipe]
        for branch in branches {
            let reader = Self.read(source, branch.range, recipe)
            parts.append((branch.test, reader.statements))
            after.append(reader.recipe)
        }
        add(.condition(MakeCondition(branches: parts)), from: start, to: end)
        recipe = after.allSatisfy { $0 == after.first } ? after.first ?? recipe : .unknown
    }

    private mutating func readDefinition(_ words: [String], from start: Int) {
        let close = blockEnd(from: start, opening: ["define"], closing: "endef")
        recipe = .none
        let isExported = words.first == "export"
        let words = words.drop { ["define", "override", "export"].contains($0) }
        let name = words.first ?? ""
        let sign = words.dropFirst().first ?? "="
        let lines = source.lines[min(start + 1, close)..<max(start + 1, close - 1)]
        guard !name.isEmpty, ["=", ":=", "::=", "?=", "+="].contains(sign) else {
            return add(.other(first: "define"), from: start, to: close)
        }
        let value = lines.joined(separator: "\n")
        add(
            .assignment(MakeAssignment(name: name, sign: sign, value: value, isExported: isExported)), from: start,
            to: close)
    }

    /// Reads the lines with a tab below a rule, and everything between them.
    private mutating func readRecipe(of rule: MakeRule, from start: Int, after: Int) {
        var rule = rule
        let (parts, end) = recipeParts(from: after, to: self.end)
        rule.parts += parts
        add(.rule(rule), from: start, to: end)
        // Values for some targets only end the rule before.
        recipe = rule.assignment == nil ? .open : .none
    }

    /// The parts of a recipe that begin at a line, and the index behind the last of them.
    private func recipeParts(from start: Int, to limit: Int) -> (parts: [MakeRecipePart], end: Int) {
        var parts: [MakeRecipePart] = []
        var (next, end) = (start, start)
        while next < limit {
            let line = source.lines[next]
            if line.hasPrefix("\t") {
                let (text, after) = recipeLine(at: next)
                parts.append(.line(text))
                (next, end) = (after, after)
            } else if Self.conditions.contains(Self.directive(line.words.first ?? "")),
                let block = conditionInRecipe(at: next)
            {
                let branches = block.branches.map {
                    ($0.test, recipeParts(from: $0.range.lowerBound, to: $0.range.upperBound).parts)
                }
                parts.append(.condition(MakeCondition(branches: branches)))
                (next, end) = (block.end, block.end)
            } else if line.isBlank || line.hasPrefix("#") {
                next += 1
            } else {
                break
            }
        }
        return (parts, end)
    }

    /// A condition that has only recipe lines in it; nil for any other one.
    private func conditionInRecipe(at start: Int) -> (branches: [(test: String?, range: Range<Int>)], end: Int)? {
        let block = branches(from: start, isInRecipe: true)
        let inner = source.lines[start..<block.end].filter { line in
            let word = Self.directive(line.words.first ?? "")
            return !line.isBlank && !line.hasPrefix("#")
                && (line.hasPrefix("\t") || !Self.conditions.contains(word) && word != "else" && word != "endif")
        }
        return inner.contains { $0.hasPrefix("\t") } && inner.allSatisfy { $0.hasPrefix("\t") } ? block : nil
    }

    /// The branches of the condition that begins at a line, each with its test and lines, and the end of all.
    private func branches(
        from start: Int, isInRecipe: Bool
    ) -> (branches: [(test: String?, range: Range<Int>)], end: Int) {
        var branches: [(test: String?, range: Range<Int>)] = []
        let first = logicalLine(at: start)
        var (test, after): (String?, Int) = (Self.withoutComment(first.text).trimmed, first.end)
        var depth = 0
        var isInRecipe = isInRecipe
        var index = after
        while index < end {
            let line = source.lines[index]
            let (text, next) = logicalLine(at: index)
            let word = line.hasPrefix("\t") && isInRecipe ? "" : Self.directive(line.words.first ?? "")
            if Self.conditions.contains(word) { depth += 1 }
            if word == "endif" {
                if depth == 0 {
                    branches.append((test, after..<index))
                    return (branches, next)
                }
                depth -= 1
            }
            if word == "else", depth == 0 {
                branches.append((test, after..<index))
                let rest = Self.withoutComment(text).trimmed.dropFirst(4).trimmed
                (test, after) = (rest.isEmpty ? nil : rest, next)
            }
            if !(line.hasPrefix("\t") && isInRecipe), !line.isBlank, !line.trimmed.hasPrefix("#") {
                if Self.assignment(in: text) != nil {
                    isInRecipe = false
                } else if let rule = Self.rule(in: text) {
                    isInRecipe = rule.assignment == nil
                }
            }
            index = next
        }
        branches.append((test, min(after, end)..<end))
        return (branches, end)
    }

    private mutating func add(_ content: MakeStatement.Content, from start: Int, to end: Int) {
        statements.append(
            MakeStatement(
                content: content, origin: source.excerpt(start..<end), comment: source.comment(above: start)))
        index = end
    }

    /// One past the line that closes the block that begins at `start`.
    private func blockEnd(from start: Int, opening: Set<String>, closing: String) -> Int {
        var depth = 0
        for index in start..<end {
            let word = Self.directive(source.lines[index].words.first ?? "")
            if opening.contains(word) || index == start { depth += 1 } else if word == closing { depth -= 1 }
            if depth == 0 { return index + 1 }
        }
        return end
    }

    /// Joins a line with its continuations, as make does outside of recipes.
    private func logicalLine(at start: Int) -> (text: String, end: Int) {
        var text = source.lines[start]
        var end = start + 1
        while text.hasSuffix("\\"), end < self.end {
            text = "\(String(text.dropLast()).trimmedAtEnd) \(source.lines[end].trimmed)"
            end += 1
        }
        return (text, end)
    }

    /// Reads a line of a recipe with its continuations, which the shell joins.
    private func recipeLine(at start: Int) -> (text: String, end: Int) {
        var text = String(source.lines[start].dropFirst())
        var end = start + 1
        while text.hasSuffix("\\"), end < self.end {
            let line = source.lines[end]
            text += "\n" + (line.hasPrefix("\t") ? String(line.dropFirst()) : line)
            end += 1
        }
        return (text, end)
    }

    private static let conditions: Set<String> = ["ifeq", "ifneq", "ifdef", "ifndef"]

    /// `ifeq(a,b)` may be written without a blank.
    private static func directive(_ word: String) -> String { String(word.prefix { $0.isLetter }) }

    static func assignment(in line: String) -> MakeAssignment? {
        var text = line.trimmed
        var isExported = false
        while let word = text.words.first, word == "export" || word == "override" || word == "private" {
            guard text.dropFirst(word.count).trimmed.first != "=" else { break }
            if word == "export" { isExported = true }
            text = String(text.dropFirst(word.count)).trimmed
        }
        guard let equals = text.firstIndex(of: "=") else { return nil }
        var name = text[..<equals]
        var sign = "="
        if let mark = name.last, "?+!:".contains(mark) {
            sign = "\(mark)="
            name.removeLast()
            while name.last == ":" { name.removeLast() }
        }
        let variable = name.trimmed
        guard !variable.isEmpty, !variable.contains(where: { $0.isWhitespace || ":#$=();".contains($0) }) else {
            return nil
        }
        return MakeAssignment(
            name: variable, sign: sign, value: value(of: text[text.index(after: equals)...]), isExported: isExported)
    }

    /// The value behind the sign of an assignment. Blanks before a comment are part of it.
    private static func value(of text: Substring) -> String {
        let value = withoutComment(String(text.drop(while: \.isWhitespace)))
        return value.count < text.drop(while: \.isWhitespace).count ? value : value.trimmed
    }

    private static func rule(in line: String) -> MakeRule? {
        guard !line.hasPrefix("\t") else { return nil }
        let description = line.cut(at: "##")?.after.trimmed
        // A recipe on the line may have a `#` of its own.
        let (head, recipe) = parts(of: line)
        let text = withoutComment(head)
        guard let colon = separator(in: text) else { return nil }
        var rest = text[text.index(after: colon)...]
        let isOneOfSeveral = rest.first == ":"
        if isOneOfSeveral { rest.removeFirst() }
        var targets = text[..<colon].trimmed
        let isGrouped = targets.hasSuffix("&")
        // `a b &: c` makes both in one run.
        if isGrouped { targets = String(targets.dropLast()).trimmed }
        let whole = withoutComment(line)
        let assignment = assignment(in: String(whole[(separator(in: whole) ?? colon)...].drop { $0 == ":" }))
        var pattern: String?
        var tail = String(rest)
        if assignment == nil, let colon = separator(in: tail) {
            pattern = tail[..<colon].trimmed
            tail = String(tail[tail.index(after: colon)...])
        }
        let parts = tail.cut(at: "|")
        return MakeRule(
            targets: targets, needs: assignment == nil ? (parts?.before ?? tail).trimmed : "",
            orderedAfter: assignment == nil ? parts?.after.trimmed ?? "" : "", pattern: pattern,
            parts: assignment == nil ? recipe.map { [.line($0)] } ?? [] : [], description: description,
            assignment: assignment, isOneOfSeveral: isOneOfSeveral, isGrouped: isGrouped)
    }

    /// The text before the first `;` outside of references, and the recipe behind it.
    private static func parts(of line: String) -> (head: String, recipe: String?) {
        var depth = 0
        for index in line.indices {
            switch line[index] {
            case "(", "{": depth += 1
            case ")", "}": depth -= 1
            case "#" where depth == 0: return (line, nil)
            case ";" where depth == 0:
                return (String(line[..<index]), line[line.index(after: index)...].trimmed)
            default: break
            }
        }
        return (line, nil)
    }

    /// The colon of a rule, outside of references.
    static func separator(in text: String) -> String.Index? {
        var depth = 0
        for index in text.indices {
            switch text[index] {
            case "(", "{": depth += 1
            case ")", "}": depth -= 1
            case ":" where depth == 0: return index
            default: break
            }
        }
        return nil
    }

    /// Without the comment, which make does not read.
    private static func withoutComment(_ text: String) -> String {
        var previous: Character = " "
        for index in text.indices {
            if text[index] == "#", previous != "\\" { return String(text[..<index]) }
            previous = text[index]
        }
        return text
    }
}

extension String {
    fileprivate var trimmedAtEnd: String {
        var text = self
        while text.last?.isWhitespace == true { text.removeLast() }
        return text
    }
}
