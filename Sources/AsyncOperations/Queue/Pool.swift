internal import Synchronization

/// Something of which there are only so many units, shared by operations in any queues: licences, connections, graphics
/// cards. A pool of one unit excludes, as a mutex does.
///
/// An operation names the units that it takes in its options. It starts when it can have all of them, together with its
/// mutexes and a place, and so waits for nothing while it has some; nothing deadlocks over the order of pools. Those of
/// a queue that ask for the same get it in the order in which they came to wait, queues take turns. Nothing is set
/// aside, so one that asks for many units may be passed by others that ask for few.
public final class Pool: Sendable {
    private static let count = Atomic<UInt64>(0)

    /// For messages; pools of the same name have nothing to do with each other.
    public let name: String
    /// How many there are.
    public let units: Int
    /// Pools that were made later have higher numbers.
    let number = Pool.count.add(1, ordering: .relaxed).newValue

    /// A pool with this many units. If they are fewer than 1, what asks for some is refused.
    public init(_ name: String, _ units: Int = 1) {
        self.name = name
        self.units = units
    }
}

extension Pool: Hashable {
    /// True for the same pool, whatever its name.
    public static func == (left: Pool, right: Pool) -> Bool { left === right }

    /// Hashes the identity of the pool.
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

extension Pool: CustomStringConvertible {
    /// The name in backticks.
    public var description: String { "`\(name)`" }
}
