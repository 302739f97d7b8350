/// One finding about a text: its place, what was found, what would be accepted, and the fix.
///
/// Messages start lower-case, quote user text in backticks and end without a full stop.
package struct Diagnostic: Sendable {
    package enum Severity: String, Sendable {
        case error, warning
    }

    /// Another place that explains the finding. `range` is nil if the note concerns no place.
    package struct Note: Sendable {
        package let message: String
        package let range: SourceRange?

        package init(_ message: String, at range: SourceRange? = nil) {
            self.message = message
            self.range = range
        }
    }

    /// A change that removes the cause of the finding.
    package struct Fix: Sendable {
        package struct Edit: Sendable, Hashable {
            package let range: SourceRange
            package let replacement: String

            package init(range: SourceRange, replacement: String) {
                self.range = range
                self.replacement = replacement
            }
        }

        package let description: String
        /// Applied together; empty if the change cannot be made automatically.
        package let edits: [Edit]

        package init(_ description: String, edits: [Edit] = []) {
            self.description = description
            self.edits = edits
        }
    }

    package let severity: Severity
    package let code: DiagnosticCode
    package let message: String
    /// The file that contains the finding.
    package let file: SourceFile
    package let range: SourceRange
    package let notes: [Note]
    package let fix: Fix?
    /// The file that knows all places in the finding.
    private let files: SourceFile

    /// `file` contains all places, or includes the files that do.
    package init(
        _ code: DiagnosticCode, _ message: String, in file: SourceFile, at range: SourceRange,
        severity: Severity = .error, notes: [Note] = [], fix: Fix? = nil
    ) {
        self.severity = severity
        self.code = code
        self.message = message
        self.file = file.file(at: range.lowerOffset)
        self.range = range
        self.notes = notes
        self.fix = fix
        files = file
    }

    /// The file of another place in the finding.
    package func file(of range: SourceRange) -> SourceFile { files.file(at: range.lowerOffset) }

    /// Returns the finding with more notes after its own; `file` is the one that knows their places, nil for that of
    /// the finding.
    package func adding(_ notes: [Note], in file: SourceFile? = nil) -> Diagnostic {
        Diagnostic(code, message, in: file ?? files, at: range, severity: severity, notes: self.notes + notes, fix: fix)
    }

    /// Returns the same finding with another fix.
    package func with(_ fix: Fix) -> Diagnostic {
        Diagnostic(code, message, in: files, at: range, severity: severity, notes: notes, fix: fix)
    }

    /// Returns the same finding in other words.
    package func with(message: String) -> Diagnostic {
        Diagnostic(code, message, in: files, at: range, severity: severity, notes: notes, fix: fix)
    }

    /// Returns a finding whose places count from the start of a text as one about `file`, which contains that text.
    package func moved(to file: SourceFile) -> Diagnostic {
        Diagnostic(
            code, message, in: file, at: range.moved(by: file.start), severity: severity,
            notes: notes.map { Note($0.message, at: $0.range?.moved(by: file.start)) },
            fix: fix.map { fix in
                let edits = fix.edits.map {
                    Fix.Edit(range: $0.range.moved(by: file.start), replacement: $0.replacement)
                }
                return Fix(fix.description, edits: edits)
            })
    }
}

extension [Diagnostic] {
    /// True if any finding makes the workflow invalid; warnings do not.
    package var containErrors: Bool { contains { $0.severity == .error } }

    /// Returns the findings in the order of their places; those at one place keep the order in which they were made.
    package func sortedByPlace() -> [Diagnostic] {
        enumerated()
            .sorted { ($0.element.range.start, $0.offset) < ($1.element.range.start, $1.offset) }
            .map(\.element)
    }
}
