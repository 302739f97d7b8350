internal import Syntax

/// The YAML file that is being converted, for excerpts of its nodes.
struct YAMLSource {
    let file: SourceFile
    let lines: SourceLines

    /// The lines of an entry of a mapping.
    func excerpt(_ key: YAMLNode, _ value: YAMLNode) -> Excerpt {
        excerpt(
            from: key.range.lowerOffset, to: max(key.range.upperOffset, value.isAlias ? 0 : value.range.upperOffset))
    }

    func excerpt(_ node: YAMLNode) -> Excerpt { excerpt(from: node.range.lowerOffset, to: node.range.upperOffset) }

    func excerpt(from start: Int, to end: Int) -> Excerpt {
        lines.excerpt(file.line(at: start) - 1..<max(file.line(at: start), file.line(at: max(start, end - 1))))
    }

    func comment(above node: YAMLNode) -> [String] { lines.comment(above: file.line(at: node.range.lowerOffset) - 1) }

    /// Returns comments on the parts that the parser leaves out.
    static func comments(on findings: [Diagnostic], in source: YAMLSource) -> [String] {
        findings.filter { $0.severity == .error }.flatMap { finding in
            source.excerpt(from: finding.range.lowerOffset, to: finding.range.upperOffset)
                .comments("not converted: \(finding.message)")
        }
    }
}

/// The entries of a mapping that have not been read yet: reading one removes it.
struct YAMLFields {
    private var entries: [(key: YAMLNode, value: YAMLNode)]

    init(_ node: YAMLNode) { entries = Array(node.entries) }

    var isEmpty: Bool { entries.isEmpty }
    var firstKey: String? { entries.first?.key.text }
    /// The keys of the entries that have not been read.
    var otherKeys: [String] { entries.map(\.key.text) }

    func has(_ key: String) -> Bool { entries.contains { $0.key.text == key } }

    mutating func take(_ key: String) -> YAMLNode? { takeEntry(key)?.value }

    mutating func takeEntry(_ key: String) -> (key: YAMLNode, value: YAMLNode)? {
        guard let index = entries.firstIndex(where: { $0.key.text == key }) else { return nil }
        return entries.remove(at: index)
    }

    /// Takes the text of a scalar; a value of another kind is left where it is.
    mutating func takeText(_ key: String) -> String? {
        guard let index = entries.firstIndex(where: { $0.key.text == key && $0.value.kind == .scalar }) else {
            return nil
        }
        return entries.remove(at: index).value.text
    }

    mutating func takeFlag(_ key: String) -> Bool? {
        guard
            let index = entries.firstIndex(where: { $0.key.text == key && ["true", "false"].contains($0.value.text) })
        else { return nil }
        return entries.remove(at: index).value.text == "true"
    }

    /// Takes a text or a list of texts; anything else is left where it is.
    mutating func takeTexts(_ key: String) -> [String]? {
        guard let index = entries.firstIndex(where: { $0.key.text == key }) else { return nil }
        let value = entries[index].value
        if value.kind == .scalar {
            entries.remove(at: index)
            return value.text.isEmpty ? [] : [value.text]
        }
        let elements = Array(value.elements)
        guard value.kind == .sequence, elements.allSatisfy({ $0.kind == .scalar }) else { return nil }
        entries.remove(at: index)
        return elements.map(\.text)
    }

    /// Returns comments on the entries that have not been read.
    func leftOver(_ source: YAMLSource, _ reason: String = "not converted") -> [String] {
        guard let first = entries.first else { return [] }
        var excerpt = source.excerpt(first.key, first.value)
        for entry in entries.dropFirst() { excerpt.add(source.excerpt(entry.key, entry.value)) }
        return excerpt.comments(reason)
    }
}

extension YAMLNode {
    /// A scalar in its written form: a number stays one.
    var spelled: YAMLValue {
        isPlain && type != .string && type != .null ? .word(text) : .text(text)
    }
}
