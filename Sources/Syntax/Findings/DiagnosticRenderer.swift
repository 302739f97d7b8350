internal import Basics

/// Draws findings: the place, what was found, the line with carets, the places that explain it, the fix.
///
///     release.yml:6:13: error[FR0203]: unknown dependency `compil`
///       6 |     needs: [compil]
///         |             ^^^^^^
///       note: release.yml:3:3: did you mean `compile`, declared here?
///       3 |   compile: { run: make }
///         |   ^^^^^^^
///       fix: replace `compil` by `compile`
///
/// The only code that draws source. The caller decides about colours.
package struct DiagnosticRenderer: Sendable {
    private let style: DiagnosticStyle

    package init(color: Bool = false) { style = color ? .colored : .plain }

    /// All findings one after another, in the order given; ends with a line end unless there are none.
    package func render(_ diagnostics: [Diagnostic]) -> String {
        diagnostics.map(render).joined()
    }

    package func render(_ diagnostic: Diagnostic) -> String {
        let excerpt = diagnostic.hasPlace ? Excerpt(of: diagnostic.range, in: diagnostic.file) : nil
        let noteExcerpts = diagnostic.notes.map { note in
            note.range.flatMap { $0 == diagnostic.range ? nil : Excerpt(of: $0, in: diagnostic.file(of: $0)) }
        }
        let lines = ([excerpt] + noteExcerpts).compactMap { $0?.line }
        let margin = lines.map { String($0).count }.max() ?? 0
        let color = diagnostic.severity == .error ? style.error : style.warning

        let place = excerpt.map { "\(diagnostic.file.name):\($0.line):\($0.column)" } ?? diagnostic.file.name
        var text = "\(style.bold)\(Excerpt.visible(place).harmlessLines):\(style.reset) "
        text += "\(color)\(diagnostic.severity.rawValue)[\(diagnostic.code.rawValue)]:\(style.reset) "
        text += "\(style.bold)\(Excerpt.visible(diagnostic.message).harmlessLines)\(style.reset)\n"
        if let excerpt { text += draw(excerpt, margin: margin, color: color) }
        for (note, excerpt) in zip(diagnostic.notes, noteExcerpts) {
            let name = note.range.map { diagnostic.file(of: $0).name } ?? ""
            let place = excerpt.map { "\(name):\($0.line):\($0.column): " } ?? ""
            text += "  \(style.note)note:\(style.reset) \(Excerpt.visible(place + note.message).harmlessLines)\n"
            if let excerpt { text += draw(excerpt, margin: margin, color: style.note) }
        }
        if let fix = diagnostic.fix {
            text += "  \(style.fix)fix:\(style.reset) \(Excerpt.visible(fix.description).harmlessLines)\n"
        }
        return text
    }

    private func draw(_ excerpt: Excerpt, margin: Int, color: String) -> String {
        let number = String(excerpt.line)
        let blanks = String(repeating: " ", count: margin - number.count)
        let empty = String(repeating: " ", count: margin)
        let indent = String(repeating: " ", count: excerpt.caretIndent)
        let carets = String(repeating: "^", count: excerpt.caretWidth)
        return """
              \(style.faint)\(blanks)\(number) |\(style.reset) \(excerpt.text.harmlessLines)
              \(style.faint)\(empty) |\(style.reset) \(indent)\(color)\(carets)\(style.reset)

            """
    }
}

extension Diagnostic {
    /// True if the finding is about a place in the text, false if it is about the file as a whole.
    package var hasPlace: Bool { code != .unreadableFile && code != .fileTooLarge }
}

/// The escape sequences of each part; empty strings without colours.
struct DiagnosticStyle: Sendable {
    var bold = ""
    var faint = ""
    var error = ""
    var warning = ""
    var note = ""
    var fix = ""
    var reset = ""

    static let plain = DiagnosticStyle()
    static let colored = DiagnosticStyle(
        bold: "\u{1B}[1m", faint: "\u{1B}[2m", error: "\u{1B}[1;31m", warning: "\u{1B}[1;33m", note: "\u{1B}[1;36m",
        fix: "\u{1B}[1;32m", reset: "\u{1B}[0m")
}
