// Lines that are not `key: value` where they should be, and their indentation.
extension YAMLSyntaxError {
    /// `run: say price: ten`, or a key that is indented like a continuation of the value above it.
    func unexpectedColon(_ line: SourceLine) -> Finding {
        if let value = line.value(before: offset), value.contains(offset) {
            // `build: run: make`: what follows is a key, so quotes would not help.
            if line.isWord(value.lowerBound..<offset), line.source[value.lowerBound] & 0x20 != 0 {
                let (inner, key) = (line.string(value), line.string(value.lowerBound..<offset))
                let quoted = SourceLine.quoted(inner)
                return Finding(
                    message: "a second `: ` in a value without quotes", range: offset..<offset + 1,
                    fix: .init("write `{ \(inner) }` if `\(key)` is a key, or quote the value: `\(quoted)`"))
            }
            return Finding(
                message: "a second `: ` in a value without quotes", range: offset..<offset + 1,
                fix: quotingFix(line, value))
        }
        let key = line.contentStart..<offset
        guard let above = line.above else {
            return Finding(message: "a `key: value` is not possible here", range: offset..<offset + 1)
        }
        // `- key:` holds its keys two columns further in.
        let isItem = above.source[above.contentStart...].starts(with: "- ".utf8)
        let indentation = above.string(above.indentation) + (isItem ? "  " : "")
        if above.value(before: above.range.upperBound) == nil, indentation.utf8.count == line.indentation.count {
            return missingColon(above, from: above.range.lowerBound + indentation.utf8.count)
        }
        if !isItem, above.value(before: above.range.upperBound) == nil, above.startsValue {
            return missingColon(above, from: above.contentStart)
        }
        return Finding(
            message: "\(Phrase.quoted(line.string(key))) is indented deeper than the line above it, "
                + "so it reads as a part of that line's value",
            range: key,
            fix: .init(
                "indent it like the line above",
                edits: [.init(range: SourceRange(line.indentation), replacement: indentation)]))
    }

    /// In a block mapping: something that is not a `key: value` line.
    func expectedKey(_ line: SourceLine) -> Finding {
        let range = offset..<max(offset + 1, line.text(from: offset).upperBound)
        if offset > line.contentStart {
            var before = offset
            while before > line.contentStart, SourceLine.isBlank(line.source[before - 1]) { before -= 1 }
            let last = line.source[before - 1]
            if last == UInt8(ascii: "\"") || last == UInt8(ascii: "'") {
                return Finding(
                    message: "text after the closing quote", range: range,
                    fix: line.value(before: offset).map { quotingFix(line, $0) } ?? .init("quote the whole value"))
            }
            if let finding = bracketedScript(line) { return finding }
            return Finding(
                message: "text after the end of the value", range: range,
                fix: .init("remove it, or quote the whole value"))
        }
        let isItem = line.source[min(offset, line.source.count)...].starts(with: "-".utf8)
        return Finding(
            message: isItem
                ? "a list item is among `key: value` lines"
                : "the indentation of this line fits none of the lines above", range: range,
            notes: [startNote("the keys it should line up with begin here")],
            fix: .init(isItem ? "give the list a key of its own" : "indent it like the keys it belongs to"))
    }

    /// A line that should be `key: value` and has no colon, or none with a blank behind it.
    func missingColon(_ line: SourceLine, from start: Int) -> Finding {
        let text = line.text(from: start)
        if let colon = text.first(where: { line.source[$0] == UInt8(ascii: ":") }), colon + 1 < text.upperBound {
            if line.source[(colon + 1)...].starts(with: "- ".utf8) { return misplacedItem(text) }
            let (key, value) = (line.string(text.lowerBound..<colon), line.string(colon + 1..<text.upperBound))
            // What has another meaning at the start of a value, or none.
            let isOdd = "|>@`%*&!".utf8.contains(line.source[colon + 1])
            return Finding(
                message: "a blank is missing after the `:`", range: text,
                fix: isOdd
                    ? .init("write `\(key): `, and quote a text that begins with `\(value.prefix(1))`")
                    : .init(
                        "write `\(key): \(value)`",
                        edits: [.init(range: SourceRange(colon + 1..<colon + 1), replacement: " ")]))
        }
        let isKey = line.isWord(text) && line.below.map { $0.indentation.count > line.indentation.count } == true
        return Finding(
            message: "expected `key: value`, found \(Phrase.quoted(line.string(text))) without a `:`", range: text,
            fix: isKey
                ? .init(
                    "write `\(line.string(text)):`",
                    edits: [.init(range: SourceRange(text.upperBound..<text.upperBound), replacement: ":")])
                : .init("add the `:`, or indent the line if it continues the value above"))
    }

    /// A list item on the line of its key.
    func misplacedItem(_ range: Range<Int>) -> Finding {
        Finding(
            message: "a list cannot begin here with `- `", range: range,
            fix: .init("put each `- ` on a line of its own below the key, or write `[a, b]`"))
    }

    func tab(_ line: SourceLine) -> Finding {
        let blanks = line.indentation.contains(offset) ? line.indentation : offset..<offset + 1
        let first = blanks.first { line.source[$0] == UInt8(ascii: "\t") } ?? offset
        return Finding(
            message: "YAML does not accept tabs as indentation", range: first..<max(first + 1, blanks.upperBound),
            fix: .init("indent with spaces"))
    }
}
