/// The longest chain of rows that wait for one another, and the work outside it, for given prices.
///
/// A row on the chain adds its waits and the unpaid share of its work; the work of all rows counts at its price. A
/// group's limit caps the sum of both for everything inside it except hooks.
struct BoundChains {
    /// The work of all rows at their prices.
    private(set) var work = 0.0
    /// The work of groups that hold a resource for which others wait.
    private(set) var blocks = 0.0
    /// The length that the longest chain adds.
    private(set) var gain = 0.0
    /// The rows of that chain, in order: operations, and groups whose own limit or rounds count.
    private(set) var chain: [(row: OperationID, length: Double)] = []

    var total: Double { work + blocks + gain }

    private let rows: BoundRows
    private let table: RowTable
    private let prices: [Double]
    private let blockPrices: [Double]
    /// The additional gain that a chain may have in the body of a group: in one round, and in all rounds.
    private var roundSlack: [Double]
    private var slack: [Double]
    /// The gains of all operations of a row, except hooks.
    private var gains: [Double]
    private var hookGains: [Double]

    init(_ rows: BoundRows, prices: [Double], blocks: [Double]) {
        self.rows = rows
        table = rows.graph.table
        self.prices = prices
        blockPrices = blocks
        let count = table.rows.count
        roundSlack = [Double](repeating: .infinity, count: count)
        slack = roundSlack
        gains = [Double](repeating: 0, count: count)
        hookGains = gains
        addWork()
        walk()
    }

    private mutating func addWork() {
        var body = [Double](repeating: 0, count: table.rows.count)
        var hooks = body
        for row in table.rows.indices.reversed() {
            if table.rows[row].isGroup {
                let rounds = rows.rounds[row]
                if row == 0 { body[0] += rows.once }
                roundSlack[row] = Self.rest(of: rows.roundLimits[row], without: body[row]) + hookGains[row]
                body[row] = min(body[row], rows.roundLimits[row]) * rounds
                slack[row] = Self.rest(of: rows.limits[row], without: body[row])
                body[row] = min(body[row], rows.limits[row])
                hooks[row] *= rounds
                gains[row] = gains[row] * rounds + rows.waits[row]
                hookGains[row] *= rounds
                slack[row] += hookGains[row]
            } else {
                body[row] = rows.work[row] * prices[row]
                gains[row] = min(
                    rows.work[row] * (1 - prices[row]) + rows.waits[row], max(0, rows.wholes[row] - body[row]))
            }
            guard row > 0 else { break }
            let parent = table.rows[row].parent.row
            if table.rows[row].flags.contains(.isHook) {
                hooks[parent] += body[row] + hooks[row]
                hookGains[parent] += gains[row] + hookGains[row]
            } else {
                body[parent] += body[row] * rows.copies[row]
                hooks[parent] += hooks[row] * rows.copies[row]
                gains[parent] += gains[row]
                hookGains[parent] += hookGains[row]
            }
        }
        work = body[0] + hooks[0]
    }

    private static func rest(of limit: Double, without work: Double) -> Double {
        limit.isFinite ? max(0, limit - work) : .infinity
    }

    // MARK: The chain

    /// The moments of a row: its start, the end of its body, and its end.
    private enum Moment: Int { case start, body, end }

    private static func index(_ row: Int, _ moment: Moment) -> Int { row * 3 + moment.rawValue }

    private mutating func walk() {
        let count = table.rows.count
        var values = [Double](repeating: 0, count: count * 3)
        var from = [Int](repeating: -1, count: count * 3)
        var entries = [Double](repeating: 0, count: count)
        var pending = pendingCounts()
        var dependents = Adjacency()
        dependents.append(count: count, edges: rows.edges, from: { $0.prerequisite }, to: { $0.dependent })
        var capped: Set<Int> = []
        var queue = [Self.index(0, .start)]
        queue.reserveCapacity(count * 3)

        func reach(_ moment: Int, _ value: Double, from other: Int) {
            if value >= values[moment] || from[moment] < 0 {
                values[moment] = max(value, values[moment])
                from[moment] = other
            }
            pending[moment] -= 1
            if pending[moment] == 0 { queue.append(moment) }
        }

        var next = 0
        while next < queue.count {
            let moment = queue[next]
            next += 1
            let row = moment / 3
            guard let kind = Moment(rawValue: moment % 3) else { continue }
            switch kind {
            case .start:
                entries[row] = max(entries[row], values[moment])
                guard table.rows[row].isGroup else {
                    reach(Self.index(row, .end), values[moment] + gains[row], from: moment)
                    continue
                }
                reach(Self.index(row, .body), values[moment], from: moment)
                for member in rows.members(of: OperationID(row)) {
                    reach(Self.index(member, .start), values[moment], from: moment)
                }
            case .body:
                let most = entries[row] + roundSlack[row]
                if values[moment] > most {
                    values[moment] = most
                    capped.insert(row)
                }
                if let hooks = table.hooks[OperationID(row)] {
                    for hook in [hooks.onFailure, hooks.finally].compactMap(\.self) {
                        reach(Self.index(hook.row, .start), values[moment], from: moment)
                    }
                }
                reach(Self.index(row, .end), values[moment], from: moment)
            case .end:
                if table.rows[row].isGroup { end(row, &values, entries, &capped) }
                let value = values[moment]
                guard row > 0 else { continue }
                let parent = table.rows[row].parent.row
                if table.rows[row].flags.contains(.isHook) {
                    let hooks = table.hooks[OperationID(parent)]
                    if let finally = hooks?.finally, hooks?.onFailure?.row == row {
                        reach(Self.index(finally.row, .start), value, from: moment)
                    }
                    reach(Self.index(parent, .end), value, from: moment)
                } else {
                    reach(Self.index(parent, .body), value, from: moment)
                }
                for edge in dependents[OperationID(row)] {
                    let dependent = edge.other.row
                    let reached = value + surcharge(from: row, to: dependent, value, &entries)
                    reach(Self.index(dependent, .start), reached, from: moment)
                }
            }
        }
        let end = Self.index(0, .end)
        guard pending[end] == 0 else {
            // A cycle, which no planner creates: everything may come after everything else.
            gain = gains[0] + hookGains[0]
            return
        }
        gain = values[end]
        trace(from, capped)
    }

    /// Applies the rounds, waits, limits and block price of a group to its end.
    private mutating func end(_ row: Int, _ values: inout [Double], _ entries: [Double], _ capped: inout Set<Int>) {
        let (start, end) = (Self.index(row, .start), Self.index(row, .end))
        if rows.rounds[row] > 1 {
            values[end] += (values[end] - values[start]) * (rows.rounds[row] - 1)
        }
        values[end] += rows.waits[row]
        let most = entries[row] + slack[row]
        if values[end] > most {
            values[end] = most
            capped.insert(row)
        }
        guard blockPrices[row] > 0 else { return }
        let block = (values[end] - values[start]) * blockPrices[row]
        blocks += block * rows.executions[row]
        values[end] = max(entries[row], values[end] - block)
    }

    /// The length that an edge out of groups with several rounds adds, since its dependent may wait for the last
    /// round. Also records where the edge enters groups.
    private func surcharge(from target: Int, to dependent: Int, _ value: Double, _ entries: inout [Double]) -> Double {
        var (sum, next) = (0.0, table.rows[target].parent.row)
        while next > 0, !isInside(dependent, next) {
            if rows.rounds[next] > 1 { sum += gains[next] + hookGains[next] }
            next = table.rows[next].parent.row
        }
        next = table.rows[dependent].parent.row
        while next > 0, !isInside(target, next) {
            entries[next] = max(entries[next], value + sum)
            next = table.rows[next].parent.row
        }
        return sum
    }

    private func isInside(_ row: Int, _ group: Int) -> Bool {
        row > group && row < Int(table.rows[group].subtreeEnd)
    }

    private func pendingCounts() -> [Int] {
        var pending = [Int](repeating: 0, count: table.rows.count * 3)
        for row in table.rows.indices {
            pending[Self.index(row, .end)] += 1
            guard row > 0 else {
                pending[Self.index(0, .body)] += 1
                continue
            }
            let parent = table.rows[row].parent.row
            pending[Self.index(row, .start)] += 1
            if table.rows[row].isGroup { pending[Self.index(row, .body)] += 1 }
            if table.rows[row].flags.contains(.isHook) {
                pending[Self.index(parent, .end)] += 1
                let hooks = table.hooks[OperationID(parent)]
                if hooks?.finally?.row == row, hooks?.onFailure != nil { pending[Self.index(row, .start)] += 1 }
            } else {
                pending[Self.index(parent, .body)] += 1
            }
        }
        for edge in rows.edges { pending[Self.index(edge.dependent.row, .start)] += 1 }
        return pending
    }

    /// Records the rows of the longest chain. A group whose limit counts represents its members.
    private mutating func trace(_ from: [Int], _ capped: Set<Int>) {
        var moment = Self.index(0, .end)
        while moment >= 0 {
            let row = moment / 3
            let isEnd = moment % 3 != Moment.start.rawValue
            if !table.rows[row].isGroup {
                if isEnd { chain.append((OperationID(row), rows.wholes[row] * rounds(of: row))) }
            } else if isEnd, capped.contains(row) {
                let length = min(rows.roundLimits[row] * rows.rounds[row], rows.limits[row])
                chain.append((OperationID(row), length * rounds(of: row)))
                moment = Self.index(row, .start)
                continue
            } else if moment % 3 == Moment.end.rawValue, rows.waits[row] > 0 {
                chain.append((OperationID(row), rows.waits[row] * rounds(of: row)))
            }
            moment = from[moment]
        }
        chain.reverse()
    }

    /// The number of times that a row is executed on a chain.
    private func rounds(of row: Int) -> Double {
        var (count, next) = (1.0, row)
        while next > 0 {
            next = table.rows[next].parent.row
            count *= rows.rounds[next]
        }
        return count
    }
}
