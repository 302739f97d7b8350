internal import Scheduling
internal import Synchronization

/// The operations that hold units of pools, and the queues that wait for some. A value, under one lock for all
/// queues.
///
/// Each queue decides about its own operations. Meanwhile the table is locked: the queue passes the units that other
/// queues hold to its scheduler, and records the units that the scheduler takes and releases. So a start takes its
/// units at once, and no two starts take the same units.
///
/// Queues that wait for units of a pool are in *line*. Released units are offered to the queues that can use them, in
/// order; a queue that takes some moves to the end. A queue that cannot use the free units does not keep others from
/// using them. Only a release makes an offer, and an offer makes no other, so offers come to an end.
struct PoolTable {
    /// An operation and the units that it holds.
    struct Holder {
        let core: OperationCore
        let units: Int
    }

    private struct Waiter {
        /// Queues that joined the line later have higher numbers.
        let number: UInt64
        let queue: QueueCore
        /// The fewest units that an operation of the queue waits for.
        var least: Int
    }

    private struct Entry {
        var holders: [ObjectIdentifier: Holder] = [:]
        /// The units that the operations of each queue hold.
        private var takenBy: [ObjectIdentifier: Int] = [:]
        private(set) var taken = 0
        /// In the order of their numbers.
        private(set) var line: [Waiter] = []
        private var numbers: [ObjectIdentifier: UInt64] = [:]

        var isEmpty: Bool { holders.isEmpty && line.isEmpty }

        func taken(by queue: QueueCore) -> Int { takenBy[ObjectIdentifier(queue)] ?? 0 }
        func hasInLine(_ queue: QueueCore) -> Bool { numbers[ObjectIdentifier(queue)] != nil }

        mutating func take(_ units: Int, _ core: OperationCore, in queue: QueueCore) {
            holders[ObjectIdentifier(core)] = Holder(core: core, units: units)
            takenBy[ObjectIdentifier(queue), default: 0] += units
            taken += units
            // Other requests of the queue come after those of other queues.
            leave(queue)
        }

        /// Returns the number of released units; 0 if the operation holds none.
        mutating func giveBack(by core: OperationCore, in queue: QueueCore) -> Int {
            guard let units = holders.removeValue(forKey: ObjectIdentifier(core))?.units else { return 0 }
            let left = taken(by: queue) - units
            takenBy[ObjectIdentifier(queue)] = left > 0 ? left : nil
            taken -= units
            return units
        }

        mutating func join(_ queue: QueueCore, number: UInt64, least: Int) {
            if let known = numbers[ObjectIdentifier(queue)] {
                line[place(from: known)].least = least
            } else {
                line.append(Waiter(number: number, queue: queue, least: least))
                numbers[ObjectIdentifier(queue)] = number
            }
        }

        mutating func leave(_ queue: QueueCore) {
            guard let number = numbers.removeValue(forKey: ObjectIdentifier(queue)) else { return }
            line.remove(at: place(from: number))
        }

        /// The index of the first queue in line whose number is not below `number`.
        func place(from number: UInt64) -> Int {
            var (low, high) = (0, line.count)
            while low < high {
                let middle = (low + high) / 2
                if line[middle].number < number { low = middle + 1 } else { high = middle }
            }
            return low
        }
    }

    static let shared = Lock(PoolTable())

    private var entries: [Pool: Entry] = [:]
    private var nextNumber: UInt64 = 0

    /// True while anything holds or wants units of the pool.
    func knows(_ pool: Pool) -> Bool { entries[pool] != nil }

    func holders(of pool: Pool) -> [Holder] { entries[pool].map { Array($0.holders.values) } ?? [] }

    /// The units of a pool that operations of other queues hold.
    fileprivate func taken(of pool: Pool, besides queue: QueueCore) -> Int {
        entries[pool].map { $0.taken - $0.taken(by: queue) } ?? 0
    }

    /// True if another queue precedes this one in line.
    fileprivate func hasRival(_ queue: QueueCore, for pool: Pool) -> Bool {
        entries[pool]?.line.first.map { $0.queue !== queue } ?? false
    }

    fileprivate func hasInLine(_ queue: QueueCore, for pool: Pool) -> Bool {
        entries[pool]?.hasInLine(queue) ?? false
    }

    fileprivate mutating func take(_ pool: Pool, _ core: OperationCore, in queue: QueueCore) {
        entries[pool, default: Entry()].take(core.options.pools[pool] ?? 0, core, in: queue)
    }

    fileprivate mutating func giveBack(_ pool: Pool, by core: OperationCore, in queue: QueueCore) -> Int {
        entries[pool]?.giveBack(by: core, in: queue) ?? 0
    }

    /// Keeps a queue in line while something there waits for units; nil if nothing does.
    fileprivate mutating func setLeast(_ least: Int?, of pool: Pool, in queue: QueueCore) {
        if let least {
            entries[pool, default: Entry()].join(queue, number: nextNumber, least: least)
            nextNumber += 1
        } else {
            entries[pool]?.leave(queue)
        }
        if entries[pool]?.isEmpty == true { entries[pool] = nil }
    }

    /// An offer of the free units of a pool to the queues that are in line when it is made.
    struct Offer {
        let pool: Pool
        /// Queues with this number or a higher one have looked by themselves.
        fileprivate let end: UInt64
    }

    /// Returns nil if nothing is free or nothing waits.
    fileprivate func offer(_ pool: Pool) -> Offer? {
        guard let entry = entries[pool], entry.taken < pool.units, !entry.line.isEmpty else { return nil }
        return Offer(pool: pool, end: nextNumber)
    }

    /// The first queue in line that can use the free units and whose number is not below `number`.
    private func next(from number: UInt64, for offer: Offer) -> Waiter? {
        guard let entry = entries[offer.pool] else { return nil }
        let free = offer.pool.units - entry.taken
        if free <= 0 { return nil }
        let rest = entry.line[entry.place(from: number)...].prefix { $0.number < offer.end }
        return rest.first { $0.least <= free }
    }

    /// Makes each queue in line look for free units. Call it outside all locks.
    static func make(_ offer: Offer) {
        var number: UInt64 = 0
        while let waiter = shared.withLock({ $0.next(from: number, for: offer) }) {
            waiter.queue.lookForUnits()
            number = waiter.number + 1
        }
    }
}

/// A pool whose units operations of a queue request.
struct KnownPool: Sendable {
    let pool: Pool
    let lock: LockID
    /// The units that the scheduler must not take.
    fileprivate var withheld = 0
    /// True if units that the scheduler releases are withheld too, because they are offered to other queues first.
    fileprivate var keepsReleases = false

    /// Returns the event that reports the units of other queues to the scheduler; nil if nothing has changed. Units
    /// that became free while the queue was in line are reported only in a look: a change that takes several events
    /// must not start the operations it is about.
    fileprivate mutating func refresh(
        from table: PoolTable, in queue: QueueCore, isLook: Bool
    ) -> OperationScheduler.Event? {
        let taken = table.taken(of: pool, besides: queue)
        let known = (withheld, keepsReleases)
        withheld = isLook || !table.hasInLine(queue, for: pool) ? taken : max(taken, withheld)
        keepsReleases = table.hasRival(queue, for: pool)
        return (withheld, keepsReleases) == known
            ? nil : .withheld(lock, withheld, keepsReleases: keepsReleases)
    }
}

/// The locks of a queue's scheduler: those of the mutexes that operations name, and of the pools whose units they
/// request.
struct KnownLocks: Sendable {
    /// Possibly with mutexes that are no longer named.
    private var mutexes: [String: LockID] = [:]
    fileprivate(set) var pools: [KnownPool] = []
    /// The next lock number. Numbers are not reused.
    private var next = 0

    var count: Int { mutexes.count + pools.count }
    var hasMutexes: Bool { !mutexes.isEmpty }

    func lock(of mutex: String) -> LockID? { mutexes[mutex] }

    /// Returns the requests of an operation with these options, and declares pools that are new. A lock exists as
    /// long as anything names it. The order is always the same, so that requests for the same locks wait together.
    mutating func requests(for options: OperationOptions, _ rows: inout OperationGraph) -> [LockRequest] {
        let mutexes = options.mutexes.map { LockRequest(lock: makeLock(of: $0)) }
        let units = options.units.map { LockRequest(lock: makeLock(of: $0.pool, &rows), units: $0.count) }
        return mutexes.sorted { $0.lock < $1.lock } + units.sorted { $0.lock < $1.lock }
    }

    private mutating func makeLock(of mutex: String) -> LockID {
        if let known = mutexes[mutex] { return known }
        let lock = makeLock()
        mutexes[mutex] = lock
        return lock
    }

    private mutating func makeLock(of pool: Pool, _ rows: inout OperationGraph) -> LockID {
        if let known = pools.first(where: { $0.pool == pool }) { return known.lock }
        let lock = makeLock()
        pools.append(KnownPool(pool: pool, lock: lock))
        rows.declarePool(lock, of: pool.units)
        return lock
    }

    private mutating func makeLock() -> LockID {
        defer { next += 1 }
        return LockID(index: next)
    }

    /// Forgets the locks that nothing asks for.
    mutating func removeAll(besides asked: Set<LockID>) {
        mutexes = mutexes.filter { asked.contains($0.value) }
        pools.removeAll { !asked.contains($0.lock) }
    }
}

extension QueueCore {
    /// Passes an event to the scheduler, along with the units that other queues hold of pools that are used here.
    func handleSharing(_ event: OperationScheduler.Event, isLook: Bool = false, _ state: inout State) {
        let (offers, mustLook) = PoolTable.shared.withLock { table in
            var events: [OperationScheduler.Event] = []
            for place in state.locks.pools.indices {
                if let news = state.locks.pools[place].refresh(from: table, in: self, isLook: isLook) {
                    events.append(news)
                }
            }
            let first = state.commands.count
            state.scheduler?.handle(events + [event], at: state.now, into: &state.commands)
            var released: [Pool] = []
            for command in state.commands[first...] {
                switch command {
                case .acquired(let lock, let row):
                    if let (place, core) = holder(row, of: lock, state) {
                        table.take(state.locks.pools[place].pool, core, in: self)
                    }
                case .released(let lock, let row):
                    guard let (place, core) = holder(row, of: lock, state) else { continue }
                    let pool = state.locks.pools[place].pool
                    let units = table.giveBack(pool, by: core, in: self)
                    if state.locks.pools[place].keepsReleases { state.locks.pools[place].withheld += units }
                    if !released.contains(pool) { released.append(pool) }
                default: break
                }
            }
            var mustLook = false
            for known in state.locks.pools {
                let least = state.scheduler?.leastAwaited(of: known.lock)
                table.setLeast(least, of: known.pool, in: self)
                // Released units are offered, to other queues first.
                if least != nil, known.withheld > table.taken(of: known.pool, besides: self),
                    !released.contains(known.pool)
                {
                    mustLook = true
                }
            }
            return (released.compactMap { table.offer($0) }, mustLook)
        }
        state.offers += offers
        if mustLook { state.mustLook = true }
    }

    /// The index of a pool in `pools` and the operation that a command is about; nil if the lock is a mutex.
    private func holder(_ row: OperationID, of lock: LockID, _ state: State) -> (place: Int, OperationCore)? {
        guard let place = state.locks.pools.firstIndex(where: { $0.lock == lock }),
            case .operation(let core) = state.entries[row.row]
        else { return nil }
        return (place, core)
    }

    /// Starts operations that wait for units that have become free.
    fileprivate func lookForUnits() {
        update(inline: false) { $0.mustLook = true }
    }

    /// Starts operations that wait for free units, at the end of a change.
    func look(_ state: inout State) {
        while state.mustLook {
            state.mustLook = false
            guard state.scheduler != nil, !state.locks.pools.isEmpty else { return }
            handleSharing(.time, isLook: true, &state)
            carryOut(&state)
        }
    }
}

/// A resource with a fixed number of units, shared by operations in any queues: licences, connections, graphics
/// cards. A pool of one unit excludes like a mutex.
///
/// The options of an operation name the units that it takes. It starts when it can take all of them, together with
/// its mutexes and a place. So it waits for nothing while it holds units, and the order of pools cannot cause a
/// deadlock. Operations of one queue with the same requests are served in the order in which they began to wait;
/// queues take turns. No units are reserved, so a request for many units may be overtaken by requests for few.
public final class Pool: Sendable {
    private static let count = Atomic<UInt64>(0)

    /// The name for messages; pools of the same name are unrelated.
    public let name: String
    /// The number of units.
    public let units: Int
    /// Pools that were created later have higher numbers.
    let number = Pool.count.add(1, ordering: .relaxed).newValue

    /// Creates a pool with this many units. If there are fewer than 1, requests for it are refused.
    public init(_ name: String, _ units: Int = 1) {
        self.name = name
        self.units = units
    }
}

extension Pool: Hashable {
    /// True for the same pool, whatever its name.
    public static func == (left: Pool, right: Pool) -> Bool { left === right }

    /// Hashes the identity of the pool.
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

extension Pool: CustomStringConvertible {
    /// The name in backticks.
    public var description: String { "`\(name)`" }
}
