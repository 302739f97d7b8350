internal import Basics

/// Findings for programs, `check --format json`. `DiagnosticRenderer` draws those for users.
package enum JSONPrinter {
    /// One array of all findings in the order given. Lines and columns count from 1, columns in Unicode scalars; an
    /// end is the place after the last scalar. A note without a place has null for file, line and column.
    package static func text(_ diagnostics: [Diagnostic]) -> String {
        var json = JSONWriter()
        json.array { json in for diagnostic in diagnostics { json.value(diagnostic) } }
        json.newline()
        return json.text
    }
}

extension JSONWriter {
    fileprivate mutating func value(_ diagnostic: Diagnostic) {
        let file = diagnostic.file
        object { json in
            json.field("severity", diagnostic.severity.rawValue)
            json.field("code", diagnostic.code.rawValue)
            json.field("message", diagnostic.message)
            json.field("file", file.name)
            json.fields(of: diagnostic.range, in: file)
            json.array("notes") { json in
                for note in diagnostic.notes { json.value(note, of: diagnostic) }
            }
            guard let fix = diagnostic.fix else { return json.null("fix") }
            json.object("fix") { json in
                json.field("description", fix.description)
                json.array("edits") { json in
                    for edit in fix.edits {
                        json.object { json in
                            json.fields(of: edit.range, in: file)
                            json.field("replacement", edit.replacement)
                        }
                    }
                }
            }
        }
    }

    private mutating func value(_ note: Diagnostic.Note, of diagnostic: Diagnostic) {
        let file = note.range.map { diagnostic.file(of: $0) }
        let place = note.range.flatMap { file?.location(at: $0.lowerOffset) }
        object { json in
            json.field("message", note.message)
            json.field("file", file?.name)
            json.field("line", place?.line)
            json.field("column", place?.column)
        }
    }

    private mutating func fields(of range: SourceRange, in file: SourceFile) {
        let start = file.location(at: range.lowerOffset)
        let end = file.location(at: range.upperOffset)
        field("line", start.line)
        field("column", start.column)
        field("end_line", end.line)
        field("end_column", end.column)
    }
}
