// Outcomes, dependency kinds, retry policies: the types that the library shares with its scheduler. The target of the
// scheduler is not a product, so programs cannot name it, and wrapping its types would only duplicate them. The
// attribute is underscored, but it is the usual way to make one module of two targets, and has no other effect.
@_exported public import Scheduling
internal import Synchronization

/// Identifies an operation, queue or tracker in the process, and carries its name for reports. Ids are never reused;
/// later ones compare greater.
public struct AsyncOperationID: Sendable {
    private static let last = Atomic<UInt64>(0)

    /// The kind of object that an id identifies.
    enum Kind: UInt64 {
        case operation, queue, tracker
    }

    /// The kind is in the lowest bits, where it takes no extra memory.
    private let number: UInt64
    /// The given name; empty if there is none. Comparisons ignore it.
    public let name: String

    init(_ name: String = "", _ kind: Kind = .operation) {
        number = Self.last.add(1, ordering: .relaxed).newValue << 2 | kind.rawValue
        self.name = name
    }

    var isQueue: Bool { number & 3 == Kind.queue.rawValue }
}

extension AsyncOperationID: Hashable, Comparable {
    /// True if both identify the same object.
    public static func == (left: AsyncOperationID, right: AsyncOperationID) -> Bool { left.number == right.number }

    /// True if the left one was created earlier.
    public static func < (left: AsyncOperationID, right: AsyncOperationID) -> Bool { left.number < right.number }

    /// Hashes the number, not the name.
    public func hash(into hasher: inout Hasher) { hasher.combine(number) }
}

extension AsyncOperationID: CustomStringConvertible {
    /// The name in backticks, or the kind and number, such as `operation 12`.
    public var description: String {
        guard name.isEmpty else { return "`\(name)`" }
        return "\(Kind(rawValue: number & 3) ?? .operation) \(number >> 2)"
    }
}
