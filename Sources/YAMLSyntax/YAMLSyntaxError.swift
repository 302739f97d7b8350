internal import SourceDiagnostics

/// What libyaml stopped at, in the words of someone who writes a workflow file.
struct YAMLSyntaxError {
    let problem: String
    /// What libyaml was doing, such as `while parsing a flow mapping`; empty where it does not say.
    let context: String
    /// Where it stopped.
    let offset: Int
    /// Where the thing it was reading began.
    let contextOffset: Int?

    func diagnostic(in file: SourceFile) -> Diagnostic {
        let finding = finding(in: file.bytes)
        return Diagnostic(
            finding.code, finding.message, in: file, at: SourceRange(clamp(finding.range, file.bytes.count)),
            notes: finding.notes, fix: finding.fix)
    }

    /// A finding before it has a file.
    struct Finding {
        var code = DiagnosticCode.yamlSyntax
        var message: String
        var range: Range<Int>
        var notes: [Diagnostic.Note] = []
        var fix: Diagnostic.Fix?
    }

    private func finding(in source: [UInt8]) -> Finding {
        let line = SourceLine(in: source, at: offset)
        let here = offset..<offset + 1
        switch problem {
        case "mapping values are not allowed in this context":
            return unexpectedColon(line)
        case "did not find expected ',' or '}'", "did not find expected ',' or ']'":
            return openBracket(line)
        case "did not find expected key":
            return expectedKey(line)
        case "did not find expected '-' indicator":
            return Finding(
                message: "expected another `- ` item of the list above, or a line indented less", range: here,
                notes: [startNote("the list begins here")],
                fix: .init("indent all items alike, and what follows the list like the list's key"))
        case "could not find expected ':'":
            let start = contextOffset ?? offset
            return missingColon(SourceLine(in: source, at: start), from: start)
        case "found a tab character that violates indentation",
            "found a tab character where an indentation space is expected":
            return tab(line)
        case "found character that cannot start any token":
            return oddFirstCharacter(line)
        case "block sequence entries are not allowed in this context":
            return Finding(
                message: "a list cannot begin here with `- `", range: here,
                fix: .init("put each `- ` on a line of its own below the key, or write `[a, b]`"))
        case "did not find expected alphabetic or numeric character":
            return brokenAlias(source)
        case "found unknown escape character", "did not find expected hexdecimal number",
            "found invalid Unicode character escape code":
            return brokenEscape(source)
        case "found unexpected end of stream", "found unexpected document indicator":
            let start = contextOffset ?? offset
            return Finding(
                message: "the quoted text that begins here is never closed", range: start..<start + 1,
                fix: .init("add the closing quote"))
        case "did not find expected node content":
            return Finding(message: "expected a value here", range: here, fix: .init("remove the sign, or quote it"))
        case "did not find expected <document start>":
            return Finding(
                message: "this does not belong to the workflow above", range: line.text(from: offset),
                fix: .init("indent the keys of the workflow alike, starting in the first column"))
        case "did not find expected comment or line break", "found an indentation indicator equal to 0":
            if let finding = bracketedScript(line) { return finding }
            return Finding(
                message: "after `|` or `>` the line may hold only `+`, `-` and a digit from 1 to 9",
                range: line.text(from: offset), fix: .init("begin the text on the next line"))
        case "found incompatible YAML document", "did not find expected version number",
            "found extremely long version number", "did not find expected digit or '.' character",
            "found duplicate %YAML directive":
            return Finding(
                code: .yamlVersion, message: "flowrun reads YAML 1.2 and 1.1",
                range: line.text(from: line.contentStart),
                fix: .init("remove the directive"))
        case "found unknown directive name", "could not find expected directive name":
            return Finding(
                message: "`%` at the start of a line begins a YAML directive, and this one is unknown",
                range: line.text(from: line.contentStart), fix: .init("indent or quote the text"))
        case _ where context.hasSuffix("tag") || problem == "found undefined tag handle":
            let start = contextOffset ?? offset
            return Finding(
                code: .tagRefused, message: "YAML tags are not accepted", range: start..<max(start + 1, offset),
                fix: .init("quote the value if the `!` belongs to it, remove the tag otherwise"))
        default:
            return Finding(message: context.isEmpty ? problem : "\(problem), \(context)", range: here)
        }
    }

    func startNote(_ message: String) -> Diagnostic.Note {
        let start = contextOffset ?? offset
        return Diagnostic.Note(message, at: SourceRange(start..<start + 1))
    }

    /// A range that ends with the text and, inside it, holds at least one whole character.
    private func clamp(_ range: Range<Int>, _ count: Int) -> Range<Int> {
        let start = min(range.lowerBound, count)
        return start..<max(start, min(range.upperBound, count))
    }
}

/// The fix that puts a piece of text into quotes.
func quotingFix(_ line: SourceLine, _ range: Range<Int>) -> Diagnostic.Fix {
    let quoted = SourceLine.quoted(line.string(range))
    return Diagnostic.Fix(
        "quote the value: `\(quoted)`", edits: [.init(range: SourceRange(range), replacement: quoted)])
}

// One function per mistake that people make often enough to deserve its own words.
extension YAMLSyntaxError {
    /// `run: say price: ten`, or a key that is indented like a continuation of the value above it.
    func unexpectedColon(_ line: SourceLine) -> Finding {
        if let value = line.value(before: offset), value.contains(offset) {
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
        return Finding(
            message: "\(Phrase.quoted(line.string(key))) is indented deeper than the line above it, "
                + "so it reads as a part of that line's value",
            range: key,
            fix: .init(
                "indent it like the line above",
                edits: [.init(range: SourceRange(line.indentation), replacement: indentation)]))
    }

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

    private func trimmed(_ range: Range<Int>, _ line: SourceLine) -> Range<Int> {
        var end = range.upperBound
        while end > range.lowerBound, SourceLine.isBlank(line.source[end - 1]) { end -= 1 }
        return range.lowerBound..<end
    }

    /// `run: [ -f x ] && echo y`: to YAML the script is a list with something behind it.
    private func bracketedScript(_ line: SourceLine) -> Finding? {
        guard let value = line.value(before: offset), value.lowerBound < offset,
            line.source[value.lowerBound] == UInt8(ascii: "["),
            !line.source[line.range.lowerBound..<value.lowerBound].contains(UInt8(ascii: "{"))
        else { return nil }
        return Finding(
            message: "a value that begins with `[` is a list, and something follows it", range: value,
            fix: quotingFix(line, value))
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
            return Finding(
                message: "a blank is missing after the `:`", range: text,
                fix: .init(
                    "write `\(line.string(text.lowerBound..<colon)): \(line.string(colon + 1..<text.upperBound))`",
                    edits: [.init(range: SourceRange(colon + 1..<colon + 1), replacement: " ")]))
        }
        return Finding(
            message: "expected `key: value`, found \(Phrase.quoted(line.string(text))) without a `:`", range: text,
            fix: .init("add the `:`, or indent the line if it continues the value above"))
    }

    func tab(_ line: SourceLine) -> Finding {
        let blanks = line.indentation.contains(offset) ? line.indentation : offset..<offset + 1
        let first = blanks.first { line.source[$0] == UInt8(ascii: "\t") } ?? offset
        return Finding(
            message: "YAML does not accept tabs as indentation", range: first..<max(first + 1, blanks.upperBound),
            fix: .init("indent with spaces"))
    }

    func oddFirstCharacter(_ line: SourceLine) -> Finding {
        guard offset < line.source.count, line.source[offset] != UInt8(ascii: "\t") else { return tab(line) }
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
