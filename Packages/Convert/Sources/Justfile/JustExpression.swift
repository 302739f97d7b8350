/// A value of a justfile, in parts that a shell can put together.
struct JustValue: Equatable {
    enum Part: Equatable {
        case text(String)
        case variable(String)
        /// The output of a command.
        case output(String)
        /// A variable of the environment, and its value if it is not set.
        case environment(String, String?)
        case choice(Choice)
    }

    /// `if left == right { value } else { otherwise }`.
    struct Choice: Equatable {
        var left: JustValue
        var right: JustValue
        let isEqual: Bool
        var value: JustValue
        var otherwise: JustValue

        /// Applies a change to all its values; nil if one of them cannot be changed.
        func map(_ change: (JustValue) -> JustValue?) -> Choice? {
            guard let left = change(left), let right = change(right), let value = change(value),
                let otherwise = change(otherwise)
            else { return nil }
            return Choice(left: left, right: right, isEqual: isEqual, value: value, otherwise: otherwise)
        }
    }

    var parts: [Part]

    /// True if its own texts have no special meaning to a shell, so that it may also be the output of a command.
    var isPlain: Bool {
        parts.allSatisfy { part in
            guard case .text(let text) = part else { return true }
            return text.allSatisfy { $0.isVariableCharacter || " -./:=+,@%".contains($0) }
        }
    }

    /// The value, if no shell is needed for it; nil otherwise.
    var literal: String? {
        var result = ""
        for part in parts {
            guard case .text(let text) = part else { return nil }
            result += text
        }
        return result
    }
}

/// Reads expressions of a justfile: strings, backticks, variables, `+`, `/` and the functions that read the
/// environment, `if` included.
struct JustExpression {
    private var rest: Substring

    /// nil for an expression with anything else.
    static func value(of text: String) -> JustValue? {
        var reader = JustExpression(rest: text[...])
        guard let value = reader.sum() else { return nil }
        reader.skipBlanks()
        return reader.rest.isEmpty || reader.rest.first == "#" ? value : nil
    }

    /// The values of a list such as `'a' b "c"`, or with commas between them; nil if one cannot be read.
    static func values(of text: String) -> [JustValue]? {
        var reader = JustExpression(rest: text[...])
        var values: [JustValue] = []
        reader.skipBlanks()
        while !reader.rest.isEmpty {
            guard let value = reader.term() else { return nil }
            values.append(value)
            reader.skipBlanks()
            if reader.rest.first == "," { reader.rest.removeFirst() }
            reader.skipBlanks()
        }
        return values
    }

    private mutating func skipBlanks() { rest = rest.drop { $0.isWhitespace } }

    private mutating func take(_ character: Character) -> Bool {
        skipBlanks()
        guard rest.first == character else { return false }
        rest.removeFirst()
        return true
    }

    private mutating func sum() -> JustValue? {
        guard var value = term() else { return nil }
        while true {
            if take("+") {
                guard let next = term() else { return nil }
                value.parts += next.parts
            } else if take("/") {
                guard let next = term() else { return nil }
                value.parts += [.text("/")] + next.parts
            } else {
                return value
            }
        }
    }

    private mutating func term() -> JustValue? {
        skipBlanks()
        guard let first = rest.first else { return nil }
        switch first {
        case "'", "\"": return string(first).map { JustValue(parts: [.text($0)]) }
        case "`":
            rest.removeFirst()
            guard let end = rest.firstIndex(of: "`") else { return nil }
            let command = String(rest[..<end])
            rest = rest[rest.index(after: end)...]
            return JustValue(parts: [.output(command)])
        case "(":
            rest.removeFirst()
            guard let value = sum(), take(")") else { return nil }
            return value
        default:
            let name = String(rest.prefix { $0.isIDCharacter })
            guard !name.isEmpty else { return nil }
            rest = rest.dropFirst(name.count)
            if name == "if" { return choice() }
            return rest.first == "(" ? call(name) : JustValue(parts: [.variable(name)])
        }
    }

    /// Reads what follows an `if`.
    private mutating func choice() -> JustValue? {
        guard let left = sum() else { return nil }
        skipBlanks()
        let isEqual = rest.hasPrefix("==")
        guard isEqual || rest.hasPrefix("!=") else { return nil }
        rest = rest.dropFirst(2)
        guard let right = sum(), take("{"), let value = sum(), take("}") else { return nil }
        skipBlanks()
        guard rest.hasPrefix("else") else { return nil }
        rest = rest.dropFirst(4)
        skipBlanks()
        var otherwise: JustValue?
        if rest.hasPrefix("if"), rest.dropFirst(2).first?.isWhitespace == true {
            rest = rest.dropFirst(2)
            otherwise = choice()
        } else if take("{") {
            otherwise = sum()
            guard take("}") else { return nil }
        }
        guard let otherwise else { return nil }
        let choice = JustValue.Choice(
            left: left, right: right, isEqual: isEqual, value: value, otherwise: otherwise)
        return JustValue(parts: [.choice(choice)])
    }

    private mutating func string(_ quote: Character) -> String? {
        // Three quotes open a text of several lines.
        guard !rest.hasPrefix(String(repeating: quote, count: 3)) else { return nil }
        rest.removeFirst()
        var text = ""
        while let character = rest.popFirst() {
            if character == quote { return text }
            guard quote == "\"", character == "\\" else {
                text.append(character)
                continue
            }
            switch rest.popFirst() {
            case "n": text += "\n"
            case "t": text += "\t"
            case "r": text += "\r"
            case let other?: text.append(other)
            case nil: return nil
            }
        }
        return nil
    }

    private mutating func call(_ name: String) -> JustValue? {
        rest.removeFirst()
        var arguments: [JustValue] = []
        while !take(")") {
            guard let argument = sum() else { return nil }
            arguments.append(argument)
            _ = take(",")
            if rest.isEmpty { return nil }
        }
        switch (name, arguments.first?.literal, arguments.count) {
        case ("env", let variable?, 1), ("env_var", let variable?, 1):
            return JustValue(parts: [.environment(variable, nil)])
        case ("env", let variable?, 2), ("env_var_or_default", let variable?, 2):
            return arguments[1].literal.map { JustValue(parts: [.environment(variable, $0)]) }
        case ("justfile_directory", nil, 0), ("invocation_directory", nil, 0): return JustValue(parts: [.text(".")])
        case ("num_cpus", nil, 0): return JustValue(parts: [.output("nproc")])
        case ("just_executable", nil, 0): return JustValue(parts: [.text("just")])
        case ("shell", let command?, 1): return JustValue(parts: [.output(command)])
        default: return nil
        }
    }
}
