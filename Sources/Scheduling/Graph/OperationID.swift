/// The row of an operation or group in its `OperationGraph`. Everything is inlined, so that it costs no more than the
/// number it wraps.
@usableFromInline
package struct OperationID: Hashable, Comparable, Sendable {
    @usableFromInline let value: UInt32

    init(_ row: Int) { value = UInt32(row) }

    /// The operation or group that was added as number `row`; the outermost group is 0.
    @inlinable
    package init(row: Int) { value = UInt32(row) }

    /// The row number, from 0, in the order in which the graph was built.
    @inlinable package var row: Int { Int(value) }

    /// The outermost group, which every graph has.
    package static let root = OperationID(0)

    @inlinable
    package static func == (left: OperationID, right: OperationID) -> Bool { left.value == right.value }

    /// The order in which the graph was built.
    @inlinable
    package static func < (left: OperationID, right: OperationID) -> Bool { left.value < right.value }
}

extension OperationID: CustomStringConvertible {
    /// The row, such as `#12`.
    @usableFromInline package var description: String { "#\(value)" }
}

/// A lock of an `OperationGraph`: a mutex or a pool, which operations and groups share.
package struct LockID: Hashable, Comparable, Sendable {
    let value: UInt32

    init(_ index: Int) { value = UInt32(index) }

    /// The lock that was added as number `index`. An unknown number is a mutex unless it is declared as a pool, so
    /// that rows that join later can bring their own locks.
    package init(index: Int) { value = UInt32(index) }

    /// The number of the lock, from 0, in the order of addition.
    package var index: Int { Int(value) }

    /// The order of addition.
    package static func < (left: LockID, right: LockID) -> Bool { left.value < right.value }
}

extension LockID: CustomStringConvertible {
    /// The number, such as `lock 3`.
    package var description: String { "lock \(value)" }
}

/// The units of a lock that an operation or group holds while it runs.
package struct LockRequest: Hashable, Sendable {
    /// The requested lock.
    package let lock: LockID
    /// The number of units, from 1 to the lock's capacity.
    package let units: Int

    /// By default, one unit.
    package init(lock: LockID, units: Int = 1) {
        precondition(units >= 1, "\(units) units of \(lock) are nothing to ask for")
        self.lock = lock
        self.units = units
    }
}
