internal import HeapModule

/// Deadlines by time. Cancelling one is O(1): the entry stays until it is due or until most entries are dead, when the
/// queue is rebuilt, so that a million steps that end in time leave nothing behind.
struct DeadlineQueue: Sendable {
    enum Kind: UInt8, Sendable {
        case timeout, retryDeadline, backoff
    }

    private struct Key: Hashable, Sendable {
        let id: OperationID
        let kind: Kind
    }

    private struct Entry: Comparable, Sendable {
        let time: Duration
        let key: Key

        static func < (left: Entry, right: Entry) -> Bool {
            (left.time, left.key.id, left.key.kind.rawValue) < (right.time, right.key.id, right.key.kind.rawValue)
        }
    }

    private var heap = Heap<Entry>()
    /// The time that counts; entries with another one are dead.
    private var live: [Key: Duration] = [:]

    /// Entries in memory, dead ones included.
    var entryCount: Int { heap.count }

    var isEmpty: Bool { heap.isEmpty }

    /// Takes the place of an earlier deadline of that kind.
    mutating func add(_ id: OperationID, _ kind: Kind, at time: Duration) {
        let key = Key(id: id, kind: kind)
        live[key] = time
        heap.insert(Entry(time: time, key: key))
    }

    /// Does nothing for an operation that has no such deadline.
    mutating func cancel(_ id: OperationID, _ kind: Kind) {
        guard live.removeValue(forKey: Key(id: id, kind: kind)) != nil, heap.count > 64, heap.count > 2 * live.count
        else { return }
        heap = Heap(heap.unordered.filter { live[$0.key] == $0.time })
    }

    /// Drops the deadlines of rows that were removed.
    mutating func renumber(by renumbering: RowRenumbering) {
        var entries: [Entry] = []
        for (key, time) in live {
            if let id = renumbering[key.id] { entries.append(Entry(time: time, key: Key(id: id, kind: key.kind))) }
        }
        live = Dictionary(uniqueKeysWithValues: entries.map { ($0.key, $0.time) })
        heap = Heap(entries)
    }

    /// The earliest deadline that still counts.
    mutating func earliest() -> Duration? {
        while let first = heap.min {
            if live[first.key] == first.time { return first.time }
            heap.removeMin()
        }
        return nil
    }

    /// Removes and returns the earliest deadline.
    mutating func pop() -> (id: OperationID, kind: Kind)? {
        guard earliest() != nil else { return nil }
        let key = heap.removeMin().key
        live[key] = nil
        return (key.id, key.kind)
    }
}
