internal import SourceDiagnostics

/// The bytes of a scalar's value, and where each of them is in the file.
struct ExpressionText {
    let bytes: [UInt8]
    private let start: UInt32
    /// Per byte the place of the character it belongs to; empty where the source spells the value as it is.
    private let places: [SourceRange]
    /// Whether the scalar is in single quotes, in which a single quote is written twice.
    let isSingleQuoted: Bool

    /// A value that the source spells as it is, from an offset on.
    init(_ bytes: [UInt8], from start: UInt32, isSingleQuoted: Bool = false) {
        self.bytes = bytes
        self.start = start
        self.isSingleQuoted = isSingleQuoted
        places = []
    }

    /// A value that the source spells otherwise.
    init(_ bytes: [UInt8], places: [SourceRange], isSingleQuoted: Bool) {
        self.bytes = bytes
        self.places = places
        self.isSingleQuoted = isSingleQuoted
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

    /// A fix that puts a text in place of a part.
    func replacing(_ part: Range<Int>, by text: String, _ description: String? = nil) -> Diagnostic.Fix {
        let halves = text.split(separator: "'", omittingEmptySubsequences: false)
        let spelling = isSingleQuoted ? halves.joined(separator: "''") : text
        return Diagnostic.Fix(
            description ?? "write `\(text)`", edits: [.init(range: range(part), replacement: spelling)])
    }
}
