/// Writes entries as YAML that reads back as exactly the same texts.
package struct YAMLWriter {
    /// The place of an entry: the keys from the outside in, and its lines, numbered from 1, with the comment above
    /// it.
    struct Place {
        let path: [String]
        let lines: Range<Int>
    }

    /// The lines so far, without line ends.
    package private(set) var lines: [String] = []
    /// Outer entries come after the inner ones.
    private(set) var places: [Place] = []
    /// The width above which a list is not written on its key's line.
    private static let width = 100

    package init(_ entries: [YAMLEntry] = []) { write(entries, path: [], indent: 0) }

    package mutating func comment(_ comments: [String], indent: Int = 0) {
        for line in comments {
            lines.append(line.isEmpty ? Self.blanks(indent) + "#" : "\(Self.blanks(indent))# \(line.printable)")
        }
    }

    mutating func blankLine() {
        if lines.last?.isEmpty == false { lines.append("") }
    }

    package mutating func write(_ entries: [YAMLEntry], path: [String] = [], indent: Int = 0) {
        for (index, entry) in entries.enumerated() {
            if entry.isSpaced, index > 0 { blankLine() }
            let start = lines.count + 1
            let path = path + [entry.key]
            write(entry, path: path, indent: indent)
            places.append(Place(path: path, lines: start..<lines.count + 1))
        }
    }

    private mutating func write(_ entry: YAMLEntry, path: [String], indent: Int) {
        comment(entry.comments, indent: indent)
        let head = "\(Self.blanks(indent))\(YAMLText.scalar(entry.key, inFlow: false)):"
        switch entry.value {
        case .mapping(let entries) where !entries.isEmpty:
            lines.append(head)
            write(entries, path: path, indent: indent + 2)
        case .script(let text):
            writeScript(text, head: head, indent: indent + 2)
        case .list(let items):
            let flow = "\(head) \(YAMLText.flow(entry.value))"
            guard flow.count > Self.width, items.count > 1 else { return lines.append(flow) }
            lines.append(head)
            for item in items { lines.append("\(Self.blanks(indent + 2))- \(YAMLText.flow(item, isOutermost: true))") }
        default:
            lines.append("\(head) \(YAMLText.flow(entry.value, isOutermost: true))")
        }
    }

    private mutating func writeScript(_ text: String, head: String, indent: Int) {
        let body = text.split(separator: "\n", omittingEmptySubsequences: false)
        let isShort = body.count == 1 && head.count + text.count < Self.width
        if isShort, YAMLText.isPlain(text, inFlow: false) || !text.contains("'") {
            return lines.append("\(head) \(YAMLText.scalar(text, inFlow: false))")
        }
        guard text.unicodeScalars.allSatisfy({ $0 == "\n" || $0.isPrintable }) else {
            return lines.append("\(head) \(YAMLText.doubleQuoted(text))")
        }
        // Without the number, the blanks before the first line would count as the indentation of all.
        let start = body.prefix { $0.allSatisfy { $0 == " " } }
        let isIndented = (start + body.dropFirst(start.count).prefix(1)).contains {
            $0.first == " " || $0.first == "\t"
        }
        let indicator = isIndented ? "2" : ""
        lines.append("\(head) |\(indicator)")
        for line in body { lines.append(line.isEmpty ? "" : Self.blanks(indent) + line) }
    }

    private static func blanks(_ count: Int) -> String { String(repeating: " ", count: count) }
}

/// One entry of a YAML mapping to be written, with the comment above it.
package struct YAMLEntry: Equatable, Sendable {
    /// Lines, without their `#`.
    package var comments: [String]
    package var key: String
    package var value: YAMLValue
    /// True if a blank line precedes it.
    var isSpaced: Bool

    package init(_ key: String, _ value: YAMLValue, comments: [String] = [], isSpaced: Bool = false) {
        self.key = key
        self.value = value
        self.comments = comments
        self.isSpaced = isSpaced
    }
}

/// A value of a YAML text to be written.
package indirect enum YAMLValue: Equatable, Sendable {
    /// Written as it is: a number, `true`, a duration.
    case word(String)
    /// A text on one line, in quotes if YAML would read something else.
    case text(String)
    /// A text of one or more lines for a shell, as a block if it is long.
    case script(String)
    case list([YAMLValue])
    /// A mapping on one line.
    case inline([YAMLEntry])
    /// A mapping with a line for each entry.
    case mapping([YAMLEntry])

    package static func texts(_ texts: [String]) -> YAMLValue { .list(texts.map(YAMLValue.text)) }
}
