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

    /// A range that ends with the text and, inside it, holds at least one whole character.
    private func clamp(_ range: Range<Int>, _ count: Int) -> Range<Int> {
        let start = min(range.lowerBound, count)
        return start..<max(start, min(range.upperBound, count))
    }
}
