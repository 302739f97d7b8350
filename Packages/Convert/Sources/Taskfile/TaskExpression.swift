/// An expression of a template, such as `empty .DEBUG | ternary "" "--debug"`.
indirect enum TaskExpression: Hashable {
    case text(String)
    case flag(Bool)
    /// A number, which is no text for Task.
    case number(String)
    case variable(String)
    case call(String, [TaskExpression])

    /// nil for an expression with anything that is not read here.
    init?(_ text: String) {
        var reader = TaskExpressionReader(rest: text[...])
        guard let expression = reader.pipeline(), reader.isAtEnd else { return nil }
        self = expression
    }

    /// The number of arguments of the functions that are read here; nil for any other.
    static func counts(of function: String) -> ClosedRange<Int>? {
        switch function {
        case "OS", "ARCH", "exeExt", "now": 0...0
        case "not", "empty", "upper", "lower", "trim", "title": 1...1
        case "eq", "ne", "default", "trimSuffix", "trimPrefix", "hasPrefix", "hasSuffix", "contains", "date": 2...2
        case "replace", "ternary", "dateInZone": 3...3
        case "and", "or", "coalesce": 1...8
        default: nil
        }
    }

    /// True if the value is `true` or `false` by itself.
    var isFlag: Bool {
        switch self {
        case .flag: true
        case .call("and", let arguments), .call("or", let arguments): arguments.allSatisfy(\.isFlag)
        case .call(let name, _): ["eq", "ne", "not", "empty", "hasPrefix", "hasSuffix", "contains"].contains(name)
        case .text, .number, .variable: false
        }
    }

    /// Texts that stand for all that the value may be.
    var texts: [String] {
        switch self {
        case .text(let text), .number(let text): [text]
        case .flag(let flag): ["\(flag)"]
        case .variable: ["x"]
        case .call("default", let arguments), .call("or", let arguments), .call("and", let arguments),
            .call("coalesce", let arguments):
            arguments.flatMap(\.texts)
        case .call("ternary", let arguments): arguments[0].texts + arguments[1].texts
        case .call("replace", let arguments): arguments[1].texts + arguments[2].texts
        case .call(_, let arguments): arguments.last?.texts ?? ["x"]
        }
    }

    var mayBeText: Bool {
        if case .number = self { false } else { !isFlag }
    }

    var variables: Set<String> {
        switch self {
        case .text, .flag, .number: []
        case .variable(let name): [name]
        case .call(let name, let arguments):
            arguments.reduce(into: name == "ARCH" ? [Self.processor] : []) { $0.formUnion($1.variables) }
        }
    }

    /// The variables that are the arguments of functions of texts.
    var variablesOfTexts: Set<String> {
        guard case .call(let name, let arguments) = self else { return [] }
        let functions = [
            "upper", "lower", "trim", "trimSuffix", "trimPrefix", "hasPrefix", "hasSuffix", "contains", "replace",
        ]
        var names = arguments.reduce(into: Set<String>()) { $0.formUnion($1.variablesOfTexts) }
        for case .variable(let variable) in arguments where functions.contains(name) { names.insert(variable) }
        return names
    }

    /// The variable with Go's name of the processor, which only a run knows.
    static let processor = "TASK_ARCH"

    /// The expression with what is known in it decided. `known` gives the value of a variable; nil if only a run knows
    /// it.
    func decided(_ known: (String) -> TaskExpression?) -> TaskExpression {
        switch self {
        case .text, .flag, .number: return self
        case .variable(let name): return known(name) ?? self
        case .call(let name, let arguments):
            return Self.decided(name, arguments.map { $0.decided(known) })
        }
    }

    /// The truth of a value that is known; nil for any other.
    var truth: Bool? {
        switch self {
        case .text(let text): !text.isEmpty
        case .flag(let flag): flag
        case .number(let text): text.contains { $0.isNumber && $0 != "0" }
        case .variable, .call: nil
        }
    }

    /// The text of a value that is known; nil for any other.
    var literal: String? {
        switch self {
        case .text(let text), .number(let text): text
        case .flag(let flag): flag ? "true" : "false"
        case .variable, .call: nil
        }
    }

    private static func decided(_ name: String, _ arguments: [TaskExpression]) -> TaskExpression {
        let same = TaskExpression.call(name, arguments)
        let texts = arguments.compactMap { argument -> String? in
            if case .text(let text) = argument { text } else { nil }
        }
        let areKnown = texts.count == arguments.count
        switch name {
        case "OS": return .text("linux")
        case "exeExt": return .text("")
        case "ARCH": return .variable(processor)
        case "eq" where areKnown: return .flag(texts[0] == texts[1])
        case "ne" where areKnown: return .flag(texts[0] != texts[1])
        case "not", "empty": return arguments[0].truth.map { .flag(!$0) } ?? same
        case "and", "or":
            // The first one that decides, or the last one.
            var open: [TaskExpression] = []
            for (index, argument) in arguments.enumerated() {
                if let truth = argument.truth, index < arguments.count - 1 {
                    if truth == (name == "or") { return open.isEmpty ? argument : .call(name, open + [argument]) }
                } else {
                    open.append(argument)
                }
            }
            return open.count == 1 ? open[0] : .call(name, open)
        case "default":
            guard let truth = arguments[1].truth else { return same }
            return truth ? arguments[1] : arguments[0]
        case "coalesce":
            guard let first = arguments.first(where: { $0.truth != false }) else { return .text("") }
            return first.truth == nil && arguments.count > 1 ? same : first
        case "ternary":
            return arguments[2].truth.map { $0 ? arguments[0] : arguments[1] } ?? same
        default: return areKnown ? text(of: name, texts) ?? same : same
        }
    }

    private static func text(of name: String, _ texts: [String]) -> TaskExpression? {
        switch name {
        case "upper": .text(texts[0].uppercased())
        case "lower": .text(texts[0].lowercased())
        case "trim": .text(texts[0].trimmed)
        case "trimSuffix": .text(texts[1].hasSuffix(texts[0]) ? String(texts[1].dropLast(texts[0].count)) : texts[1])
        case "trimPrefix": .text(texts[1].hasPrefix(texts[0]) ? String(texts[1].dropFirst(texts[0].count)) : texts[1])
        case "hasPrefix": .flag(texts[1].hasPrefix(texts[0]))
        case "hasSuffix": .flag(texts[1].hasSuffix(texts[0]))
        case "contains": .flag(texts[1].contains(texts[0]))
        case "replace": texts[0].isEmpty ? nil : .text(texts[2].replacing(texts[0], with: texts[1]))
        default: nil
        }
    }

    // MARK: - Expressions of flowrun

    /// The value as an expression; nil if it has none. `reading` is that of a variable.
    func expression(reading: (String) -> String?) -> String? {
        switch self {
        case .text(let text), .number(let text): return ExpressionText.literal(text)
        case .flag(let flag): return flag ? "true" : "false"
        case .variable(let name): return reading(name)
        case .call(let name, let arguments):
            func value(_ index: Int) -> String? { arguments[index].expression(reading: reading) }
            func truth(_ index: Int) -> String? { arguments[index].condition(reading: reading) }
            switch name {
            case _ where isFlag: return condition(reading: reading)
            case _ where name == "default" || name == "or" && arguments.count == 2 && !isFlag:
                let (first, second) = name == "default" ? (1, 0) : (0, 1)
                guard let test = truth(first), let one = value(first), let two = value(second) else { return nil }
                return "if(\(test), \(one), \(two))"
            case "ternary":
                guard let test = truth(2), let one = value(0), let two = value(1) else { return nil }
                return "if(\(test), \(one), \(two))"
            case "upper", "lower": return value(0).map { "\(name)(\($0))" }
            case "replace":
                guard let text = value(2), let part = value(0), let other = value(1) else { return nil }
                return "replace(\(text), \(part), \(other))"
            default: return nil
            }
        }
    }

    /// The truth of the value as an expression; nil if it has none.
    func condition(reading: (String) -> String?) -> String? {
        func value(_ argument: TaskExpression) -> String? { argument.expression(reading: reading) }
        switch self {
        case .text, .flag, .number: return truth.map { "\($0)" }
        case .variable: return value(self).map { "\($0) != ''" }
        case .call(let name, let arguments):
            switch name {
            case "eq", "ne":
                // A number is no string for either.
                guard arguments.allSatisfy(\.mayBeText), let left = value(arguments[0]),
                    let right = value(arguments[1])
                else { return nil }
                return "\(left) \(name == "eq" ? "==" : "!=") \(right)"
            case "not", "empty":
                guard let test = arguments[0].condition(reading: reading) else { return nil }
                guard !arguments[0].isFlag, test.hasSuffix(" != ''") else { return "!(\(test))" }
                // Only the last comparison is that of the value.
                return "\(test.dropLast(6)) == ''"
            case "and", "or":
                let tests = arguments.compactMap { $0.condition(reading: reading) }
                guard tests.count == arguments.count else { return nil }
                return tests.count == 1
                    ? tests[0] : tests.map { "(\($0))" }.joined(separator: name == "and" ? " && " : " || ")
            case "hasPrefix", "hasSuffix", "contains":
                guard let part = value(arguments[0]), let text = value(arguments[1]) else { return nil }
                let function = ["hasPrefix": "startsWith", "hasSuffix": "endsWith"][name] ?? name
                return "\(function)(\(text), \(part))"
            default: return value(self).map { "\($0) != ''" }
            }
        }
    }
}

/// Reads the expressions of templates.
private struct TaskExpressionReader {
    var rest: Substring

    var isAtEnd: Bool { rest.allSatisfy(\.isWhitespace) }

    private mutating func skipBlanks() { rest = rest.drop(while: \.isWhitespace) }

    mutating func pipeline() -> TaskExpression? {
        guard var value = command(nil) else { return nil }
        skipBlanks()
        while rest.first == "|" {
            rest.removeFirst()
            guard let next = command(value) else { return nil }
            value = next
            skipBlanks()
        }
        return value
    }

    /// Reads a value, or a function with its arguments, of which `last` is the last one.
    private mutating func command(_ last: TaskExpression?) -> TaskExpression? {
        skipBlanks()
        let name = rest.prefix { $0.isVariableCharacter }
        guard let first = name.first, first.isLetter, name != "true", name != "false" else {
            return last == nil ? operand() : nil
        }
        guard let counts = TaskExpression.counts(of: String(name)) else { return nil }
        rest = rest.dropFirst(name.count)
        var arguments: [TaskExpression] = []
        while true {
            skipBlanks()
            guard let next = rest.first, next != "|", next != ")" else { break }
            guard let argument = operand() else { return nil }
            arguments.append(argument)
        }
        if let last { arguments.append(last) }
        guard counts.contains(arguments.count) else { return nil }
        return .call(String(name), arguments)
    }

    private mutating func operand() -> TaskExpression? {
        skipBlanks()
        guard let first = rest.first else { return nil }
        switch first {
        case "(":
            rest.removeFirst()
            guard let value = pipeline() else { return nil }
            skipBlanks()
            return rest.popFirst() == ")" ? value : nil
        case "`":
            rest.removeFirst()
            let text = rest.prefix { $0 != "`" }
            rest = rest.dropFirst(text.count)
            return rest.popFirst() == nil ? nil : .text(String(text))
        case "\"":
            rest.removeFirst()
            var text = ""
            while let character = rest.popFirst() {
                if character == "\"" { return .text(text) }
                guard character == "\\" else {
                    text.append(character)
                    continue
                }
                switch rest.popFirst() {
                case "n": text += "\n"
                case "t": text += "\t"
                case "\\": text += "\\"
                case "\"": text += "\""
                default: return nil
                }
            }
            return nil
        case ".":
            let name = rest.dropFirst().prefix { $0.isVariableCharacter }
            guard !name.isEmpty else { return nil }
            rest = rest.dropFirst(name.count + 1)
            guard rest.first.map({ $0.isWhitespace || $0 == ")" || $0 == "|" }) ?? true else { return nil }
            return .variable(String(name))
        default:
            let word = String(rest.prefix { $0.isVariableCharacter })
            rest = rest.dropFirst(word.count)
            if word == "true" || word == "false" { return .flag(word == "true") }
            // Without arguments.
            if TaskExpression.counts(of: word) == 0...0 { return .call(word, []) }
            return nil
        }
    }
}
