internal import BasicContainers
import Basics
import Workflow

/// Finds a member of a group by its id.
///
/// One open-addressing table for the whole workflow: a dictionary per group would cost an allocation for each of many
/// tiny groups.
final class ScopedNames {
    private struct Slot {
        var tag: UInt32 = 0
        /// 0 marks an empty slot: the workflow itself is not a member.
        var row: UInt32 = 0
    }

    private let nodes: [WorkflowNode]
    private var slots: UniqueArray<Slot>
    private let mask: Int

    init(_ nodes: [WorkflowNode]) {
        var capacity = 8
        while capacity < nodes.count + nodes.count / 2 { capacity *= 2 }
        self.nodes = nodes
        mask = capacity - 1
        slots = UniqueArray(repeating: Slot(), count: capacity)
        var hashes = NameHashes { ByteHash.of(nodes[$0].id) }
        for row in nodes.indices.dropFirst() {
            let hash = hashes.hash(row, of: nodes.count)
            let (index, tag) = probe(hash, in: nodes[row].parent.row) { nodes[$0].id == nodes[row].id }
            // The first of two members with one id stays; the decoder has reported the second.
            if slots[index].row == 0 { slots[index] = Slot(tag: tag, row: UInt32(row)) }
        }
    }

    /// Returns the row that a name means for a member of `scope`: another member, or a member of an enclosing group,
    /// innermost first. Hooks cannot be needed by name. Inside a hook, or inside a used body, nothing outside is
    /// visible.
    func visible(_ name: String, from scope: Int) -> Int? { visible(name, hash: ByteHash.of(name), from: scope) }

    /// Variant for a known hash of the name.
    func visible(_ name: String, hash: UInt64, from scope: Int) -> Int? {
        var scope = scope
        while true {
            let row = Int(slots[probe(hash, in: scope) { nodes[$0].id == name }.index].row)
            if row != 0 { return nodes[row].hook == nil ? row : nil }
            if scope == 0 || nodes[scope].isClosed { return nil }
            scope = nodes[scope].parent.row
        }
    }

    /// Returns the member of exactly this group; nil if there is none.
    func member(_ name: String, of group: Int) -> Int? {
        let row = Int(slots[probe(ByteHash.of(name), in: group) { nodes[$0].id == name }.index].row)
        return row == 0 ? nil : row
    }

    /// Returns the slot that holds the member, or the empty slot for it. `isNamed` compares the name of a row.
    @inline(__always)
    private func probe(_ hash: UInt64, in scope: Int, isNamed: (Int) -> Bool) -> (index: Int, tag: UInt32) {
        var mixed = hash ^ UInt64(scope) &* 0x9E37_79B9_7F4A_7C15
        mixed ^= mixed >> 29
        let tag = UInt32(truncatingIfNeeded: mixed >> 32)
        var index = Int(truncatingIfNeeded: mixed) & mask
        while slots[index].row != 0 {
            let row = Int(slots[index].row)
            if slots[index].tag == tag, nodes[row].parent.row == scope, isNamed(row) { break }
            index = (index + 1) & mask
        }
        return (index, tag)
    }
}

/// The hashes of many names, computed in blocks. This keeps the loop that probes the table short: the table of a
/// large workflow exceeds the processor's cache, and in a short loop the processor fetches several slots at once.
struct NameHashes: ~Copyable {
    private static let blockSize = 512

    private let hash: (Int) -> UInt64
    private var block = UniqueArray<UInt64>()
    private var start = 0

    /// `hash` computes the hash of the name with this index.
    init(hash: @escaping (Int) -> UInt64) { self.hash = hash }

    /// Returns the hash of a name, of `count` in all. Cheap if names are requested in order.
    mutating func hash(_ index: Int, of count: Int) -> UInt64 {
        if !(0..<block.count).contains(index - start) { fill(from: index, to: min(count, index + Self.blockSize)) }
        return block[index - start]
    }

    private mutating func fill(from first: Int, to end: Int) {
        start = first
        block.removeAll(keepingCapacity: true)
        for index in first..<end { block.append(hash(index)) }
    }
}

/// A full id split into its parts: `build[x86_64].compile` is `build` with the key `x86_64`, then `compile`.
struct InstancePath {
    struct Part {
        let id: String
        /// The text in the brackets; nil if there are none.
        let key: String?

        var text: String { key.map { "\(id)[\($0)]" } ?? id }
    }

    let parts: [Part]

    init(parts: some Sequence<Part>) { self.parts = Array(parts) }

    var text: String { parts.map(\.text).joined(separator: ".") }

    /// Text that is not such a path gives parts that name nothing.
    init(_ text: String) {
        var parts: [Part] = []
        var rest = text[...]
        while true {
            let id = rest.prefix { $0 != "." && $0 != "[" }
            rest = rest[id.endIndex...]
            var key: Substring?
            // A key may hold dots, as in `test[3.9]`.
            if rest.first == "[", let close = rest.firstIndex(of: "]") {
                key = rest[rest.index(after: rest.startIndex)..<close]
                rest = rest[rest.index(after: close)...]
            }
            parts.append(Part(id: String(id), key: key.map(String.init)))
            guard rest.first == "." else { break }
            rest.removeFirst()
        }
        self.parts = rest.isEmpty ? parts : []
    }

    /// True if the path names a row with this full id; a part without a key matches all instances.
    func names(_ id: String) -> Bool { names(InstancePath(id).parts[...]) }

    func names(_ other: ArraySlice<Part>) -> Bool {
        other.count == parts.count
            && zip(parts, other).allSatisfy { $0.id == $1.id && ($0.key == nil || $0.key == $1.key) }
    }
}
