internal import Syntax

// Where a finding belongs that was reached through an alias: at the alias, because the anchor may be right where it is.
extension WorkflowDecoder {
    /// The alias of the member at hand that leads to a place outside of the member; nil for a place inside it.
    func alias(to range: SourceRange) -> YAMLNode? {
        guard let member, range.start < member.key.range.start || range.end > member.value.range.end else { return nil }
        return Self.alias(in: member.value, to: range)
    }

    private static func alias(in node: YAMLNode, to range: SourceRange) -> YAMLNode? {
        if node.isAlias {
            let content = node.contentRange
            return content.start <= range.start && range.end <= content.end ? node : nil
        }
        for element in node.elements {
            if let alias = alias(in: element, to: range) { return alias }
        }
        for (key, value) in node.entries {
            if let alias = alias(in: key, to: range) ?? alias(in: value, to: range) { return alias }
        }
        return nil
    }

    /// Reports at the alias what is wrong with what it refers to, unless the anchor has been reported with the same.
    mutating func report(
        _ code: DiagnosticCode, _ message: String, at range: SourceRange, through alias: YAMLNode,
        severity: Diagnostic.Severity, notes: [Diagnostic.Note], fix: Diagnostic.Fix?
    ) {
        let isKnown = findings.contains(since: 0) { finding in
            finding.code == code && finding.message == message
                && (finding.range == range || finding.range == alias.range)
        }
        guard !isKnown else { return }
        findings.add(severity) {
            Diagnostic(
                code, message, in: file, at: alias.range, severity: severity,
                notes: [.init("the alias refers to this", at: range)] + notes,
                fix: fix.map { .init($0.description) })
        }
    }
}
