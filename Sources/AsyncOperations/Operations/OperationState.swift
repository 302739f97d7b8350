/// How far an operation has come.
///
/// It only moves forward, with these exceptions. An operation that is tried again goes back to `ready`, and a member of
/// a compound operation that is tried again to `pending`. A dependency that is added late takes `ready` back to
/// `pending`.
public enum OperationState: UInt8, Sendable, Hashable, Comparable {
    /// It belongs to no queue yet, or something that it depends on has not ended.
    case pending
    /// It waits for its turn only: for a place, mutexes, units of pools, the end of a suspension or of a back-off.
    case ready
    /// Its body runs, or its members may.
    case executing
    /// It has ended for good.
    case finished

    /// Whether the left state comes earlier in the life of an operation.
    public static func < (left: OperationState, right: OperationState) -> Bool { left.rawValue < right.rawValue }
}

extension OperationState: CustomStringConvertible {
    /// The state in one word, such as `executing`.
    public var description: String {
        switch self {
        case .pending: "pending"
        case .ready: "ready"
        case .executing: "executing"
        case .finished: "finished"
        }
    }
}
