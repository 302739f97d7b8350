/// One YAML document: its nodes as rows of one array in file order, and the texts that the source spells differently.
///
/// A parent comes before its children, a key before its value, and a collection's row says where its subtree ends, so
/// walking is arithmetic on row numbers and a million nodes are one allocation.
package final class YAMLDocument: @unchecked Sendable {  // The rows are memory of its own and never change again.
    package let file: SourceFile
    private let rows: YAMLRows
    /// The values of scalars that the source spells differently: escapes, folded and block text.
    private let copiedText: [UInt8]

    init(file: SourceFile, rows: consuming YAMLRows, copiedText: [UInt8]) {
        self.file = file
        self.rows = rows
        self.copiedText = copiedText
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
                    rows: rows.buffer, source: source, copiedText: copiedText, start: UInt32(file.start))
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
}
