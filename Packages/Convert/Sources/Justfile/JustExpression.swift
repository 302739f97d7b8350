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
            case .environment(_, let substitute): texts = [substitute ?? "x"]
            case .choice(let choice): texts = choice.value.texts + choice.otherwise.texts
            case .variable, .output, .call, .folder, .invocation: texts = ["x"]
            }
            result = Array(result.flatMap { start in texts.map { start + $0 } }.prefix(64))
        }
        return result
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
            return arguments[1].literal.map { JustValue(parts: [.environment(variable, $0)]) }
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
            ("append", _, 2), ("prepend", _, 2):
            return JustValue(parts: [.call(name, arguments)])
        default: return nil
        }
    }
}

/// The functions of just that depend only on their arguments.
enum JustFunction {
    static func value(of name: String, _ arguments: [String]) -> String? {
        let text = arguments[0]
        let slash = text.lastIndex(of: "/")
        let file = slash.map { String(text[text.index(after: $0)...]) } ?? text
        let dot = file.dropFirst().lastIndex(of: ".")
        switch name {
        case "uppercase": return text.uppercased()
        case "lowercase": return text.lowercased()
        case "capitalize": return text.prefix(1).uppercased() + text.dropFirst().lowercased()
        case "trim": return text.trimmed
        case "trim_start": return String(text.drop(while: \.isWhitespace))
        case "trim_end": return String(text.reversed().drop(while: \.isWhitespace).reversed())
        case "trim_start_match": return text.hasPrefix(arguments[1]) ? String(text.dropFirst(arguments[1].count)) : text
        case "trim_end_match": return text.hasSuffix(arguments[1]) ? String(text.dropLast(arguments[1].count)) : text
        case "quote": return "'\(text.replacing("'", with: "'\\''"))'"
        case "replace": return arguments[1].isEmpty ? nil : text.replacing(arguments[1], with: arguments[2])
        case "join":
            return arguments.contains { $0.hasPrefix("/") || $0.isEmpty } ? nil : arguments.joined(separator: "/")
        case "append": return arguments[1].words.map { $0 + text }.joined(separator: " ")
        case "prepend": return arguments[1].words.map { text + $0 }.joined(separator: " ")
        case "file_name": return file.isEmpty ? nil : file
        case "file_stem": return file.isEmpty ? nil : dot.map { String(file[..<$0]) } ?? file
        case "extension": return dot.map { String(file[file.index(after: $0)...]) }
        case "without_extension":
            guard !file.isEmpty else { return nil }
            return text.prefix(text.count - file.count) + (dot.map { String(file[..<$0]) } ?? file)
        case "parent_directory", "parent_dir": return slash.map { String(text[..<$0]) } ?? ""
        default: return nil
        }
    }
}
