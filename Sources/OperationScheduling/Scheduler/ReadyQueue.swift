internal import HeapModule

/// Ready operations, highest priority first, then in row order. Entries are never removed from the middle; whoever pops
/// one checks whether it is still ready.
struct ReadyQueue: Sendable {
    private var heap = Heap<UInt64>()

    var isEmpty: Bool { heap.isEmpty }

    mutating func insert(_ id: OperationID, priority: UInt32) {
        heap.insert(UInt64(UInt32.max - priority) << 32 | UInt64(id.value))
    }

    mutating func pop() -> OperationID? {
        heap.popMin().map { OperationID(Int($0 & 0xFFFF_FFFF)) }
    }
}
