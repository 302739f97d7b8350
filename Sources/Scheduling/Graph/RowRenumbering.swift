/// The new ids of rows after some were removed. The remaining rows keep their order.
@usableFromInline package struct RowRenumbering: Sendable {
    /// One bit for each old row that remains, and the number of remaining rows before each word. One number per row
    /// would be the largest allocation of a large queue.
    @usableFromInline let words: [UInt64]
    @usableFromInline let ranks: [UInt32]
    /// The number of rows before and after the removal.
    package let oldCount, count: Int

    init(keeping isKept: [Bool]) {
        // One word more than the rows need, for the end after the last.
        var words = Array(repeating: 0 as UInt64, count: isKept.count / 64 + 1)
        for (row, isKept) in isKept.enumerated() where isKept { words[row / 64] |= 1 << UInt64(row % 64) }
        var (ranks, count) = ([] as [UInt32], 0)
        ranks.reserveCapacity(words.count)
        for word in words {
            ranks.append(UInt32(count))
            count += word.nonzeroBitCount
        }
        (self.words, self.ranks, oldCount, self.count) = (words, ranks, isKept.count, count)
    }

    /// The new id of a row; nil if it was removed. O(1).
    @inlinable package subscript(id: OperationID) -> OperationID? {
        words[id.row / 64] >> UInt64(id.row % 64) & 1 == 0 ? nil : OperationID(row: position(of: id.row))
    }

    /// The number of remaining rows before `row`, which may be the end after the last.
    @inlinable func position(of row: Int) -> Int {
        Int(ranks[row / 64]) + (words[row / 64] & (1 << UInt64(row % 64) - 1)).nonzeroBitCount
    }

    /// The remaining part of an interval of rows.
    subscript(rows: Range<Int>) -> Range<Int> { position(of: rows.lowerBound)..<position(of: rows.upperBound) }
}

extension Array {
    /// Removes the elements of removed rows and applies `change` to the others, in row order. Works in place: copies
    /// of everything would be the peak memory of a run of many operations. An array that has become much too large is
    /// reallocated.
    @inlinable package mutating func renumber(
        by renumbering: RowRenumbering, _ change: (inout Element, OperationID) -> Void = { _, _ in }
    ) {
        var count = 0
        for row in indices {
            guard let id = renumbering[OperationID(row: row)] else { continue }
            if row > count { swapAt(row, count) }
            change(&self[count], id)
            count += 1
        }
        removeLast(self.count - count)
        guard capacity > 1024, capacity / 8 > count else { return }
        var smaller: Self = []
        smaller.reserveCapacity(count)
        smaller += self
        self = smaller
    }
}

extension Dictionary where Key == OperationID {
    /// Returns the dictionary under the new ids, without the values of removed rows.
    func renumbered(by renumbering: RowRenumbering) -> Self {
        guard !isEmpty else { return self }
        var renumbered: Self = [:]
        for (id, value) in self { if let id = renumbering[id] { renumbered[id] = value } }
        return renumbered
    }
}

extension OperationCause {
    /// The row that the cause names.
    var row: OperationID? {
        switch self {
        case .dependency(let id), .member(let id), .failFast(let id), .deadline(let id), .retryDeadline(let id): id
        case .itself, .request, .stall, .condition: nil
        }
    }

    /// Returns the cause with the new row; `itself` if the row was removed.
    func renumbered(by renumbering: RowRenumbering) -> OperationCause {
        guard let row else { return self }
        guard let id = renumbering[row] else { return .itself }
        return switch self {
        case .dependency: .dependency(id)
        case .member: .member(id)
        case .failFast: .failFast(id)
        case .deadline: .deadline(id)
        case .retryDeadline: .retryDeadline(id)
        case .itself, .request, .stall, .condition: self
        }
    }
}
