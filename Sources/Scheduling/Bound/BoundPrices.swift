/// The prices of rows: the milliseconds of waiting for a slot, a place or a lock that one millisecond of the row's
/// work pays for. Only resources that can run out count.
///
/// While an operation waits for a resource, the prices of the rows that hold a part of it add up to 1 or more.
struct BoundPrices {
    /// For locks and for the places of single operations.
    private(set) var locks: [Double]
    /// Also for slots and for groups that limit the operations inside them.
    private(set) var all: [Double]
    /// For a group that holds a resource as long as it goes on.
    private(set) var blocks: [Double]
    /// The groups whose limit on operations may be reached; the outermost group represents all slots.
    private(set) var counted: [(group: OperationID, limit: Int)] = []

    init(_ rows: BoundRows, width: Int, others: Int) {
        let table = rows.graph.table
        let none = [Double](repeating: 0, count: table.rows.count)
        (locks, all, blocks) = (none, none, none)
        priceLocks(rows)
        pricePlaces(rows)
        let together = Self.together(rows)
        var around = none
        for row in table.rows.indices {
            around[row] = row == 0 ? 0 : around[table.rows[row].parent.row]
            if row == 0 {
                if together[0] + Double(others) > Double(width) {
                    counted.append((.root, width))
                    around[0] = 1 / Double(width)
                }
            } else if table.rows[row].isGroup {
                // A limit that is not below the number of slots adds nothing: when it is reached, the slots are
                // taken.
                if case .operations(let limit) = table.groups[table.rows[row].group].limit,
                    limit < width || counted.isEmpty, together[row] > Double(limit)
                {
                    counted.append((OperationID(row), limit))
                    around[row] = max(around[row], 1 / Double(limit))
                }
            }
            if !table.rows[row].isGroup { all[row] = max(locks[row], around[row]) }
        }
    }

    private mutating func priceLocks(_ rows: BoundRows) {
        struct Use {
            var units = 0.0
            var largest = 0
        }
        var uses: [HolderTable.ScopedLock: Use] = [:]
        for (id, requests) in rows.requests {
            // Rounds follow one another, copies run side by side.
            let count = Self.copies(of: id, rows)
            for request in requests {
                var use = uses[request.lock] ?? Use()
                use.units += Double(request.units) * count
                use.largest = max(use.largest, request.units)
                uses[request.lock] = use
            }
        }
        for (id, requests) in rows.requests {
            for request in requests {
                let capacity = rows.graph.capacity(of: request.lock.lock)
                guard let use = uses[request.lock], use.units > Double(capacity) else { continue }
                // A waiting operation requests at most `largest`, so more than the rest of the capacity is taken.
                let price = min(1, Double(request.units) / Double(capacity - use.largest + 1))
                if rows.graph.table.rows[id.row].isGroup {
                    blocks[id.row] = max(blocks[id.row], price)
                } else {
                    locks[id.row] = max(locks[id.row], price)
                }
            }
        }
    }

    private static func copies(of id: OperationID, _ rows: BoundRows) -> Double {
        var count = 1.0
        var next = id.row
        while next > 0 {
            count *= rows.copies[next]
            next = rows.graph.table.rows[next].parent.row
        }
        return count
    }

    /// Prices the places of members in groups that limit how many are in progress.
    private mutating func pricePlaces(_ rows: BoundRows) {
        let table = rows.graph.table
        guard table.limitsMembers else { return }
        for group in table.groups {
            guard case .members(let limit) = group.limit else { continue }
            let members = rows.members(of: group.id)
            guard members.reduce(0, { $0 + rows.copies[$1] }) > Double(limit) else { continue }
            for member in members {
                if table.rows[member].isGroup {
                    blocks[member] = max(blocks[member], 1 / Double(limit))
                } else {
                    locks[member] = max(locks[member], 1 / Double(limit))
                }
            }
        }
    }

    /// The most operations that can be in progress or ready at once.
    static func mostTogether(_ rows: BoundRows) -> Double { together(rows)[0] }

    /// The most operations of each row that can be in progress or ready at once; for a group that limits them, the
    /// number without its limit. Members that wait for one another count as one: the members are covered by chains,
    /// found greedily.
    private static func together(_ rows: BoundRows) -> [Double] {
        let table = rows.graph.table
        let count = table.rows.count
        var (next, hasPrevious) = ([Int](repeating: 0, count: count), [Bool](repeating: false, count: count))
        for edge in rows.edges {
            let (dependent, target) = (edge.dependent.row, edge.prerequisite.row)
            guard table.rows[dependent].parent == table.rows[target].parent, next[target] == 0,
                !hasPrevious[dependent]
            else { continue }
            next[target] = dependent
            hasPrevious[dependent] = true
        }
        var free = [Double](repeating: 1, count: count)
        var limited = free
        for row in table.rows.indices.reversed() {
            guard table.rows[row].isGroup else {
                limited[row] = rows.copies[row]
                continue
            }
            var (sum, largest) = (0.0, 0.0)
            for member in rows.members(of: OperationID(row)) {
                largest = max(largest, limited[member] / rows.copies[member])
                guard !hasPrevious[member] else { continue }
                var (most, link) = (limited[member], member)
                while next[link] != 0 {
                    link = next[link]
                    most = max(most, limited[link])
                }
                sum += most
            }
            var own = sum
            switch table.groups[table.rows[row].group].limit {
            case .unlimited: break
            case .members(let limit):
                sum = min(sum, Double(limit) * largest)
                own = sum
            case .operations(let limit): own = min(own, Double(limit))
            }
            if let hooks = table.hooks[OperationID(row)] {
                for hook in [hooks.onFailure, hooks.finally].compactMap(\.self) {
                    (sum, own) = (max(sum, free[hook.row]), max(own, limited[hook.row]))
                }
            }
            free[row] = sum
            limited[row] = own * rows.copies[row]
        }
        return free
    }
}

extension BoundRows {
    /// The direct members of a group, except its hooks.
    func members(of group: OperationID) -> [Int] {
        var members: [Int] = []
        var row = group.row + 1
        while row < Int(graph.table.rows[group.row].subtreeEnd) {
            if !graph.table.rows[row].flags.contains(.isHook) { members.append(row) }
            row = Int(graph.table.rows[row].subtreeEnd)
        }
        return members
    }
}
