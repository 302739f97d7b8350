/// The longest times of a graph's rows, without the sharing of slots and locks.
///
/// The numbers of a row are for one round of the enclosing group.
struct BoundRows {
    let graph: OperationGraph
    /// The edges, including those that holders and limited groups get.
    private(set) var edges: [RowTable.Edge]
    /// The locks that each row takes, each with the scope that shares it.
    private(set) var requests: [OperationID: [HolderTable.Request]] = [:]
    /// The longest time that an operation may hold its slot in all attempts together.
    private(set) var work: [Double]
    /// The longest time in one attempt, and the number of attempts.
    private(set) var pieces: [(size: Double, count: Double)]
    /// The longest time that a row may take without a slot: between attempts or rounds, or until its condition is
    /// known.
    private(set) var waits: [Double]
    /// The longest time of an operation from its first start to its end, including attempts and waits.
    private(set) var wholes: [Double]
    private(set) var rounds: [Double]
    /// The longest time that the body of a group takes in one round, and in all rounds; infinite without a limit.
    private(set) var roundLimits: [Double]
    private(set) var limits: [Double]
    let copies: [Double]
    /// The time that other work takes, each millisecond of it at most once.
    let once: Double
    /// The number of times that a row is executed in the whole run.
    private(set) var executions: [Double]
    /// The first row that may go on without end; if there is one, the other numbers are meaningless.
    private(set) var unlimited: OperationID?

    init(_ graph: OperationGraph, _ costs: OperationCosts) {
        var graph = graph
        graph.table.closeAll()
        self.graph = graph
        let table = graph.table
        var holders = HolderTable()
        let (requests, outside) = holders.add(table, to: graph)
        self.requests = Dictionary(requests) { $1 }
        edges = table.edges + outside
        if table.limitsMembers {
            var known = table
            known.edges = edges
            edges += PlaceNeeds(of: known, in: graph).edges()
        }
        let count = table.rows.count
        let none = [Double](repeating: 0, count: count)
        (work, waits, copies, once) = (none, none, costs.copies, costs.once)
        pieces = [(Double, Double)](repeating: (0, 0), count: count)
        (rounds, executions) = ([Double](repeating: 1, count: count), [Double](repeating: 1, count: count))
        let unlimited = [Double](repeating: .infinity, count: count)
        (roundLimits, limits, wholes) = (unlimited, unlimited, unlimited)
        measureGroups(table, costs)
        measureOperations(table, costs)
    }

    /// A group's limit ends its body, whose last operations then still need their time to end; a hook may exceed the
    /// limits of all enclosing groups.
    private mutating func measureGroups(_ table: RowTable, _ costs: OperationCosts) {
        var closing = costs.closing
        for row in table.rows.indices.reversed() {
            let id = OperationID(row)
            if table.rows[row].isGroup {
                let last = max(closing[row], costs.otherClosing)
                closing[row] = last
                if let timeout = table.timeouts[id] { roundLimits[row] = timeout.milliseconds + last }
                if let retry = table.retries[id] {
                    rounds[row] = Double(retry.attempts)
                    waits[row] = retry.longestWaits
                    if let deadline = retry.deadline { limits[row] = deadline.milliseconds + last }
                    roundLimits[row] = min(roundLimits[row], limits[row])
                }
            }
            let parent = table.rows[row].parent.row
            guard row > 0, !table.rows[row].flags.contains(.isHook) else { continue }
            closing[parent] = max(closing[parent], closing[row])
        }
    }

    private mutating func measureOperations(_ table: RowTable, _ costs: OperationCosts) {
        // The time limit that the enclosing groups set for a row.
        var around = [Double](repeating: .infinity, count: table.rows.count)
        for row in table.rows.indices {
            let (id, parent) = (OperationID(row), table.rows[row].parent.row)
            if row > 0 {
                executions[row] = executions[parent] * rounds[parent] * copies[row]
                if !table.rows[row].flags.contains(.isHook) { around[row] = min(around[parent], roundLimits[parent]) }
            }
            guard !costs.isLeftOut[row] else {
                wholes[row] = 0
                continue
            }
            let wait = min(costs.wait[row], row == 0 ? roundLimits[0] : around[row])
            guard wait.isFinite else {
                unlimited = unlimited ?? id
                continue
            }
            guard !table.rows[row].isGroup else {
                waits[row] += wait
                continue
            }
            let closing = costs.closing[row]
            var attempt = (table.timeouts[id]?.milliseconds ?? .infinity) + closing
            var attempts = 1.0
            var whole = around[row]
            if let retry = table.retries[id] {
                attempts = Double(retry.attempts)
                waits[row] = retry.longestWaits
                if let deadline = retry.deadline { whole = min(whole, deadline.milliseconds + closing) }
            }
            attempt = min(attempt, whole)
            guard attempt.isFinite else {
                unlimited = unlimited ?? id
                continue
            }
            // An operation that is stopped while it waits for an answer does not run.
            pieces[row] = (max(attempt, wait), attempts * executions[row])
            work[row] = max(min(attempt * attempts, whole), wait)
            wholes[row] = max(min(attempt * attempts + waits[row], whole), wait)
        }
    }
}
