/// How an operation or group ended. Set once, by the scheduler.
public enum OperationOutcome: UInt8, Sendable, Hashable, CaseIterable {
    /// It did what it was for.
    case success
    /// Its last attempt failed, or a member of a group that does not tolerate it.
    case failure
    /// Its own limit passed before it ended.
    case timeout
    /// A cancel reached it, or a group around it, started or not.
    case cancelled
    /// Its condition is false, or the kind of an edge did not come about though nothing failed.
    case skipped
    /// Something upstream failed, timed out or was cancelled.
    case notRun
}

/// Why the outcome is what it is. A cause points at another operation, whose own cause continues the chain.
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
    /// Somebody asked for it.
    case request
    /// Nothing could go on any more, so everything was ended.
    case stall
    /// Its own condition, or that of the group whose verdict it shares: false, or impossible to decide. An `onFailure`
    /// hook that had no reason to run too.
    case condition
}

/// What has to become of an operation before one that needs it may start.
public enum EdgeKind: UInt8, Sendable, Hashable {
    /// A success, a tolerated failure or a skip.
    case ok
    /// A success.
    case success
    /// A failure or timeout.
    case failure
    /// Any end.
    case done
}

/// What a failing member does to the rest of its group.
public enum FailFast: UInt8, Sendable, Hashable {
    /// Independent members go on.
    case off
    /// Running members are stopped, waiting ones are cancelled.
    case cancel
    /// Running members go on, nothing new starts.
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
