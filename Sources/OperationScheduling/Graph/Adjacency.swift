/// The edges of a graph as seen from one of their ends: for each row a range of one flat array.
struct Adjacency: Sendable {
    struct Entry: Sendable {
        let other: OperationID
        let kind: EdgeKind
        /// Taken away again; counts for nothing.
        var isCut = false
    }

    private var starts: [UInt32] = [0]
    private var entries: [Entry] = []
    /// Of rows that were there before the edge.
    private var late: [OperationID: [Entry]] = [:]

    /// Appends `count` rows with the edges that start there, and edges of earlier rows. Keeps the order of the edges
    /// within a row. O(new rows + new edges).
    @inline(__always)  // `from` and `to` are asked several times for each edge.
    mutating func append(
        count: Int, edges: [RowTable.Edge], from: (RowTable.Edge) -> OperationID, to: (RowTable.Edge) -> OperationID
    ) {
        let first = starts.count - 1
        let base = entries.count
        starts.append(contentsOf: repeatElement(0, count: count))
        starts.withUnsafeMutableBufferPointer { starts in
            for edge in edges where from(edge).row >= first { starts[from(edge).row + 1] += 1 }
            // The first new row begins where the last old one ends.
            for row in first..<first + count { starts[row + 1] += starts[row] }
        }
        entries.append(
            contentsOf: repeatElement(Entry(other: .root, kind: .ok), count: Int(starts[first + count]) - base))
        var next = Array(starts[first...])
        next.withUnsafeMutableBufferPointer { next in
            entries.withUnsafeMutableBufferPointer { entries in
                for edge in edges where from(edge).row >= first {
                    let row = from(edge).row - first
                    entries[Int(next[row])] = Entry(other: to(edge), kind: edge.kind)
                    next[row] += 1
                }
            }
        }
        guard first > 0 else { return }
        for edge in edges where from(edge).row < first {
            late[from(edge), default: []].append(Entry(other: to(edge), kind: edge.kind))
        }
    }

    subscript(id: OperationID) -> ArraySlice<Entry> {
        entries[Int(starts[id.row])..<Int(starts[id.row + 1])]
    }

    /// The edges that came after the row itself.
    func lateEntries(of id: OperationID) -> [Entry] {
        late.isEmpty ? [] : late[id] ?? []
    }

    /// Takes the edges to `other` away; returns how many there were. O(edges of the row).
    mutating func cut(from id: OperationID, to other: OperationID) -> Int {
        var count = 0
        for index in Int(starts[id.row])..<Int(starts[id.row + 1])
        where entries[index].other == other && !entries[index].isCut {
            entries[index].isCut = true
            count += 1
        }
        for (index, entry) in lateEntries(of: id).enumerated() where entry.other == other && !entry.isCut {
            late[id]?[index].isCut = true
            count += 1
        }
        return count
    }
}
