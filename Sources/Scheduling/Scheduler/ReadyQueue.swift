internal import HeapModule

/// Ready operations, highest priority first, then in row order. Entries are never removed from the middle: after
/// `pop`, check whether the entry is still ready.
struct ReadyQueue: Sendable {
    /// Entries that were added in order, as nearly all are: one comparison to add and one to remove.
    private var run: [UInt64] = []
    /// The number of entries of `run` that are gone.
    private var taken = 0
    private var heap = Heap<UInt64>()

    var isEmpty: Bool { taken == run.count && heap.isEmpty }

    mutating func insert(_ id: OperationID, priority: UInt32) {
        let key = UInt64(UInt32.max - priority) << 32 | UInt64(id.value)
        if taken == run.count || run[run.count - 1] <= key { run.append(key) } else { heap.insert(key) }
    }

    mutating func pop() -> OperationID? {
        guard taken < run.count else { return heap.popMin().map(Self.id) }
        let next = run[taken]
        if let first = heap.min, first < next { return Self.id(heap.removeMin()) }
        taken += 1
        if taken == run.count || taken > max(1024, run.count / 2) {
            run.removeFirst(taken)
            taken = 0
        }
        return Self.id(next)
    }

    /// Drops the entries of removed rows.
    mutating func renumber(by renumbering: RowRenumbering) {
        func renumbered(_ key: UInt64) -> UInt64? {
            renumbering[Self.id(key)].map { key & ~0xFFFF_FFFF | UInt64($0.value) }
        }
        run = run[taken...].compactMap(renumbered)
        taken = 0
        if !heap.isEmpty { heap = Heap(heap.unordered.compactMap(renumbered)) }
    }

    private static func id(_ key: UInt64) -> OperationID { OperationID(Int(key & 0xFFFF_FFFF)) }
}
