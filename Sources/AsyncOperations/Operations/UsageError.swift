/// Why a call is refused. It has changed nothing then.
public enum UsageError: Error, Hashable {
    /// The operation runs: it cannot be started again, its dependencies cannot change, and a tracker of tasks has a
    /// session already.
    case alreadyStarted(AsyncOperationID)
    /// The operation is over.
    case alreadyFinished(AsyncOperationID)
    /// The operation belongs to a queue or to a compound operation.
    case alreadyEnqueued(AsyncOperationID)
    /// The queue was shut down, or the compound operation takes no more members.
    case closed(AsyncOperationID)
    /// An operation cannot wait for itself.
    case selfDependency(AsyncOperationID)
    /// The operations would wait for each other, each for the next one; the first stands at the end again.
    case cycle([AsyncOperationID])
    /// A number below 1 where at least one thing has to be possible at once.
    case invalidLimit(Int)
    /// A limit of time that is over before it begins.
    case invalidTimeout(Duration)
    /// `inner` asks for a mutex that `outer` holds around it, which would wait for ever.
    case nestedMutex(outer: AsyncOperationID, inner: AsyncOperationID, name: String)
    /// The body of `waiter` would wait for the end of `awaited`, which cannot come before its own.
    case wouldWaitForItself(waiter: AsyncOperationID, awaited: AsyncOperationID)
}

extension UsageError: CustomStringConvertible {
    /// What is wrong, in one line.
    public var description: String {
        switch self {
        case .alreadyStarted(let id): "\(id) has started already"
        case .alreadyFinished(let id): "\(id) is over"
        case .alreadyEnqueued(let id): "\(id) belongs to a queue or compound operation already"
        case .closed(let id): "\(id) takes no more operations"
        case .selfDependency(let id): "\(id) cannot wait for itself"
        case .cycle(let path): "these would wait for each other: \(path.map(\.description).joined(separator: " -> "))"
        case .invalidLimit(let limit): "a limit of \(limit) lets nothing start; it has to be 1 or more"
        case .invalidTimeout(let limit): "a timeout of \(limit) is over before it begins; it has to be above zero"
        case .nestedMutex(let outer, let inner, let name):
            "\(inner) asks for mutex `\(name)`, which \(outer) around it holds already; take it away from one of them"
        case .wouldWaitForItself(let waiter, let awaited) where waiter == awaited:
            "the body of \(waiter) would wait for its own end"
        case .wouldWaitForItself(let waiter, let awaited):
            "the body of \(waiter) would wait for \(awaited), which cannot end before it"
        }
    }
}
