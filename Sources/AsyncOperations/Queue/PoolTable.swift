internal import OperationScheduling

/// Which operations have units of which pools, and which queues wait for some. A value, under one lock for all queues.
///
/// Each queue decides about its own operations. While it does, the table is locked: it tells the queue's scheduler how
/// many units others have, and notes what the scheduler has taken and given back. So no unit is had twice, and what a
/// start needs is taken at once.
///
/// The queues that wait for units of a pool stand in *line*. When some become free, each looks again in its turn, in
/// which no other takes any; one that takes some goes to the end of the line. A queue that cannot use what is free
/// keeps nobody else from it.
struct PoolTable {
    struct Holder {
        let core: OperationCore
        let queue: QueueCore
        let units: Int
    }

    private struct Entry {
        var holders: [Holder] = []
        var line: [(queue: QueueCore, hasLooked: Bool)] = []

        /// The units of all holders.
        var taken = 0

        var isEmpty: Bool { holders.isEmpty && line.isEmpty }

        /// The first queue that has not looked since something became free; nil if nothing is.
        func turn(of pool: Pool) -> QueueCore? {
            taken < pool.units ? line.first { !$0.hasLooked }?.queue : nil
        }
    }

    static let shared = Lock(PoolTable())

    private var entries: [Pool: Entry] = [:]

    /// True while anything has or wants units of it.
    func knows(_ pool: Pool) -> Bool { entries[pool] != nil }

    func holders(of pool: Pool) -> [Holder] { entries[pool]?.holders ?? [] }

    /// True if a queue may take what is free. One that may be about to give something back leaves it to others.
    func hasTurn(_ queue: QueueCore, for pool: Pool) -> Bool {
        guard let entry = entries[pool] else { return true }
        if let turn = entry.turn(of: pool) { return turn === queue }
        return !entry.holders.contains { $0.queue === queue } || entry.line.allSatisfy { $0.queue === queue }
    }

    /// How many units a queue cannot have.
    func withheld(from queue: QueueCore, of pool: Pool) -> Int {
        guard hasTurn(queue, for: pool) else { return pool.units }
        return holders(of: pool).reduce(0) { $1.queue === queue ? $0 : $0 + $1.units }
    }

    mutating func take(_ pool: Pool, _ holder: Holder) {
        entries[pool, default: Entry()].holders.append(holder)
        entries[pool, default: Entry()].taken += holder.units
    }

    /// All in line may look again.
    mutating func giveBack(_ pool: Pool, by core: OperationCore) {
        guard var entry = entries[pool], let index = entry.holders.firstIndex(where: { $0.core === core }) else {
            return
        }
        entry.taken -= entry.holders.remove(at: index).units
        for place in entry.line.indices { entry.line[place].hasLooked = false }
        entries[pool] = entry.isEmpty ? nil : entry
    }

    /// Notes that a queue has decided, and has looked if it had its turn; and whether it wants more than it has.
    /// Returns whether any queue is to look now.
    mutating func note(_ queue: QueueCore, for pool: Pool, hadTurn: Bool, hasTaken: Bool, isWaiting: Bool) -> Bool {
        var entry = entries[pool] ?? Entry()
        let place = entry.line.firstIndex { $0.queue === queue }
        if let place, isWaiting, !hasTaken {
            entry.line[place].hasLooked = hadTurn
        } else {
            if let place { entry.line.remove(at: place) }
            if isWaiting { entry.line.append((queue, hasLooked: hadTurn)) }
        }
        entries[pool] = entry.isEmpty ? nil : entry
        return entry.turn(of: pool) != nil
    }

    /// Lets the queues that wait for units look, until all have. Outside all locks.
    static func offer(_ pool: Pool) {
        while let queue = shared.withLock({ $0.entries[pool]?.turn(of: pool) }) { queue.lookForUnits() }
    }
}

extension QueueCore {
    /// Tells the scheduler what happened, and what others have of the pools that operations here ask for.
    func handleSharing(_ event: OperationScheduler.Event, _ state: inout State) {
        let offered = PoolTable.shared.withLock { table in
            let hadTurns = state.pools.map { table.hasTurn(self, for: $0.pool) }
            let first = state.commands.count
            let events = state.pools.map { pool, lock in
                OperationScheduler.Event.withheld(lock, table.withheld(from: self, of: pool))
            }
            state.scheduler?.handle(events + [event], at: state.now, into: &state.commands)
            var taken: Set<LockID> = []
            for command in state.commands[first...] {
                note(command, in: &table, state)
                if case .acquired(let lock, _) = command { taken.insert(lock) }
            }
            return zip(state.pools, hadTurns).compactMap { known, hadTurn -> Pool? in
                let isWaiting = state.scheduler?.isAwaited(known.lock) == true
                let isOffered = table.note(
                    self, for: known.pool, hadTurn: hadTurn, hasTaken: taken.contains(known.lock), isWaiting: isWaiting)
                return isOffered ? known.pool : nil
            }
        }
        for pool in offered { state.append(.offer(pool)) }
    }

    private func note(_ command: OperationScheduler.Command, in table: inout PoolTable, _ state: State) {
        switch command {
        case .acquired(let lock, let row):
            guard let pool = state.pool(of: lock), case .operation(let core) = state.entries[row.row] else { return }
            table.take(pool, PoolTable.Holder(core: core, queue: self, units: core.options.pools[pool] ?? 0))
        case .released(let lock, let row):
            guard let pool = state.pool(of: lock), case .operation(let core) = state.entries[row.row] else { return }
            table.giveBack(pool, by: core)
        default: break
        }
    }

    /// Starts what waits for units that have become free.
    fileprivate func lookForUnits() { update(inline: false) { handle(.time, &$0) } }
}

extension QueueCore.State {
    fileprivate func pool(of lock: LockID) -> Pool? { pools.first { $0.lock == lock }?.pool }
}
