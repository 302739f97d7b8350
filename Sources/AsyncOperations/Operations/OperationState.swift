/// How far an operation has come. It only ever moves on, with two exceptions: what is tried again goes back
/// to ready, or to pending as a member of what is tried again; and a late dependency makes pending of ready.
public enum OperationState: UInt8, Sendable, Hashable, Comparable {
    /// It belongs to no queue yet, or something it needs has not ended.
    case pending
    /// All it needs has ended; it waits for a place, a mutex, the end of a pause or of a back-off.
    case ready
    /// Its body runs, or its first member may.
    case executing
    /// It is over, for good.
    case finished

    /// The order in which an operation goes through them.
    public static func < (left: OperationState, right: OperationState) -> Bool { left.rawValue < right.rawValue }
}
