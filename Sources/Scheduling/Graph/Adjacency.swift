/// The edges of a graph, seen from one end: for each row, a range of one flat array.
struct Adjacency: Sendable {
    struct Entry: Sendable {
        let other: OperationID
        var kind: DependencyKind
        var reason = EdgeReason.dependency
    }

    private struct Cut: Hashable, Sendable {
        let from: OperationID
        let to: OperationID
        let reason: EdgeReason
    }

    private var starts: [UInt32] = [0]
    private var entries: [Entry] = []
    /// Edges added after their row.
    private var late: [OperationID: [Entry]] = [:]
    /// Removed edges. They are ignored until they are restored, and dropped when ended rows are removed.
    private var cuts: Set<Cut> = []

    /// Appends `count` rows with the edges that start there, and edges of earlier rows. Keeps the order of edges
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
                    entries[Int(next[row])] = Entry(other: to(edge), kind: edge.kind, reason: edge.reason)
                    next[row] += 1
                }
            }
        }
        guard first > 0 else { return }
        for edge in edges where from(edge).row < first {
            late[from(edge), default: []].append(Entry(other: to(edge), kind: edge.kind, reason: edge.reason))
        }
    }

    /// Appends one row with the edges that start there.
    mutating func append(_ edges: [(other: OperationID, kind: DependencyKind)] = []) {
        for (other, kind) in edges { entries.append(Entry(other: other, kind: kind)) }
        starts.append(UInt32(entries.count))
    }

    /// Appends an edge of an existing row.
    mutating func append(
        _ other: OperationID, _ kind: DependencyKind, _ reason: EdgeReason = .dependency, to id: OperationID
    ) {
        late[id, default: []].append(Entry(other: other, kind: kind, reason: reason))
    }

    /// Keeps the rows that remain and, in order, those of their edges that matter and lead to a remaining row.
    mutating func renumber(by renumbering: RowRenumbering, keeping matters: (OperationID, OperationID) -> Bool) {
        var (starts, entries): ([UInt32], [Entry]) = ([0], [])
        starts.reserveCapacity(renumbering.count + 1)
        func keep(_ entry: Entry, of id: OperationID) {
            guard !isCut(entry, of: id), matters(id, entry.other), let other = renumbering[entry.other] else { return }
            entries.append(Entry(other: other, kind: entry.kind, reason: entry.reason))
        }
        for id in (0..<renumbering.oldCount).lazy.map({ OperationID($0) }) where renumbering[id] != nil {
            for entry in self[id] { keep(entry, of: id) }
            for entry in lateEntries(of: id) { keep(entry, of: id) }
            starts.append(UInt32(entries.count))
        }
        (self.starts, self.entries, late, cuts) = (starts, entries, [:], [])
    }

    subscript(id: OperationID) -> ArraySlice<Entry> {
        entries[Int(starts[id.row])..<Int(starts[id.row + 1])]
    }

    /// The edges added after the row itself.
    func lateEntries(of id: OperationID) -> [Entry] {
        late.isEmpty ? [] : late[id] ?? []
    }

    /// True if an edge of `id` was removed.
    func isCut(_ entry: Entry, of id: OperationID) -> Bool {
        !cuts.isEmpty && cuts.contains(Cut(from: id, to: entry.other, reason: entry.reason))
    }

    /// The edges of a row, without the removed ones.
    func all(of id: OperationID) -> [Entry] {
        var all: [Entry] = []
        forEach(of: id) { all.append($0) }
        return all
    }

    /// Calls `body` for each edge of a row, except the removed ones.
    @inline(__always)  // `body` costs less than a call.
    func forEach(of id: OperationID, _ body: (Entry) -> Void) {
        for entry in self[id] where !isCut(entry, of: id) { body(entry) }
        if late.isEmpty { return }
        for entry in lateEntries(of: id) where !isCut(entry, of: id) { body(entry) }
    }

    /// True if a row has an edge to `other` for this reason. O(edges of the row).
    func leads(from id: OperationID, to other: OperationID, _ reason: EdgeReason) -> Bool {
        func isWanted(_ entry: Entry) -> Bool { entry.other == other && entry.reason == reason }
        return (self[id].contains(where: isWanted) || lateEntries(of: id).contains(where: isWanted))
            && !cuts.contains(Cut(from: id, to: other, reason: reason))
    }

    /// Removes the edges to `other` for this reason and returns their number. O(edges of the row).
    mutating func cut(from id: OperationID, to other: OperationID, _ reason: EdgeReason) -> Int {
        func isWanted(_ entry: Entry) -> Bool { entry.other == other && entry.reason == reason }
        let (early, later) = (self[id].count(where: isWanted), late[id] ?? [])
        if early > 0, !cuts.insert(Cut(from: id, to: other, reason: reason)).inserted { return 0 }
        let left = later.filter { !isWanted($0) }
        if left.count < later.count { late[id] = left.isEmpty ? nil : left }
        return early + later.count - left.count
    }

    /// Removes the edges like `cut`, without counting them: for rows that may have many. O(1).
    mutating func hide(from id: OperationID, to other: OperationID, _ reason: EdgeReason) {
        cuts.insert(Cut(from: id, to: other, reason: reason))
    }

    /// Restores removed edges. Returns false if there are none.
    mutating func restore(from id: OperationID, to other: OperationID, _ reason: EdgeReason) -> Bool {
        cuts.remove(Cut(from: id, to: other, reason: reason)) != nil
    }

    /// Changes the kind of the edges to `other` for this reason and returns their number. O(edges of the row).
    @discardableResult
    mutating func setKind(
        _ kind: DependencyKind, from id: OperationID, to other: OperationID, _ reason: EdgeReason
    ) -> Int {
        func isWanted(_ entry: Entry) -> Bool { entry.other == other && entry.reason == reason }
        var count = 0
        for index in Int(starts[id.row])..<Int(starts[id.row + 1]) where isWanted(entries[index]) {
            entries[index].kind = kind
            count += 1
        }
        for (index, entry) in lateEntries(of: id).enumerated() where isWanted(entry) {
            late[id]?[index].kind = kind
            count += 1
        }
        return count
    }
}
