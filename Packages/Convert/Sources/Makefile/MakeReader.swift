/// Splits a makefile into statements; expands nothing.
struct MakeReader {
    private let source: SourceLines
    private var index = 0
    private var statements: [MakeStatement] = []

    static func statements(of source: SourceLines) -> [MakeStatement] {
        var reader = MakeReader(source: source)
        while reader.index < source.lines.count { reader.readStatement() }
        return reader.statements
    }

    private init(source: SourceLines) { self.source = source }

    private mutating func readStatement() {
        let start = index
        let line = source.lines[index]
        if line.isBlank { return add(.blank, from: start, to: index + 1) }
        if line.trimmed.hasPrefix("#") { return add(.comment, from: start, to: index + 1) }
        let (text, end) = logicalLine(at: index)
        let first = text.words.first ?? ""
        if Self.conditions.contains(Self.directive(first)) {
            let end = blockEnd(from: start, opening: Self.conditions, closing: "endif")
            return add(.other(first: first, sets: names(in: start + 1..<end)), from: start, to: end)
        }
        if first == "define" || (first == "override" && text.words.dropFirst().first == "define") {
            let end = blockEnd(from: start, opening: ["define"], closing: "endef")
            let name = text.words.drop { $0 == "define" || $0 == "override" }.first
            return add(.other(first: first, sets: name.map { [$0] } ?? []), from: start, to: end)
        }
        if let assignment = Self.assignment(in: text) { return add(.assignment(assignment), from: start, to: end) }
        if let rule = Self.rule(in: text) { return readRecipe(of: rule, from: start, after: end) }
        add(.other(first: first, sets: []), from: start, to: end)
    }

    /// Reads the lines with a tab below a rule, and everything between them.
    private mutating func readRecipe(of rule: MakeRule, from start: Int, after: Int) {
        var rule = rule
        var end = after
        var next = after
        while next < source.lines.count {
            let line = source.lines[next]
            if line.hasPrefix("\t") {
                let (text, after) = recipeLine(at: next)
                rule.recipe.append(text)
                (next, end) = (after, after)
            } else if Self.conditions.contains(Self.directive(line.words.first ?? "")),
                let block = conditionInRecipe(at: next)
            {
                rule.isConditional = true
                (next, end) = (block, block)
            } else if line.isBlank || line.hasPrefix("#") {
                next += 1
            } else {
                break
            }
        }
        add(.rule(rule), from: start, to: end)
    }

    /// The end of a condition that has only recipe lines in it; nil for any other one.
    private func conditionInRecipe(at start: Int) -> Int? {
        let end = blockEnd(from: start, opening: Self.conditions, closing: "endif")
        let inner = source.lines[start..<end].filter { line in
            let word = Self.directive(line.words.first ?? "")
            return !line.isBlank && !Self.conditions.contains(word) && word != "else" && word != "endif"
        }
        return inner.contains { $0.hasPrefix("\t") } && inner.allSatisfy { $0.hasPrefix("\t") } ? end : nil
    }

    private mutating func add(_ content: MakeStatement.Content, from start: Int, to end: Int) {
        statements.append(MakeStatement(content: content, origin: source.excerpt(start..<end), line: start))
        index = end
    }

    /// One past the line that closes the block that begins at `start`.
    private func blockEnd(from start: Int, opening: Set<String>, closing: String) -> Int {
        var depth = 0
        for index in start..<source.lines.count {
            let word = Self.directive(source.lines[index].words.first ?? "")
            if opening.contains(word) { depth += 1 } else if word == closing { depth -= 1 }
            if depth == 0 { return index + 1 }
        }
        return source.lines.count
    }

    /// The variables that lines of a block set.
    private func names(in range: Range<Int>) -> [String] {
        range.clamped(to: 0..<source.lines.count).compactMap { index in
            source.lines[index].hasPrefix("\t") ? nil : Self.assignment(in: source.lines[index])?.name
        }
    }

    /// Joins a line with its continuations, as make does outside of recipes.
    private func logicalLine(at start: Int) -> (text: String, end: Int) {
        var text = source.lines[start]
        var end = start + 1
        while text.hasSuffix("\\"), end < source.lines.count {
            text = "\(String(text.dropLast()).trimmedAtEnd) \(source.lines[end].trimmed)"
            end += 1
        }
        return (text, end)
    }

    /// Reads a line of a recipe with its continuations, which the shell joins.
    private func recipeLine(at start: Int) -> (text: String, end: Int) {
        var text = String(source.lines[start].dropFirst())
        var end = start + 1
        while text.hasSuffix("\\"), end < source.lines.count {
            let line = source.lines[end]
            text += "\n" + (line.hasPrefix("\t") ? String(line.dropFirst()) : line)
            end += 1
        }
        return (text, end)
    }

    private static let conditions: Set<String> = ["ifeq", "ifneq", "ifdef", "ifndef"]

    /// `ifeq(a,b)` may be written without a blank.
    private static func directive(_ word: String) -> String { String(word.prefix { $0.isLetter }) }

    private static func assignment(in line: String) -> MakeAssignment? {
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
        guard !variable.isEmpty, !variable.contains(where: { $0.isWhitespace || ":#$=()".contains($0) }) else {
            return nil
        }
        let value = withoutComment(String(text[text.index(after: equals)...])).trimmed
        return MakeAssignment(name: variable, sign: sign, value: value, isExported: isExported)
    }

    private static func rule(in line: String) -> MakeRule? {
        guard !line.hasPrefix("\t") else { return nil }
        let description = line.cut(at: "##")?.after.trimmed
        let text = withoutComment(line)
        guard let colon = separator(in: text) else { return nil }
        var rest = text[text.index(after: colon)...]
        let isOneOfSeveral = rest.first == ":"
        if isOneOfSeveral { rest.removeFirst() }
        var targets = text[..<colon].trimmed
        // `a b &: c` makes both in one run.
        if targets.hasSuffix("&") { targets = String(targets.dropLast()).trimmed }
        let assignment = assignment(in: String(rest))
        let inline = rest.cut(at: ";")
        let parts = (inline?.before ?? String(rest)).cut(at: "|")
        return MakeRule(
            targets: targets, needs: assignment == nil ? (parts?.before ?? inline?.before ?? String(rest)).trimmed : "",
            orderedAfter: assignment == nil ? parts?.after.trimmed ?? "" : "",
            recipe: assignment == nil ? inline.map { [$0.after.trimmed] } ?? [] : [], description: description,
            assignment: assignment, isOneOfSeveral: isOneOfSeveral)
    }

    /// The colon of a rule, outside of references.
    private static func separator(in text: String) -> String.Index? {
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
