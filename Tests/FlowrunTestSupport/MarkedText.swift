package import Syntax

/// A text with places named by keycap emoji, `1️⃣` to `9️⃣`, so that no test counts columns.
///
/// The marker stands before the first character of the place and is no part of the text.
package struct MarkedText {
    /// The text without the markers.
    package let file: SourceFile
    /// Byte offset by marker.
    package let offsets: [Character: Int]

    package init(_ marked: String, name: String = "test.yml") {
        var text = ""
        var offsets: [Character: Int] = [:]
        for character in marked {
            if Self.isMarker(character) {
                offsets[character] = text.utf8.count
            } else {
                text.append(character)
            }
        }
        file = SourceFile(name: name, text: text)
        self.offsets = offsets
    }

    /// The findings in the order of their places, each as `1️⃣ FR0106 the message`, or `line:column FR0106 …` where no
    /// marker stands. A warning has a `?` after its code.
    package func summary(of diagnostics: [Diagnostic]) -> [String] {
        diagnostics.sortedByPlace().map { finding in
            let mark =
                switch finding.severity {
                case .error: ""
                case .warning: "?"
                case .note: "."
                }
            let code = finding.code.rawValue + mark
            return "\(place(of: finding.range)) \(code) \(finding.message)"
        }
    }

    /// The marker at the start of a range, or its line and column.
    package func place(of range: SourceRange) -> String {
        if let marker = offsets.first(where: { $0.value == range.lowerOffset })?.key { return String(marker) }
        let location = file.location(at: range.lowerOffset)
        return "\(location.line):\(location.column)"
    }

    /// The text after applying the fixes of findings that carry edits, from the last to the first.
    package func applyingFixes(of diagnostics: [Diagnostic]) -> String {
        var bytes = file.bytes
        let edits = diagnostics.flatMap { $0.fix?.edits ?? [] }.sorted { $0.range.start > $1.range.start }
        for edit in edits {
            bytes.replaceSubrange(edit.range.lowerOffset..<edit.range.upperOffset, with: edit.replacement.utf8)
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func isMarker(_ character: Character) -> Bool {
        let scalars = character.unicodeScalars
        return scalars.count == 3 && scalars.last == "\u{20E3}" && ("1"..."9").contains(scalars.first!)
    }
}
