internal import SourceDiagnostics
internal import YAMLSyntax

// `default` of a parameter: a YAML literal that the parameter itself would accept.
extension WorkflowDecoder {
    mutating func defaultValue(
        _ entry: MappingReader.Entry?, kind: Parameter.Kind, pattern: Pattern?
    ) -> Value? {
        guard let entry else { return nil }
        switch kind {
        case .string:
            return text(entry).flatMap { matches($0, pattern, at: entry.value) ? .string($0) : nil }
        case .path:
            return path(entry).flatMap { matches($0, pattern, at: entry.value) ? .string($0) : nil }
        case .int:
            return wholeNumber(entry).map(Value.int)
        case .bool:
            return bool(entry).map(Value.bool)
        case .choice(let choices):
            return choice(entry, of: choices).map(Value.string)
        case .list:
            return listDefault(entry, pattern: pattern)
        }
    }

    private mutating func choice(_ entry: MappingReader.Entry, of choices: [String]) -> String? {
        guard !choices.isEmpty else { return nil }
        if entry.value.kind == .scalar, !entry.value.isNull, choices.contains(entry.value.text) {
            return entry.value.text
        }
        guard choices.count > Self.shownChoices else { return word(entry, of: choices) }
        if entry.value.kind == .scalar {
            reportValue(entry, expected: "one of \(choices.count) values")
        } else {
            reportType(entry, expected: "one of \(choices.count) values")
        }
        return nil
    }

    /// More than these are not listed in a message.
    private static let shownChoices = 20

    private mutating func wholeNumber(_ entry: MappingReader.Entry) -> Int? {
        let value = entry.value
        let expected = "a whole number"
        let number = Int(value.text)
        if value.type == .int, let number { return number }
        if value.type == .int || value.type == .float {
            reportValue(entry, expected: "a whole number in decimal digits")
        } else {
            reportType(
                entry, expected: number == nil ? expected : "\(expected) without quotes",
                fix: number.map { replacing(value, by: String($0)) })
        }
        return nil
    }

    /// The items by their source text, as those of `for-each`.
    private mutating func listDefault(_ entry: MappingReader.Entry, pattern: Pattern?) -> Value? {
        guard entry.value.kind == .sequence else {
            let isWord = entry.value.kind == .scalar && entry.value.isPlain && !entry.value.isNull
            reportType(
                entry, expected: "a list of texts",
                fix: isWord ? replacing(entry.value, by: "[\(entry.value.text)]") : nil)
            return nil
        }
        var items: [Value] = []
        for element in entry.value.elements where element.kind != .invalid {
            guard element.kind == .scalar, !element.isNull else {
                let range = element.range.start == element.range.end ? entry.value.range : element.range
                report(.wrongType, "an item of a list is a text, found \(found(element))", at: range)
                continue
            }
            if matches(element.text, pattern, at: element) { items.append(.string(element.text)) }
        }
        return .list(items)
    }

    private mutating func matches(_ text: String, _ pattern: Pattern?, at node: YAMLNode) -> Bool {
        guard let pattern, !isExpression(node), !pattern.matches(text) else { return true }
        report(
            .invalidValue,
            "the default \(Phrase.quoted(text)) does not match the pattern \(Phrase.quoted(pattern.text))",
            at: node, fix: .init("write a default that the caller could give, or change the pattern"))
        return false
    }
}
