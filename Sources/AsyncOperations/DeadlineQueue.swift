internal import HeapModule

/// Deadlines by time. Cancelling one is O(1): the entry stays until it is due or until most entries are dead, when the
/// queue is rebuilt, so that a million steps that end in time leave nothing behind (research/seeds.md, K2).
struct DeadlineQueue: Sendable {
    private struct Entry: Comparable, Sendable {
        let time: Duration
        let id: OperationID

        static func < (left: Entry, right: Entry) -> Bool { (left.time, left.id) < (right.time, right.id) }
    }

    private var heap = Heap<Entry>()
    private var live: Set<OperationID> = []

    /// Entries in memory, dead ones included.
    var entryCount: Int { heap.count }

    mutating func add(_ id: OperationID, at time: Duration) {
        live.insert(id)
        heap.insert(Entry(time: time, id: id))
    }

    /// Does nothing for an operation that has no deadline.
    mutating func cancel(_ id: OperationID) {
        guard live.remove(id) != nil, heap.count > 64, heap.count > 2 * live.count else { return }
        heap = Heap(heap.unordered.filter { live.contains($0.id) })
    }

    /// The earliest deadline that still counts.
    mutating func earliest() -> Duration? {
        while let first = heap.min {
            if live.contains(first.id) { return first.time }
            heap.removeMin()
        }
        return nil
    }

    /// Removes and returns one deadline that is not after `now`, earliest first.
    mutating func popDue(at now: Duration) -> OperationID? {
        guard let time = earliest(), time <= now else { return nil }
        let id = heap.removeMin().id
        live.remove(id)
        return id
    }
}
