/// Cuts a justfile into statements; evaluates nothing.
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
        if !["import", "import?", "mod", "mod?", "unexport"].contains(words[0]), var recipe = Self.header(text) {
            recipe.attributes = attributes
            return readBody(of: recipe, from: start, after: end)
        }
        add(.other, from: start, to: end)
    }

    private mutating func readAssignment(
        _ name: String, _ value: String, isExported: Bool, from start: Int, to end: Int
    ) {
        for quotes in ["\"\"\"", "'''", "```"] where value.hasPrefix(quotes) && !value.dropFirst(3).contains(quotes) {
            let close = source.lines[end...].firstIndex { $0.contains(quotes) } ?? source.lines.count - 1
            return add(.other, from: start, to: close + 1)
        }
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
                recipe.body[recipe.body.count - 1] = "\(last)\n\(line)"
            } else {
                recipe.body.append(line)
            }
        }
        add(.recipe(recipe), from: start, to: end)
    }

    private mutating func add(_ content: JustStatement.Content, from start: Int, to end: Int) {
        statements.append(JustStatement(content: content, origin: source.excerpt(start..<end), line: start))
        switch content {
        case .blank, .comment: break
        default: (attributes, attributesStart) = ([], nil)
        }
        index = end
    }

    private func logicalLine(at start: Int) -> (text: String, end: Int) {
        var text = source.lines[start]
        var end = start + 1
        while text.hasSuffix("\\") || Self.isOpen(text), end < source.lines.count {
            text = "\(text.hasSuffix("\\") ? String(text.dropLast()) : text) \(source.lines[end].trimmed)"
            end += 1
        }
        return (text, end)
    }

    /// Whether a bracket is open at the end.
    private static func isOpen(_ text: String) -> Bool {
        var depth = 0
        var quote: Character?
        for character in text {
            if let open = quote {
                if character == open { quote = nil }
            } else if "'\"`".contains(character) {
                quote = character
            } else if character == "#" {
                break
            } else if "([{".contains(character) {
                depth += 1
            } else if ")]}".contains(character) {
                depth -= 1
            }
        }
        return depth > 0
    }

    // MARK: - Headers

    private static func header(_ text: String) -> JustRecipe? {
        guard let colon = outer(":", in: text) else { return nil }
        var head = text[..<colon]
        if head.first == "@" { head = head.dropFirst() }
        let parts = parts(of: head, between: " ")
        guard let name = parts.first, name.allSatisfy(\.isIDCharacter), let parameters = parameters(parts.dropFirst())
        else { return nil }
        var recipe = JustRecipe(name: name, parameters: parameters)
        var tail = String(text[text.index(after: colon)...])
        if let comment = outer("#", in: tail) { tail = String(tail[..<comment]) }
        let sides = tail.cut(at: "&&")
        recipe.needs = dependencies(sides?.before ?? tail)
        recipe.followers = dependencies(sides?.after ?? "")
        return recipe
    }

    private static func parameters(_ words: ArraySlice<String>) -> [JustRecipe.Parameter]? {
        var parameters: [JustRecipe.Parameter] = []
        for word in words {
            var rest = word[...]
            let mark = rest.first.flatMap { $0 == "+" || $0 == "*" ? $0 : nil }
            if mark != nil { rest.removeFirst() }
            let isExported = rest.first == "$"
            if isExported { rest.removeFirst() }
            let name = rest.prefix { $0.isIDCharacter }
            rest = rest.dropFirst(name.count)
            guard !name.isEmpty, rest.isEmpty || rest.first == "=" else { return nil }
            parameters.append(
                JustRecipe.Parameter(
                    name: String(name), defaultValue: rest.isEmpty ? nil : String(rest.dropFirst()), mark: mark,
                    isExported: isExported))
        }
        return parameters
    }

    private static func dependencies(_ text: String) -> [JustRecipe.Dependency] {
        parts(of: text[...], between: " ").map { part in
            guard part.hasPrefix("("), part.hasSuffix(")") else {
                return JustRecipe.Dependency(name: part, arguments: "")
            }
            let inner = part.dropFirst().dropLast().trimmed
            let name = inner.prefix { !$0.isWhitespace }
            return JustRecipe.Dependency(name: String(name), arguments: inner.dropFirst(name.count).trimmed)
        }
    }

    /// Where a character stands outside of quotes and brackets, and is not the beginning of `:=`.
    private static func outer(_ wanted: Character, in text: String) -> String.Index? {
        var depth = 0
        var quote: Character?
        for index in text.indices {
            let character = text[index]
            if let open = quote {
                if character == open { quote = nil }
            } else if "'\"`".contains(character) {
                quote = character
            } else if character == "(" {
                depth += 1
            } else if character == ")" {
                depth -= 1
            } else if character == wanted, depth == 0 {
                return index
            }
        }
        return nil
    }

    /// The parts between separators outside of quotes and brackets, without the empty ones.
    private static func parts(of text: Substring, between separator: Character) -> [String] {
        var parts = [""]
        var depth = 0
        var quote: Character?
        for character in text {
            if let open = quote {
                if character == open { quote = nil }
            } else if "'\"`".contains(character) {
                quote = character
            } else if character == "(" {
                depth += 1
            } else if character == ")" {
                depth -= 1
            } else if character == separator || separator == " " && character == "\t", depth == 0 {
                parts.append("")
                continue
            }
            parts[parts.count - 1].append(character)
        }
        return parts.map(\.trimmed).filter { !$0.isEmpty }
    }
}
