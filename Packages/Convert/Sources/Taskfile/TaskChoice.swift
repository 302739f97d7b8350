/// `{{if .NAME}}…{{else}}…{{end}}`, or the same with `eq` and `ne`.
struct TaskChoice {
    let variable: String
    /// The value that the variable is compared with; nil if any value will do.
    let wanted: String?
    let value: String
    let otherwise: String

    /// Returns the choice that a text begins with, and the text after it; nil for one of another form.
    static func first(in text: Substring) -> (TaskChoice, behind: Substring)? {
        var rest = text
        guard let opening = take(&rest), opening.hasPrefix("if ") else { return nil }
        var branches = [""]
        while let start = rest.firstRange(of: "{{") {
            branches[branches.count - 1] += rest[..<start.lowerBound]
            rest = rest[start.lowerBound...]
            let template = rest
            guard let word = take(&rest) else { return nil }
            switch word {
            case "end":
                guard let condition = condition(opening.dropFirst(3).trimmed) else { return nil }
                let otherwise = branches.count > 1 ? branches[1] : ""
                let choice = TaskChoice(
                    variable: condition.variable, wanted: condition.wanted,
                    value: condition.isNegated ? otherwise : branches[0],
                    otherwise: condition.isNegated ? branches[0] : otherwise)
                return (choice, rest)
            case "else" where branches.count == 1: branches.append("")
            // Nested choices, and templates that trim blanks.
            case _ where word.hasPrefix("if ") || word.hasPrefix("else") || word.hasPrefix("-") || word.hasSuffix("-"):
                return nil
            default: branches[branches.count - 1] += template[..<rest.startIndex]
            }
        }
        return nil
    }

    /// Takes `{{…}}` from the start of a text and returns its content.
    private static func take(_ text: inout Substring) -> String? {
        guard text.hasPrefix("{{"), let end = text.firstRange(of: "}}") else { return nil }
        let inner = text[text.startIndex..<end.lowerBound].dropFirst(2).trimmed
        text = text[end.upperBound...]
        return inner
    }

    private static func condition(_ text: String) -> (variable: String, wanted: String?, isNegated: Bool)? {
        if let name = TaskTemplate.name(text) { return (name, nil, false) }
        if let (word, rest) = text.cut(at: " "), word == "not", let name = TaskTemplate.name(rest.trimmed) {
            return (name, nil, true)
        }
        guard let (word, rest) = text.cut(at: " "), word == "eq" || word == "ne",
            let (left, right) = rest.trimmed.cut(at: " "), let name = TaskTemplate.name(left),
            let wanted = TaskTemplate.unquoted(right.trimmed)
        else { return nil }
        return (name, wanted, word == "ne")
    }

    /// The choice as a flowrun expression; `read` is the expression that reads the variable.
    func expression(reading read: String, _ value: String, _ otherwise: String) -> String {
        let condition = "\(read) \(wanted == nil ? "!=" : "==") \(Self.quoted(wanted ?? ""))"
        return "${{ if(\(condition), \(Self.quoted(value)), \(Self.quoted(otherwise))) }}"
    }

    /// A test of the variable; `read` is the shell text that reads it.
    func test(reading read: String) -> String {
        wanted.map { "[ \"\(read)\" = \(shellWord($0)) ]" } ?? "[ -n \"\(read)\" ]"
    }

    /// True if a text means the same to a shell when a command prints it.
    static func isPlain(_ text: String) -> Bool {
        text.allSatisfy { $0.isVariableCharacter || " -./:=+,@%".contains($0) }
    }

    /// A command that prints the chosen value; `read` is the shell text that reads the variable.
    func shell(reading read: String, _ value: String, _ otherwise: String) -> String {
        let test = test(reading: read)
        let other = otherwise.isEmpty ? "" : " else printf %s \(shellWord(otherwise));"
        return "if \(test); then printf %s \(shellWord(value));\(other) fi"
    }

    private static func quoted(_ text: String) -> String { "'\(text.replacing("'", with: "''"))'" }
}
