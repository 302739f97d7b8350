internal import Basics
package import Syntax

/// One of `params`: a value that the caller gives with `--param`.
package struct Parameter: Sendable {
    package enum Kind: Sendable, Hashable {
        case string, int, bool, list, path
        case choice([String])

        /// The words of `type`.
        package static let words = ["string", "int", "bool", "enum", "list", "path"]
    }

    package let name: String
    package let kind: Kind
    /// nil if there is none in the file; a parameter that is not required and has no default is an empty text or list,
    /// 0 or false.
    package let defaultValue: Value?
    /// A default with expressions over `vars` and the parameters declared before it; nil for any other.
    package let computedDefault: ComputedDefault?
    package let isRequired: Bool
    /// The expression that the whole text of a `string` or `path`, or each item of a `list`, has to match; nil for
    /// any text.
    package let pattern: Pattern?
    package let description: String?
    /// The variable of flowrun's own environment whose value counts if the caller gives none; nil for no variable.
    package let variable: String?
    /// The place of the name.
    package let range: SourceRange

    package init(
        name: String, kind: Kind, defaultValue: Value? = nil, computedDefault: ComputedDefault? = nil,
        isRequired: Bool = false, pattern: Pattern? = nil,
        description: String? = nil, variable: String? = nil, range: SourceRange
    ) {
        self.name = name
        self.kind = kind
        self.defaultValue = defaultValue
        self.computedDefault = computedDefault
        self.isRequired = isRequired
        self.pattern = pattern
        self.description = description
        self.variable = variable
        self.range = range
    }
}

extension Parameter {
    /// A default that is still to be computed.
    package struct ComputedDefault: Sendable {
        package let source: Use.Argument.Source
        /// The place of the value.
        package let range: SourceRange
    }

    /// Returns the value if the caller gives none. Throws if the default has none, or one that the parameter does not
    /// accept.
    package func absentValue(in scope: some ExpressionScope) throws(EvaluationError) -> Value {
        guard let computedDefault else { return absentValue }
        do throws(ValueError) {
            return try computedDefault.source.value(for: self, in: scope)
        } catch {
            throw EvaluationError("the default of `\(name)`: \(error.message)", at: computedDefault.range)
        }
    }

    /// The reason why a text is not a value of a parameter: a clause that can follow `--param name=text: `.
    package struct ValueError: Error {
        private let problem: String
        private let hint: String

        package init(message: String, hint: String = "") { (problem, self.hint) = (message, hint) }

        package var message: String { problem + hint }

        /// The message for a place that does not show the text.
        package func message(found text: String) -> String {
            "\(problem), found \(text.isEmpty ? "an empty text" : Phrase.quoted(text))\(hint)"
        }
    }

    /// The value if the caller gives none, apart from a default with expressions: the default, or else an empty text or
    /// list, 0 or false.
    package var absentValue: Value {
        if let defaultValue { return defaultValue }
        switch kind {
        case .string, .path, .choice: return .string("")
        case .int: return .int(0)
        case .bool: return .bool(false)
        case .list: return .list([])
        }
    }

    /// True if an empty value would be invalid, so that there has to be a default or a value from the caller.
    var hasNoEmptyValue: Bool {
        if pattern != nil { return true }
        switch kind {
        case .choice, .path: return true
        case .string, .int, .bool, .list: return false
        }
    }

    /// Returns the value that a caller's text means. A text, an alternative of an enum and a path are kept byte for
    /// byte.
    ///
    /// A relative path is not changed either: it is relative to the folder in which a step runs.
    package func value(from text: String) throws(ValueError) -> Value {
        switch kind {
        case .string:
            try match(text)
            return .string(text)
        case .path:
            guard !text.isEmpty else { throw ValueError(message: "a path cannot be empty; `.` is the current folder") }
            try match(text)
            return .string(text)
        case .int:
            guard let number = TypedText.int(text) else {
                let isDigits = !text.isEmpty && text.utf8.drop { $0 == 0x2D }.allSatisfy { $0 &- 0x30 < 10 }
                throw ValueError(
                    message: isDigits
                        ? "expected a whole number from \(Int.min) to \(Int.max)"
                        : "expected a whole number in decimal digits, such as 12 or -3")
            }
            return .int(number)
        case .bool:
            guard let value = TypedText.bool(text) else {
                let meant = Self.lookAlikes[text.lowercased()].map { "; did you mean \($0)?" } ?? ""
                throw ValueError(message: "expected true or false", hint: meant)
            }
            return .bool(value)
        case .choice(let choices):
            guard choices.contains(where: { $0.utf8.elementsEqual(text.utf8) }) else {
                let near = Suggestion.nearest(to: text, among: choices).map { "; did you mean `\($0)`?" } ?? ""
                throw ValueError(message: "expected \(Phrase.alternatives(choices))", hint: near)
            }
            return .string(text)
        case .list:
            let items = try text.utf8.first == UInt8(ascii: "[") ? jsonItems(text) : commaItems(text)
            for (index, item) in items.enumerated() {
                try match(item, of: "item \(index + 1), \(Phrase.quoted(item)),")
            }
            return .list(items.map(Value.string))
        }
    }

    private static let lookAlikes = [
        "yes": "true", "no": "false", "on": "true", "off": "false", "1": "true", "0": "false", "y": "true",
        "n": "false", "t": "true", "f": "false", "true": "true", "false": "false",
    ]

    private func match(_ text: String, of subject: String = "the value") throws(ValueError) {
        guard let pattern, !pattern.matches(text) else { return }
        throw ValueError(message: "\(subject) does not match the pattern \(Phrase.quoted(pattern.text))")
    }

    /// Values between commas, as they are written, blanks included; an empty text is an empty list.
    private func commaItems(_ text: String) throws(ValueError) -> [String] {
        guard !text.isEmpty else { return [] }
        let items = text.utf8.split(separator: 0x2C, omittingEmptySubsequences: false)
        guard items.allSatisfy({ !$0.isEmpty }) else {
            throw ValueError(
                message: "a value between commas is empty; for an empty text write a JSON array with `\"\"`")
        }
        return items.map { String(Substring($0)) }
    }

    /// Accepts texts, and values that have only one spelling; `3.10` would not keep its own.
    private func jsonItems(_ text: String) throws(ValueError) -> [String] {
        let value: Value
        do {
            value = try Value(json: text)
        } catch {
            throw ValueError(message: "what begins with `[` has to be a JSON array: \(error.message)")
        }
        guard case .list(let elements) = value else { throw ValueError(message: "expected a JSON array") }
        var items: [String] = []
        for (index, element) in elements.enumerated() {
            switch element {
            case .string(let text): items.append(text)
            case .int, .bool: items.append(element.text)
            case .decimal: throw ValueError(message: "item \(index + 1) needs quotes, so that it keeps its digits")
            case .null, .list, .object:
                throw ValueError(message: "item \(index + 1) is not a text; the items of a list are")
            }
        }
        return items
    }
}
