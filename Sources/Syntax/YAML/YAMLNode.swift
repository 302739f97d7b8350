/// A view of one node inside `YAMLDocument.withRoot`; sixteen bytes, reads its text only on demand.
package struct YAMLNode {
    package enum Kind: Sendable {
        case scalar, sequence, mapping
        /// Reported by the parser already; readers report nothing more about it.
        case invalid
    }

    private let memory: UnsafePointer<YAMLMemory>
    /// The row at the node's place: that of the alias, if it is one.
    private let place: UInt32
    /// The row of its content.
    private let row: UInt32

    init(memory: UnsafePointer<YAMLMemory>, place: UInt32) {
        self.memory = memory
        self.place = place
        let found = memory.pointee.rows[Int(place)]
        row = found.kind == .alias ? found.link : place
    }

    private var content: YAMLRow { memory.pointee.rows[Int(row)] }

    package var kind: Kind {
        switch content.kind {
        case .plain, .singleQuoted, .doubleQuoted, .literal, .folded: .scalar
        case .sequence: .sequence
        case .mapping: .mapping
        case .alias, .invalid: .invalid
        }
    }

    /// The node's place in the source: for an alias the alias, for an absent value the empty place where it would be.
    package var range: SourceRange { memory.pointee.rows[Int(place)].range(from: memory.pointee.start) }

    /// The place of the node's content in the source: for an alias, the anchored node.
    package var contentRange: SourceRange { content.range(from: memory.pointee.start) }

    /// The number of the row that holds the node's content; two aliases of one anchor have the same.
    package var contentRow: Int { Int(row) }

    /// The number of the row at the node's place.
    package var placeRow: Int { Int(place) }

    /// One past the last row of the node's content.
    package var contentEnd: Int { Int(content.end(at: row)) }

    package var isAlias: Bool { place != row }

    /// A scalar without quotes on one or more lines.
    package var isPlain: Bool { content.kind == .plain }

    /// A scalar written as `|` or `>` text.
    package var isBlockText: Bool { content.kind == .literal || content.kind == .folded }

    /// The number of elements of a sequence or of entries of a mapping (refused ones included); 0 for a scalar.
    /// O(children).
    package var count: Int {
        let content = content
        guard content.isCollection else { return 0 }
        var children = 0
        var child = row + 1
        while child < content.link {
            child = memory.pointee.rows[Int(child)].end(at: child)
            children += 1
        }
        return content.kind == .mapping ? children / 2 : children
    }

    package var isEmptyCollection: Bool { content.isCollection && content.link == row + 1 }

    /// The value of a scalar; empty for a collection.
    package var text: String { String(decoding: bytes, as: UTF8.self) }

    /// The range in which the source spells a scalar's value as it is; nil if it has escapes or folds lines.
    package var verbatim: SourceRange? {
        let content = content
        guard !content.isCollection, content.kind != .invalid, !content.isCopied else { return nil }
        return SourceRange(content.valueInSource).moved(by: Int(memory.pointee.start))
    }

    /// The length of a scalar's value in bytes; 0 for a collection.
    package var byteCount: Int { bytes.count }

    /// True if the node is a scalar with this value.
    package func isText(_ text: StaticString) -> Bool {
        guard kind == .scalar else { return false }
        let bytes = bytes
        return bytes.count == text.utf8CodeUnitCount
            && bytes.elementsEqual(UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    /// The value of a scalar as UTF-8, not copied and valid as long as the node; no bytes for a collection.
    package var bytes: UnsafeBufferPointer<UInt8> {
        let content = content
        guard !content.isCollection, content.kind != .invalid else { return UnsafeBufferPointer(start: nil, count: 0) }
        return content.value(memory.pointee.source, memory.pointee.copiedText)
    }

    /// The bytes of the source at the node's place, quotes included.
    package var source: UnsafeBufferPointer<UInt8> {
        let row = memory.pointee.rows[Int(place)]
        return UnsafeBufferPointer(rebasing: memory.pointee.source[Int(row.start)..<Int(row.end)])
    }

    /// Returns the node in a row of the same document.
    package func node(atRow row: Int) -> YAMLNode { YAMLNode(memory: memory, place: UInt32(row)) }

    /// Returns the entry of a mapping whose key is in a row of the same document.
    package func entry(atKeyRow row: Int) -> (key: YAMLNode, value: YAMLNode) {
        (node(atRow: row), node(atRow: Int(memory.pointee.rows[row].end(at: UInt32(row)))))
    }

    /// Gives memory of the nodes from this one to a later one back to the system: none of them may be read again.
    /// Returns the first node that still has all of its memory; this one if there is too little to give back, or if
    /// the document has aliases, which may refer to any node. The workflow's own rows need the memory.
    package func released(upTo node: YAMLNode) -> YAMLNode {
        guard node.place - place >= Self.leastRelease, !memory.pointee.hasAliases,
            let base = memory.pointee.rows.baseAddress
        else { return self }
        YAMLRows.release(base + Int(place)..<base + Int(node.place))
        return node
    }

    /// In rows: 768 KiB.
    private static let leastRelease: UInt32 = 1 << 16

    /// The elements of a sequence in file order; empty for anything else.
    package var elements: Elements {
        let content = content
        guard content.kind == .sequence else { return Elements(memory: memory, upcoming: 0, end: 0) }
        return Elements(memory: memory, upcoming: row + 1, end: content.link)
    }

    /// The entries of a mapping in file order, without those the parser refused; empty for anything else.
    package var entries: Entries {
        let content = content
        guard content.kind == .mapping else { return Entries(memory: memory, upcoming: 0, end: 0) }
        return Entries(memory: memory, upcoming: row + 1, end: content.link)
    }

    package struct Elements: Sequence, IteratorProtocol {
        let memory: UnsafePointer<YAMLMemory>
        var upcoming: UInt32
        let end: UInt32

        package mutating func next() -> YAMLNode? {
            guard upcoming < end else { return nil }
            defer { upcoming = memory.pointee.rows[Int(upcoming)].end(at: upcoming) }
            return YAMLNode(memory: memory, place: upcoming)
        }
    }

    package struct Entries: Sequence, IteratorProtocol {
        let memory: UnsafePointer<YAMLMemory>
        var upcoming: UInt32
        let end: UInt32

        package mutating func next() -> (key: YAMLNode, value: YAMLNode)? {
            while upcoming < end {
                let key = upcoming
                let row = memory.pointee.rows[Int(key)]
                let value = row.end(at: key)
                upcoming = memory.pointee.rows[Int(value)].end(at: value)
                if !row.isRefusedKey {
                    return (YAMLNode(memory: memory, place: key), YAMLNode(memory: memory, place: value))
                }
            }
            return nil
        }
    }
}

/// One YAML document: its nodes as rows of one array in file order, and the texts that the source spells differently.
///
/// A parent comes before its children, a key before its value, and a collection's row says where its subtree ends, so
/// walking is arithmetic on row numbers and a million nodes are one allocation.
// The rows are memory of its own, and change only by `released`, which the one who reads the workflow calls.
package final class YAMLDocument: @unchecked Sendable {
    package let file: SourceFile
    private let rows: YAMLRows
    /// The values of scalars that the source spells differently: escapes, folded and block text.
    private let copiedText: [UInt8]
    private let hasAliases: Bool

    init(file: SourceFile, rows: consuming YAMLRows, copiedText: [UInt8], hasAliases: Bool) {
        self.file = file
        self.rows = rows
        self.copiedText = copiedText
        self.hasAliases = hasAliases
    }

    /// The number of rows in the document; an alias counts as one, whatever it refers to.
    package var rowCount: Int { rows.count }

    /// Calls `body` with the document's outermost node. Nodes are views of memory that is valid only until it
    /// returns: keep none. Reading through them costs no reference counting, which a large workflow would pay
    /// millions of times.
    package func withRoot<Result>(_ body: (YAMLNode) throws -> Result) rethrows -> Result {
        try file.bytes.withUnsafeBufferPointer { source in
            try copiedText.withUnsafeBufferPointer { copiedText in
                let memory = YAMLMemory(
                    rows: rows.buffer, source: source, copiedText: copiedText, start: UInt32(file.start),
                    hasAliases: hasAliases)
                return try withUnsafePointer(to: memory) { try body(YAMLNode(memory: $0, place: 0)) }
            }
        }
    }
}

/// The memory that nodes read.
struct YAMLMemory {
    let rows: UnsafeBufferPointer<YAMLRow>
    let source: UnsafeBufferPointer<UInt8>
    let copiedText: UnsafeBufferPointer<UInt8>
    /// The place of the source's first byte.
    let start: UInt32
    /// True if a node may be read again at another place.
    let hasAliases: Bool
}
