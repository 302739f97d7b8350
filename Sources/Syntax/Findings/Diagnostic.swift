internal import Basics

/// One finding about a text: its place, what was found, what would be accepted, and the fix.
///
/// Messages start lower-case, quote user text in backticks and end without a full stop.
package struct Diagnostic: Sendable {
    package enum Severity: String, Sendable {
        case error, warning
        /// Nothing is wrong; only `check` tells it.
        case note
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

extension Diagnostic.Fix {
    /// Removes an item from a YAML list, with its comma or its line; has no edit if the file writes the list in
    /// another form.
    package static func removingItem(
        at range: SourceRange, in file: SourceFile, _ description: String
    ) -> Diagnostic.Fix {
        let file = file.file(at: range.lowerOffset)
        let bytes = file.bytes
        var before = range.lowerOffset - file.start
        var end = range.upperOffset - file.start
        while before > 0, bytes[before - 1] == 0x20 { before -= 1 }
        guard before > 0 else { return .init(description) }
        var start = before - 1
        switch bytes[start] {
        case UInt8(ascii: ","): break
        case UInt8(ascii: "-"):
            while start > 0, bytes[start - 1] == 0x20 { start -= 1 }
            while end < bytes.count, bytes[end] == 0x20 { end += 1 }
            guard end < bytes.count, bytes[end] == 0x0A, start == 0 || bytes[start - 1] == 0x0A else {
                return .init(description)
            }
            end += 1
        default: return .init(description)
        }
        let removed = SourceRange(file.start + start..<file.start + end)
        return .init(description, edits: [Edit(range: removed, replacement: "")])
    }
}

/// Collects findings up to a limit: a thousand are more than enough to read, and a hostile file makes millions.
///
/// Errors and warnings are limited apart, so that warnings never crowd out the error that makes a file invalid. A
/// finding that repeats at one place, because the place is used twice, is kept once.
package struct FindingList: Sendable {
    /// The number of findings that are kept of each severity.
    package static let limit = 1000

    private var kept: [Diagnostic] = []
    private var told: Set<Told> = []
    private var errors = 0
    private var warnings = 0

    private struct Told: Hashable {
        let code: DiagnosticCode
        let range: SourceRange
        let message: String
    }

    package init() {}

    /// True if no further error is kept, so that a caller need not compose one.
    package var isFull: Bool { errors >= Self.limit }

    /// The number of findings that are kept.
    package var count: Int { kept.count }

    /// Makes and keeps a finding, unless the limit of its severity is reached.
    package mutating func add(_ severity: Diagnostic.Severity, _ finding: () -> Diagnostic) {
        if (severity == .error ? errors : warnings) < Self.limit {
            let finding = finding()
            let told = Told(code: finding.code, range: finding.range, message: finding.message)
            guard self.told.insert(told).inserted else { return }
            kept.append(finding)
        }
        if severity == .error { errors += 1 } else { warnings += 1 }
    }

    /// Adds the findings of another list, and its count of those that were left out. Both lists have the same limit, so
    /// this one would not have kept them either.
    package mutating func append(_ other: FindingList) {
        for finding in other.kept { add(finding.severity) { finding } }
        errors += other.errors - other.kept.count { $0.severity == .error }
        warnings += other.warnings - other.kept.count { $0.severity == .warning }
    }

    /// True if a finding that was kept since there were `count` of them fulfils a condition.
    package func contains(since count: Int, where condition: (Diagnostic) -> Bool) -> Bool {
        kept[count...].contains(where: condition)
    }

    /// The findings in the order of their places, the last one with a note on the number of those left out.
    package var sorted: [Diagnostic] {
        if kept.count < 2 { return kept }
        let omitted = errors + warnings - kept.count
        var findings = kept.sortedByPlace()
        if omitted > 0, let last = findings.popLast() {
            findings.append(last.adding([Diagnostic.Note("\(omitted.counted("more finding")) not shown")]))
        }
        return findings
    }
}
