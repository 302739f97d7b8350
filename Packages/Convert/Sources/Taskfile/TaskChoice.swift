/// `{{if …}}…{{else}}…{{end}}`.
struct TaskChoice {
    let condition: TaskExpression
    let value: String
    let otherwise: String

    /// Returns the choice that a text begins with, and the text after it; nil for one of another form.
    static func first(in text: Substring) -> (TaskChoice, behind: Substring)? {
        var rest = text
        guard let opening = take(&rest), opening.hasPrefix("if ") else { return nil }
        var branches = [""]
        var depth = 0
        while let start = rest.firstRange(of: "{{") {
            branches[branches.count - 1] += rest[..<start.lowerBound]
            rest = rest[start.lowerBound...]
            let template = rest
            guard let word = take(&rest) else { return nil }
            // Templates that trim blanks.
            if word.hasPrefix("-") || word.hasSuffix("-") { return nil }
            switch word {
            case "end" where depth == 0:
                guard let condition = TaskExpression(String(opening.dropFirst(3))) else { return nil }
                return (TaskChoice(condition, branches[0], branches.count > 1 ? branches[1] : ""), rest)
            case "else" where depth == 0 && branches.count == 1:
                branches.append("")
                continue
            case _ where word.hasPrefix("else if ") && depth == 0 && branches.count == 1:
                // One more choice, which ends where this one does.
                let start = "{{\(word.dropFirst(5))}}"
                guard let (_, behind) = first(in: Substring(start + rest)),
                    let condition = TaskExpression(String(opening.dropFirst(3)))
                else { return nil }
                let choice = TaskChoice(condition, branches[0], start + rest.dropLast(behind.count))
                return (choice, rest.suffix(behind.count))
            case "end": depth -= 1
            case _ where depth == 0 && word.hasPrefix("else"): return nil
            case _ where ["if ", "range ", "with "].contains(where: word.hasPrefix): depth += 1
            default: break
            }
            branches[branches.count - 1] += template[..<rest.startIndex]
        }
        return nil
    }

    private init(condition: TaskExpression, value: String, otherwise: String) {
        (self.condition, self.value, self.otherwise) = (condition, value, otherwise)
    }

    private init(_ condition: TaskExpression, _ value: String, _ otherwise: String) {
        switch condition {
        case .call("not", let arguments): self.init(arguments[0], otherwise, value)
        case .call("ne", let arguments): self.init(.call("eq", arguments), otherwise, value)
        default: self.init(condition: condition, value: value, otherwise: otherwise)
        }
    }

    /// Takes `{{…}}` from the start of a text and returns its content.
    private static func take(_ text: inout Substring) -> String? {
        guard text.hasPrefix("{{"), let end = TaskTemplate.end(of: text.dropFirst(2)) else { return nil }
        let inner = text[text.startIndex..<end.lowerBound].dropFirst(2).trimmed
        text = text[end.upperBound...]
        return inner
    }

    /// True if a text means the same to a shell when a command prints it.
    static func isPlain(_ text: String) -> Bool {
        text.allSatisfy { $0.isVariableCharacter || " -./:=+,@%".contains($0) }
    }
}
