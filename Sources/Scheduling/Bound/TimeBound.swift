/// The longest time that a graph can take, whatever its operations do within their limits. The theorem and its proof
/// are in <doc:Bound>.
///
/// At each moment of a run there is a chain of rows, each of which waited for the one before, and one row of it is in
/// progress or waits for a slot, a place or a lock. The time in progress is at most the length of the longest chain;
/// the waiting time is paid for by the work of the rows that hold the resource.
package struct TimeBound: Sendable {
    /// The bound in milliseconds; infinite if something can go on without end.
    package let total: Double
    /// The rows of the longest chain with the length of each, in milliseconds, all attempts and rounds together.
    package let chain: [(row: OperationID, length: Double)]
    /// The first row that can go on without end; nil if there is none.
    package let unlimited: OperationID?

    /// Computes the bound for `width` operations at once. O(rows + edges), times the nesting depth of groups.
    package init(_ graph: OperationGraph, width: Int, costs: OperationCosts) {
        let rows = BoundRows(graph, costs)
        unlimited = rows.unlimited
        guard rows.unlimited == nil else {
            (total, chain) = (.infinity, [])
            return
        }
        var width = width
        if case .operations(let limit) = graph.table.groups[0].limit { width = min(width, limit) }
        let prices = BoundPrices(rows, width: width, others: costs.otherPieces)
        // Either work pays for all waits, or the waits for slots are counted.
        let byWork = BoundChains(rows, prices: prices.all, blocks: prices.blocks)
        let byCount = BoundChains(rows, prices: prices.locks, blocks: prices.blocks)
        let counted = prices.counted.reduce(0) { $0 + Self.longestWait(in: $1.group, limit: $1.limit, rows) }
        let isByCount = byCount.total + counted < byWork.total
        total = min(byWork.total, byCount.total + counted)
        chain = isByCount ? byCount.chain : byWork.chain
    }

    /// The longest time that the members of one chain can wait for a slot in a group, all together. Meanwhile every
    /// slot is taken by pieces of work, of which one slot has no more than its share.
    private static func longestWait(in group: OperationID, limit: Int, _ rows: BoundRows) -> Double {
        let end = Int(rows.graph.table.rows[group.row].subtreeEnd)
        let pieces = rows.pieces[group.row..<end].filter { $0.count > 0 }.sorted { $0.size > $1.size }
        // One piece is on the chain.
        let count = pieces.reduce(-1) { $0 + $1.count }
        var left = (count / Double(limit)).rounded(.down)
        var sum = 0.0
        for piece in pieces where left > 0 {
            sum += piece.size * min(left, piece.count)
            left -= piece.count
        }
        return sum
    }
}

extension OperationGraph {
    /// True if more than `width` operations may be in progress or ready at once. O(rows + edges).
    package func mayExceed(width: Int) -> Bool {
        let rows = BoundRows(self, OperationCosts(rows: count))
        return BoundPrices.mostTogether(rows) > Double(width)
    }
}

/// The longest times that are not in the graph; by row, in milliseconds.
package struct OperationCosts: Sendable {
    /// The longest time that an operation may go on after its time limit or after a stop.
    package var closing: [Double]
    /// The longest time that a row may wait for an answer to its condition without a slot; infinite without a limit.
    package var wait: [Double]
    /// The number of groups or operations of the run that a member of an expandable group represents; 1 for all
    /// others.
    package var copies: [Double]
    /// True for operations that will not run, because their own condition or that of an enclosing group is known to
    /// be false.
    package var isLeftOut: [Bool]
    /// The time that other work may add to the total, each millisecond of it at most once, excluding hooks.
    package var once = 0.0
    /// The number of pieces of other work that may take a slot.
    package var otherPieces = 0
    /// The longest time that other work may go on after everything else was stopped.
    package var otherClosing = 0.0

    /// Creates the costs of rows that take no longer than their limits.
    package init(rows count: Int) {
        closing = [Double](repeating: 0, count: count)
        wait = closing
        copies = [Double](repeating: 1, count: count)
        isLeftOut = [Bool](repeating: false, count: count)
    }
}

extension Duration {
    /// The milliseconds, rounded up to a whole number.
    package var milliseconds: Double {
        let (seconds, attoseconds) = components
        return Double(seconds) * 1000 + Double((attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
    }
}

extension RetryPolicy {
    /// The sum of all waits between attempts, in milliseconds, without the random part, which only shortens them.
    var longestWaits: Double {
        guard attempts > 1 else { return 0 }
        // Finite, so that a long time differs from no limit at all, but so long that it never matters.
        let longest = 1e18
        func growing(_ initial: Double, by factor: Double, upTo max: Double) -> Double {
            guard initial > 0 else { return 0 }
            var (sum, next) = (0.0, initial)
            for left in stride(from: attempts - 1, to: 0, by: -1) {
                if next >= max || factor == 1 { return sum + min(next, max) * Double(left) }
                sum += next
                next *= factor
            }
            return sum
        }
        switch backoff {
        case .none: return 0
        case .constant(let delay): return max(0, delay.milliseconds) * Double(attempts - 1)
        case .linear(let initial, let step):
            let gaps = Double(attempts - 1)
            return max(0, initial.milliseconds * gaps + step.milliseconds * gaps * (gaps - 1) / 2)
        case .fibonacci(let unit, let max):
            // Each wait is at most twice the one before.
            return growing(unit.milliseconds, by: 2, upTo: min(max?.milliseconds ?? longest, longest))
        case .exponential(let factor, let initial, let max):
            return growing(initial.milliseconds, by: factor, upTo: min(max?.milliseconds ?? longest, longest))
        }
    }
}
