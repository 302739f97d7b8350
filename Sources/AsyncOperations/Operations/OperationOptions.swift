/// What an operation may be given beside its body or its members.
public struct OperationOptions: Sendable {
    /// The longest that one attempt may take, nil for no limit: of a body from its start on; of a compound operation from
    /// its start on too, standing still while its queue is suspended. When it passes, what runs is told to stop and
    /// waited for.
    public var timeout: Duration?
    /// Whether and when it is tried again, with all its members where it has some; nil for one attempt.
    public var retry: RetryPolicy?
    /// Which errors are worth another attempt; nil for all. Not asked of a compound operation.
    public var retriesError: (@Sendable (any Error) -> Bool)?
    /// Higher starts earlier among operations that are ready; equals start in the order in which they were added.
    public var priority: UInt32
    /// The priority of the body's task; nil for that of the queue. A task of higher priority that waits for the
    /// operation raises it. Not asked of a compound operation.
    public var taskPriority: TaskPriority?
    /// Names of which only one holder in the queue may run at a time. All are taken together when the operation starts,
    /// and given back when an attempt has ended. No member of a compound operation may ask for one of its names again.
    public var mutexes: Set<String>
    /// Whether a failure or timeout leaves the compound operation around it unharmed, and dependents run.
    public var toleratesFailure: Bool
    /// A limit of a job inside that has to be refused.
    var invalidJobTimeout: Duration?

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

    var isDefault: Bool {
        timeout == nil && retry == nil && retriesError == nil && priority == 0 && taskPriority == nil
            && mutexes.isEmpty && !toleratesFailure && invalidJobTimeout == nil
    }
}
