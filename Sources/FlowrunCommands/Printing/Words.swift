internal import Basics

extension String {
    /// The first line, made harmless, with blanks for tabs.
    var asOneLine: String {
        let line = unicodeScalars.prefix { $0 != "\n" && $0 != "\r" }
        return String(String.UnicodeScalarView(line.map { $0 == "\t" ? " " : $0 })).visible
    }

    func indented(to width: Int) -> String { String(repeating: " ", count: max(0, width - count)) + self }

    func padded(to width: Int) -> String { self + String(repeating: " ", count: max(0, width - count)) }
}
