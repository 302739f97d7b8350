internal import HeapModule

/// The waiting rows of each lock, and its free units.
///
/// Rows that request the same locks share a waiting list, first come, first served. Each list is in the queue of one
/// lock that its rows lack. So a release costs O(log n) for each row that may go on, however many wait.
struct LockTable: Sendable {
    /// A lock in its scope, as an index into the table.
    struct Index: Hashable, Sendable {
        fileprivate let value: Int
    }

    private struct Lock: Sendable {
        let name: LockID
        let capacity: Int
        /// Units that no row holds.
        var free: Int
        /// Units that no row may take.
        var withheld: Int
        /// True if released units become withheld.
        var keepsReleases: Bool
        /// The row that took units last and has not released them.
        var holder: OperationID?
        var queue = Heap<Ticket>()

        /// Units that a row could take.
        var available: Int { free - withheld }
    }

    private struct Request: Hashable, Sendable {
        let lock: Index
        let units: Int
    }

    /// A position in a queue. In a waiting list, `index` is a row; in the queue of a lock, a waiting list.
    private struct Ticket: Comparable, Sendable {
        let number: UInt32
        let index: UInt32

        static func < (left: Ticket, right: Ticket) -> Bool {
            (left.number, left.index) < (right.number, right.index)
        }
    }

    private struct WaitingList: Sendable {
        let requests: [Request]
        var rows = Heap<Ticket>()
        /// The lock whose queue contains the list.
        var place: Index?
    }

    private var locks: [Lock] = []
    private var indexOf: [HolderTable.ScopedLock: Index] = [:]
    private var lists: [WaitingList] = []
    private var listWith: [[Request]: UInt32] = [:]
    private var listOf: [OperationID: UInt32] = [:]
    /// The tickets of rows that wait or were just woken. A row keeps its ticket until it starts or ends.
    private var tickets: [OperationID: UInt32] = [:]
    private var nextTicket: UInt32 = 0
    private var withheld: [LockID: (units: Int, keepsReleases: Bool)] = [:]

    /// True if no lock is held.
    var isAllFree: Bool { locks.allSatisfy { $0.free == $0.capacity } }

    /// The locks of rows that have been added and not removed.
    var names: Set<LockID> { Set(locks.map(\.name)) }

    /// Records the requests of a row.
    mutating func add(_ id: OperationID, _ requests: [HolderTable.Request], of graph: OperationGraph) {
        let requests = requests.map { request in
            let capacity = graph.capacity(of: request.lock.lock)
            precondition(
                request.units <= capacity,
                "\(id) asks for \(request.units) units of \(request.lock.lock), which has \(capacity)")
            return Request(lock: index(of: request.lock, capacity: capacity), units: request.units)
        }
        if let known = listWith[requests] {
            listOf[id] = known
        } else {
            listWith[requests] = UInt32(lists.count)
            listOf[id] = UInt32(lists.count)
            lists.append(WaitingList(requests: requests))
        }
    }

    private mutating func index(of lock: HolderTable.ScopedLock, capacity: Int) -> Index {
        if let known = indexOf[lock] { return known }
        let index = Index(value: locks.count)
        indexOf[lock] = index
        let known = withheld[lock.lock] ?? (0, false)
        locks.append(
            Lock(
                name: lock.lock, capacity: capacity, free: capacity, withheld: known.units,
                keepsReleases: known.keepsReleases))
        return index
    }

    private func requests(of id: OperationID) -> [Request] {
        listOf[id].map { lists[Int($0)].requests } ?? []
    }

    /// The names of the locks that a row requests.
    func names(of id: OperationID) -> [LockID] { requests(of: id).map { name(of: $0.lock) } }

    func name(of lock: Index) -> LockID { locks[lock.value].name }

    func asks(_ id: OperationID, for lock: Index) -> Bool { requests(of: id).contains { $0.lock == lock } }

    /// Returns a lock that lacks units that the row requests; nil if it can take everything now.
    func missing(for id: OperationID) -> Index? {
        listOf[id].flatMap { missing(for: lists[Int($0)].requests) }
    }

    private func missing(for requests: [Request]) -> Index? {
        requests.first { locks[$0.lock.value].available < $0.units }?.lock
    }

    /// The holders of locks that the row requests and cannot take now; for a pool, the last row that took units.
    func holdersOfMissing(for id: OperationID) -> [OperationID] {
        requests(of: id).compactMap { locks[$0.lock.value].available < $0.units ? locks[$0.lock.value].holder : nil }
    }

    mutating func take(_ id: OperationID) {
        tickets[id] = nil
        for request in requests(of: id) {
            locks[request.lock.value].free -= request.units
            locks[request.lock.value].holder = id
        }
    }

    /// Releases the locks of a row. Wakes no other row yet.
    mutating func release(_ id: OperationID) {
        for request in requests(of: id) {
            locks[request.lock.value].free += request.units
            if locks[request.lock.value].keepsReleases {
                locks[request.lock.value].withheld += request.units
                withheld[name(of: request.lock)]?.units += request.units
            }
            if locks[request.lock.value].holder == id { locks[request.lock.value].holder = nil }
        }
    }

    /// Makes a row wait for a lock that it lacks, at its old position if it had one. Returns true if it had none.
    mutating func park(_ id: OperationID, for lock: Index) -> Bool {
        guard let list = listOf[id].map(Int.init) else { return false }
        let isNew = tickets[id] == nil
        let number = tickets[id] ?? nextTicket
        if isNew {
            tickets[id] = number
            nextTicket += 1
        }
        lists[list].rows.insert(Ticket(number: number, index: id.value))
        let place = lists[list].place ?? lock
        lists[list].place = place
        if head(of: list)?.number == number {
            locks[place.value].queue.insert(Ticket(number: number, index: UInt32(list)))
        }
        return isNew
    }

    /// Forgets removed rows, and locks that no other row requests: nothing holds those.
    mutating func renumber(by renumbering: RowRenumbering) {
        guard !lists.isEmpty else { return }
        listOf = listOf.renumbered(by: renumbering)
        tickets = tickets.renumbered(by: renumbering)
        var newLists: [UInt32: UInt32] = [:]
        for (new, old) in Set(listOf.values).sorted().enumerated() { newLists[old] = UInt32(new) }
        var newLocks: [Index: Index] = [:]
        let asked = Set(newLists.keys.flatMap { lists[Int($0)].requests.map(\.lock) })
        for (new, old) in asked.sorted(by: { $0.value < $1.value }).enumerated() { newLocks[old] = Index(value: new) }

        listOf = listOf.mapValues { newLists[$0, default: 0] }
        lists = lists.enumerated().filter { newLists[UInt32($0.offset)] != nil }.map { _, list in
            var renumbered = WaitingList(
                requests: list.requests.map { Request(lock: newLocks[$0.lock, default: $0.lock], units: $0.units) })
            guard !tickets.isEmpty else { return renumbered }
            renumbered.place = list.place.flatMap { newLocks[$0] }
            for ticket in list.rows.unordered {
                guard let id = renumbering[OperationID(Int(ticket.index))], tickets[id] == ticket.number else {
                    continue
                }
                renumbered.rows.insert(Ticket(number: ticket.number, index: id.value))
            }
            return renumbered
        }
        listWith = Dictionary(uniqueKeysWithValues: lists.enumerated().map { ($1.requests, UInt32($0)) })
        locks = locks.enumerated().filter { newLocks[Index(value: $0.offset)] != nil }.map { _, lock in
            var renumbered = lock
            renumbered.holder = lock.holder.flatMap { renumbering[$0] }
            // Keeps tickets whose row has been removed, because one of them may represent the whole list, unless
            // nothing waits at all.
            renumbered.queue = Heap(
                lock.queue.unordered.compactMap { ticket in
                    tickets.isEmpty ? nil : newLists[ticket.index].map { Ticket(number: ticket.number, index: $0) }
                })
            return renumbered
        }
        var newIndexOf: [HolderTable.ScopedLock: Index] = [:]
        for (lock, index) in indexOf {
            guard let index = newLocks[index], let scope = renumbering[lock.scope] else { continue }
            newIndexOf[HolderTable.ScopedLock(lock: lock.lock, scope: scope)] = index
        }
        indexOf = newIndexOf
        let names = names
        withheld = withheld.filter { names.contains($0.key) }
        if tickets.isEmpty { nextTicket = 0 }
    }

    /// Forgets the ticket of a row that no longer wants its locks.
    mutating func forget(_ id: OperationID) {
        if !tickets.isEmpty { tickets[id] = nil }
    }

    /// Returns the rows that may go on after a row has released its locks, or did not take locks that it could have
    /// taken. It may wake more rows than can take the locks; those that are too late wait again.
    mutating func wake(after id: OperationID) -> [OperationID] {
        guard !tickets.isEmpty else { return [] }
        var woken: [OperationID] = []
        for request in requests(of: id) { wake(request.lock, &woken) }
        return woken
    }

    /// Sets the number of units of a lock that no row may take for now. Returns the rows that may go on.
    mutating func withhold(_ units: Int, of name: LockID, _ keepsReleases: Bool) -> [OperationID] {
        withheld[name] = (units, keepsReleases)
        guard let index = index(of: name) else { return [] }
        var woken: [OperationID] = []
        locks[index.value].withheld = units
        locks[index.value].keepsReleases = keepsReleases
        if !tickets.isEmpty { wake(index, &woken) }
        return woken
    }

    /// The fewest units of a lock of the whole run that a row waits for; nil if none waits.
    mutating func leastAwaited(of name: LockID) -> Int? {
        guard let lock = index(of: name), first(in: lock) != nil else { return nil }
        var least: Int?
        for ticket in locks[lock.value].queue.unordered {
            let list = Int(ticket.index)
            guard lists[list].place == lock, head(of: list) != nil else { continue }
            let units = self.units(of: lock, inList: list)
            least = min(units, least ?? units)
        }
        return least
    }

    private func units(of lock: Index, inList list: Int) -> Int {
        lists[list].requests.first { $0.lock == lock }?.units ?? 0
    }

    /// The index of a lock whose scope is the whole run.
    private func index(of name: LockID) -> Index? { indexOf[HolderTable.ScopedLock(lock: name, scope: .root)] }

    /// Returns the ticket of the first list that waits in the queue of a lock. Removes obsolete tickets in front of
    /// it.
    private mutating func first(in lock: Index) -> Ticket? {
        while let ticket = locks[lock.value].queue.min {
            let list = Int(ticket.index)
            if lists[list].place == lock {
                let head = head(of: list)
                if head?.number == ticket.number { return ticket }
                if head == nil { lists[list].place = nil }
                // The first row of the list no longer waits. A row before it has a ticket of its own.
                if let head, head.number > ticket.number {
                    locks[lock.value].queue.insert(Ticket(number: head.number, index: ticket.index))
                }
            }
            locks[lock.value].queue.removeMin()
        }
        return nil
    }

    private mutating func wake(_ lock: Index, _ woken: inout [OperationID]) {
        var room = locks[lock.value].available
        var passed: [Ticket] = []
        while room > 0, let ticket = first(in: lock) {
            locks[lock.value].queue.removeMin()
            let list = Int(ticket.index)
            let units = units(of: lock, inList: list)
            if let missing = missing(for: lists[list].requests), missing != lock {
                lists[list].place = missing
                locks[missing.value].queue.insert(ticket)
            } else if units > room {
                passed.append(ticket)
            } else {
                woken.append(OperationID(Int(lists[list].rows.removeMin().index)))
                room -= units
                if let next = self.head(of: list) {
                    locks[lock.value].queue.insert(Ticket(number: next.number, index: ticket.index))
                } else {
                    lists[list].place = nil
                }
            }
        }
        for ticket in passed { locks[lock.value].queue.insert(ticket) }
    }

    /// The ticket of the first row in a list that still waits.
    private mutating func head(of list: Int) -> Ticket? {
        while let first = lists[list].rows.min {
            if tickets[OperationID(Int(first.index))] == first.number { return first }
            lists[list].rows.removeMin()
        }
        return nil
    }
}
