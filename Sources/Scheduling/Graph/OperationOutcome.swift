/// The way in which an operation ended, without its value or error.
public enum OperationOutcome: UInt8, Sendable, Hashable, CaseIterable {
    /// It returned its value. For a compound operation: every member did, or its failure is tolerated.
    case success
    /// Its last attempt failed. For a compound operation: a member failed or timed out.
    case failure
    /// Its time limit, or that of a member, passed before it ended.
    case timeout
    /// It, or an enclosing operation, was cancelled, before or after its start.
    case cancelled
    /// A dependency did not end as required, though nothing failed.
    case skipped
    /// Something that it depends on, directly or not, failed, timed out or was cancelled.
    case notRun
}

extension OperationOutcome: CustomStringConvertible {
    /// The outcome in words, such as `not run`.
    public var description: String {
        switch self {
        case .success: "success"
        case .failure: "failure"
        case .timeout: "timeout"
        case .cancelled: "cancelled"
        case .skipped: "skipped"
        case .notRun: "not run"
        }
    }
}

/// The reason for an outcome. A cause may name another operation, whose own cause continues the chain.
package enum OperationCause: Sendable, Hashable {
    /// The work of the operation itself: it succeeded or failed by itself.
    case itself
    /// The end of a dependency.
    case dependency(OperationID)
    /// A member of the group.
    case member(OperationID)
    /// The failure of another member of a group with `FailFast.cancel` or `FailFast.drain`.
    case failFast(OperationID)
    /// The time limit of the operation or of an enclosing group.
    case deadline(OperationID)
    /// The time limit of all attempts of the operation together, or of all rounds of an enclosing group.
    case retryDeadline(OperationID)
    /// A request from outside.
    case request
    /// A stall: nothing could go on, so everything was ended.
    case stall
    /// The condition of the row, or of the group whose verdict it shares, was false or could not be evaluated. Also
    /// for an `onFailure` hook that had no reason to run.
    case condition
}

/// The way in which an operation must end before a dependent may start.
public enum DependencyKind: UInt8, Sendable, Hashable {
    /// With a success, a tolerated failure or timeout, or as skipped.
    case ok
    /// With a success.
    case success
    /// With a failure or timeout.
    case failure
    /// With any outcome.
    case done
}

/// The effect of a member's failure on the other members of its compound operation.
public enum FailFast: UInt8, Sendable, Hashable {
    /// They go on.
    case off
    /// They are cancelled.
    case cancel
    /// Running members go on; the others end as `notRun`.
    case drain
}

/// The limit on what a group has in progress at once.
package enum ConcurrencyLimit: Sendable, Hashable {
    case unlimited
    /// Limits the running operations anywhere inside the group.
    case operations(Int)
    /// Limits the direct members in progress; a group counts from its start to its end.
    case members(Int)
}

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
