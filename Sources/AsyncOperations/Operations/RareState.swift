/// What few operations have: completions, waiting tasks, a request to cancel, reported progress. Guarded by the
/// operation's lock; what every end looks at is not checked for exclusive access once more.
final class RareState {
    typealias Listener = @Sendable (OperationEnd) -> Void

    /// The first request to cancel that was accepted.
    @exclusivity(unchecked) var request: AsyncOperationContext.CancellationReason?
    /// Whether its last handle was dropped while a queue was about to take it.
    var isAbandoned = false
    /// How many attempts were announced, in all rounds of what is around it.
    var attempts = 0
    /// Begins its attempts for the task that waits for them; nil if its queue does.
    var context: TaskContext?
    /// The limit of a waterfall's job that passed in the last attempt.
    var innerLimit: Duration?
    /// The queue of an operation that was started by itself and has been suspended: what it produced may outlast it.
    weak var ownQueue: QueueCore?
    /// The highest priority of the waiting tasks.
    @exclusivity(unchecked) var waiterPriority: Priority?
    /// To which priority what it waits for was raised.
    @exclusivity(unchecked) private var raisedUpstreamTo: Priority?
    /// In the order in which they were added.
    @exclusivity(unchecked) var completions: [Listener] = []
    /// The progress that the body reported last.
    var progress: OperationProgress?
    @exclusivity(unchecked) var progressListeners = ProgressListeners()
    /// The stand-ins in queues where something depends on it; told after completions and waiting tasks.
    @exclusivity(unchecked) var followers: [StandIn] = []
    /// Those that end what is around it after its own end; told last.
    @exclusivity(unchecked) var outer: [Listener] = []
    @exclusivity(unchecked) var waiters = WaitingTasks()
    /// Whether all completions have been called.
    @exclusivity(unchecked) var isTold: Bool

    init(isTold: Bool) { self.isTold = isTold }

    /// Returns whether what it waits for has to be raised.
    func noteRaise(to priority: Priority) -> Bool {
        guard priority.mayRaise else { return false }
        if let raisedUpstreamTo, raisedUpstreamTo >= priority { return false }
        raisedUpstreamTo = priority
        return true
    }
}
