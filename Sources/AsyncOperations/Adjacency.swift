/// The edges of a graph as seen from one of their ends: for each row a range of one flat array.
struct Adjacency: Sendable {
    struct Entry: Sendable {
        let other: OperationID
        let kind: EdgeKind
    }

    private let starts: [UInt32]
    private let entries: [Entry]

    /// Keeps the order of the edges within a row. O(rows + edges).
    init(
        count: Int, edges: [RowTable.Edge], from: (RowTable.Edge) -> OperationID,
        to: (RowTable.Edge) -> OperationID
    ) {
        var starts = [UInt32](repeating: 0, count: count + 1)
        for edge in edges { starts[from(edge).row + 1] += 1 }
        for row in 0..<count { starts[row + 1] += starts[row] }
        var next = starts
        var entries = [Entry](repeating: Entry(other: .root, kind: .ok), count: edges.count)
        for edge in edges {
            let row = from(edge).row
            entries[Int(next[row])] = Entry(other: to(edge), kind: edge.kind)
            next[row] += 1
        }
        self.starts = starts
        self.entries = entries
    }

    func degree(_ row: Int) -> Int { Int(starts[row + 1] - starts[row]) }

    subscript(row: Int) -> ArraySlice<Entry> { entries[Int(starts[row])..<Int(starts[row + 1])] }
}
