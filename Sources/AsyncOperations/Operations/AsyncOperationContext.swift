/// What a running body can learn about its operation, and ask for.
public struct AsyncOperationContext: Sendable {
    let control: BodyControl
    /// The name of a waterfall's job; nil outside of a waterfall.
    var jobName: String?

    private var core: OperationCore { control.core }

    /// The name of the operation or, in a waterfall, of the job; empty if it has none.
    public var name: String { jobName ?? core.name }

    /// The number of the attempt, from 1: in a waterfall, of the job's attempt; in a compound operation that is tried
    /// again, in the current round.
    public var attempt: Int { control.attempt }

    /// The clock of the queue.
    public var clock: any Clock<Duration> { control.queue.clock }

    /// The operation whose body this is.
    public var id: AsyncOperationID { core.id }

    /// Why the body is to stop; nil until somebody asks.
    public var cancellationReason: CancellationReason? { control.reason }

    /// Whether the body is to stop. Its task is cancelled as well, so `Task.isCancelled` agrees, also in child tasks.
    public var isCancelled: Bool { control.reason != nil }

    /// Throws once the body is to stop.
    public func checkCancellation() throws(CancellationError) {
        if isCancelled { throw CancellationError() }
    }

    /// Calls `handler` at most once, when the body is to stop; within this call if it has been told already. Handlers
    /// are called in the order in which they were added, under no lock of the library, and must not block.
    ///
    /// A handler must not capture a `Completion`: it would keep it, so that a callback that dropped the completion does
    /// not end the operation as abandoned, and the operation hangs. Use `Completion.onStop` instead.
    public func onCancel(_ handler: @escaping @Sendable (CancellationReason) -> Void) { control.onCancel(handler) }

    /// Calls `handler` with `true` when the queue is suspended while the body runs, soon if it is suspended already,
    /// and with `false` when it is resumed. The calls come in order; one may still come just after the body has
    /// returned. Nothing forces a running body to pause.
    public func onSuspend(_ handler: @escaping @Sendable (_ isSuspended: Bool) -> Void) { control.onSuspend(handler) }

    /// Waits while the queue is suspended, unless the body is to stop. A body that calls it between two parts of its
    /// work can be paused there.
    public func waitWhileSuspended() async { await control.waitWhileSuspended() }

    /// Adds `operation` next to the running one: to the compound operation around it, which then waits for it too, or
    /// otherwise to its queue.
    ///
    /// Throws what `add` of the compound operation or queue throws, and `closed` once the body has ended.
    public func produce(_ operation: some AsyncOperationProtocol) throws(UsageError) {
        if let parent = core.parent {
            try parent.add(operation.erased.core, producer: control)
        } else {
            try control.queue.add([operation.erased.core], producer: control)
        }
    }
}
