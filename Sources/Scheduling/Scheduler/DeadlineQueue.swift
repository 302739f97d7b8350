internal import HeapModule

/// Deadlines by time. Cancelling one is O(1): the entry stays until it is due or until most entries are dead. Then
/// the queue is rebuilt, so that a million steps that end in time do not fill it.
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
    /// The valid time of each deadline; entries with another time are dead.
    private var live: [Key: Duration] = [:]

    /// The number of entries in memory, including dead ones.
    var entryCount: Int { heap.count }

    var isEmpty: Bool { heap.isEmpty }

    /// Adds a deadline, replacing an earlier one of the same kind.
    mutating func add(_ id: OperationID, _ kind: Kind, at time: Duration) {
        let key = Key(id: id, kind: kind)
        live[key] = time
        heap.insert(Entry(time: time, key: key))
    }

    /// Cancels a deadline. Does nothing if the operation has none of this kind.
    mutating func cancel(_ id: OperationID, _ kind: Kind) {
        guard live.removeValue(forKey: Key(id: id, kind: kind)) != nil, heap.count > 64, heap.count > 2 * live.count
        else { return }
        heap = Heap(heap.unordered.filter { live[$0.key] == $0.time })
    }

    /// Drops the deadlines of removed rows.
    mutating func renumber(by renumbering: RowRenumbering) {
        var entries: [Entry] = []
        for (key, time) in live {
            if let id = renumbering[key.id] { entries.append(Entry(time: time, key: Key(id: id, kind: key.kind))) }
        }
        live = Dictionary(uniqueKeysWithValues: entries.map { ($0.key, $0.time) })
        heap = Heap(entries)
    }

    /// The earliest valid deadline; nil if there is none.
    mutating func earliest() -> Duration? {
        while let first = heap.min {
            if live[first.key] == first.time { return first.time }
            heap.removeMin()
        }
        return nil
    }

    /// Removes and returns the earliest valid deadline.
    mutating func pop() -> (id: OperationID, kind: Kind)? {
        guard earliest() != nil else { return nil }
        let key = heap.removeMin().key
        live[key] = nil
        return (key.id, key.kind)
    }
}

/// The clocks of operations and groups.
struct Clocks: Sendable {
    /// The clock of operations: the latest time passed to `handle`. It never goes back.
    private(set) var now = Duration.zero
    /// The total length of all suspensions that have ended.
    private var suspended = Duration.zero
    private var suspendedSince: Duration?

    /// The clock of groups, which stops while suspended.
    var groupNow: Duration { (suspendedSince ?? now) - suspended }

    var isSuspended: Bool { suspendedSince != nil }

    mutating func advance(to time: Duration) { now = max(now, time) }

    mutating func suspend() { suspendedSince = now }

    mutating func resume() {
        if let since = suspendedSince.take() { suspended += now - since }
    }

    /// The time of a group's deadline on the operations' clock; nil while suspended.
    func time(ofGroupDeadline time: Duration) -> Duration? { isSuspended ? nil : time + suspended }
}

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
