// Reads the graph: what is where, and walks over what is inside.

/// Rows still to be visited: intervals, because members that joined later are behind all others.
struct RowWalk {
    private var intervals: [Range<Int>]

    init(_ first: Range<Int>) { intervals = [first] }

    mutating func add(_ interval: Range<Int>) {
        if !interval.isEmpty { intervals.append(interval) }
    }

    /// The next row. The walk skips everything inside it, unless it is entered.
    mutating func next(_ rows: [RowTable.Row]) -> OperationID? {
        while let last = intervals.indices.last {
            let interval = intervals[last]
            guard let row = interval.first else {
                intervals.removeLast()
                continue
            }
            intervals[last] = Int(rows[row].subtreeEnd)..<interval.upperBound
            return OperationID(row)
        }
        return nil
    }
}

extension OperationScheduler {
    @inline(__always)  // A call would copy the scheduler.
    func isGroup(_ id: OperationID) -> Bool { graph.table.rows[id.row].isGroup }

    /// The index of a group in `groups`.
    @inline(__always)  // A call would copy the scheduler.
    func groupIndex(of id: OperationID) -> Int { graph.table.rows[id.row].group }

    @inline(__always)  // A call would copy the scheduler.
    func has(_ id: OperationID, _ flag: RowTable.Flags) -> Bool { graph.table.rows[id.row].flags.contains(flag) }

    @inline(__always)  // A call would copy the scheduler.
    func parent(of id: OperationID) -> OperationID { graph.table.rows[id.row].parent }

    /// The group directly around a row, as an index into `groups`. Row 0 is inside itself.
    @inline(__always)  // A call would copy the scheduler.
    func parentGroup(of id: OperationID) -> Int { groupIndex(of: parent(of: id)) }

    /// Moves `id` to the group around it, and returns the index of that; nil if `id` is the outermost.
    @inline(__always)  // A call would copy the scheduler.
    func groupAround(_ id: inout OperationID) -> Int? {
        guard id != .root else { return nil }
        id = parent(of: id)
        return groupIndex(of: id)
    }

    /// The same, but nil for a hook too: what happens to the group around a hook does not reach it.
    @inline(__always)  // A call would copy the scheduler.
    func bodyGroupAround(_ id: inout OperationID) -> Int? {
        has(id, .isHook) ? nil : groupAround(&id)
    }

    /// Whether the work of an operation, or the current round of a group, has begun and not ended.
    @inline(__always)  // A call would copy the scheduler.
    func hasStarted(_ id: OperationID) -> Bool {
        states[id.row].phase == .executing || states[id.row].phase == .stopping
    }

    /// Whether a group only waits for the ends of its members to be told.
    @inline(__always)  // A call would copy the scheduler.
    func isDecided(_ id: OperationID) -> Bool {
        isGroup(id) && groups[groupIndex(of: id)].verdict != nil
    }

    /// A walk over one row; `enter` takes it into a group.
    func walk(from id: OperationID) -> RowWalk {
        RowWalk(id.row..<Int(graph.table.rows[id.row].subtreeEnd))
    }

    /// Makes a walk visit the direct members of a group, including hooks.
    func enter(_ id: OperationID, _ walk: inout RowWalk) {
        for addition in groups[groupIndex(of: id)].additions.reversed() { walk.add(addition.rows) }
        walk.add(id.row + 1..<Int(graph.table.rows[id.row].subtreeEnd))
    }

    /// Calls `body` for every direct member, including hooks.
    mutating func forEachMember(of id: OperationID, _ body: (inout Self, OperationID) -> Void) {
        var walk = RowWalk(0..<0)
        enter(id, &walk)
        while let member = walk.next(graph.table.rows) { body(&self, member) }
    }
}
