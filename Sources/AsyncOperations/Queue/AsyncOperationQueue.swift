internal import Platform

/// Runs operations, up to a number at once: when what they depend on has ended, the highest priority first, then in the
/// order in which they were added.
///
/// A compound operation does not count as running, only its members do; but it starts only when there is room for one
/// more. An idle queue keeps no task, and nothing of what it has run.
///
/// When the last reference to the queue is dropped, its operations go on, unless the queue is suspended: nobody could
/// resume it any more, so they end as `cancelled(.abandoned)`.
///
/// Synchronous calls return at once and may come from any thread.
public final class AsyncOperationQueue: Sendable {
    let core: QueueCore

    /// A queue that runs one operation for each processor at once.
    ///
    /// `clock` measures timeouts, delays and back-offs; its `sleep` must throw only when its task is cancelled.
    public init(
        _ name: String = "", isSuspended: Bool = false, clock: any Clock<Duration> = ContinuousClock()
    ) {
        core = QueueCore(name, width: Platform.processorCount, clock: clock)
        if isSuspended { core.setSuspended(true) }
    }

    /// A queue that runs up to `maxConcurrentOperationCount` operations at once; nil means one for each processor.
    ///
    /// `clock` measures timeouts, delays and back-offs; its `sleep` must throw only when its task is cancelled.
    ///
    /// Throws `invalidLimit` for a number below 1.
    public init(
        _ name: String = "", maxConcurrentOperationCount: Int?, isSuspended: Bool = false,
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

    /// Identifies it in events and errors.
    public var id: AsyncOperationID { core.id }

    /// Its name for reports; empty if it has none.
    public var name: String { core.id.name }

    /// Adds an operation. Throws what `add` of several operations throws.
    public func add(_ operation: some AsyncOperationProtocol) throws(UsageError) {
        try core.add(operation.erased.core)
    }

    /// Adds operations, all or none, in this order.
    ///
    /// Throws `closed` after `shutdown`; `alreadyEnqueued`, `alreadyStarted` or `alreadyFinished` for an operation that
    /// is not free; `invalidTimeout`, `nestedMutex`, `invalidUnits` or `poolOfCompound` because of its options or those
    /// of a member; `cycle` if it waits for a barrier that waits for it.
    public func add(
        _ first: any AsyncOperationProtocol, _ second: any AsyncOperationProtocol,
        _ others: any AsyncOperationProtocol...
    ) throws(UsageError) {
        try core.add(([first, second] + others).map(\.erased.core))
    }

    /// Adds operations, all or none, in this order. Throws what `add` of several operations throws.
    public func add(contentsOf operations: some Sequence<any AsyncOperationProtocol>) throws(UsageError) {
        try core.add(operations.map(\.erased.core))
    }

    /// Adds an operation that starts after everything added before has ended, and before everything added later. One
    /// that is cancelled before its start holds nothing back. Throws what `add` throws. O(operations in the queue).
    public func addBarrier(_ operation: some AsyncOperationProtocol) throws(UsageError) {
        try core.add([operation.erased.core], isBarrier: true)
    }

    /// How many operations have not ended, or have completions that have not returned. Members of compound operations
    /// do not count.
    public var operationCount: Int { core.state.withLock { $0.unfinished } }

    /// How many operations may run at once.
    public var maxConcurrentOperationCount: Int { core.state.withLock { $0.width } }

    /// Changes how many operations may run at once; nil means one for each processor. Raising it may start more,
    /// lowering it stops none.
    ///
    /// Throws `invalidLimit` for a number below 1.
    public func setMaxConcurrentOperationCount(_ count: Int?) throws(UsageError) {
        core.setWidth(try Self.width(count))
    }

    /// Whether it is suspended, so that nothing starts.
    public var isSuspended: Bool { core.isSuspended }

    /// Starts nothing until `resume`: no operation, no member, no further attempt. Running bodies go on unless they
    /// listen to their context. Timeouts of compound operations stand still. Does nothing if it is suspended already.
    public func suspend() { core.setSuspended(true) }

    /// Ends the suspension. Does nothing if it is not suspended.
    public func resume() { core.setSuspended(false) }

    /// Cancels every operation in the queue. What has not started ends at once, even if the queue is suspended.
    /// Operations that are added later run.
    public func cancelAll(_ reason: AsyncOperationContext.CancellationReason = .requested) { core.cancelAll(reason) }

    /// Waits until every operation has ended and completions have returned, or the waiting task is cancelled.
    ///
    /// Returns true if the queue became idle, false if the waiting task was cancelled before. Throws
    /// `wouldWaitForItself` in the body of one of its operations; see `AsyncOperation.result`.
    @discardableResult
    public func waitUntilIdle() async throws(UsageError) -> Bool {
        try await core.waitUntilIdle(heedingCancellation: true)
    }

    /// Refuses further operations, and waits until all have ended. Those that have not ended after `grace` are
    /// cancelled; nil waits as long as it takes. Cancelling the waiting task ends the grace period.
    ///
    /// Returns the reports of the operations that were cancelled. A suspended queue stays suspended and starts nothing.
    /// Throws `wouldWaitForItself` like `waitUntilIdle`; if that is certain from the start, the queue is unchanged.
    @discardableResult
    public func shutdown(grace: Duration? = nil) async throws(UsageError) -> [OperationReport] {
        try core.refuseWaitingForItself()
        core.close()
        let stopped = ShutdownList()
        // In one change, since the last end may come before the call returns.
        let cancel = { @Sendable [core] in core.update { stopped.append(core.cancelAll(.shutdown, &$0)) } }
        let end = grace.map { Ring(after: $0, on: core.clock, cancel) }
        let refusal = await withTaskCancellationHandler { () -> UsageError? in
            do throws(UsageError) {
                _ = try await core.waitUntilIdle(heedingCancellation: false)
                return nil
            } catch {
                return error
            }
        } onCancel: {
            cancel()
        }
        end?.cancel()
        if let refusal { throw refusal }
        core.endEvents()
        return stopped.reports
    }

    /// The events from now on. A stream that is read too slowly keeps the newest `count` and drops the others, which
    /// leaves gaps in their `sequence`. The stream ends after `shutdown`, or when the queue is dropped and its last
    /// operation has ended.
    public func events(bufferingNewest count: Int = 1024) -> AsyncStream<AsyncOperationQueue.Event> {
        core.events(bufferingNewest: count)
    }
}
