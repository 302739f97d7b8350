package import Syntax

extension Workflow {
    /// Findings about a workflow as people want to read them: one that a body brings along in each place where it is
    /// used is reported once, and one about a file that is used tells where that is. O(findings × uses).
    package func explained(_ findings: [Diagnostic]) -> [Diagnostic] {
        guard !uses.isEmpty else { return findings }
        var told: Set<Told> = []
        return findings.compactMap { finding in
            guard told.insert(Told(range: finding.range, code: finding.code, message: finding.message)).inserted else {
                return nil
            }
            let notes = usersOf(finding.file)
            return notes.isEmpty ? finding : finding.adding(notes, in: file)
        }
    }

    private struct Told: Hashable {
        let range: SourceRange
        let code: DiagnosticCode
        let message: String
    }

    /// Where a file is used first, and then where its user is, up to the workflow's own file.
    private func usersOf(_ used: SourceFile) -> [Diagnostic.Note] {
        var notes: [Diagnostic.Note] = []
        var used = used
        while used !== file, notes.count < uses.count {
            guard let use = uses.first(where: { $0.source == .file && $0.file === used }) else { break }
            notes.append(Diagnostic.Note("`\(used.name)` is used here, by `\(path(of: use.group))`", at: use.range))
            used = file.file(at: use.range.lowerOffset)
        }
        return notes
    }
}
