/// The settings of an operation, apart from its body or members.
public struct OperationOptions: Sendable {
    /// The longest that one attempt may take, from its start; nil for no limit. For a compound operation, time in which
    /// its queue is suspended does not count. When the limit passes, what runs is told to stop and waited for.
    public var timeout: Duration?
    /// Whether and when it is tried again, with all its members if it has any; nil for one attempt.
    public var retry: RetryPolicy?
    /// Which errors are worth another attempt; nil for all. Ignored by compound operations.
    public var retriesError: (@Sendable (any Error) -> Bool)?
    /// Of the operations that are ready, the highest starts first; equals start in the order in which they were added.
    public var priority: UInt32
    /// The priority of the body's task; nil for that of the queue. Ignored by compound operations.
    ///
    /// A waiting task of higher priority raises it, and everything that the operation waits for: dependencies, and what
    /// holds the place, the mutex or the units that it wants.
    public var taskPriority: TaskPriority? {
        get { bodyPriority?.ofTask }
        set { bodyPriority = newValue.map { Priority($0) } }
    }
    /// Names that only one operation of the queue may hold at a time. All are acquired together at the start of an
    /// attempt and released at its end. A member of a compound operation must not name one that the compound operation
    /// holds.
    public var mutexes: Set<String>
    /// How many units it has of which pools, at least 1 and at most all. All are acquired together with its mutexes, at
    /// the start of an attempt, and released at its end. Compound operations cannot have any; their members can.
    public var pools: [Pool: Int]
    /// Whether a failure or timeout of it counts as no failure of the compound operation around it, and its dependents
    /// run.
    public var toleratesFailure: Bool
    /// The invalid limit of a waterfall's job, which is refused at the start.
    var invalidJobTimeout: Duration?
    /// What `taskPriority` is stored as.
    private(set) var bodyPriority: Priority?

    /// By default: no time limit, one attempt, the lowest priority, no mutexes, no pools, no tolerance.
    public init(
        timeout: Duration? = nil, retry: RetryPolicy? = nil, retriesError: (@Sendable (any Error) -> Bool)? = nil,
        priority: UInt32 = 0, taskPriority: TaskPriority? = nil, mutexes: Set<String> = [],
        pools: [Pool: Int] = [:], toleratesFailure: Bool = false
    ) {
        self.timeout = timeout
        self.retry = retry
        self.retriesError = retriesError
        self.priority = priority
        bodyPriority = taskPriority.map { Priority($0) }
        self.mutexes = mutexes
        self.pools = pools
        self.toleratesFailure = toleratesFailure
    }

    /// A time limit that has passed before it begins; nil if there is none.
    var invalidLimit: Duration? {
        if let timeout, timeout <= .zero { return timeout }
        if let deadline = retry?.deadline, deadline <= .zero { return deadline }
        return invalidJobTimeout
    }

    /// The units of each pool, always in the same order.
    var units: [(pool: Pool, count: Int)] {
        pools.map { ($0, $1) }.sorted { $0.pool.number < $1.pool.number }
    }

    /// True if it takes mutexes or units of pools.
    var takesLocks: Bool { !mutexes.isEmpty || !pools.isEmpty }

    var isDefault: Bool {
        timeout == nil && retry == nil && retriesError == nil && priority == 0 && bodyPriority == nil
            && !takesLocks && !toleratesFailure && invalidJobTimeout == nil
    }
}

/// The options of an operation that has others than the defaults.
final class OperationSettings: Sendable {
    let options: OperationOptions

    private init(_ options: OperationOptions) { self.options = options }

    /// nil for the defaults.
    static func made(of options: OperationOptions) -> OperationSettings? {
        options.isDefault ? nil : OperationSettings(options)
    }
}
