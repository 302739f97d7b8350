/// How an operation ended, without its value or error.
public enum OperationOutcome: UInt8, Sendable, Hashable, CaseIterable {
    /// It returned its value; a compound operation: every member did, or its failure is tolerated.
    case success
    /// Its last attempt failed; a compound operation: a member failed or timed out.
    case failure
    /// Its time limit, or that of a member, passed before it ended.
    case timeout
    /// It was cancelled, or something around it was, before or after its start.
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

/// Why an outcome is what it is. A cause may name another operation, whose own cause continues the chain.
package enum OperationCause: Sendable, Hashable {
    /// The operation's work itself: it succeeded, or it failed by itself.
    case itself
    /// The end of something it needs.
    case dependency(OperationID)
    /// A member of the group.
    case member(OperationID)
    /// The failure of another member of a group with `FailFast.cancel` or `FailFast.drain`.
    case failFast(OperationID)
    /// The time limit of the operation or of a group around it.
    case deadline(OperationID)
    /// The time limit of all attempts of the operation together, or of all rounds of a group around it.
    case retryDeadline(OperationID)
    /// A request from outside.
    case request
    /// Nothing could go on, so everything was ended.
    case stall
    /// Its own condition, or that of the group whose verdict it shares, was false or could not be evaluated. Also for
    /// an `onFailure` hook that had no reason to run.
    case condition
}

/// How an operation must end before one that depends on it may start.
public enum DependencyKind: UInt8, Sendable, Hashable {
    /// With a success, a tolerated failure or timeout, or as skipped.
    case ok
    /// With a success.
    case success
    /// With a failure or timeout.
    case failure
    /// In any way.
    case done
}

/// What the failure of a member means for the other members of its compound operation.
public enum FailFast: UInt8, Sendable, Hashable {
    /// They go on.
    case off
    /// They are cancelled.
    case cancel
    /// Those that run go on, the others end as `notRun`.
    case drain
}

/// How many things a group lets happen at once.
package enum ConcurrencyLimit: Sendable, Hashable {
    case unlimited
    /// Running operations anywhere inside the group.
    case operations(Int)
    /// Direct members in progress; a group counts from its start to its end.
    case members(Int)
}
