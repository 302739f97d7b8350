package import SourceDiagnostics

/// A view of one node; cheap to copy, reads its text only when asked.
package struct YAMLNode: Sendable {
    package enum Kind: Sendable {
        case scalar, sequence, mapping
        /// Reported by the parser already; readers say nothing more about it.
        case invalid
    }

    package let document: YAMLDocument
    /// Where the node stands: the row of the alias, if it is one.
    let place: UInt32
    /// The row of what it says.
    let row: UInt32

    init(document: YAMLDocument, place: UInt32) {
        self.document = document
        self.place = place
        let found = document.rows[Int(place)]
        row = found.kind == .alias ? found.first : place
    }

    private var content: YAMLRow { document.rows[Int(row)] }

    package var kind: Kind {
        switch content.kind {
        case .plain, .singleQuoted, .doubleQuoted, .literal, .folded: .scalar
        case .sequence: .sequence
        case .mapping: .mapping
        case .alias, .invalid: .invalid
        }
    }

    /// Where the node stands in the source: of an alias the alias, of an absent value the empty place where it would be.
    package var range: SourceRange {
        let row = document.rows[Int(place)]
        return SourceRange(start: row.start, end: row.end)
    }

    /// The number of the row that holds the node's content; two aliases of one anchor have the same.
    package var contentRow: Int { Int(row) }

    /// One past the last row of the node's content.
    package var contentEnd: Int { Int(content.end(at: row)) }

    package var isAlias: Bool { place != row }

    /// A scalar without quotes on one or more lines.
    package var isPlain: Bool { content.kind == .plain }

    /// A scalar written as `|` or `>` text.
    package var isBlockText: Bool { content.kind == .literal || content.kind == .folded }

    /// Elements of a sequence, entries of a mapping (refused ones included), 0 for a scalar.
    package var count: Int { content.isCollection ? Int(content.first) : 0 }

    /// The value of a scalar; empty for a collection.
    package var text: String { withBytes { String(decoding: $0, as: UTF8.self) } }

    /// Whether the node is a scalar with this value.
    package func isText(_ text: StaticString) -> Bool {
        withBytes { bytes in
            bytes.count == text.utf8CodeUnitCount
                && bytes.elementsEqual(UnsafeBufferPointer(start: text.utf8Start, count: bytes.count))
        } && kind == .scalar
    }

    /// The value of a scalar as UTF-8, without a copy; no bytes for a collection.
    package func withBytes<Result>(_ body: (UnsafeBufferPointer<UInt8>) throws -> Result) rethrows -> Result {
        let content = content
        guard !content.isCollection, content.kind != .invalid else {
            return try body(UnsafeBufferPointer(start: nil, count: 0))
        }
        let range = Int(content.first)..<Int(content.first) + Int(content.second)
        return try (content.isCopied ? document.copiedText : document.file.bytes).withUnsafeBufferPointer {
            try body(UnsafeBufferPointer(rebasing: $0[range]))
        }
    }

    /// Where a part of a scalar's value stands, given as offsets into its bytes; the whole scalar where the source
    /// spells the value otherwise.
    package func range(ofBytes part: Range<Int>) -> SourceRange {
        let content = content
        guard !isAlias, !content.isCopied, !content.isCollection else { return range }
        return SourceRange(
            start: content.first + UInt32(part.lowerBound), end: content.first + UInt32(part.upperBound))
    }

    /// The elements of a sequence in file order; empty for anything else.
    package var elements: Elements {
        let content = content
        guard content.kind == .sequence else { return Elements(document: document, upcoming: 0, end: 0) }
        return Elements(document: document, upcoming: row + 1, end: content.second)
    }

    /// The entries of a mapping in file order, without those the parser refused; empty for anything else.
    package var entries: Entries {
        let content = content
        guard content.kind == .mapping else { return Entries(document: document, upcoming: 0, end: 0) }
        return Entries(document: document, upcoming: row + 1, end: content.second)
    }

    package struct Elements: Sequence, IteratorProtocol {
        let document: YAMLDocument
        var upcoming: UInt32
        let end: UInt32

        package mutating func next() -> YAMLNode? {
            guard upcoming < end else { return nil }
            defer { upcoming = document.rows[Int(upcoming)].end(at: upcoming) }
            return YAMLNode(document: document, place: upcoming)
        }
    }

    package struct Entries: Sequence, IteratorProtocol {
        let document: YAMLDocument
        var upcoming: UInt32
        let end: UInt32

        package mutating func next() -> (key: YAMLNode, value: YAMLNode)? {
            while upcoming < end {
                let key = upcoming
                let row = document.rows[Int(key)]
                let value = row.end(at: key)
                upcoming = document.rows[Int(value)].end(at: value)
                if !row.isRefusedKey {
                    return (YAMLNode(document: document, place: key), YAMLNode(document: document, place: value))
                }
            }
            return nil
        }
    }
}
