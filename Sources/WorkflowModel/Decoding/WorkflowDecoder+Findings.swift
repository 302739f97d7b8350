internal import SourceDiagnostics
internal import YAMLSyntax

extension WorkflowDecoder {
    mutating func report(
        _ code: DiagnosticCode, _ message: String, at range: SourceRange, severity: Diagnostic.Severity = .error,
        notes: [Diagnostic.Note] = [], fix: Diagnostic.Fix? = nil
    ) {
        findings.add(severity) {
            Diagnostic(code, message, in: file, at: range, severity: severity, notes: notes, fix: fix)
        }
    }

    mutating func report(
        _ code: DiagnosticCode, _ message: String, at node: YAMLNode, severity: Diagnostic.Severity = .error,
        notes: [Diagnostic.Note] = [], fix: Diagnostic.Fix? = nil
    ) {
        report(code, message, at: node.range, severity: severity, notes: notes, fix: fix)
    }

    /// A value of another kind than the key wants; silent where the parser has spoken already.
    mutating func reportType(
        _ entry: MappingReader.Entry, expected: String, fix: Diagnostic.Fix? = nil
    ) {
        let value = entry.value
        let isRefusedBraces = value.kind == .mapping && value.count > 0 && value.entries.first { _ in true } == nil
        guard value.kind != .invalid, !isRefusedBraces, !isExpression(value) else { return }
        let key = Phrase.quoted(entry.key.text)
        report(.wrongType, "\(key) takes \(expected), found \(found(entry.value))", at: entry.place, fix: fix)
    }

    /// A value of the right kind that says something impossible.
    mutating func reportValue(_ entry: MappingReader.Entry, expected: String, fix: Diagnostic.Fix? = nil) {
        guard !isExpression(entry.value) else { return }
        let (key, value) = (Phrase.quoted(entry.key.text), Phrase.quoted(entry.value.text))
        report(.invalidValue, "\(key) takes \(expected), found \(value)", at: entry.value, fix: fix)
    }

    /// Whether a value holds an expression, which is a finding of its own.
    func isExpression(_ node: YAMLNode) -> Bool {
        hasExpressions && node.kind == .scalar && node.text.contains("${{")
    }

    /// A fix that puts another text in place of a node.
    func replacing(_ node: YAMLNode, by text: String, _ description: String? = nil) -> Diagnostic.Fix {
        Diagnostic.Fix(description ?? "write `\(text)`", edits: [edit(node, to: text)])
    }

    /// Puts a text over a node; in place of an absent value it needs a blank after the colon.
    func edit(_ node: YAMLNode, to text: String) -> Diagnostic.Fix.Edit {
        let range = node.range
        let isBehindColon =
            range.start == range.end && range.start > 0 && file.bytes[range.lowerOffset - 1] == UInt8(ascii: ":")
        return Diagnostic.Fix.Edit(range: range, replacement: isBehindColon ? " " + text : text)
    }

    /// What stands there, for "found …".
    func found(_ node: YAMLNode) -> String {
        switch node.kind {
        case .mapping: return "a mapping"
        case .sequence: return "a list"
        case .invalid: return "nothing"
        case .scalar:
            let text = Phrase.quoted(node.text)
            switch node.type {
            case .null: return node.range.start == node.range.end ? "nothing" : "null"
            case .bool: return "the boolean \(text)"
            case .int, .float: return "the number \(text)"
            default: return node.text.isEmpty ? "an empty text" : "the text \(text)"
            }
        }
    }
}
