internal import OperationScheduling

/// The operations that have units of pools, and the queues that wait for some. A value, under one lock for all queues.
///
/// Each queue decides about its own operations. While it does, the table is locked: it tells the queue's scheduler how
/// many units others have, and notes what the scheduler has taken and given back. So what a start needs is taken at
/// once, and no two starts take the same.
///
/// Queues that wait for units of a pool stand in *line*. What is given back is offered to each of them, the first
/// first, as long as something is free; one that takes some goes to the end. A queue that cannot use what is free keeps
/// none of the others from it. Only a release makes an offer, and an offer makes no other, so offers come to an end.
struct PoolTable {
    /// An operation and the units that it has.
    struct Holder {
        let core: OperationCore
        let units: Int
    }

    private struct Entry {
        var holders: [ObjectIdentifier: Holder] = [:]
        var taken = 0
        /// The units of each queue that has some.
        var takenBy: [ObjectIdentifier: Int] = [:]
        /// The queues that wait, by number.
        var line: [(number: UInt64, queue: QueueCore)] = []
        /// The numbers of those in line.
        var numbers: [ObjectIdentifier: UInt64] = [:]

        var isEmpty: Bool { holders.isEmpty && line.isEmpty }

        /// The place of the first in line whose number is not below this one.
        func place(from number: UInt64) -> Int {
            var (low, high) = (0, line.count)
            while low < high {
                let middle = (low + high) / 2
                if line[middle].number < number { low = middle + 1 } else { high = middle }
            }
            return low
        }

        mutating func leave(_ queue: QueueCore) {
            guard let number = numbers.removeValue(forKey: ObjectIdentifier(queue)) else { return }
            line.remove(at: place(from: number))
        }
    }

    static let shared = Lock(PoolTable())

    private var entries: [Pool: Entry] = [:]
    private var nextNumber: UInt64 = 0

    /// True while anything has or wants units of it.
    func knows(_ pool: Pool) -> Bool { entries[pool] != nil }

    func holders(of pool: Pool) -> [Holder] { entries[pool].map { Array($0.holders.values) } ?? [] }

    /// How many units of a pool others have than a queue's own operations.
    func taken(of pool: Pool, besides queue: QueueCore) -> Int {
        guard let entry = entries[pool] else { return 0 }
        return entry.taken - (entry.takenBy[ObjectIdentifier(queue)] ?? 0)
    }

    /// True if a queue that may be about to give something back is not the first that waits.
    func givesWay(_ queue: QueueCore, for pool: Pool) -> Bool {
        guard let entry = entries[pool], let first = entry.line.first else { return false }
        return first.queue !== queue && entry.takenBy[ObjectIdentifier(queue)] != nil
    }

    mutating func take(_ pool: Pool, _ units: Int, _ core: OperationCore, in queue: QueueCore) {
        entries[pool, default: Entry()].holders[ObjectIdentifier(core)] = Holder(core: core, units: units)
        entries[pool, default: Entry()].taken += units
        entries[pool, default: Entry()].takenBy[ObjectIdentifier(queue), default: 0] += units
        // What it still waits for comes after what others wait for.
        entries[pool, default: Entry()].leave(queue)
    }

    mutating func giveBack(_ pool: Pool, by core: OperationCore, in queue: QueueCore) {
        guard let holder = entries[pool]?.holders.removeValue(forKey: ObjectIdentifier(core)) else { return }
        entries[pool]?.taken -= holder.units
        let left = (entries[pool]?.takenBy[ObjectIdentifier(queue)] ?? 0) - holder.units
        entries[pool]?.takenBy[ObjectIdentifier(queue)] = left > 0 ? left : nil
    }

    /// Notes if a queue waits for more than it has.
    mutating func note(_ queue: QueueCore, waits: Bool, for pool: Pool) {
        let isInLine = entries[pool]?.numbers[ObjectIdentifier(queue)] != nil
        if waits, !isInLine {
            entries[pool, default: Entry()].line.append((nextNumber, queue))
            entries[pool, default: Entry()].numbers[ObjectIdentifier(queue)] = nextNumber
            nextNumber += 1
        } else if !waits, isInLine {
            entries[pool]?.leave(queue)
        }
        if entries[pool]?.isEmpty == true { entries[pool] = nil }
    }

    /// What is free of a pool, for those that are in line when it is made.
    struct Offer {
        let pool: Pool
        /// Those that come later have looked by themselves.
        let end: UInt64
    }

    /// Returns nil if nothing is free, or nothing waits.
    func offer(_ pool: Pool) -> Offer? {
        guard let entry = entries[pool], entry.taken < pool.units, !entry.line.isEmpty else { return nil }
        return Offer(pool: pool, end: nextNumber)
    }

    /// The first in line whose number is not below `number`; nil if none is left, or nothing is free.
    private func next(from number: UInt64, for offer: Offer) -> (number: UInt64, queue: QueueCore)? {
        guard let entry = entries[offer.pool], entry.taken < offer.pool.units else { return nil }
        let place = entry.place(from: number)
        return place < entry.line.count && entry.line[place].number < offer.end ? entry.line[place] : nil
    }

    /// Lets each queue in line look whether it can have what is free. Outside all locks.
    static func make(_ offer: Offer) {
        var number: UInt64 = 0
        while let (found, queue) = shared.withLock({ $0.next(from: number, for: offer) }) {
            queue.lookForUnits()
            number = found + 1
        }
    }
}

extension QueueCore {
    /// Tells the scheduler what happened, and what others have taken of the pools that operations here ask for. What has
    /// become free is seen only in a `look`: a change that takes several events must not start what it is about.
    func handleSharing(_ event: OperationScheduler.Event, isLook: Bool = false, _ state: inout State) {
        let (offers, mustLook) = PoolTable.shared.withLock { table in
            var events: [OperationScheduler.Event] = []
            for (place, known) in state.pools.enumerated() where known.withheld > 0 || table.knows(known.pool) {
                let taken = table.taken(of: known.pool, besides: self)
                let least = table.givesWay(self, for: known.pool) ? known.pool.units : known.withheld
                let withheld = isLook ? taken : max(taken, least)
                guard withheld != known.withheld else { continue }
                state.pools[place].withheld = withheld
                events.append(.withheld(known.lock, withheld))
            }
            let first = state.commands.count
            state.scheduler?.handle(events + [event], at: state.now, into: &state.commands)
            var released: [Pool] = []
            for command in state.commands[first...] {
                if let pool = note(command, in: &table, state), !released.contains(pool) { released.append(pool) }
            }
            var mustLook = false
            for known in state.pools where known.withheld > 0 || table.knows(known.pool) {
                let waits = state.scheduler?.isAwaited(known.lock) == true
                table.note(self, waits: waits, for: known.pool)
                guard waits, known.withheld > table.taken(of: known.pool, besides: self) else { continue }
                // What was given back is offered, to others first.
                if !released.contains(known.pool) { mustLook = true }
            }
            return (released.compactMap { table.offer($0) }, mustLook)
        }
        state.offers += offers
        if mustLook { state.mustLook = true }
    }

    /// Returns the pool that units were given back to.
    private func note(_ command: OperationScheduler.Command, in table: inout PoolTable, _ state: State) -> Pool? {
        switch command {
        case .acquired(let lock, let row):
            guard let pool = state.pool(of: lock), case .operation(let core) = state.entries[row.row] else {
                return nil
            }
            table.take(pool, core.options.pools[pool] ?? 0, core, in: self)
            return nil
        case .released(let lock, let row):
            guard let pool = state.pool(of: lock), case .operation(let core) = state.entries[row.row] else {
                return nil
            }
            table.giveBack(pool, by: core, in: self)
            return pool
        default: return nil
        }
    }

    /// Starts what waits for units that have become free.
    fileprivate func lookForUnits() {
        update(inline: false) { $0.mustLook = true }
    }

    /// Starts what waits for units that are free, at the end of a change.
    func look(_ state: inout State) {
        while state.mustLook {
            state.mustLook = false
            guard state.scheduler != nil, !state.pools.isEmpty else { return }
            handleSharing(.time, isLook: true, &state)
            carryOut(&state)
        }
    }
}

/// A pool that operations of a queue ask for.
struct KnownPool: Sendable {
    let pool: Pool
    let lock: LockID
    /// How many units the scheduler takes for taken by others.
    var withheld = 0
}

extension QueueCore.State {
    fileprivate func pool(of lock: LockID) -> Pool? { pools.first { $0.lock == lock }?.pool }
}
