/// Rarely used state: completions, waiting tasks, a request to cancel, reported progress. Guarded by the operation's
/// lock. The properties that every end reads skip the check for exclusive access.
final class RareState {
    typealias Listener = @Sendable (OperationEnd) -> Void

    /// The first accepted request to cancel.
    @exclusivity(unchecked) var request: AsyncOperationContext.CancellationReason?
    /// True if its last handle was dropped while a queue was about to add it.
    var isAbandoned = false
    /// The number of announced attempts, in all rounds of the enclosing operations.
    var attempts = 0
    /// The context that begins its attempts for the task that waits for them; nil if its queue begins them.
    var context: TaskContext?
    /// The time limit of a waterfall's job that passed in the last attempt.
    var innerLimit: Duration?
    /// The queue of an operation that was started by itself and has been suspended: operations that it produced may
    /// outlast it.
    weak var ownQueue: QueueCore?
    /// The highest priority of the waiting tasks.
    @exclusivity(unchecked) var waiterPriority: Priority?
    /// The priority to which everything that it waits for was raised.
    @exclusivity(unchecked) private var raisedUpstreamTo: Priority?
    /// In the order in which they were added.
    @exclusivity(unchecked) var completions: [Listener] = []
    /// The progress that the body reported last.
    var progress: OperationProgress?
    @exclusivity(unchecked) var progressListeners = ProgressListeners()
    /// Its stand-ins in the queues of dependents; they get the end after completions and waiting tasks.
    @exclusivity(unchecked) var followers: [StandIn] = []
    /// Called last, to end enclosing operations after the end of this one.
    @exclusivity(unchecked) var outer: [Listener] = []
    @exclusivity(unchecked) var waiters = WaitingTasks()
    /// True if all completions have been called.
    @exclusivity(unchecked) var isTold: Bool

    init(isTold: Bool) { self.isTold = isTold }

    /// Records the priority. Returns true if everything that it waits for must be raised.
    func noteRaise(to priority: Priority) -> Bool {
        guard priority.mayRaise else { return false }
        if let raisedUpstreamTo, raisedUpstreamTo >= priority { return false }
        raisedUpstreamTo = priority
        return true
    }
}
