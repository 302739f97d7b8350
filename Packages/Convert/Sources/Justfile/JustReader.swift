/// Splits a justfile into statements; evaluates nothing.
struct JustReader {
    private let source: SourceLines
    private var index = 0
    private var statements: [JustStatement] = []
    private var attributes: [String] = []
    private var attributesStart: Int?

    static func statements(of source: SourceLines) -> [JustStatement] {
        var reader = JustReader(source: source)
        while reader.index < source.lines.count { reader.readStatement() }
        return reader.statements
    }

    private init(source: SourceLines) { self.source = source }

    /// The names of a file's own recipes, in its order.
    static func recipes(of source: SourceLines) -> [String] {
        statements(of: source).compactMap { if case .recipe(let recipe) = $0.content { recipe.name } else { nil } }
    }

    private mutating func readStatement() {
        let start = attributesStart ?? index
        let line = source.lines[index]
        if line.isBlank { return add(.blank, from: index, to: index + 1) }
        if line.hasPrefix("#") { return add(.comment, from: index, to: index + 1) }
        if line.hasPrefix("["), let end = line.lastIndex(of: "]") {
            attributes += Self.parts(of: line[line.index(after: line.startIndex)..<end], between: ",")
            attributesStart = start
            index += 1
            return
        }
        let (text, end) = logicalLine(at: index)
        let words = text.words
        let assignment = text.cut(at: ":=")
        if words[0] == "set", words.count > 1 {
            let name = String(words[1].prefix { $0 != ":" })
            return add(.setting(name: name, value: assignment?.after.trimmed ?? "true"), from: start, to: end)
        }
        if words[0] == "alias", let assignment {
            return add(
                .alias(name: assignment.before.words.last ?? "", of: assignment.after.trimmed), from: start, to: end)
        }
        if let assignment, let name = assignment.before.words.last, name.allSatisfy(\.isIDCharacter),
            assignment.before.words.count == 1 || assignment.before.words.dropLast() == ["export"]
        {
            return readAssignment(
                name, assignment.after.trimmed, isExported: words[0] == "export", from: start, to: end)
        }
        if words[0] == "import" || words[0] == "import?" {
            let path = JustExpression.value(of: text.dropFirst(words[0].count).trimmed)?.literal
            return add(.importing(path, isOptional: words[0] == "import?"), from: start, to: end)
        }
        if words[0] == "unexport", words.count > 1 { return add(.unexport(words[1]), from: start, to: end) }
        if words[0] == "mod" || words[0] == "mod?" { return add(.module, from: start, to: end) }
        if var recipe = JustRecipe(header: text) {
            recipe.attributes = attributes
            return readBody(of: recipe, from: start, after: end)
        }
        add(.other, from: start, to: end)
    }

    private mutating func readAssignment(
        _ name: String, _ value: String, isExported: Bool, from start: Int, to end: Int
    ) {
        add(.assignment(name: name, value: value, isExported: isExported), from: start, to: end)
    }

    private mutating func readBody(of recipe: JustRecipe, from start: Int, after: Int) {
        var recipe = recipe
        var lines: [String] = []
        var end = after
        for next in after..<source.lines.count {
            let line = source.lines[next]
            guard line.isBlank || line.first == " " || line.first == "\t" else { break }
            lines.append(line)
            if !line.isBlank { end = next + 1 }
        }
        lines.removeLast(lines.count - (end - after))
        let indentation = lines.first { !$0.isBlank }.map { $0.prefix { $0 == " " || $0 == "\t" } } ?? ""
        lines = lines.map { $0.hasPrefix(indentation) ? String($0.dropFirst(indentation.count)) : $0.trimmed }
        let isScript = lines.first?.hasPrefix("#!") == true
        for line in lines {
            if !isScript, let last = recipe.body.last, last.hasSuffix("\\") {
                recipe.body[recipe.body.count - 1] = Self.joined(last, line)
            } else {
                recipe.body.append(line)
            }
        }
        // just removes this one as well.
        if !isScript, let last = recipe.body.last, last.hasSuffix("\\") {
            recipe.body[recipe.body.count - 1] = String(last.dropLast())
        }
        add(.recipe(recipe), from: start, to: end)
    }

    /// Joins two lines at the backslash between them, as just does before a shell reads them. Where a shell makes the
    /// same of it, the line end remains.
    private static func joined(_ first: String, _ second: String) -> String {
        let start = first.dropLast()
        let isAlike =
            start.last?.isWhitespace == true && !start.contains { "#<`".contains($0) }
            && start.count(where: { $0 == "{" }) == start.count(where: { $0 == "}" })
            && !ShellWords.areQuotesOpen(start) && !second.isBlank
        return isAlike ? "\(first)\n\(second)" : String(start) + second.drop(while: \.isWhitespace)
    }

    private mutating func add(_ content: JustStatement.Content, from start: Int, to end: Int) {
        statements.append(
            JustStatement(
                content: content, origin: source.excerpt(start..<end), comment: source.comment(above: start)))
        switch content {
        case .blank, .comment: break
        default: (attributes, attributesStart) = ([], nil)
        }
        index = end
    }

    private func logicalLine(at start: Int) -> (text: String, end: Int) {
        var text = source.lines[start]
        var end = start + 1
        while end < source.lines.count {
            if Self.isInQuotes(text) {
                text = "\(text)\n\(source.lines[end])"
            } else if text.hasSuffix("\\") || Self.isOpen(text) {
                text = "\(text.hasSuffix("\\") ? String(text.dropLast()) : text) \(source.lines[end].trimmed)"
            } else {
                break
            }
            end += 1
        }
        return (text, end)
    }

    /// True if quotes are open at the end.
    private static func isInQuotes(_ text: String) -> Bool {
        var rest = text[...]
        while let character = rest.popFirst() {
            if character == "#" { rest = rest.drop { $0 != "\n" } }
            guard "'\"`".contains(character) else { continue }
            let marks = String(repeating: character, count: 3)
            let isTriple = rest.hasPrefix(marks.dropLast())
            let close = isTriple ? marks : String(character)
            if isTriple { rest = rest.dropFirst(2) }
            while !rest.hasPrefix(close) {
                guard let inner = rest.popFirst() else { return true }
                if inner == "\\", character == "\"" { _ = rest.popFirst() }
            }
            rest = rest.dropFirst(close.count)
        }
        return false
    }

    /// True if a bracket is open at the end.
    private static func isOpen(_ text: String) -> Bool {
        let code = unquoted(text[...]).prefix { $0.character != "#" }
        return (code.last?.depth ?? 0) > 0
    }

    /// The parts between separators outside of quotes and brackets, without the empty ones.
    static func parts(of text: Substring, between separator: Character) -> [String] {
        var parts: [String] = []
        var start = text.startIndex
        for (index, character, depth) in unquoted(text)
        where depth == 0 && (character == separator || separator == " " && character == "\t") {
            parts.append(text[start..<index].trimmed)
            start = text.index(after: index)
        }
        parts.append(text[start...].trimmed)
        return parts.filter { !$0.isEmpty }
    }

    /// The characters outside of quotes, each with the number of brackets that are open after it.
    static func unquoted(_ text: Substring) -> [(index: String.Index, character: Character, depth: Int)] {
        var characters: [(index: String.Index, character: Character, depth: Int)] = []
        var depth = 0
        var quote: Character?
        for index in text.indices {
            let character = text[index]
            if let open = quote {
                if character == open { quote = nil }
                continue
            }
            switch character {
            case "'", "\"", "`":
                quote = character
                continue
            case "(", "[", "{": depth += 1
            case ")", "]", "}": depth -= 1
            default: break
            }
            characters.append((index, character, depth))
        }
        return characters
    }
}
