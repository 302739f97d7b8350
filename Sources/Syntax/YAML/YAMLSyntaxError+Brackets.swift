// Mistakes in and around `[…]` and `{…}`.
extension YAMLSyntaxError {
    /// Inside `[…]` or `{…}`: a comma or the closing bracket is missing.
    func openBracket(_ line: SourceLine) -> Finding {
        let start = contextOffset ?? offset
        let isMap = problem.hasSuffix("'}'")
        let (opening, closing) = isMap ? ("{", "}") : ("[", "]")
        let rest = line.source[min(offset, line.source.count)...]
        let isAtEnd = rest.allSatisfy { $0 == 0x0A || $0 == 0x0D || SourceLine.isBlank($0) }
        if isAtEnd { return neverClosed(start, in: line.source) }
        if isMap, rest.first == UInt8(ascii: "]") {
            return Finding(
                message: "expected `}`, found `]`", range: offset..<offset + 1,
                notes: [startNote("the `{` that begins here is still open")],
                fix: .init("write `}`, or add the missing `}` before the `]`"))
        }
        if let finding = bracketedScript(line) ?? unquotedFlowValue(line, from: start + 1) { return finding }
        var range = offset..<offset + 1
        if rest.first == UInt8(ascii: ":") {
            if isMap, let finding = colonInFlowValue(line, from: start + 1) { return finding }
            // libyaml read the words before the colon as more of the last value.
            range = max(line.contentStart, start + 1)..<offset + 1
        } else {
            range = offset..<max(offset + 1, line.text(from: offset).upperBound)
        }
        return Finding(
            message: "expected `,` or `\(closing)` before this", range: range,
            notes: [startNote("the `\(opening)` that begins here is still open")],
            fix: .init("add the missing `,` or `\(closing)`"))
    }

    func neverClosed(_ start: Int, in source: [UInt8]) -> Finding {
        let (opening, closing) = source[start] == UInt8(ascii: "{") ? ("{", "}") : ("[", "]")
        return Finding(
            message: "the `\(opening)` that begins here is never closed", range: start..<start + 1,
            fix: .init("add the closing `\(closing)`"))
    }

    /// `{ run: make timeout: 5m }`, or `{ description: a: b }`: two colons in one value, as libyaml reads it.
    private func colonInFlowValue(_ line: SourceLine, from start: Int) -> Finding? {
        guard let value = flowValueStart(line, from: start) else { return nil }
        let end =
            line.source[offset..<line.range.upperBound].firstIndex { ",}]".utf8.contains($0) } ?? line.range.upperBound
        var word = offset
        while word > value, !SourceLine.isBlank(line.source[word - 1]) { word -= 1 }
        // A word after others, or on a line of its own, is the next key.
        guard word > value || value == line.contentStart, line.isWord(word..<offset) else {
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

    /// `{ needs:[a] }`, or `{ run: echo a:[b] }`: between brackets, a colon right before a bracket ends a value
    /// without quotes.
    func colonBeforeBracket(_ line: SourceLine) -> Finding {
        let end = min(offset + 1, line.range.upperBound)
        guard let value = flowValueStart(line, from: line.range.lowerBound) else {
            return Finding(message: "a space is missing after the `:`", range: offset..<end)
        }
        let isInMapping = innermostOpenBracket(in: line.source).map { line.source[$0] == UInt8(ascii: "{") } == true
        let before = line.source[line.range.lowerBound..<value].last { !SourceLine.isBlank($0) }
        guard isInMapping, line.isWord(value..<offset), before == nil || before.map(",{".utf8.contains) == true else {
            return Finding(
                message: "a value without quotes cannot have `\(line.string(offset..<end + 1))` between brackets",
                range: offset..<end + 1,
                fix: flowValueEnd(line, from: value).map { quotingFix(line, value..<$0) } ?? .init("quote the value"))
        }
        let text = flowValueEnd(line, from: end).map { line.string(end..<$0) } ?? ""
        return Finding(
            message: "a space is missing after the `:`", range: value..<end,
            fix: .init(
                text.isEmpty ? "write a space after the `:`" : "write `\(line.string(value..<offset)): \(text)`",
                edits: [.init(range: SourceRange(end..<end), replacement: " ")]))
    }

    /// `{ if: ${{ always() }} }` or `{ run: "a" b }`: as libyaml reads it, the value ends before the place, because
    /// of a bracket in it or of the quotes at its start.
    private func unquotedFlowValue(_ line: SourceLine, from start: Int) -> Finding? {
        guard let first = flowValueStart(line, from: start), first < offset, offset < line.range.upperBound else {
            return nil
        }
        let sign = line.source[offset]
        let end = flowValueEnd(line, from: first)
        let fix = end.map { quotingFix(line, first..<$0) } ?? .init("quote the value")
        if "\"'".utf8.contains(line.source[first]) {
            guard sign != UInt8(ascii: ":") else { return nil }
            return Finding(
                message: "text after the closing quote", range: offset..<max(offset + 1, end ?? offset), fix: fix)
        }
        guard "[{".utf8.contains(sign) else { return nil }
        return Finding(
            message: "a value without quotes cannot have `\(line.string(offset..<offset + 1))` between brackets",
            range: offset..<offset + 1, fix: fix)
    }

    /// The start of the value that contains the place, on the line: after the last `,`, bracket or `key: ` before it.
    private func flowValueStart(_ line: SourceLine, from start: Int) -> Int? {
        let first = max(start, line.range.lowerBound)
        guard first < offset else { return nil }
        var value = (line.source[first..<offset].lastIndex { ",{[".utf8.contains($0) } ?? first - 1) + 1
        if let colon = line.firstOffset(of: ": ", in: value..<offset) { value = colon + 2 }
        while value < offset, SourceLine.isBlank(line.source[value]) { value += 1 }
        return value
    }

    /// The probable end of a value whose quotes were forgotten: the first `,` or closing bracket that belongs to no
    /// bracket inside of it. nil if there is none on the line.
    private func flowValueEnd(_ line: SourceLine, from start: Int) -> Int? {
        var open: [UInt8] = []
        var end = start
        let limit = line.text(from: start).upperBound
        while end < limit {
            let byte = line.source[end]
            if byte == UInt8(ascii: "{") || byte == UInt8(ascii: "[") {
                // In ASCII, a closing bracket comes two characters after its opening one.
                open.append(byte + 2)
            } else if byte == UInt8(ascii: "}") || byte == UInt8(ascii: "]") {
                guard open.popLast() == byte else { break }
            } else if byte == UInt8(ascii: ","), open.isEmpty {
                break
            }
            end += 1
        }
        return end < limit ? trimmed(start..<end, line).upperBound : nil
    }

    /// The innermost bracket that is still open at the place; quotes are not considered.
    func innermostOpenBracket(in source: [UInt8]) -> Int? {
        var closed = 0
        for place in source[..<min(offset, source.count)].indices.reversed() {
            if "}]".utf8.contains(source[place]) { closed += 1 }
            if "{[".utf8.contains(source[place]) {
                if closed == 0 { return place }
                closed -= 1
            }
        }
        return nil
    }

    /// `run: [ -f x ] && echo y`: to YAML the script is a list with something after it.
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

    /// The value that contains the place: that of the line, or between braces that of the nearest `key: [`.
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
