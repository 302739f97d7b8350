internal import Syntax

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

    /// Reports a word that is none of a place, and returns the one it means.
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

    /// The scalars of a list, each at most once. Where `mayBeAlone`, one scalar may take the list's place;
    /// otherwise it is reported, and still taken.
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

    /// Whether a node can name a pool, a mutex or an output, which follow the rules of ids.
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

    /// Whether a collection is written in brackets or braces, so that text may be put in its place.
    func isFlow(_ node: YAMLNode) -> Bool {
        node.source.first == UInt8(ascii: "[") || node.source.first == UInt8(ascii: "{")
    }
}
