/// An order in which each row comes after the rows that it needs.
struct NeedOrder {
    /// The rows, without those that wait for themselves.
    let rows: [UInt32]
    private var positions: [UInt32]
    private static let nowhere = UInt32.max

    /// Uses the order of the file if it is valid, because a reader is mostly near its result. O(rows + needs).
    init(_ needs: ResultNeeds) {
        let count = needs.rowCount
        let rows = needs.followFileOrder ? (0..<count).map { UInt32($0) } : needs.awaitedFirst()
        positions = [UInt32](repeating: Self.nowhere, count: count)
        for (position, row) in rows.enumerated() { positions[Int(row)] = UInt32(position) }
        self.rows = rows
    }

    /// True if nothing that the row needs, directly or not, waits for itself.
    func isOrdered(_ row: Int) -> Bool { positions[row] != Self.nowhere }

    /// The position of a row; a row without one counts as after all others.
    func position(of row: UInt32) -> Int { isOrdered(Int(row)) ? Int(positions[Int(row)]) : rows.count }
}

/// Propagates the facts about up to 64 results along all needs, one bit each.
struct ResultPass {
    /// The number of results that one pass handles.
    static let width = 64

    /// The facts that are certain about the targets, one bit each, when a row starts with its needs met. `ended` is
    /// certain even if they are not met.
    private struct Facts {
        var ended: UInt64 = 0
        var endedWell: UInt64 = 0
        var started: UInt64 = 0
        var succeeded: UInt64 = 0
    }

    private let needs: ResultNeeds
    private let order: NeedOrder
    /// By row; left from an earlier pass if the row is not between `first` and `end`.
    private var facts: [Facts]
    /// By row: the bit of a target.
    private var bits: [UInt64]
    private var targets: ArraySlice<UInt32> = []
    private var first = 0
    private var end = 0

    init(_ needs: ResultNeeds, _ order: NeedOrder) {
        self.needs = needs
        self.order = order
        facts = [Facts](repeating: Facts(), count: needs.rowCount)
        bits = [UInt64](repeating: 0, count: needs.rowCount)
    }

    /// Runs from the first of the targets, which are in order, to the position of the last row in question.
    mutating func run(to last: Int, about targets: ArraySlice<UInt32>) {
        for target in self.targets { bits[Int(target)] = 0 }
        self.targets = targets
        for (index, target) in targets.enumerated() { bits[Int(target)] = 1 << UInt64(index) }
        first = targets.first.map(order.position) ?? 0
        end = max(first, min(last + 1, order.rows.count))
        for row in order.rows[first..<end] {
            var known = Facts()
            for edge in needs.edges(of: Int(row)) {
                let target = Int(edge.target)
                let bit = bits[target]
                if edge.facts.contains(.endedWell) { known.endedWell |= bit }
                if edge.facts.contains(.started) { known.started |= bit }
                if edge.facts.contains(.succeeded) { known.succeeded |= bit }
                known.ended |= bit
                // Rows before the first target know of none.
                guard order.position(of: edge.target) >= first else { continue }
                let further = facts[target]
                known.ended |= further.ended
                guard edge.isMet else { continue }
                known.endedWell |= further.endedWell
                known.started |= further.started
                known.succeeded |= further.succeeded
            }
            facts[Int(row)] = known
        }
    }

    /// Returns the facts that are certain about the target with this index when a row starts.
    func facts(about index: Int, when row: Int) -> ResultFacts {
        let position = order.position(of: UInt32(row))
        guard position >= first, position < end else { return [] }
        let (known, bit) = (facts[row], UInt64(1) << UInt64(index))
        var result: ResultFacts = []
        if known.ended & bit != 0 { result.insert(.ended) }
        if known.endedWell & bit != 0 { result.insert(.endedWell) }
        if known.started & bit != 0 { result.insert(.started) }
        if known.succeeded & bit != 0 { result.insert(.succeeded) }
        return result
    }
}
