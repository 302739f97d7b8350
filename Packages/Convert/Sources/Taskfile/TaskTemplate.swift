/// The reason why a text of a Taskfile cannot be converted.
struct TaskProblem: Error {
    let reason: String
    /// The condition that has to be settled first; nil if there is none.
    let condition: TaskExpression?

    init(_ reason: String, over condition: TaskExpression? = nil) {
        (self.reason, self.condition) = (reason, condition)
    }
}

/// The templates of a Taskfile that do no more than read a variable.
enum TaskTemplate {
    enum Piece {
        case text(String)
        /// The text between the braces.
        case expression(String)
        case choice(TaskChoice)
    }

    enum Meaning {
        /// A variable, and the text in its place if it is empty.
        case variable(String, String?)
        case arguments
    }

    static func pieces(of text: String) -> [Piece] {
        var pieces: [Piece] = []
        var rest = text[...]
        while let start = rest.firstRange(of: "{{"), let end = end(of: rest[start.upperBound...]) {
            var before = String(rest[..<start.lowerBound])
            let inner = rest[start.upperBound..<end.lowerBound]
            // A dash inside of the braces takes the blanks outside of them away.
            if inner.hasPrefix("- ") || inner.hasPrefix("-\n") {
                while before.last?.isWhitespace == true { before.removeLast() }
            }
            if !before.isEmpty { pieces.append(.text(before)) }
            if let (choice, behind) = TaskChoice.first(in: rest[start.lowerBound...]) {
                pieces.append(.choice(choice))
                rest = behind
                continue
            }
            pieces.append(.expression(String(inner)))
            rest = rest[end.upperBound...]
            if inner.hasSuffix(" -") { rest = rest.drop(while: \.isWhitespace) }
        }
        if !rest.isEmpty { pieces.append(.text(String(rest))) }
        return pieces
    }

    /// The braces that end an expression; those in its texts do not.
    static func end(of text: Substring) -> Range<String.Index>? {
        var quote: Character?
        var isEscaped = false
        for index in text.indices {
            let character = text[index]
            if isEscaped {
                isEscaped = false
            } else if let open = quote {
                if character == "\\", open == "\"" { isEscaped = true } else if character == open { quote = nil }
            } else if character == "\"" || character == "`" {
                quote = character
            } else if text[index...].hasPrefix("}}") {
                return index..<text.index(index, offsetBy: 2)
            }
        }
        return nil
    }

    /// The expression of a template without the marks that trim blanks; nil if it is not read.
    static func expression(_ expression: String) -> TaskExpression? {
        var text = expression[...]
        if text.hasPrefix("- ") { text = text.dropFirst() }
        if text.hasSuffix(" -") { text = text.dropLast() }
        return TaskExpression(String(text))
    }

    /// True for an expression that is empty wherever flowrun runs.
    static func isEmpty(_ expression: String) -> Bool { expression.trimmed == "exeExt" }

    /// nil for anything more than the name of a variable with a default.
    static func meaning(of expression: String) -> Meaning? {
        var text = expression[...]
        // `{{-` only removes blanks.
        if text.hasPrefix("- ") { text = text.dropFirst() }
        if text.hasSuffix(" -") { text = text.dropLast() }
        let words = text.trimmed
        if words == ".CLI_ARGS" { return .arguments }
        if let name = name(words) { return .variable(name, nil) }
        if let (before, after) = words.cut(at: "|"), let name = name(before.trimmed) {
            guard after.words.first == "default" else { return nil }
            return unquoted(after.trimmed.dropFirst(7).trimmed).map { .variable(name, $0) }
        }
        if words.hasPrefix("default "), let last = words.words.last, let name = name(last) {
            return unquoted(words.dropFirst(8).dropLast(last.count).trimmed).map { .variable(name, $0) }
        }
        return nil
    }

    /// The variable and its default, if the whole text is `{{.NAME | default "…"}}`.
    static func defaulted(_ text: String) -> (String, String)? {
        guard case .variable(let name, let substitute?)? = only(text) else { return nil }
        return (name, substitute)
    }

    /// The meaning of a text that is one template and nothing else.
    static func only(_ text: String) -> Meaning? {
        let pieces = pieces(of: text)
        guard pieces.count == 1, case .expression(let expression)? = pieces.first else { return nil }
        return meaning(of: expression)
    }

    static func name(_ text: String) -> String? {
        guard text.first == ".", text.count > 1, text.dropFirst().allSatisfy(\.isVariableCharacter) else { return nil }
        return String(text.dropFirst())
    }

    static func unquoted(_ text: String) -> String? {
        if let quote = text.first, "\"'`".contains(quote), text.last == quote, text.count > 1 {
            let inner = text.dropFirst().dropLast()
            return inner.contains(quote) || inner.contains("\\") ? nil : String(inner)
        }
        return !text.isEmpty && text.allSatisfy { $0.isNumber } || text == "true" || text == "false" ? text : nil
    }
}
