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
        let color =
            switch diagnostic.severity {
            case .error: style.error
            case .warning: style.warning
            case .note: style.note
            }

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

/// One line of source in a form that can be shown, and the place of the carets below it. Widths are columns of a
/// terminal.
struct Excerpt {
    /// From 1.
    let line: Int
    /// From 1, in Unicode scalars.
    let column: Int
    let text: String
    let caretIndent: Int
    let caretWidth: Int

    /// The width above which a line is cut around the carets.
    private static let widthLimit = 100
    private static let contextBeforeCarets = 40
    /// More bytes than fit on a line in any script; a file of one line has millions.
    private static let byteLimit = 1024
    private static let tabWidth = 4

    /// Shows only the first line of a range over several lines. `file` is the one that contains the range.
    init(of range: SourceRange, in file: SourceFile) {
        let start = min(range.lowerOffset - file.start, file.bytes.count)
        let end = range.upperOffset - file.start
        let location = file.location(at: file.start + start)
        line = location.line
        column = location.column
        let bytes = file.line(line) ?? []
        let caretStart = min(start, bytes.endIndex)
        let caretEnd = max(caretStart, min(end, bytes.endIndex))
        let before = Self.shown(bytes[..<caretStart].suffix(Self.byteLimit).drop { $0 & 0xC0 == 0x80 }, from: 0)
        let marked = Self.shown(bytes[caretStart..<caretEnd].prefix(Self.byteLimit), from: before.width)
        let after = Self.shown(bytes[caretEnd...].prefix(Self.byteLimit), from: before.width + marked.width)

        var (lead, middle, tail) = (before, marked, after)
        if before.width + marked.width + after.width > Self.widthLimit {
            lead = before.suffix(fitting: Self.contextBeforeCarets)
            middle = marked.prefix(fitting: Self.widthLimit - lead.width)
            tail =
                middle.width < marked.width
                ? .empty : after.prefix(fitting: Self.widthLimit - lead.width - middle.width)
        }
        let isCutBefore = lead.width < before.width
        let isCutAfter = middle.width + tail.width < marked.width + after.width
        text = (isCutBefore ? "…" : "") + lead.string + middle.string + tail.string + (isCutAfter ? "…" : "")
        caretIndent = lead.width + (isCutBefore ? 1 : 0)
        caretWidth = max(1, middle.width)
    }

    /// Text without anything that could move a cursor or change the direction of writing.
    static func visible(_ text: String) -> String {
        guard text.utf8.contains(where: { $0 < 0x20 || $0 >= 0x7F }) else { return text }
        return shown(ArraySlice(text.utf8), from: 0).string
    }

    private static func shown(_ bytes: ArraySlice<UInt8>, from column: Int) -> ShownText {
        var shown = ShownText.empty
        for scalar in String(decoding: bytes, as: UTF8.self).unicodeScalars {
            switch scalar.value {
            case 0x09:
                let width = tabWidth - (column + shown.width) % tabWidth
                shown.append(String(repeating: " ", count: width), width: width)
            case 0..<0x20:
                // The control pictures: ␀ to ␟.
                shown.append(String(Unicode.Scalar(0x2400 + scalar.value)!), width: 1)
            case 0x7F:
                shown.append("␡", width: 1)
            case let value where VisibleText.isEscaped(value):
                shown.append("\u{FFFD}", width: 1)
            default:
                shown.append(String(scalar), width: scalar.terminalWidth)
            }
        }
        return shown
    }
}

/// Pieces of text with the columns each takes.
struct ShownText {
    private var pieces: [(text: String, width: Int)] = []
    private(set) var width = 0

    static let empty = ShownText()

    mutating func append(_ text: String, width: Int) {
        pieces.append((text, width))
        self.width += width
    }

    var string: String { pieces.map(\.text).joined() }

    /// The longest start that fits.
    func prefix(fitting limit: Int) -> ShownText {
        var result = ShownText.empty
        for piece in pieces {
            if result.width + piece.width > limit { break }
            result.append(piece.text, width: piece.width)
        }
        return result
    }

    /// The longest end that fits.
    func suffix(fitting limit: Int) -> ShownText {
        var kept = 0
        var taken = 0
        for piece in pieces.reversed() {
            if kept + piece.width > limit { break }
            kept += piece.width
            taken += 1
        }
        var result = ShownText.empty
        for piece in pieces.suffix(taken) { result.append(piece.text, width: piece.width) }
        return result
    }
}

extension Unicode.Scalar {
    /// 0 for marks that combine with the character before, 2 for wide East Asian characters and emoji, else 1.
    var terminalWidth: Int {
        switch value {
        case 0..<0x300: 1
        case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0x33FF, 0x3400...0x4DBF, 0x4E00...0x9FFF, 0xA000...0xA4CF,
            0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE4F, 0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x1F300...0x1F64F,
            0x1F680...0x1F6FF, 0x1F900...0x1F9FF, 0x1FA70...0x1FAFF, 0x20000...0x3FFFD:
            2
        case 0xFE00...0xFE0F: 0
        default:
            switch properties.generalCategory {
            case .nonspacingMark, .enclosingMark, .format: 0
            default: 1
            }
        }
    }
}
