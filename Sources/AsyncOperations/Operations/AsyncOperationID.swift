internal import Synchronization

/// The identity of an operation or queue, unique in the process and never given twice, with its name for reports. Later
/// ones compare greater.
public struct AsyncOperationID: Sendable {
    private static let last = Atomic<UInt64>(0)

    /// What has an identity.
    enum Kind: UInt64 {
        case operation, queue, tracker
    }

    /// The kind stands in the lowest bits, so that it costs nothing.
    private let number: UInt64
    /// What it was named; empty where no name was given. Does not count in comparisons.
    public let name: String

    init(_ name: String = "", _ kind: Kind = .operation) {
        number = Self.last.add(1, ordering: .relaxed).newValue << 2 | kind.rawValue
        self.name = name
    }
}

extension AsyncOperationID: Hashable, Comparable {
    /// Whether both are the same operation.
    public static func == (left: AsyncOperationID, right: AsyncOperationID) -> Bool { left.number == right.number }

    /// The order in which the operations were made.
    public static func < (left: AsyncOperationID, right: AsyncOperationID) -> Bool { left.number < right.number }

    /// Feeds the number alone.
    public func hash(into hasher: inout Hasher) { hasher.combine(number) }
}

extension AsyncOperationID: CustomStringConvertible {
    /// The name, such as `load`, or else the number, such as `operation 12`.
    public var description: String {
        guard name.isEmpty else { return "`\(name)`" }
        return "\(Kind(rawValue: number & 3) ?? .operation) \(number >> 2)"
    }
}
