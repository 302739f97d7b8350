internal import Workflow

/// The expressions of a GitHub workflow, and their flowrun equivalents.
enum GitHubExpression {
    /// The replacement of `${{ … }}` in a script.
    enum Reading: Equatable {
        case variable(String)
        /// A variable that GitHub's runner sets; without it, the script stops.
        case runnerVariable(String)
        case secret(String)
        /// The flowrun expression.
        case expression(String)
        /// Without an equivalent in flowrun.
        case unknown
    }

    /// A part of a text that is split at `${{ … }}`.
    enum Piece: Equatable {
        case text(String)
        case expression(String)
    }

    static func pieces(of text: String) -> [Piece] {
        var pieces: [Piece] = []
        var rest = text[...]
        while let start = rest.firstRange(of: "${{"), let end = rest[start.upperBound...].firstRange(of: "}}") {
            if start.lowerBound > rest.startIndex { pieces.append(.text(String(rest[..<start.lowerBound]))) }
            pieces.append(.expression(rest[start.upperBound..<end.lowerBound].trimmed))
            rest = rest[end.upperBound...]
        }
        if !rest.isEmpty { pieces.append(.text(String(rest))) }
        return pieces
    }

    static func reading(of expression: String) -> Reading {
        let path = expression.trimmed
        if path.allSatisfy({ $0.isIDCharacter || $0 == "." }) {
            let parts = path.split(separator: ".").map(String.init)
            switch (parts.first, parts.count) {
            case ("matrix", 2), ("inputs", 2), ("env", 2): return .variable(variableName(parts[1]))
            case ("secrets", 2): return isVariable(parts[1]) ? .secret(parts[1]) : .unknown
            case ("github", 2) where parts[1] == "token": return .secret("GITHUB_TOKEN")
            case ("github", 2) where parts[1] == "workspace": return .variable("PWD")
            case ("github", 2) where runnerNames.contains(parts[1]):
                return .runnerVariable("GITHUB_\(parts[1].uppercased())")
            case ("github", 4) where parts[1...2] == ["event", "inputs"]: return .variable(variableName(parts[3]))
            case ("runner", 2): return .runnerVariable("RUNNER_\(parts[1].uppercased())")
            default: break
            }
        }
        return translation(of: expression).map(Reading.expression) ?? .unknown
    }

    /// Translates an expression to flowrun's; nil if there is no equivalent.
    static func translation(of expression: String) -> String? {
        if let choice = choice(expression) { return choice }
        var result = ""
        var rest = expression[...]
        while let first = rest.first {
            if let (text, end) = comparison(rest) {
                result += text
                rest = end
                continue
            }
            if first == "'" {
                // A quote in a text is doubled in both languages.
                let text = rest.dropFirst().prefix { $0 != "'" }
                guard rest.dropFirst(text.count + 1).first == "'" else { return nil }
                result += "'\(text)'"
                rest = rest.dropFirst(text.count + 2)
            } else if first.isLetter || first == "_" {
                let path = rest.prefix { $0.isIDCharacter || $0 == "." }
                rest = rest.dropFirst(path.count)
                let isCall = rest.drop { $0 == " " }.first == "("
                guard rest.first != "[", let word = isCall ? function(String(path)) : value(String(path)) else {
                    return nil
                }
                result += word
            } else if first == "*" {
                return nil
            } else {
                result.append(rest.removeFirst())
            }
        }
        // Where the names are the same, the outcome itself is enough.
        for id in Set(expression.matches(of: /(?:needs|steps)\.([A-Za-z0-9_-]+)\.(?:result|outcome)/).map(\.1)) {
            for other in ["success", "cancelled"] {
                for sign in ["==", "!="] {
                    result = result.replacing(
                        "\(outcome(of: String(id))) \(sign) '\(other)'", with: "steps.\(id).outcome \(sign) '\(other)'")
                }
            }
        }
        return result.trimmed
    }

    /// Translates a comparison with a text, or a search for one, at the start of an expression: GitHub takes small and
    /// capital letters for the same. Returns the rest behind it; nil where there is none, or where case cannot matter.
    private static func comparison(_ text: Substring) -> (String, Substring)? {
        let letters = "[A-Za-z_][A-Za-z0-9_.-]*"
        func lowered(_ path: Substring) -> String? {
            guard let value = value(String(path)), value.hasPrefix("(") else { return nil }
            return "lower\(value)"
        }
        if let found = try? Regex("^(\(letters))( *[=!]= *)'([^']*)'(?!')").firstMatch(in: text),
            let path = found[1].substring, let sign = found[2].substring, let literal = found[3].substring,
            literal.contains(where: \.isLetter), let value = lowered(path)
        {
            return ("\(value)\(sign)'\(literal.lowercased())'", text[found.range.upperBound...])
        }
        if let found = try? Regex("^'([^']*)'( *[=!]= *)(\(letters))").firstMatch(in: text),
            let literal = found[1].substring, let sign = found[2].substring, let path = found[3].substring,
            literal.contains(where: \.isLetter), let value = lowered(path)
        {
            return ("'\(literal.lowercased())'\(sign)\(value)", text[found.range.upperBound...])
        }
        if let found = try? Regex("^(\(letters))\\( *(\(letters)) *, *'([^']*)' *\\)").firstMatch(in: text),
            let name = found[1].substring, let path = found[2].substring, let literal = found[3].substring,
            let function = function(String(name)), ["contains", "startsWith", "endsWith"].contains(function),
            literal.contains(where: \.isLetter), let value = lowered(path)
        {
            return ("\(function)(\(value), '\(literal.lowercased())')", text[found.range.upperBound...])
        }
        return nil
    }

    /// The texts in quotes of an expression.
    static func texts(in expression: String) -> [String] {
        let parts = expression.replacing("''", with: "").split(separator: "'", omittingEmptySubsequences: false)
        return parts.indices.filter { $0 % 2 == 1 }.map { String(parts[$0]) }
    }

    /// The expression in braces, without brackets that have no effect there.
    static func braced(_ translation: String) -> String {
        var depth = 0
        let isInBrackets =
            translation.first == "("
            && translation.dropLast().allSatisfy { character in
                depth += character == "(" ? 1 : character == ")" ? -1 : 0
                return depth > 0
            }
        return "${{ \(isInBrackets ? String(translation.dropFirst().dropLast()) : translation) }}"
    }

    /// `condition && 'a' || 'b'`, GitHub's form of `if(condition, 'a', 'b')`; nil for anything else.
    private static func choice(_ expression: String) -> String? {
        let parts = parts(of: expression, at: "||")
        guard parts.count == 2, let otherwise = translation(of: parts[1]) else { return nil }
        var operands = GitHubExpression.parts(of: parts[0], at: "&&")
        // An empty text counts as false, so that the other value would be taken.
        guard operands.count > 1, let value = operands.popLast(), value.hasPrefix("'"), value != "''",
            let condition = translation(of: operands.joined(separator: " && ")), let value = translation(of: value)
        else { return nil }
        return "if(\(condition), \(value), \(otherwise))"
    }

    /// The parts between operators that are outside of brackets and texts.
    private static func parts(of expression: String, at sign: String) -> [String] {
        var parts = [""]
        var depth = 0
        var isInText = false
        var rest = expression[...]
        while let character = rest.first {
            if character == "'" { isInText.toggle() }
            if !isInText { depth += character == "(" ? 1 : character == ")" ? -1 : 0 }
            if !isInText, depth == 0, rest.hasPrefix(sign) {
                parts.append("")
                rest = rest.dropFirst(sign.count)
            } else {
                parts[parts.count - 1].append(rest.removeFirst())
            }
        }
        return parts.map(\.trimmed)
    }

    private static func function(_ name: String) -> String? {
        [
            "contains", "startsWith", "endsWith", "format", "join", "toJSON", "fromJSON", "hashFiles", "success",
            "failure", "always", "cancelled",
        ].first { $0.lowercased() == name.lowercased() }
    }

    private static func value(_ path: String) -> String? {
        let parts = path.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        switch (parts[0], parts.count) {
        case ("true", 1), ("false", 1), ("null", 1): return path
        case ("matrix", 2): return variableName(parts[1])
        case ("inputs", 2): return "params.\(variableName(parts[1]))"
        case ("env", 2): return "(env.\(parts[1]) ?? '')"
        case ("needs", 4) where parts[2] == "outputs", ("steps", 4) where parts[2] == "outputs":
            return "(steps.\(parts[1]).outputs.\(variableName(parts[3])) ?? '')"
        case ("needs", 3) where parts[2] == "result", ("steps", 3) where parts[2] == "outcome":
            return outcome(of: parts[1])
        case ("github", 4) where parts[1...2] == ["event", "inputs"]: return "params.\(variableName(parts[3]))"
        case ("github", 2) where runnerNames.contains(parts[1]): return "(env.GITHUB_\(parts[1].uppercased()) ?? '')"
        case ("runner", 2): return "(env.RUNNER_\(parts[1].uppercased()) ?? '')"
        default: return nil
        }
    }

    /// The outcome of a step or job by GitHub's names.
    private static func outcome(of id: String) -> String {
        let outcome = "steps.\(id).outcome"
        return "if(\(outcome) == 'timeout', 'failure', if(\(outcome) == 'not-run', 'skipped', \(outcome)))"
    }

    /// Fields of `github` that its runner also sets in the environment of steps.
    private static let runnerNames: Set<String> = [
        "ref", "ref_name", "ref_type", "sha", "repository", "repository_owner", "actor", "event_name", "run_id",
        "run_number", "run_attempt", "workflow", "job", "head_ref", "base_ref", "server_url", "api_url",
    ]

    static func isVariable(_ name: String) -> Bool { VariableName.isValid(name) && !VariableName.isListenedTo(name) }

    /// The name as that of an environment variable.
    static func variableName(_ name: String) -> String { name.replacing("-", with: "_") }

    /// Makes the name of an environment variable out of an expression.
    static func environmentName(of expression: String) -> String {
        var name = ""
        for character in expression {
            if character.isVariableCharacter {
                name += character.uppercased()
            } else if !name.isEmpty, name.last != "_" {
                name += "_"
            }
        }
        while name.last == "_" { name.removeLast() }
        return name.isEmpty || name.first?.isNumber == true ? "VALUE_\(name)" : String(name.prefix(60))
    }
}
