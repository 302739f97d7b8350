/// A value of a justfile, in parts that a shell can put together.
struct JustValue: Equatable {
    enum Part: Equatable {
        case text(String)
        case variable(String)
        /// The output of a command.
        case output(String)
        /// A variable of the environment, and its value if it is not set.
        case environment(String, JustValue?)
        case choice(Choice)
        /// A function of the values.
        case call(String, [JustValue])
        /// The folder of the file.
        case folder
        /// The folder in which the call was.
        case invocation
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

    /// Texts that stand for all that the value may be: both branches of a choice, and the text in place of a variable
    /// that is not set.
    var texts: [String] {
        var result = [""]
        for part in parts {
            let texts: [String]
            switch part {
            case .text(let text): texts = [text]
            case .environment(_, let substitute): texts = substitute?.texts ?? ["x"]
            case .choice(let choice): texts = choice.value.texts + choice.otherwise.texts
            case .variable, .output, .call, .folder, .invocation: texts = ["x"]
            }
            result = Array(result.flatMap { start in texts.map { start + $0 } }.prefix(64))
        }
        return result
    }

    /// True if a command has to run for it.
    var hasCommand: Bool {
        parts.contains { part in
            switch part {
            case .output: true
            case .choice(let choice):
                [choice.left, choice.right, choice.value, choice.otherwise].contains(where: \.hasCommand)
            case .environment(_, let substitute): substitute?.hasCommand ?? false
            case .call(_, let arguments): arguments.contains(where: \.hasCommand)
            case .text, .variable, .folder, .invocation: false
            }
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
            guard let value = reader.sum() else { return nil }
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
        var start: [JustValue.Part] = []
        // Nothing to the left of it.
        if take("/") { start = [.text("/")] }
        guard var value = term() else { return nil }
        value.parts = start + value.parts
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
            if rest.hasPrefix("```") {
                guard let end = rest.dropFirst(3).firstRange(of: "```") else { return nil }
                let command = Self.dedented(String(rest.dropFirst(3)[..<end.lowerBound]))
                rest = rest[end.upperBound...]
                return JustValue(parts: [.output(command)])
            }
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
            if name == "f", let quote = rest.first, quote == "'" || quote == "\"" { return formatted(quote) }
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

    /// Reads `f'…{{…}}…'`.
    private mutating func formatted(_ quote: Character) -> JustValue? {
        let marks = rest.hasPrefix(String(repeating: quote, count: 3)) ? nil : String(quote)
        rest.removeFirst()
        guard let marks, let raw = text(until: marks, isRaw: true, { $0 }) else { return nil }
        return Self.formatted(raw, isRaw: quote == "'")
    }

    /// The value of a text with `{{…}}` in it; nil if an expression in it cannot be read.
    static func formatted(_ text: String, isRaw: Bool = true) -> JustValue? {
        var value = JustValue(parts: [])
        var rest = text[...]
        func add(_ text: Substring) -> Bool {
            guard let text = isRaw ? String(text) : unescaped(String(text)) else { return false }
            value.parts.append(.text(text))
            return true
        }
        while let start = rest.firstRange(of: "{{") {
            guard add(rest[..<start.lowerBound]) else { return nil }
            rest = rest[start.upperBound...]
            if rest.hasPrefix("{{") {
                value.parts.append(.text("{{"))
                rest = rest.dropFirst(2)
                continue
            }
            guard let end = rest.firstRange(of: "}}"), let inner = self.value(of: String(rest[..<end.lowerBound]))
            else { return nil }
            value.parts += inner.parts
            rest = rest[end.upperBound...]
        }
        return add(rest) ? value : nil
    }

    private mutating func string(_ quote: Character) -> String? {
        let marks = String(repeating: quote, count: 3)
        guard rest.hasPrefix(marks) else {
            rest.removeFirst()
            return text(until: String(quote), isRaw: quote == "'", { $0 })
        }
        rest = rest.dropFirst(3)
        return text(until: marks, isRaw: quote == "'", Self.dedented)
    }

    /// Takes a text up to its closing quotes; `change` comes before escapes are read.
    private mutating func text(until end: String, isRaw: Bool, _ change: (String) -> String) -> String? {
        var text = ""
        while !rest.hasPrefix(end) {
            guard let character = rest.popFirst() else { return nil }
            text.append(character)
            if !isRaw, character == "\\" {
                guard let next = rest.popFirst() else { return nil }
                text.append(next)
            }
        }
        rest = rest.dropFirst(end.count)
        return isRaw ? change(text) : Self.unescaped(change(text))
    }

    private static func unescaped(_ text: String) -> String? {
        var result = ""
        var rest = text[...]
        while let character = rest.popFirst() {
            guard character == "\\" else {
                result.append(character)
                continue
            }
            switch rest.popFirst() {
            case "n": result += "\n"
            case "t": result += "\t"
            case "r": result += "\r"
            case "\n": break
            case "\"": result += "\""
            case "\\": result += "\\"
            default: return nil
            }
        }
        return result
    }

    /// Without the first line end, and without the blanks before all lines.
    private static func dedented(_ text: String) -> String {
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        if lines.count > 1, lines[0].isEmpty { lines.removeFirst() }
        let starts = lines.filter { !$0.isBlank }.map { $0.prefix { $0 == " " || $0 == "\t" } }
        guard var common = starts.first else { return lines.map { $0.isBlank ? "" : $0 }.joined(separator: "\n") }
        for start in starts { while !start.hasPrefix(common) { common = common.dropLast() } }
        return lines.map { $0.isBlank ? "" : String($0.dropFirst(common.count)) }.joined(separator: "\n")
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
            return JustValue(parts: [.environment(variable, arguments[1])])
        case ("justfile_directory", nil, 0), ("justfile_dir", nil, 0): return JustValue(parts: [.folder])
        case ("invocation_directory", nil, 0), ("invocation_dir", nil, 0): return JustValue(parts: [.invocation])
        case ("num_cpus", nil, 0): return JustValue(parts: [.output("nproc")])
        case ("just_executable", nil, 0): return JustValue(parts: [.text("just")])
        // Where flowrun runs.
        case ("os", nil, 0): return JustValue(parts: [.text("linux")])
        case ("os_family", nil, 0): return JustValue(parts: [.text("unix")])
        case ("arch", nil, 0): return JustValue(parts: [.output("uname -m")])
        case ("shell", let command?, 1): return JustValue(parts: [.output(command)])
        case ("path_exists", let path?, 1):
            return JustValue(parts: [.output("if [ -e \(shellWord(path)) ]; then echo true; else echo false; fi")])
        case ("parent_dir", _, 1), ("parent_directory", _, 1), ("file_name", _, 1), ("file_stem", _, 1),
            ("extension", _, 1), ("without_extension", _, 1), ("uppercase", _, 1), ("lowercase", _, 1),
            ("capitalize", _, 1), ("trim", _, 1), ("trim_start", _, 1), ("trim_end", _, 1), ("quote", _, 1),
            ("replace", _, 3), ("join", _, 2...), ("trim_start_match", _, 2), ("trim_end_match", _, 2),
            ("append", _, 2), ("prepend", _, 2), ("clean", _, 1), ("absolute_path", _, 1):
            return JustValue(parts: [.call(name, arguments)])
        default: return nil
        }
    }
}
