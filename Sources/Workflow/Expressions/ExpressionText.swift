internal import Syntax

/// The bytes of a scalar's value, and the place of each in the file.
struct ExpressionText {
    let bytes: [UInt8]
    private let start: UInt32
    /// Per byte the place of its character; empty if the source spells the value as it is.
    private let places: [SourceRange]
    private let spelling: Spelling

    /// The style of the scalar, which decides the spelling of further text.
    enum Spelling {
        case plain, singleQuoted, doubleQuoted, block

        /// The spelling of a text in the middle of such a scalar.
        func written(_ text: String) -> String {
            switch self {
            case .plain, .block: text
            case .singleQuoted: text.replacing("'", with: "''")
            case .doubleQuoted: text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
            }
        }
    }

    /// A value that the source spells as it is, from an offset on.
    init(_ bytes: [UInt8], from start: UInt32, _ spelling: Spelling = .block) {
        self.bytes = bytes
        self.start = start
        self.spelling = spelling
        places = []
    }

    /// A value that the source spells differently.
    init(_ bytes: [UInt8], places: [SourceRange], _ spelling: Spelling) {
        self.bytes = bytes
        self.places = places
        self.spelling = spelling
        start = 0
    }

    func range(_ part: Range<Int>) -> SourceRange {
        guard !places.isEmpty else {
            return SourceRange(start: start + UInt32(part.lowerBound), end: start + UInt32(part.upperBound))
        }
        let first = places[min(part.lowerBound, places.count - 1)]
        return part.isEmpty
            ? SourceRange(start: first.start, end: first.start) : first.joined(with: places[part.upperBound - 1])
    }

    func string(_ part: Range<Int>) -> String { String(decoding: bytes[part], as: UTF8.self) }

    /// A fix that replaces a part by a text; it has no edit if the text would quote everything after it.
    func replacing(_ part: Range<Int>, by text: String, _ description: String? = nil) -> Diagnostic.Fix {
        let isQuote = text.first == "\"" || text.first == "'"
        let quotesAll = spelling == .plain && part.lowerBound == 0 && isQuote
        let edits = [Diagnostic.Fix.Edit(range: range(part), replacement: spelling.written(text))]
        return Diagnostic.Fix(description ?? "write `\(text)`", edits: quotesAll ? [] : edits)
    }
}
