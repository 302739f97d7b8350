/// The error at which libyaml stopped, which becomes a finding in the terms of a workflow file.
struct YAMLSyntaxError {
    let problem: String
    /// The context that libyaml reports, such as `while parsing a flow mapping`; empty if there is none.
    let context: String
    /// The offset at which it stopped.
    let offset: Int
    /// The offset at which the construct began that it was reading.
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
        case "found unexpected ':'":
            return colonBeforeBracket(line)
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
            return misplacedItem(here)
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
            if line.source[min(offset, source.count)...].allSatisfy({ " \t\r\n".utf8.contains($0) }),
                let start = innermostOpenBracket(in: source)
            {
                return neverClosed(start, in: source)
            }
            return Finding(message: "expected a value here", range: here, fix: .init("remove the sign, or quote it"))
        case "did not find expected <document start>":
            return Finding(
                message: "this does not belong to the workflow above", range: line.text(from: offset),
                fix: .init("indent the keys of the workflow alike, starting in the first column"))
        case "did not find expected comment or line break", "found an indentation indicator equal to 0":
            if let finding = bracketedScript(line) { return finding }
            return Finding(
                message: "after `|` or `>` the line may hold only `+`, `-` and a digit from 1 to 9",
                range: line.text(from: offset),
                fix: .init("begin the text on the next line, or quote the value if the sign is part of it"))
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

    /// Limits a range to the text.
    private func clamp(_ range: Range<Int>, _ count: Int) -> Range<Int> {
        let start = min(range.lowerBound, count)
        return start..<max(start, min(range.upperBound, count))
    }
}

// Lines that should be `key: value` but are not, and their indentation.
extension YAMLSyntaxError {
    /// `run: say price: ten`, or a key that is indented like a continuation of the value above it.
    func unexpectedColon(_ line: SourceLine) -> Finding {
        if let value = line.value(before: offset), value.contains(offset) {
            // `build: run: make`: a key follows, so quotes would not help.
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
        // The keys of `- key:` are two columns further in.
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

    /// In a block mapping: a line that is not `key: value`.
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

    /// A line that should be `key: value` but has no colon, or none with a blank after it.
    func missingColon(_ line: SourceLine, from start: Int) -> Finding {
        let text = line.text(from: start)
        if let colon = text.first(where: { line.source[$0] == UInt8(ascii: ":") }), colon + 1 < text.upperBound {
            if line.source[(colon + 1)...].starts(with: "- ".utf8) { return misplacedItem(text) }
            let (key, value) = (line.string(text.lowerBound..<colon), line.string(colon + 1..<text.upperBound))
            // These have another meaning at the start of a value, or none.
            let isOdd = "|>@`%*&!".utf8.contains(line.source[colon + 1])
            return Finding(
                message: "a space is missing after the `:`", range: text,
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

// Values without quotes, and escapes in quoted ones.
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

    /// `*.txt` or `&&`: signs of the shell that have another meaning in YAML.
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

    /// A value that begins on the line; between brackets it ends at the next `,` or closing bracket.
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

/// A fix that puts a part of the line into quotes.
func quotingFix(_ line: SourceLine, _ range: Range<Int>) -> Diagnostic.Fix {
    let quoted = SourceLine.quoted(line.string(range))
    return Diagnostic.Fix(
        "quote the value: `\(quoted)`", edits: [.init(range: SourceRange(range), replacement: quoted)])
}
