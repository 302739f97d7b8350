package import SourceDiagnostics

/// One YAML document: its nodes as rows of one array in file order, and the text that the source does not hold as such.
///
/// A parent stands before its children, a key before its value, and a collection's row says where its subtree ends, so
/// walking is arithmetic on row numbers and a million nodes are one allocation.
package final class YAMLDocument: Sendable {
    package let file: SourceFile
    let rows: [YAMLRow]
    /// The values of scalars whose source spells them otherwise: escapes, folded and block text.
    let copiedText: [UInt8]

    init(file: SourceFile, rows: [YAMLRow], copiedText: [UInt8]) {
        self.file = file
        self.rows = rows
        self.copiedText = copiedText
    }

    /// The document's outermost node.
    package var root: YAMLNode { YAMLNode(document: self, place: 0) }

    /// How many rows the document has; aliases count one, whatever they stand for.
    package var rowCount: Int { rows.count }

    /// The node that stands in a row, not looking through aliases to what they stand for twice.
    package func node(at row: Int) -> YAMLNode { YAMLNode(document: self, place: UInt32(row)) }
}

/// A node in twenty bytes.
struct YAMLRow {
    enum Kind: UInt8 {
        case plain, singleQuoted, doubleQuoted, literal, folded
        case sequence, mapping
        case alias
        /// An alias that could not be resolved; reported already.
        case invalid
    }

    /// Byte offsets into the source, without anchor and tag.
    var start: UInt32
    var end: UInt32
    /// Scalar: where its value starts. Collection: how many children it has. Alias: the row it stands for.
    var first: UInt32
    /// Scalar: the length of its value. Collection: one past its last row.
    var second: UInt32
    var kind: Kind
    /// Scalar: the value is in `copiedText`, not in the source.
    var isCopied = false
    /// A key that was refused, with its value: a duplicate, a merge key, a collection. Readers pass over the entry.
    var isRefusedKey = false

    var isCollection: Bool { kind == .sequence || kind == .mapping }

    /// The row after this node and everything in it, given its own number.
    func end(at row: UInt32) -> UInt32 { isCollection ? second : row &+ 1 }
}
