// The expressions of templates in scripts.
extension TaskExpression {
    /// The value for the inside of double quotes of a shell; nil if it has none. `reading` is that of a variable.
    func word(reading: (String) throws(TaskProblem) -> String) throws(TaskProblem) -> String? {
        switch self {
        case .text, .flag, .number: return Self.inQuotes(literal ?? "")
        case .variable(let name): return try reading(name)
        case .call(let name, let arguments):
            switch name {
            case _ where name == "default" || name == "or" && arguments.count == 2 && !isFlag:
                let (first, second) = name == "default" ? (1, 0) : (0, 1)
                return try chosen(arguments[first], arguments[first], arguments[second], reading)
            case "ternary": return try chosen(arguments[2], arguments[0], arguments[1], reading)
            case "upper", "lower":
                guard let word = try arguments[0].word(reading: reading) else { return nil }
                let sets = name == "upper" ? "'[:lower:]' '[:upper:]'" : "'[:upper:]' '[:lower:]'"
                return "$(printf %s \"\(word)\" | tr \(sets))"
            case "date", "dateInZone":
                guard arguments[1] == .call("now", []), name == "date" || arguments[2] == .text("UTC"),
                    let format = arguments[0].literal.flatMap({ Self.dateFormat($0, isUTC: name != "date") })
                else { return nil }
                return "$(date \(name == "date" ? "" : "-u ")\(shellWord("+\(format)")))"
            case _ where isFlag:
                return try chosen(self, .text("true"), .text("false"), reading)
            default: return nil
            }
        }
    }

    private func chosen(
        _ condition: TaskExpression, _ value: TaskExpression, _ otherwise: TaskExpression,
        _ reading: (String) throws(TaskProblem) -> String
    ) throws(TaskProblem) -> String? {
        guard let test = try condition.test(reading: reading), let value = try value.word(reading: reading),
            let otherwise = try otherwise.word(reading: reading)
        else { return nil }
        let other = otherwise.isEmpty ? "" : " else printf %s \"\(otherwise)\";"
        return "$(if \(test); then printf %s \"\(value)\";\(other) fi)"
    }

    /// The truth of the value as a test of a shell; nil if it has none.
    func test(reading: (String) throws(TaskProblem) -> String) throws(TaskProblem) -> String? {
        if let truth { return truth ? "true" : "false" }
        if case .call(let name, let arguments) = self {
            switch name {
            case "eq", "ne":
                guard arguments.allSatisfy(\.mayBeText), let left = try arguments[0].word(reading: reading),
                    let right = try arguments[1].word(reading: reading)
                else { return nil }
                let wanted = arguments[1].literal.map(shellWord) ?? "\"\(right)\""
                return "[ \"\(left)\" \(name == "eq" ? "=" : "!=") \(wanted) ]"
            case "not", "empty":
                if let test = try arguments[0].test(reading: reading), test.hasPrefix("[ -n "), test.hasSuffix("\" ]") {
                    return "[ -z \(test.dropFirst(5))"
                }
                return try arguments[0].test(reading: reading).map { "! { \($0); }" }
            case "and", "or":
                var tests: [String] = []
                for argument in arguments {
                    guard let test = try argument.test(reading: reading) else { return nil }
                    tests.append(test)
                }
                return tests.count == 1
                    ? tests[0] : tests.map { "{ \($0); }" }.joined(separator: name == "and" ? " && " : " || ")
            case "hasPrefix", "hasSuffix", "contains":
                guard let part = arguments[0].literal, let word = try arguments[1].word(reading: reading) else {
                    return nil
                }
                let pattern = (name == "hasPrefix" ? "" : "*") + shellWord(part) + (name == "hasSuffix" ? "" : "*")
                return "case \"\(word)\" in \(pattern)) true ;; *) false ;; esac"
            default: break
            }
        }
        return try word(reading: reading).map { "[ -n \"\($0)\" ]" }
    }

    /// The format of `date` for one of Go; nil if it has other parts.
    private static func dateFormat(_ layout: String, isUTC: Bool) -> String? {
        let parts = ["2006": "%Y", "01": "%m", "02": "%d", "15": "%H", "04": "%M", "05": "%S"]
        var result = ""
        var rest = layout[...]
        while let first = rest.first {
            if rest.hasPrefix("Z07:00"), isUTC {
                result += "Z"
                rest = rest.dropFirst(6)
            } else if let (part, format) = parts.first(where: { rest.hasPrefix($0.key) }) {
                result += format
                rest = rest.dropFirst(part.count)
            } else {
                guard "-_/:.T ".contains(first) || first == "Z" && rest.count == 1 else { return nil }
                result.append(first)
                rest.removeFirst()
            }
        }
        return result
    }

    static func inQuotes(_ text: String) -> String {
        text.map { "\"\\$`".contains($0) ? "\\\($0)" : "\($0)" }.joined()
    }
}
