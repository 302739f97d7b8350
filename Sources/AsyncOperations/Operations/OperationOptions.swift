/// The settings of an operation, apart from its body or members.
public struct OperationOptions: Sendable {
    /// The longest time that one attempt may take, from its start; nil for no limit. For a compound operation, time
    /// in which its queue is suspended does not count. When the limit passes, running bodies are asked to stop and
    /// awaited.
    public var timeout: Duration?
    /// The policy for further attempts, with all members if there are any; nil for one attempt.
    public var retry: RetryPolicy?
    /// Selects the errors that are worth another attempt; nil for all errors. Ignored by compound operations.
    public var retriesError: (@Sendable (any Error) -> Bool)?
    /// The priority among ready operations: the highest starts first; equal ones start in the order in which they
    /// were added.
    public var priority: UInt32
    /// The priority of the body's task; nil for that of the queue. Ignored by compound operations.
    ///
    /// A waiting task of higher priority raises it, and that of everything for which the operation waits:
    /// dependencies, and holders of the place, the mutex or the units that it wants.
    public var taskPriority: TaskPriority? {
        get { bodyPriority?.ofTask }
        set { bodyPriority = newValue.map { Priority($0) } }
    }
    /// The names of mutexes, each of which only one operation of the queue may hold at a time. All are acquired
    /// together at the start of an attempt and released at its end. A member of a compound operation must not name a
    /// mutex that the compound operation holds.
    public var mutexes: Set<String>
    /// The units that it takes of each pool, at least 1 and at most all. All are acquired together with its mutexes
    /// at the start of an attempt, and released at its end. Not allowed for compound operations, only for their
    /// members.
    public var pools: [Pool: Int]
    /// True if its failure or timeout does not count as a failure of the enclosing compound operation, and its
    /// dependents run.
    public var toleratesFailure: Bool
    /// The invalid time limit of a waterfall's job, which is refused at the start.
    var invalidJobTimeout: Duration?
    /// The stored form of `taskPriority`.
    private(set) var bodyPriority: Priority?

    /// Defaults: no time limit, one attempt, the lowest priority, no mutexes, no pools, no tolerance.
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

    /// A time limit of zero or less; nil if there is none.
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

/// The options of an operation that differ from the defaults.
final class OperationSettings: Sendable {
    let options: OperationOptions

    private init(_ options: OperationOptions) { self.options = options }

    /// Returns nil for the default options.
    static func made(of options: OperationOptions) -> OperationSettings? {
        options.isDefault ? nil : OperationSettings(options)
    }
}
