/// What an operation with a body may be given beside the body.
public struct OperationOptions: Sendable {
    /// The longest that one attempt may take, measured from the start of its body; nil for no limit. When it passes, the
    /// body is told to stop and waited for.
    public var timeout: Duration?
    /// Whether and when it is tried again; nil for one attempt.
    public var retry: RetryPolicy?
    /// Which errors are worth another attempt; nil for all.
    public var retriesError: (@Sendable (any Error) -> Bool)?
    /// Higher starts earlier among operations that are ready; equals start in the order in which they were added.
    public var priority: UInt32
    /// The priority of the body's task; nil for that of the queue.
    public var taskPriority: TaskPriority?
    /// Names of which only one holder in the queue may run at a time. All are taken together when the operation starts,
    /// and given back when an attempt has ended.
    public var mutexes: Set<String>
    /// Whether a failure or timeout leaves the compound operation around it unharmed, and dependents run.
    public var toleratesFailure: Bool

    /// No limit of time, one attempt, the lowest priority, no mutex, no tolerance, unless told otherwise.
    public init(
        timeout: Duration? = nil, retry: RetryPolicy? = nil, retriesError: (@Sendable (any Error) -> Bool)? = nil,
        priority: UInt32 = 0, taskPriority: TaskPriority? = nil, mutexes: Set<String> = [],
        toleratesFailure: Bool = false
    ) {
        self.timeout = timeout
        self.retry = retry
        self.retriesError = retriesError
        self.priority = priority
        self.taskPriority = taskPriority
        self.mutexes = mutexes
        self.toleratesFailure = toleratesFailure
    }
}
