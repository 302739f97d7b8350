// Values without quotes, and escapes in those with them.
extension YAMLSyntaxError {
    func oddFirstCharacter(_ line: SourceLine) -> Finding {
        guard offset < line.source.count, line.source[offset] != UInt8(ascii: "\t") else { return tab(line) }
        if let finding = bracketedScript(line) { return finding }
        let value = value(line, from: offset)
        let sign = line.string(offset..<offset + 1)
        return Finding(
            message: "a value without quotes cannot begin with `\(sign)`", range: offset..<offset + 1,
            fix: quotingFix(line, value))
    }

    /// `*.txt` or `&&`: signs of the shell that mean something else to YAML.
    func brokenAlias(_ source: [UInt8]) -> Finding {
        let start = contextOffset ?? offset
        let line = SourceLine(in: source, at: start)
        if let finding = bracketedScript(line) { return finding }
        let isAlias = start < source.count && source[start] == UInt8(ascii: "*")
        return Finding(
            message: isAlias
                ? "`*` at the start of a value begins an alias, and this is not the name of one"
                : "`&` at the start of a value begins an anchor, and this is not a name for one",
            range: value(line, from: start), fix: quotingFix(line, value(line, from: start)))
    }

    /// A value that begins on the line; between brackets it ends at the next sign of theirs.
    private func value(_ line: SourceLine, from start: Int) -> Range<Int> {
        let text = line.text(from: start)
        guard line.source[line.range.lowerBound..<start].contains(where: "{[".utf8.contains) else { return text }
        let end = text.first { ",}]".utf8.contains(line.source[$0]) } ?? text.upperBound
        return trimmed(start..<end, line)
    }

    func brokenEscape(_ source: [UInt8]) -> Finding {
        var start = offset
        let lower = contextOffset ?? 0
        while start > lower, start >= source.count || source[start] != UInt8(ascii: "\\") { start -= 1 }
        let line = SourceLine(in: source, at: start)
        let end = min(start + 2, line.range.upperBound)
        guard problem == "found unknown escape character", end == start + 2, source[start + 1] < 0x80 else {
            return Finding(
                message: "the escape that begins here is not a character", range: start..<max(end, start + 1),
                fix: .init("write `\\xNN`, `\\uNNNN` or `\\UNNNNNNNN` with hexadecimal digits"))
        }
        let letter = line.string(start + 1..<end)
        let isQuote = letter == "'"
        return Finding(
            message: "`\\\(letter)` is not an escape of double-quoted text", range: start..<end,
            fix: .init(
                isQuote ? "a `'` needs no escape here" : "write `\\\\\(letter)` for a backslash",
                edits: [
                    .init(range: SourceRange(start..<end), replacement: isQuote ? "'" : "\\\\\(letter)")
                ]))
    }
}

/// The fix that puts a piece of text into quotes.
func quotingFix(_ line: SourceLine, _ range: Range<Int>) -> Diagnostic.Fix {
    let quoted = SourceLine.quoted(line.string(range))
    return Diagnostic.Fix(
        "quote the value: `\(quoted)`", edits: [.init(range: SourceRange(range), replacement: quoted)])
}
