/// What a compound operation may be given beside its members.
public struct CompoundOptions: Sendable {
    /// The longest that it may take, measured from its start and standing still while its queue is suspended; nil for no
    /// limit. When it passes, members are told to stop and waited for.
    public var timeout: Duration?
    /// Higher starts earlier among operations that are ready.
    public var priority: UInt32
    /// Names of which only one holder in the queue may run at a time, held from its start to its end. No member may ask
    /// for one of them again.
    public var mutexes: Set<String>
    /// Whether a failure or timeout leaves the compound operation around it unharmed, and dependents run.
    public var toleratesFailure: Bool

    /// No limit of time, the lowest priority, no mutex, no tolerance, unless told otherwise.
    public init(
        timeout: Duration? = nil, priority: UInt32 = 0, mutexes: Set<String> = [], toleratesFailure: Bool = false
    ) {
        self.timeout = timeout
        self.priority = priority
        self.mutexes = mutexes
        self.toleratesFailure = toleratesFailure
    }
}
