import WorkflowModel

/// Finds a member of a group by its id.
///
/// One open-addressing table for the whole workflow: a dictionary per group would cost an allocation for each of many
/// tiny groups.
struct ScopedNames {
    private struct Slot {
        var tag: UInt32 = 0
        /// 0 is an empty slot: the workflow itself is nobody's member.
        var row: UInt32 = 0
    }

    private let nodes: [WorkflowNode]
    private var slots: [Slot]
    private let mask: Int

    init(_ nodes: [WorkflowNode]) {
        var capacity = 8
        while capacity < nodes.count * 2 { capacity *= 2 }
        self.nodes = nodes
        slots = [Slot](repeating: Slot(), count: capacity)
        mask = capacity - 1
        for row in nodes.indices.dropFirst() {
            let (index, tag) = probe(nodes[row].id, nodes[row].id.hashValue, in: nodes[row].parent.row)
            // The first of two members with one id stays; the decoder has reported the second.
            if slots[index].row == 0 { slots[index] = Slot(tag: tag, row: UInt32(row)) }
        }
    }

    /// The row that a name means for a member of `scope`: another member, or a member of an enclosing group, innermost
    /// first. Hooks have no name that could be needed, and what is inside one sees nothing outside.
    func visible(_ name: String, from scope: Int) -> Int? {
        let hash = name.hashValue
        var scope = scope
        while true {
            let row = Int(slots[probe(name, hash, in: scope).index].row)
            if row != 0 { return nodes[row].hook == nil ? row : nil }
            if scope == 0 || nodes[scope].hook != nil { return nil }
            scope = nodes[scope].parent.row
        }
    }

    /// The member of exactly this group.
    func member(_ name: String, of group: Int) -> Int? {
        let row = Int(slots[probe(name, name.hashValue, in: group).index].row)
        return row == 0 ? nil : row
    }

    /// The slot that holds the member, or the empty one where it would go.
    private func probe(_ name: String, _ hash: Int, in scope: Int) -> (index: Int, tag: UInt32) {
        var mixed = UInt64(truncatingIfNeeded: hash) ^ UInt64(scope) &* 0x9E37_79B9_7F4A_7C15
        mixed ^= mixed >> 29
        let tag = UInt32(truncatingIfNeeded: mixed >> 32)
        var index = Int(truncatingIfNeeded: mixed) & mask
        while slots[index].row != 0 {
            let row = Int(slots[index].row)
            if slots[index].tag == tag, nodes[row].parent.row == scope, nodes[row].id == name { break }
            index = (index + 1) & mask
        }
        return (index, tag)
    }
}
