internal import Synchronization

/// The identity of an operation or queue, unique in the process and never given twice. Later ones compare greater.
public struct AsyncOperationID: Hashable, Comparable, Sendable {
    private static let last = Atomic<UInt64>(0)

    private let value: UInt64

    init() {
        value = Self.last.add(1, ordering: .relaxed).newValue
    }

    /// The order in which the operations were made.
    public static func < (left: AsyncOperationID, right: AsyncOperationID) -> Bool { left.value < right.value }
}

extension AsyncOperationID: CustomStringConvertible {
    /// The number, such as `operation 12`.
    public var description: String { "operation \(value)" }
}
