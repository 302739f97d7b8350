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
