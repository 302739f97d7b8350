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

    /// Appends one row with the edges that start there.
    mutating func append(_ edges: [(other: OperationID, kind: EdgeKind)] = []) {
        for (other, kind) in edges { entries.append(Entry(other: other, kind: kind)) }
        starts.append(UInt32(entries.count))
    }

    /// Appends an edge of a row that is there.
    mutating func append(_ other: OperationID, _ kind: EdgeKind, to id: OperationID) {
        late[id, default: []].append(Entry(other: other, kind: kind))
    }

    /// Keeps the edges that matter, in their order, of the rows that stay. What such an edge leads to has to stay too.
    mutating func renumber(by renumbering: RowRenumbering, keeping matters: (OperationID, OperationID) -> Bool) {
        var (starts, entries): ([UInt32], [Entry]) = ([0], [])
        starts.reserveCapacity(renumbering.count + 1)
        func keep(_ entry: Entry, of id: OperationID) {
            guard !entry.isCut, matters(id, entry.other), let other = renumbering[entry.other] else { return }
            entries.append(Entry(other: other, kind: entry.kind))
        }
        for id in (0..<renumbering.oldCount).lazy.map({ OperationID($0) }) where renumbering[id] != nil {
            for entry in self[id] { keep(entry, of: id) }
            for entry in lateEntries(of: id) { keep(entry, of: id) }
            starts.append(UInt32(entries.count))
        }
        (self.starts, self.entries, late) = (starts, entries, [:])
    }

    subscript(id: OperationID) -> ArraySlice<Entry> {
        entries[Int(starts[id.row])..<Int(starts[id.row + 1])]
    }

    /// The edges that came after the row itself.
    func lateEntries(of id: OperationID) -> [Entry] {
        late.isEmpty ? [] : late[id] ?? []
    }

    /// One more edge of a row that is there.
    mutating func add(_ entry: Entry, to id: OperationID) { late[id, default: []].append(entry) }

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
