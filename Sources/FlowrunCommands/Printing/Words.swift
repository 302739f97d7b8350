internal import Basics

extension String {
    /// The first line, made harmless, with spaces for tabs.
    var asOneLine: String {
        let line = unicodeScalars.prefix { $0 != "\n" && $0 != "\r" }
        return String(String.UnicodeScalarView(line.map { $0 == "\t" ? " " : $0 })).visible
    }

    func indented(to width: Int) -> String { String(repeating: " ", count: max(0, width - count)) + self }

    func padded(to width: Int) -> String { self + String(repeating: " ", count: max(0, width - count)) }

    /// The text without spaces at its end.
    var withoutEndSpaces: String { String(self[..<(lastIndex { $0 != " " }.map { index(after: $0) } ?? startIndex)]) }
}

extension JSONWriter {
    /// Returns the text that `body` writes, as one line.
    static func line(_ body: (inout JSONWriter) -> Void) -> String {
        var json = JSONWriter()
        body(&json)
        json.newline()
        return json.text
    }
}
