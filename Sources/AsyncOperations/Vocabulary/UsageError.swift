/// The reason why a call was refused. A refused call has changed nothing.
public enum UsageError: Error, Hashable {
    /// The operation has started, so it cannot be started again or get dependencies; or the task tracker already has
    /// a session.
    case alreadyStarted(AsyncOperationID)
    /// The operation has ended.
    case alreadyFinished(AsyncOperationID)
    /// The operation belongs to a queue or to a compound operation already.
    case alreadyEnqueued(AsyncOperationID)
    /// The queue was shut down, or the compound operation accepts no more members.
    case closed(AsyncOperationID)
    /// An operation cannot wait for itself.
    case selfDependency(AsyncOperationID)
    /// These operations would wait for each other, each for the next, because of dependencies, members, or places,
    /// mutexes and units that are taken. The first is also the last.
    case cycle([AsyncOperationID])
    /// A limit on concurrent operations that is below 1.
    case invalidLimit(Int)
    /// A time limit of zero or less: of an operation, its jobs, its retries or a tracker's session.
    case invalidTimeout(AsyncOperationID, Duration)
    /// `inner` names a mutex that the enclosing `outer` holds already; it would wait forever.
    case nestedMutex(outer: AsyncOperationID, inner: AsyncOperationID, name: String)
    /// The operation requests this many units of a pool: fewer than 1, or more than the pool has, which may be none.
    case invalidUnits(AsyncOperationID, pool: String, asked: Int, of: Int)
    /// A compound operation requests units of a pool, which only operations with a body may do.
    case poolOfCompound(AsyncOperationID, pool: String)
    /// The body of `waiter` would wait for `awaited`, which cannot end before that body.
    case wouldWaitForItself(waiter: AsyncOperationID, awaited: AsyncOperationID)
}

extension UsageError: CustomStringConvertible {
    /// The mistake in one line, with the names of the operations concerned.
    public var description: String {
        switch self {
        case .alreadyStarted(let id): "\(id) has started already"
        case .alreadyFinished(let id): "\(id) has ended already"
        case .alreadyEnqueued(let id): "\(id) belongs to a queue or compound operation already"
        case .closed(let id): "\(id) takes no more operations"
        case .selfDependency(let id): "\(id) cannot wait for itself"
        case .cycle(let path): "these would wait for each other: \(path.map(\.description).joined(separator: " -> "))"
        case .invalidLimit(let limit): "a limit of \(limit) lets nothing start; it must be 1 or more"
        case .invalidTimeout(let id, let limit): "\(id) has a time limit of \(limit); it must be above zero"
        case .nestedMutex(let outer, let inner, let name):
            "\(inner) asks for mutex `\(name)`, which the enclosing \(outer) holds already; remove it from one of them"
        case .invalidUnits(let id, let pool, _, let units) where units < 1:
            "\(id) asks for pool `\(pool)`, which was made with \(units) units; make it with 1 or more"
        case .invalidUnits(let id, let pool, let asked, let units):
            "\(id) asks for \(asked) of pool `\(pool)`; it must be 1 to \(units)"
        case .poolOfCompound(let id, let pool):
            "compound operation \(id) asks for pool `\(pool)`; let its members ask for it"
        case .wouldWaitForItself(let waiter, let awaited) where waiter == awaited:
            "the body of \(waiter) would wait for its own end"
        case .wouldWaitForItself(let waiter, let queue) where queue.isQueue:
            "the body of \(waiter) would wait for \(queue) to be idle, which cannot be before that body ends"
        case .wouldWaitForItself(let waiter, let awaited):
            "the body of \(waiter) would wait for \(awaited), which cannot end before it"
        }
    }
}
