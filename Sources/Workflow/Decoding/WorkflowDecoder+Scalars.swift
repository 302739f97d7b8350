internal import Syntax

// One function for each kind of simple value. Each returns nil for an absent entry, and after reporting an invalid
// one.
extension WorkflowDecoder {
    /// Any scalar, by its source text: `name` and `description` are labels, whatever they look like.
    mutating func text(_ entry: MappingReader.Entry?) -> String? {
        guard let entry else { return nil }
        guard entry.value.kind == .scalar, !entry.value.isNull else {
            reportType(entry, expected: "a text")
            return nil
        }
        return entry.value.text
    }

    /// A path: a text with at least one character.
    mutating func path(_ entry: MappingReader.Entry?) -> String? {
        guard let entry, let path = text(entry) else { return nil }
        guard path.isEmpty else { return path }
        report(
            .invalidValue, "\(Phrase.quoted(entry.key.text)) takes a path, found an empty text", at: entry.value,
            fix: .init("write `.` for the workflow file's folder, or remove the key"))
        return nil
    }

    /// A path that may hold expressions.
    mutating func folder(_ entry: MappingReader.Entry?) -> Template? {
        guard let entry, path(entry) != nil else { return nil }
        return template(entry.value)
    }

    /// Any scalar, with the expressions in it.
    mutating func templateText(_ entry: MappingReader.Entry?) -> Template? {
        guard let entry else { return nil }
        guard entry.value.kind == .scalar, !entry.value.isNull else {
            reportType(entry, expected: "a text")
            return nil
        }
        return template(entry.value)
    }

    mutating func mapping(_ entry: MappingReader.Entry) -> MappingReader? {
        guard entry.value.kind == .mapping else {
            reportType(entry, expected: "a mapping")
            return nil
        }
        return MappingReader(entry.value)
    }

    mutating func bool(_ entry: MappingReader.Entry?, expected: String = "`true` or `false`") -> Bool? {
        guard let entry else { return nil }
        let value = entry.value
        if value.type == .bool { return value.text.lowercased() == "true" }
        guard value.kind == .scalar, value.type == .string else {
            reportType(entry, expected: expected)
            return nil
        }
        let word = value.text.lowercased()
        let key = Phrase.quoted(entry.key.text)
        if value.isPlain, let meant = Self.lookAlike(word) {
            report(
                .lookAlike, "\(key) takes \(expected), and `\(value.text)` is a text in YAML 1.2", at: value,
                fix: replacing(value, by: String(meant)))
        } else if word == "true" || word == "false" {
            reportType(entry, expected: "\(expected) without quotes", fix: replacing(value, by: word))
        } else {
            reportType(entry, expected: expected)
        }
        return nil
    }

    /// The value that YAML 1.1 gives a word; nil if it is a text there.
    static func lookAlike(_ word: String) -> Bool? {
        switch word {
        case "yes", "on", "y": true
        case "no", "off", "n": false
        default: nil
        }
    }

    /// A number of units.
    mutating func count(_ entry: MappingReader.Entry?) -> Int? { wholeNumber(entry, in: KeyDefinition.count) }

    /// A whole number in decimal digits.
    mutating func wholeNumber(_ entry: MappingReader.Entry?, in range: ClosedRange<Int>) -> Int? {
        guard let entry else { return nil }
        let value = entry.value
        var expected: String { "a whole number from \(range.lowerBound) to \(range.upperBound)" }
        let number = Int(value.text)
        switch value.type {
        case .int, .float:
            if value.type == .int, let number, range.contains(number), !value.text.hasPrefix("+") { return number }
            reportValue(entry, expected: expected)
        case .string where number != nil:
            reportType(entry, expected: "\(expected) without quotes", fix: replacing(value, by: value.text))
        default: reportType(entry, expected: expected)
        }
        return nil
    }

    /// A number, fractions allowed.
    mutating func decimal(_ entry: MappingReader.Entry?, from lowest: Double, to highest: Double) -> Double? {
        guard let entry else { return nil }
        let value = entry.value
        var expected: String { "a number from \(Int(lowest)) to \(Int(highest))" }
        let number = Double(value.text)
        guard value.type == .int || value.type == .float else {
            let isQuoted = value.type == .string && number != nil
            reportType(
                entry, expected: isQuoted ? "\(expected) without quotes" : expected,
                fix: isQuoted ? replacing(value, by: value.text) : nil)
            return nil
        }
        guard let number, number >= lowest, number <= highest else {
            reportValue(entry, expected: expected)
            return nil
        }
        return number
    }

    /// A number of bytes.
    mutating func size(_ entry: MappingReader.Entry?) -> Int? {
        guard let entry else { return nil }
        let value = entry.value
        guard value.kind == .scalar, value.type == .string || value.type == .int || value.type == .float else {
            reportType(entry, expected: SizeText.expected)
            return nil
        }
        switch SizeText.read(value.text) {
        case .size(let size): return size
        case .tooLarge: reportValue(entry, expected: "a size of at most \(SizeText.limit)GiB")
        case .invalid(let suggestion):
            report(
                .invalidValue,
                "\(Phrase.quoted(entry.key.text)) takes \(SizeText.expected), found \(found(value))", at: value,
                fix: suggestion.map { replacing(value, by: $0) })
        }
        return nil
    }

    mutating func duration(_ entry: MappingReader.Entry?, mayBeZero: Bool = false) -> Duration? {
        guard let entry else { return nil }
        let value = entry.value
        let expected = "a duration such as `90s`, `10m` or `1h30m`"
        guard value.kind == .scalar, value.type != .null, value.type != .bool else {
            reportType(entry, expected: expected)
            return nil
        }
        let text = value.text
        switch DurationText.read(text) {
        case .duration(.zero) where !mayBeZero:
            reportValue(entry, expected: "a duration above zero")
        case .duration(let duration):
            return duration
        case .tooLong:
            reportValue(entry, expected: "a duration of at most \(DurationText.limitInDays) days")
        case .invalid(let suggestion):
            let isZero = mayBeZero && Double(text) == 0
            let isNumber = value.type == .int || value.type == .float
            let fix = (isZero ? "0s" : suggestion).map { replacing(value, by: $0) }
            if isNumber, fix != nil {
                report(
                    .invalidValue, "\(Phrase.quoted(entry.key.text)) needs a unit, found \(Phrase.quoted(text))",
                    at: value, fix: fix)
            } else {
                reportValue(entry, expected: expected, fix: fix)
            }
        }
        return nil
    }

    mutating func killSignal(_ entry: MappingReader.Entry?) -> KillSignal? {
        guard let entry else { return nil }
        let value = entry.value
        let expected = "one of \(Phrase.alternatives(KillSignal.allCases.map(\.rawValue)))"
        guard value.kind == .scalar, value.type == .string else {
            reportType(entry, expected: expected)
            return nil
        }
        if let signal = KillSignal(rawValue: value.text) { return signal }
        let word = value.text.uppercased()
        let name = word.hasPrefix("SIG") ? String(word.dropFirst(3)) : word
        reportValue(
            entry, expected: expected, fix: KillSignal(rawValue: name).map { replacing(value, by: $0.rawValue) })
        return nil
    }

    /// A scalar that is one of a few words; `foreign` are other tools' words for them.
    mutating func word(
        _ entry: MappingReader.Entry, of words: [String], orFor foreign: @autoclosure () -> [String: String] = [:]
    ) -> String? {
        let value = entry.value
        guard value.kind == .scalar, !value.isNull else {
            reportType(entry, expected: Phrase.alternatives(words))
            return nil
        }
        let text = value.text
        if words.contains(text) { return text }
        let near = foreign()[text.lowercased()] ?? suggestions.nearest(to: text, among: words)
        reportValue(entry, expected: Phrase.alternatives(words), fix: near.map { replacing(value, by: $0) })
        return nil
    }
}

extension WorkflowDecoder {
    mutating func report(
        _ code: DiagnosticCode, _ message: String, at range: SourceRange, severity: Diagnostic.Severity = .error,
        notes: [Diagnostic.Note] = [], fix: Diagnostic.Fix? = nil
    ) {
        guard !isKnown else { return }
        if let alias = alias(to: range) {
            return report(code, message, at: range, through: alias, severity: severity, notes: notes, fix: fix)
        }
        findings.add(severity) {
            Diagnostic(code, message, in: file, at: range, severity: severity, notes: notes, fix: fix)
        }
    }

    mutating func report(
        _ code: DiagnosticCode, _ message: String, at node: YAMLNode, severity: Diagnostic.Severity = .error,
        notes: [Diagnostic.Note] = [], fix: Diagnostic.Fix? = nil
    ) {
        report(code, message, at: node.range, severity: severity, notes: notes, fix: fix)
    }

    /// Reports a value of the wrong kind, unless the parser has reported it already.
    mutating func reportType(
        _ entry: MappingReader.Entry, expected: String, fix: Diagnostic.Fix? = nil
    ) {
        let value = entry.value
        let isRefusedBraces = value.kind == .mapping && value.count > 0 && value.entries.first { _ in true } == nil
        guard value.kind != .invalid, !isRefusedBraces, !isExpression(value) else { return }
        let key = Phrase.quoted(entry.key.text)
        report(.wrongType, "\(key) takes \(expected), found \(found(entry.value))", at: entry.place, fix: fix)
    }

    /// Reports a value of the right kind that is not accepted.
    mutating func reportValue(_ entry: MappingReader.Entry, expected: String, fix: Diagnostic.Fix? = nil) {
        guard !isExpression(entry.value) else { return }
        let (key, value) = (Phrase.quoted(entry.key.text), Phrase.quoted(entry.value.text))
        report(.invalidValue, "\(key) takes \(expected), found \(value)", at: entry.value, fix: fix)
    }

    /// True if a value has an expression in it, which is a finding of its own.
    func isExpression(_ node: YAMLNode) -> Bool {
        document.hasExpressions && node.kind == .scalar && node.text.contains("${{")
    }

    /// A fix that replaces a node by another text.
    func replacing(_ node: YAMLNode, by text: String, _ description: String? = nil) -> Diagnostic.Fix {
        Diagnostic.Fix(description ?? "write `\(text)`", edits: [edit(node, to: text)])
    }

    /// Replaces a node by a text; an absent value also gets a blank after the colon.
    func edit(_ node: YAMLNode, to text: String) -> Diagnostic.Fix.Edit {
        let range = node.range
        let isBehindColon = range.start == range.end && self.text(behind: range.start) == ":"
        return Diagnostic.Fix.Edit(range: range, replacement: isBehindColon ? " " + text : text)
    }

    /// The character before a place; nothing at the start of a file.
    private func text(behind place: UInt32) -> String {
        let file = file.file(at: Int(place))
        return Int(place) > file.start ? file.text(in: SourceRange(start: place - 1, end: place)) : ""
    }

    /// The node in words, as the text after "found".
    func found(_ node: YAMLNode) -> String {
        switch node.kind {
        case .mapping: return "a mapping"
        case .sequence: return "a list"
        case .invalid: return "nothing"
        case .scalar:
            let text = Phrase.quoted(node.text)
            switch node.type {
            case .null: return node.range.start == node.range.end ? "nothing" : "null"
            case .bool: return "the boolean \(text)"
            case .int, .float: return "the number \(text)"
            default: return node.text.isEmpty ? "an empty text" : "the text \(text)"
            }
        }
    }
}

extension WorkflowDecoder {
    /// Reads a mapping whose words are those of a field place, and reports every other word in it.
    mutating func fields(_ node: YAMLNode, of place: FieldPlace) -> FieldReader {
        var reader = FieldReader()
        let words = place.words
        for (key, value) in node.entries {
            let entry = MappingReader.Entry(key: key, value: value)
            let word = key.text
            if words.contains(word) {
                reader.add(entry, as: word)
            } else if let meant = meaning(of: entry, in: place) {
                reader.add(entry, as: meant)
            } else {
                refuse(value)
            }
        }
        return reader
    }

    /// Reports a word that the place does not have, and returns the one that it means.
    private mutating func meaning(of entry: MappingReader.Entry, in place: FieldPlace) -> String? {
        let word = Phrase.quoted(entry.key.text)
        switch ForeignWords.meaning(of: entry.key.text, in: place) {
        case .word(let meant):
            report(
                .foreignKey, "\(word) is not a key of \(place.name); flowrun's word is `\(meant)`",
                at: entry.key,
                fix: replacing(entry.key, by: meant))
            return meant
        case .advice(let advice):
            report(.foreignKey, "\(place.name) has no key \(word)", at: entry.key, fix: .init(advice))
            return nil
        case nil where reportMissingBlank(entry, in: place.name, isWord: place.words.contains): return nil
        case nil:
            let near = suggestions.nearest(to: entry.key.text, among: place.words)
            report(
                .unknownKey, "unknown key \(word) in \(place.name)", at: entry.key,
                notes: near == nil ? [.init("its keys are \(place.words.joined(separator: ", "))")] : [],
                fix: near.map { replacing(entry.key, by: $0, "did you mean `\($0)`?") })
            return near
        }
    }

    /// The scalars of a list, each at most once. With `mayBeAlone`, one scalar may replace the list; otherwise it is
    /// reported, and still used.
    mutating func items(_ entry: MappingReader.Entry, expected: String, mayBeAlone: Bool) -> [YAMLNode] {
        let value = entry.value
        if value.kind == .scalar, !value.isNull, value.type != .bool, value.byteCount > 0 {
            guard !mayBeAlone else { return [value] }
            reportType(entry, expected: expected, fix: replacing(value, by: "[\(sourceText(value))]"))
            return isExpression(value) ? [] : [value]
        }
        guard value.kind == .sequence else {
            reportType(entry, expected: expected)
            return []
        }
        if value.count == 0 {
            report(
                .emptyList, "\(Phrase.quoted(entry.key.text)) is empty", at: value, severity: .warning,
                fix: .init("remove the key"))
        }
        var items: [YAMLNode] = []
        var places: [String: SourceRange] = [:]
        for element in value.elements where isItem(element, of: entry) {
            if let first = places.updateValue(element.range, forKey: element.text) {
                report(
                    .duplicateItem, "\(Phrase.quoted(element.text)) is in the list twice", at: element,
                    notes: [.init("the other one is here", at: first)],
                    fix: .removingItem(at: element.range, in: file, "remove one of the two"))
            } else {
                items.append(element)
            }
        }
        return items
    }

    private mutating func isItem(_ element: YAMLNode, of entry: MappingReader.Entry) -> Bool {
        guard element.kind != .invalid else { return false }
        guard element.kind == .scalar, !element.isNull, element.byteCount > 0 else {
            let range = element.range.start == element.range.end ? entry.value.range : element.range
            report(
                .wrongType, "an entry of \(Phrase.quoted(entry.key.text)) is a word, found \(found(element))", at: range
            )
            return false
        }
        return true
    }

    /// True if a node can name a pool, a mutex or an output, which follow the rules of ids; reports it otherwise.
    mutating func checkName(_ node: YAMLNode, of noun: String) -> Bool {
        if StepName.isValid(node.bytes) { return true }
        guard !isExpression(node) else { return false }
        let suggestion = StepName.suggestion(for: node.text)
        report(
            .invalidID, "\(Phrase.quoted(node.text)) cannot name \(noun)", at: node,
            notes: [.init("names have letters, digits, `_` and `-`, at most \(StepName.lengthLimit), no `-` in front")],
            fix: suggestion.map { .init("write `\($0)`, here and wherever it is used") })
        return false
    }

    /// A node as the file spells it, quotes and all.
    func sourceText(_ node: YAMLNode) -> String { String(decoding: node.source, as: UTF8.self) }

    /// True if a collection is written in brackets or braces, so that text can replace it.
    func isFlow(_ node: YAMLNode) -> Bool {
        node.source.first == UInt8(ascii: "[") || node.source.first == UInt8(ascii: "{")
    }
}
