/// One line of the source, to find the mistake on it. Offsets count from the start of the file.
struct SourceLine {
    let source: [UInt8]
    /// Without the line end.
    let range: Range<Int>

    init(in source: [UInt8], at offset: Int) {
        self.source = source
        var start = min(max(offset, 0), source.count)
        while start > 0, source[start - 1] != UInt8(ascii: "\n") { start -= 1 }
        var end = min(max(offset, start), source.count)
        while end < source.count, source[end] != UInt8(ascii: "\n") { end += 1 }
        if end > start, source[end - 1] == UInt8(ascii: "\r") { end -= 1 }
        range = start..<end
    }

    /// The offset of the first character that is not a blank; the line's end for a blank line.
    var contentStart: Int { range.first { !Self.isBlank(source[$0]) } ?? range.upperBound }

    /// The blanks at the start of the line.
    var indentation: Range<Int> { range.lowerBound..<contentStart }

    /// The nearest line above that is neither blank nor a comment.
    var above: SourceLine? {
        var line = self
        while line.range.lowerBound > 0 {
            line = SourceLine(in: source, at: line.range.lowerBound - 1)
            let start = line.contentStart
            if start < line.range.upperBound, source[start] != UInt8(ascii: "#") { return line }
        }
        return nil
    }

    /// The nearest line below that is neither blank nor a comment.
    var below: SourceLine? {
        var line = self
        while line.lineEnd < source.count {
            line = SourceLine(in: source, at: line.lineEnd + 1)
            let start = line.contentStart
            if start < line.range.upperBound, source[start] != UInt8(ascii: "#") { return line }
        }
        return nil
    }

    /// The offset of the line's `\n`; the end of the text for the last line.
    private var lineEnd: Int {
        let end = range.upperBound
        return end + 1 < source.count && source[end] == UInt8(ascii: "\r") ? end + 1 : end
    }

    /// True for the first line below a `key:`, indented deeper than that.
    var startsValue: Bool {
        guard let above, above.indentation.count < indentation.count else { return false }
        return source[above.text(from: above.contentStart)].last == UInt8(ascii: ":")
    }

    /// The offset at which `text` first occurs in a part of the line.
    func firstOffset(of text: String, in part: Range<Int>) -> Int? {
        let text = Array(text.utf8)
        guard part.count >= text.count else { return nil }
        return (part.lowerBound...part.upperBound - text.count).first {
            source[$0..<$0 + text.count].elementsEqual(text)
        }
    }

    /// From `start` to the end of the text on the line, without a trailing comment and blanks.
    func text(from start: Int) -> Range<Int> {
        var end = firstOffset(of: " #", in: start..<max(start, range.upperBound)) ?? range.upperBound
        while end > start, Self.isBlank(source[end - 1]) { end -= 1 }
        return start..<max(start, end)
    }

    /// The value after the line's first `key: `, without comment and blanks; nil if there is none.
    func value(before end: Int) -> Range<Int>? {
        guard let colon = firstOffset(of: ": ", in: contentStart..<max(contentStart, end)) else { return nil }
        var start = colon + 2
        while start < range.upperBound, Self.isBlank(source[start]) { start += 1 }
        return text(from: start)
    }

    /// True if a value that begins with `sign` starts at a place: after `: `.
    func isValueStart(_ place: Int, of sign: Unicode.Scalar) -> Bool {
        guard source[place] == UInt8(ascii: sign), Self.isBlank(source[place - 1]) else { return false }
        return source[range.lowerBound..<place].last { !Self.isBlank($0) } == UInt8(ascii: ":")
    }

    /// True if a part of the line could be a key of the format: letters, digits, `_` and `-`.
    func isWord(_ part: Range<Int>) -> Bool {
        !part.isEmpty
            && source[part].allSatisfy { byte in
                UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte | 0x20 || UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte
                    || byte == UInt8(ascii: "_") || byte == UInt8(ascii: "-")
            }
    }

    func string(_ part: Range<Int>) -> String { String(decoding: source[part], as: UTF8.self) }

    static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }

    /// The text as a single-quoted YAML scalar.
    static func quoted(_ text: String) -> String {
        "'" + text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "''") + "'"
    }
}
