/// Spells single values in YAML.
enum YAMLText {
    /// A value on one line. The outermost one may have characters that would end it inside brackets.
    static func flow(_ value: YAMLValue, isOutermost: Bool = false) -> String {
        switch value {
        case .word(let word): return word
        case .text(let text), .script(let text): return scalar(text, inFlow: !isOutermost)
        case .list(let items): return "[\(items.map { flow($0) }.joined(separator: ", "))]"
        case .inline(let entries), .mapping(let entries):
            guard !entries.isEmpty else { return "{}" }
            let pairs = entries.map { "\(scalar($0.key, inFlow: true)): \(flow($0.value))" }
            return "{ \(pairs.joined(separator: ", ")) }"
        }
    }

    static func scalar(_ text: String, inFlow: Bool) -> String {
        if isPlain(text, inFlow: inFlow) { return text }
        guard text.unicodeScalars.allSatisfy(\.isPrintable) else { return doubleQuoted(text) }
        let isQuotedMore = text.contains("'") && !text.contains("\"") && !text.contains("\\")
        return isQuotedMore ? "\"\(text)\"" : "'\(text.replacing("'", with: "''"))'"
    }

    static func doubleQuoted(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": result += "\\\""
            case "\\": result += "\\\\"
            case "\n": result += "\\n"
            case "\t": result += "\\t"
            case "\r": result += "\\r"
            default:
                if scalar.isPrintable {
                    result.unicodeScalars.append(scalar)
                } else {
                    let digits = String(scalar.value, radix: 16)
                    let count = scalar.value > 0xFFFF ? 8 : 4
                    result +=
                        (count == 8 ? "\\U" : "\\u") + String(repeating: "0", count: count - digits.count) + digits
                }
            }
        }
        return result + "\""
    }

    /// True if the text reads back as itself without quotes, and no YAML reader takes it for anything but a text.
    static func isPlain(_ text: String, inFlow: Bool) -> Bool {
        guard let first = text.unicodeScalars.first, let last = text.unicodeScalars.last else { return false }
        let mayStart = first.properties.isAlphabetic && first.isASCII || first == "/" || first == "_" || first == "$"
        guard
            mayStart || (first == "." || first == "(") && text.count > 1 && !text.hasPrefix("..") && !startsNumber(text)
                || (first == "-" && startsOption(text)) || isVersion(text)
        else { return false }
        guard last != " ", last != ":", text.unicodeScalars.allSatisfy({ $0.isPrintable && $0 != "\t" }),
            !text.contains(": "), !text.contains(" #"), !lookAlikes.contains(text.lowercased())
        else { return false }
        return !inFlow
            || !text.unicodeScalars.contains { ",[]{}".unicodeScalars.contains($0) || $0 == ":" || $0 == "\"" }
    }

    /// `.5` is a number, `./x` is not.
    private static func startsNumber(_ text: String) -> Bool {
        text.dropFirst().first.map { $0.isNumber || $0 == "i" || $0 == "n" || $0 == "I" || $0 == "N" } ?? true
    }

    /// `-O2`, `--all`; neither a number nor the dash of a list.
    private static func startsOption(_ text: String) -> Bool {
        text.drop { $0 == "-" }.first?.isLetter ?? false
    }

    /// `1.2.3`: it has too many dots to be a number.
    private static func isVersion(_ text: String) -> Bool {
        text.split(separator: ".", omittingEmptySubsequences: false).count > 2
            && text.allSatisfy { $0.isASCII && ($0.isNumber || $0 == ".") } && text.first != "." && text.last != "."
    }

    private static let lookAlikes: Set<String> = [
        "null", "true", "false", "yes", "no", "on", "off", "y", "n", "~", ".inf", ".nan",
    ]
}

extension Unicode.Scalar {
    /// True if YAML accepts the character as a part of a line.
    var isPrintable: Bool {
        switch value {
        case 9, 0x20...0x7E: true
        case 0...0x9F, 0x2028, 0x2029, 0xFEFF, 0xFFFE, 0xFFFF: false
        default: true
        }
    }
}

extension String {
    /// With the code in place of every character that is not allowed in a comment.
    var printable: String {
        guard !unicodeScalars.allSatisfy(\.isPrintable) else { return self }
        return unicodeScalars.reduce(into: "") { text, scalar in
            if scalar.isPrintable {
                text.unicodeScalars.append(scalar)
            } else {
                text += "\\u{\(String(scalar.value, radix: 16))}"
            }
        }
    }
}

/// Texts with `${{ … }}`.
enum ExpressionText {
    /// The expression of a text.
    static func literal(_ text: String) -> String { "'\(text.replacing("'", with: "''"))'" }

    /// The expression with the value of a text.
    static func expression(of text: String) -> String? {
        var parts: [String] = []
        var format = ""
        var rest = text[...]
        while let start = rest.firstRange(of: "${{"), let end = rest[start.upperBound...].firstRange(of: "}}") {
            format += escaped(rest[..<start.lowerBound]) + "{\(parts.count)}"
            parts.append(rest[start.upperBound..<end.lowerBound].trimmed)
            rest = rest[end.upperBound...]
        }
        if parts.isEmpty { return literal(text) }
        format += escaped(rest)
        if format == "{0}" { return parts[0] }
        return "format('\(format)', \(parts.joined(separator: ", ")))"
    }

    private static func escaped(_ text: Substring) -> String {
        String(text).replacing("{", with: "{{").replacing("}", with: "}}").replacing("'", with: "''")
    }
}
