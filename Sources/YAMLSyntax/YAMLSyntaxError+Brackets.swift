internal import SourceDiagnostics

// Mistakes in and around `[…]` and `{…}`.
extension YAMLSyntaxError {
    /// Inside `[…]` or `{…}`: a comma or the closing bracket is missing.
    func openBracket(_ line: SourceLine) -> Finding {
        let start = contextOffset ?? offset
        let isMap = problem.hasSuffix("'}'")
        let (opening, closing) = isMap ? ("{", "}") : ("[", "]")
        let rest = line.source[min(offset, line.source.count)...]
        let isAtEnd = rest.allSatisfy { $0 == 0x0A || $0 == 0x0D || SourceLine.isBlank($0) }
        if isAtEnd {
            return Finding(
                message: "the `\(opening)` that begins here is never closed", range: start..<start + 1,
                fix: .init("add the closing `\(closing)`"))
        }
        if let finding = bracketedScript(line) { return finding }
        var range = offset..<offset + 1
        if rest.first == UInt8(ascii: ":") {
            if isMap, let finding = colonInFlowValue(line, from: start + 1) { return finding }
            // libyaml took the words before the colon for more of the last value.
            range = max(line.contentStart, start + 1)..<offset + 1
        } else {
            range = offset..<max(offset + 1, line.text(from: offset).upperBound)
        }
        return Finding(
            message: "expected `,` or `\(closing)` before this", range: range,
            notes: [startNote("the `\(opening)` that begins here is still open")],
            fix: .init("add the missing `,` or `\(closing)`"))
    }

    /// `{ run: make timeout: 5m }`, or `{ description: a: b }`: two colons in what libyaml takes for one value.
    private func colonInFlowValue(_ line: SourceLine, from start: Int) -> Finding? {
        let first = max(start, line.range.lowerBound)
        guard first < offset else { return nil }
        let entry =
            (line.source[first..<offset].lastIndex { $0 == UInt8(ascii: ",") || $0 == UInt8(ascii: "{") } ?? first - 1)
            + 1
        let end =
            line.source[offset..<line.range.upperBound].firstIndex { ",}]".utf8.contains($0) } ?? line.range.upperBound
        var value = entry
        if let colon = line.firstOffset(of: ": ", in: entry..<offset) { value = colon + 2 }
        while value < offset, SourceLine.isBlank(line.source[value]) { value += 1 }
        var word = offset
        while word > value, !SourceLine.isBlank(line.source[word - 1]) { word -= 1 }
        // A word behind others, or on a line of its own, is the next key.
        guard word > value || value == line.contentStart else {
            return Finding(
                message: "a second `: ` in a value without quotes", range: offset..<offset + 1,
                fix: quotingFix(line, trimmed(value..<end, line)))
        }
        var gap = word
        while gap > 0, " \t\n\r".utf8.contains(line.source[gap - 1]) { gap -= 1 }
        let key = line.string(word..<offset)
        return Finding(
            message: "expected `,` or `}` before this", range: word..<offset + 1,
            notes: [startNote("the `{` that begins here is still open")],
            fix: .init(
                "write `, \(key):` if it is a key of its own, or quote the value that it belongs to",
                edits: gap < line.range.lowerBound ? [.init(range: SourceRange(gap..<gap), replacement: ",")] : []))
    }

    /// `run: [ -f x ] && echo y`: to YAML the script is a list with something behind it.
    func bracketedScript(_ line: SourceLine) -> Finding? {
        guard let value = bracketedValue(line), value.lowerBound < offset,
            line.source[value.lowerBound] == UInt8(ascii: "["), isBalanced(line.source[value.lowerBound..<offset])
        else { return nil }
        return Finding(
            message: "a value that begins with `[` is a list, and something follows it", range: value,
            fix: quotingFix(line, value))
    }

    private func isBalanced(_ text: ArraySlice<UInt8>) -> Bool {
        text.count { $0 == UInt8(ascii: "[") } == text.count { $0 == UInt8(ascii: "]") }
    }

    /// The value around the place: that of the line, or between braces that of the nearest `key: [`.
    private func bracketedValue(_ line: SourceLine) -> Range<Int>? {
        let start = line.range.lowerBound
        guard let brace = line.source[start..<min(offset, line.range.upperBound)].lastIndex(of: UInt8(ascii: "{"))
        else {
            return line.value(before: offset)
        }
        guard let bracket = (brace + 2..<max(brace + 2, offset)).last(where: { line.isValueStart($0, of: "[") }),
            let close = line.source[bracket..<offset].lastIndex(of: UInt8(ascii: "]")),
            !line.source[close + 1..<offset].contains(where: ",{}".utf8.contains)
        else { return nil }
        let text = line.text(from: offset)
        let end = text.first { ",}".utf8.contains(line.source[$0]) } ?? text.upperBound
        return trimmed(bracket..<end, line)
    }

    func trimmed(_ range: Range<Int>, _ line: SourceLine) -> Range<Int> {
        var end = range.upperBound
        while end > range.lowerBound, SourceLine.isBlank(line.source[end - 1]) { end -= 1 }
        return range.lowerBound..<end
    }
}
