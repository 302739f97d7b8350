/// What the body of a running operation knows about itself, and what it may ask for.
public struct AsyncOperationContext: Sendable {
    let control: BodyControl
    /// That of the job of a waterfall; nil outside of one.
    var jobName: String?

    private var core: OperationCore { control.core }

    /// What the operation was named or, in a job of a waterfall, the job; empty where no name was given.
    public var name: String { jobName ?? core.name }

    /// Which attempt it is, from 1; in a job of a waterfall, of that job.
    public var attempt: Int { control.attempt }

    /// What measures the time of the queue.
    public var clock: any Clock<Duration> { control.queue.clock }

    /// The operation whose body this is.
    public var id: AsyncOperationID { core.id }

    /// Why the body is to stop; nil while nobody asked for it.
    public var cancellationReason: CancellationReason? { control.reason }

    /// Whether the body is to stop. Its task is cancelled too, so that `Task.isCancelled` says the same in it and in its
    /// child tasks.
    public var isCancelled: Bool { control.reason != nil }

    /// Throws once the body is to stop.
    public func checkCancellation() throws(CancellationError) {
        if isCancelled { throw CancellationError() }
    }

    /// Calls `handler` at most once, when the body is to stop: at once where that has been asked for already. Handlers
    /// are called in the order in which they were added, under no lock, and must not block. One that keeps a `Completion`
    /// is somebody who could still finish the operation; `Completion.onStop` gives its handler one instead.
    public func onCancel(_ handler: @escaping @Sendable (CancellationReason) -> Void) { control.onCancel(handler) }

    /// Calls `handler` with `true` whenever the queue is suspended while the body runs, and with `false` when it is
    /// resumed. Nothing forces a running body to pause.
    public func onSuspend(_ handler: @escaping @Sendable (_ isSuspended: Bool) -> Void) { control.onSuspend(handler) }

    /// Returns when the queue is not suspended, or when the body is to stop. Between two parts of the work, this makes
    /// a pause reach it.
    public func waitWhileSuspended() async { await control.waitWhileSuspended() }

    /// Adds `operation` beside the one that runs: to the compound operation around it, which then waits for it too, or
    /// else to its queue.
    ///
    /// Throws what `add` throws, and `closed` once the body has ended.
    public func produce(_ operation: some AsyncOperationProtocol) throws(UsageError) {
        if let parent = core.parent {
            try parent.add(operation.erased.core, producer: control)
        } else {
            try control.queue.add([operation.erased.core], producer: control)
        }
    }
}
