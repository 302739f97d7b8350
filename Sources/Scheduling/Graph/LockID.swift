/// A lock of an `OperationGraph`: a mutex or a pool, which operations and groups share.
package struct LockID: Hashable, Comparable, Sendable {
    let value: UInt32

    init(_ index: Int) { value = UInt32(index) }

    /// The lock that was added as number `index`. A number that the graph does not have makes a mutex, or the pool
    /// that it is declared to be, so that rows that join later can bring their own.
    package init(index: Int) { value = UInt32(index) }

    /// Its number, from 0, in the order in which the locks were added.
    package var index: Int { Int(value) }

    /// The order in which the locks were added.
    package static func < (left: LockID, right: LockID) -> Bool { left.value < right.value }
}

extension LockID: CustomStringConvertible {
    /// The number, such as `lock 3`.
    package var description: String { "lock \(value)" }
}

/// What an operation or group takes of a lock while it runs.
package struct LockRequest: Hashable, Sendable {
    /// What it is taken of.
    package let lock: LockID
    /// How much of it, at least 1 and at most the lock's capacity.
    package let units: Int

    /// One unit unless told otherwise.
    package init(lock: LockID, units: Int = 1) {
        precondition(units >= 1, "\(units) units of \(lock) are nothing to ask for")
        self.lock = lock
        self.units = units
    }
}
