internal import Platform

/// Runs operations, so many at once: as soon as all they need has ended, the highest priority first, then in the order
/// in which they were added.
///
/// Compound operations take no place of their own; their members do. An idle queue keeps no task and no memory of what it
/// has run. What was added goes on when the queue is dropped, unless that is suspended: then it ends as abandoned.
///
/// All calls but those that say so return at once, from any thread.
public final class AsyncOperationQueue: Sendable {
    let core: QueueCore

    /// A queue for so many operations at once, nil meaning as many as there are processors. Timeouts, delays and
    /// back-offs are measured on `clock`. Throws `invalidLimit` for a number below 1.
    public init(
        _ name: String = "", maxConcurrentOperationCount: Int? = nil, isSuspended: Bool = false,
        clock: any Clock<Duration> = ContinuousClock()
    ) throws(UsageError) {
        core = QueueCore(name, width: try Self.width(maxConcurrentOperationCount), clock: clock)
        if isSuspended { core.setSuspended(true) }
    }

    deinit {
        core.drop()
    }

    private static func width(_ count: Int?) throws(UsageError) -> Int {
        let width = count ?? Platform.processorCount
        if width < 1 { throw .invalidLimit(width) }
        return width
    }

    /// What events and errors call it.
    public var id: AsyncOperationID { core.id }

    /// For reports; empty where none was given.
    public var name: String { core.id.name }

    /// Adds an operation. Throws what `add` of several throws.
    public func add(_ operation: some AsyncOperationProtocol) throws(UsageError) {
        try core.add(operation.erased.core)
    }

    /// Adds operations, all or none, in this order.
    ///
    /// Throws `closed` after `shutdown`; `alreadyEnqueued`, `alreadyStarted` or `alreadyFinished` for an operation that
    /// is taken; `invalidTimeout` and `nestedMutex` for what it or something inside it asks for; `cycle` where it waits
    /// for a barrier that waits for it.
    public func add(
        _ first: any AsyncOperationProtocol, _ second: any AsyncOperationProtocol,
        _ others: any AsyncOperationProtocol...
    ) throws(UsageError) {
        try core.add(([first, second] + others).map(\.erased.core))
    }

    /// Adds operations, all or none, in this order. Throws what `add` of single ones throws.
    public func add(contentsOf operations: some Sequence<any AsyncOperationProtocol>) throws(UsageError) {
        try core.add(operations.map(\.erased.core))
    }

    /// Adds an operation that waits for the end of all that was added before, and for which all waits that is added
    /// later. Throws what `add` throws.
    public func addBarrier(_ operation: some AsyncOperationProtocol) throws(UsageError) {
        try core.add([operation.erased.core], isBarrier: true)
    }

    /// How many operations have been added and have not ended, members of compound operations not counted.
    public var operationCount: Int { core.state.withLock { $0.unfinished } }

    /// How many operations may run at once.
    public var maxConcurrentOperationCount: Int { core.state.withLock { $0.width } }

    /// Changes how many operations may run at once, nil meaning as many as there are processors. Raising it starts more,
    /// lowering it stops none. Throws `invalidLimit` for a number below 1.
    public func setMaxConcurrentOperationCount(_ count: Int?) throws(UsageError) {
        core.setWidth(try Self.width(count))
    }

    /// Whether nothing starts.
    public var isSuspended: Bool { core.isSuspended }

    /// Lets nothing start any more: no operation, no member, no further attempt. What runs goes on, unless it listens to
    /// its context. Clocks of compound operations stand still. Twice is once.
    public func suspend() { core.setSuspended(true) }

    /// Ends a suspension. Twice is once.
    public func resume() { core.setSuspended(false) }

    /// Asks everything that is in the queue to end soon. What has not started ends at once, also while the queue is
    /// suspended. What is added later runs.
    public func cancelAll(_ reason: CancellationReason = .requested) { core.cancelAll(reason) }

    /// Returns when nothing is left to do, or when the waiting task is cancelled. Completions have been called by then.
    ///
    /// Throws `wouldWaitForItself` in the body of an operation of the queue, which is a part of what is left to do.
    public func waitUntilIdle() async throws(UsageError) {
        try core.refuseWaitingForItself()
        _ = await core.idleSignal()?.waitUnlessCancelled()
    }

    /// Takes no more operations, and returns when all that it has have ended: by themselves, or, after `grace`, because
    /// they were told to stop. nil waits as long as it takes; a cancel of the waiting task ends the grace.
    ///
    /// Returns the reports of those that were told to stop. A suspended queue stays suspended and starts nothing. Throws
    /// what `waitUntilIdle` throws, having changed nothing.
    @discardableResult
    public func shutdown(grace: Duration? = nil) async throws(UsageError) -> [ChildReport] {
        try core.refuseWaitingForItself()
        core.close()
        let stopped = ShutdownList()
        let cancel = { @Sendable [core] in stopped.append(core.cancelAll(.shutdown)) }
        let sleeper = grace.map { grace in
            launch { [clock = core.clock] in
                if (try? await clock.sleep(for: grace.countable)) != nil { cancel() }
            }
        }
        await withTaskCancellationHandler {
            await core.idleSignal()?.wait()
        } onCancel: {
            cancel()
        }
        cancelling { sleeper?.cancel() }
        core.endEvents()
        return stopped.reports
    }

    /// What happens from now on. A stream that is not read keeps the newest `count` events and drops the others, so that
    /// gaps show in their `sequence`. It ends with the queue, or after `shutdown`.
    public func events(bufferingNewest count: Int = 1024) -> AsyncStream<OperationEvent> {
        core.events(bufferingNewest: count)
    }
}
