/// One finding about a text: where, what was found, what would be accepted, and the fix.
///
/// Messages start lower-case, quote user text in backticks and end without a full stop.
package struct Diagnostic: Sendable {
    package enum Severity: String, Sendable {
        case error, warning
    }

    /// Another place that explains the finding. `range` is nil where the note concerns no place.
    package struct Note: Sendable {
        package let message: String
        package let range: SourceRange?

        package init(_ message: String, at range: SourceRange? = nil) {
            self.message = message
            self.range = range
        }
    }

    /// A change that would make the finding go away.
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
        /// Applied together; empty where only a person can make the change.
        package let edits: [Edit]

        package init(_ description: String, edits: [Edit] = []) {
            self.description = description
            self.edits = edits
        }
    }

    package let severity: Severity
    package let code: DiagnosticCode
    package let message: String
    /// The file in which the finding is.
    package let file: SourceFile
    package let range: SourceRange
    package let notes: [Note]
    package let fix: Fix?
    /// The file that knows all places that the finding speaks of.
    private let files: SourceFile

    /// `file` is the one in which all places are, or the one that brings those along in which they are.
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

    /// The file in which another place is that the finding speaks of.
    package func file(of range: SourceRange) -> SourceFile { files.file(at: range.lowerOffset) }

    /// The same finding with more notes behind its own; `file` is the one that knows their places, nil for the
    /// finding's.
    package func adding(_ notes: [Note], in file: SourceFile? = nil) -> Diagnostic {
        Diagnostic(code, message, in: file ?? files, at: range, severity: severity, notes: self.notes + notes, fix: fix)
    }

    /// The same finding with another fix.
    package func with(_ fix: Fix) -> Diagnostic {
        Diagnostic(code, message, in: files, at: range, severity: severity, notes: notes, fix: fix)
    }

    /// The same finding in other words.
    package func with(message: String) -> Diagnostic {
        Diagnostic(code, message, in: files, at: range, severity: severity, notes: notes, fix: fix)
    }

    /// The finding about a text whose places are counted from 0 as one about its file, which is brought along.
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
    /// Whether any finding makes the workflow invalid; warnings do not.
    package var containErrors: Bool { contains { $0.severity == .error } }

    /// In the order of their places; findings at one place keep the order in which they were made.
    package func sortedByPlace() -> [Diagnostic] {
        enumerated()
            .sorted { ($0.element.range.start, $0.offset) < ($1.element.range.start, $1.offset) }
            .map(\.element)
    }
}
