internal import Basics

/// Findings as commands to a GitHub runner, `check --format github`, which shows them next to the lines they are
/// about.
package enum GitHubAnnotations {
    /// A line for each finding, with its notes and its fix after the message.
    package static func text(_ diagnostics: [Diagnostic]) -> String {
        diagnostics.map(line).joined()
    }

    private static func line(_ diagnostic: Diagnostic) -> String {
        let file = diagnostic.file
        let start = file.location(at: diagnostic.range.lowerOffset)
        let end = file.location(at: diagnostic.range.upperOffset)
        var message = [diagnostic.message]
        for note in diagnostic.notes {
            let place = note.range.map { range in
                let file = diagnostic.file(of: range)
                return "\(file.name.visible):\(file.line(at: range.lowerOffset)): "
            }
            message.append("note: \(place ?? "")\(note.message)")
        }
        if let fix = diagnostic.fix { message.append("fix: \(fix.description)") }
        let properties = [
            "file=\(escaped(file.name.visible, isProperty: true))", "line=\(start.line)", "endLine=\(end.line)",
            "col=\(start.column)", "endColumn=\(end.column)", "title=\(diagnostic.code.rawValue)",
        ]
        let text = escaped(message.joined(separator: "\n"), isProperty: false)
        let level = diagnostic.severity == .note ? "notice" : diagnostic.severity.rawValue
        return "::\(level) \(properties.joined(separator: ","))::\(text)\n"
    }

    private static func escaped(_ text: String, isProperty: Bool) -> String {
        var result = ""
        // Line ends become part of the command; everything else that the log might obey is escaped.
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        let text = lines.map { String($0).visible }.joined(separator: "\n")
        for scalar in text.unicodeScalars {
            switch scalar {
            case "%": result += "%25"
            case "\n": result += "%0A"
            case ":" where isProperty: result += "%3A"
            case "," where isProperty: result += "%2C"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }
}
