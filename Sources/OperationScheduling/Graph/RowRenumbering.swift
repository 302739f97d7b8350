/// The new ids of rows after some were removed. Those that stay keep their order.
package struct RowRenumbering: Sendable {
    /// For each old row, and for the end after the last, how many rows before it stay.
    private let positions: [UInt32]

    init(keeping isKept: [Bool]) {
        var positions: [UInt32] = [0]
        positions.reserveCapacity(isKept.count + 1)
        var count: UInt32 = 0
        for isKept in isKept {
            if isKept { count += 1 }
            positions.append(count)
        }
        self.positions = positions
    }

    /// How many rows there were.
    package var oldCount: Int { positions.count - 1 }

    /// How many rows are left.
    package var count: Int { Int(positions[positions.count - 1]) }

    /// The new id of a row; nil if it was removed. O(1).
    package subscript(id: OperationID) -> OperationID? {
        positions[id.row] == positions[id.row + 1] ? nil : OperationID(Int(positions[id.row]))
    }

    /// What is left of an interval of rows.
    subscript(rows: Range<Int>) -> Range<Int> { Int(positions[rows.lowerBound])..<Int(positions[rows.upperBound]) }
}

extension Dictionary where Key == OperationID {
    /// Without the values of rows that were removed.
    func renumbered(by renumbering: RowRenumbering) -> Self {
        guard !isEmpty else { return self }
        var renumbered: Self = [:]
        for (id, value) in self { if let id = renumbering[id] { renumbered[id] = value } }
        return renumbered
    }
}

extension OperationCause {
    /// The row that it names.
    var row: OperationID? {
        switch self {
        case .dependency(let id), .member(let id), .failFast(let id), .deadline(let id), .retryDeadline(let id): id
        case .itself, .request, .stall, .condition: nil
        }
    }

    /// The same with the new number; `itself` if the row that it names was removed.
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
