/// The view that a running body has of its operation, with requests that it can make.
public struct AsyncOperationContext: Sendable {
    let control: BodyControl
    /// The name of a waterfall's job; nil outside a waterfall.
    var jobName: String?

    private var core: OperationCore { control.core }

    /// The name of the operation or, in a waterfall, of the job; empty if it has none.
    public var name: String { jobName ?? core.name }

    /// The number of the attempt, from 1. In a waterfall, it counts the attempts of the job; in a compound operation
    /// that is tried again, those in the current round.
    public var attempt: Int { control.attempt }

    /// The clock of the queue.
    public var clock: any Clock<Duration> { control.queue.clock }

    /// The id of the operation that runs this body.
    public var id: AsyncOperationID { core.id }

    /// The reason why the body must stop; nil until a stop is requested.
    public var cancellationReason: CancellationReason? { control.reason }

    /// True if the body must stop. Its task is cancelled as well, so `Task.isCancelled` agrees, also in child tasks.
    public var isCancelled: Bool { control.reason != nil }

    /// Throws if the body must stop.
    public func checkCancellation() throws(CancellationError) {
        if isCancelled { throw CancellationError() }
    }

    /// Calls `handler` at most once, when the body must stop; within this call if the stop has been reported already.
    /// Handlers are called in the order in which they were added, under no lock of the library, and must not block.
    ///
    /// A handler must not capture a `Completion`, because it would retain it: if the callback then drops its
    /// completion, the operation hangs instead of ending as abandoned. Use `Completion.onStop` instead.
    public func onCancel(_ handler: @escaping @Sendable (CancellationReason) -> Void) { control.onCancel(handler) }

    /// Calls `handler` with `true` when the queue is suspended while the body runs (soon if it is suspended already),
    /// and with `false` when it is resumed. The calls come in order; one may still come just after the body has
    /// returned. Nothing forces a running body to pause.
    public func onSuspend(_ handler: @escaping @Sendable (_ isSuspended: Bool) -> Void) { control.onSuspend(handler) }

    /// Waits while the queue is suspended, unless the body must stop. A body that calls this between two parts of its
    /// work can be paused there.
    public func waitWhileSuspended() async { await control.waitWhileSuspended() }

    /// Adds `operation` to the enclosing compound operation, which then waits for it too, or otherwise to the queue
    /// of the running operation.
    ///
    /// Throws the errors of `add` of the compound operation or queue, and `closed` once the body has ended.
    public func produce(_ operation: some AsyncOperationProtocol) throws(UsageError) {
        if let parent = core.parent {
            try parent.add([operation.erased.core], producer: control)
        } else {
            try control.queue.add([operation.erased.core], producer: control)
        }
    }
}

extension AsyncOperationContext {
    /// The reason why an operation was asked to stop.
    public enum CancellationReason: Hashable, Sendable {
        /// A call of `cancel` requested it. A `CancellationError` that a body throws without a request is a failure.
        case requested
        /// The enclosing compound operation was cancelled.
        case parent(AsyncOperationID)
        /// Another member of a compound operation that fails fast has failed.
        case sibling(AsyncOperationID)
        /// The time limit of the operation, or of an enclosing compound operation, has passed.
        case deadline(AsyncOperationID)
        /// Its queue was shut down, and the grace period is over.
        case shutdown
        /// It was never started, and its last handle is gone.
        case neverStarted
        /// Nothing can finish it any more: its `Completion` was dropped, or its last handle while it was suspended.
        case abandoned
        /// It waited for itself, over places and mutexes that others had taken when they started. Each of these
        /// operations waited for the next; the first is also the last. A wait that is certain to become such a circle
        /// is refused earlier, as `UsageError.cycle`. If a time limit will end one of the operations, that end is
        /// awaited; a possible failure is not.
        case stuck([AsyncOperationID])
        /// The task that waited for the value was cancelled, not the operation.
        case waiter
    }
}

extension AsyncOperationContext.CancellationReason: CustomStringConvertible {
    /// The reason as a phrase, such as `its queue was shut down`.
    public var description: String {
        switch self {
        case .requested: "on request"
        case .parent(let id): "the enclosing \(id) was cancelled"
        case .sibling(let id): "\(id) beside it has failed"
        case .deadline(let id): "the time limit of \(id) has passed"
        case .shutdown: "its queue was shut down"
        case .neverStarted: "it was never started"
        case .abandoned: "nothing was left that could finish it"
        case .stuck(let path): "it waited for itself: \(path.map(\.description).joined(separator: " -> "))"
        case .waiter: "the waiting task was cancelled"
        }
    }
}
