internal import Platform

/// Runs operations, up to a number at once, after their dependencies have ended: the highest priority first, then in
/// the order in which they were added.
///
/// A compound operation does not count as running, only its members do; but it starts only when there is room for one
/// more operation. An idle queue keeps no task and none of the operations that it has run.
///
/// When the last reference to the queue is dropped, its operations go on. A suspended queue, however, can no longer
/// be resumed, so its operations end as `cancelled(.abandoned)`.
///
/// Synchronous calls return at once and may come from any thread.
public final class AsyncOperationQueue: Sendable {
    let core: QueueCore

    /// Creates a queue that runs one operation for each processor at once.
    ///
    /// `clock` measures timeouts, delays and back-offs; its `sleep` must throw only when its task is cancelled.
    public init(
        _ name: String = "", isSuspended: Bool = false, clock: any Clock<Duration> = ContinuousClock()
    ) {
        core = QueueCore(name, width: Platform.processorCount, clock: clock)
        if isSuspended { core.setSuspended(true) }
    }

    /// Creates a queue that runs up to `maxConcurrentOperationCount` operations at once; nil means one for each
    /// processor.
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

    /// The identity in events and errors.
    public var id: AsyncOperationID { core.id }

    /// The name for reports; empty if there is none.
    public var name: String { core.id.name }

    /// Adds an operation. Throws the errors of `add` for several operations.
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

    /// Adds operations, all or none, in this order. Throws the errors of `add` for several operations.
    public func add(contentsOf operations: some Sequence<any AsyncOperationProtocol>) throws(UsageError) {
        try core.add(operations.map(\.erased.core))
    }

    /// Adds an operation that starts after everything added before has ended, and before everything added later. If
    /// it is cancelled before its start, it holds nothing back. Throws the errors of `add`. O(operations in the
    /// queue).
    public func addBarrier(_ operation: some AsyncOperationProtocol) throws(UsageError) {
        try core.add([operation.erased.core], isBarrier: true)
    }

    /// The number of operations that have not ended, or have completions that have not returned. Members of compound
    /// operations do not count.
    public var operationCount: Int { core.state.withLock { $0.unfinished } }

    /// The number of operations that may run at once.
    public var maxConcurrentOperationCount: Int { core.state.withLock { $0.width } }

    /// Changes the number of operations that may run at once; nil means one for each processor. A higher number may
    /// start operations, a lower one stops none.
    ///
    /// Throws `invalidLimit` for a number below 1.
    public func setMaxConcurrentOperationCount(_ count: Int?) throws(UsageError) {
        core.setWidth(try Self.width(count))
    }

    /// True if it is suspended, so that nothing starts.
    public var isSuspended: Bool { core.isSuspended }

    /// Starts nothing until `resume`: no operation, no member, no further attempt. Running bodies go on unless they
    /// listen to their context. Timeouts of compound operations pause. Does nothing if the queue is suspended
    /// already.
    public func suspend() { core.setSuspended(true) }

    /// Ends the suspension. Does nothing if the queue is not suspended.
    public func resume() { core.setSuspended(false) }

    /// Cancels every operation in the queue. Operations that have not started end at once, even if the queue is
    /// suspended. Operations that are added later run.
    public func cancelAll(_ reason: AsyncOperationContext.CancellationReason = .requested) { core.cancelAll(reason) }

    /// Waits until every operation has ended and completions have returned, or the waiting task is cancelled.
    ///
    /// Returns true if the queue became idle, false if the waiting task was cancelled first. Throws
    /// `wouldWaitForItself` in the body of one of the queue's operations; see `AsyncOperation.result`.
    @discardableResult
    public func waitUntilIdle() async throws(UsageError) -> Bool {
        try await core.waitUntilIdle(heedingCancellation: true)
    }

    /// Refuses further operations, and waits until all have ended. Operations that have not ended after `grace` are
    /// cancelled; nil waits without a limit. Cancelling the waiting task ends the grace period.
    ///
    /// Returns the reports of the cancelled operations. A suspended queue stays suspended and starts nothing. Throws
    /// `wouldWaitForItself` like `waitUntilIdle`; if that is certain from the start, the queue is unchanged.
    @discardableResult
    public func shutdown(grace: Duration? = nil) async throws(UsageError) -> [OperationReport] {
        try core.refuseWaitingForItself()
        core.close()
        let stopped = ShutdownList()
        // In one change, because the last end may come before the call returns.
        let cancel = { @Sendable [core] in
            let (_, consequences) = core.decide { stopped.append(core.cancelAll(.shutdown, &$0)) }
            core.carry(consequences, handingOver: core.timer.hands)
        }
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

// Operations that a queue creates from a body: to wait for, or to keep.

extension AsyncOperationQueue {
    /// Adds an operation with this body and waits for the value that the body returns. Cancelling the calling task
    /// cancels the operation, and the call still waits for its end; in a task that is cancelled already, the body
    /// never runs.
    ///
    /// Throws for every end other than a success, and throws the errors of `add` as `refused`. In the body of an
    /// operation of this queue that must end before the new one could start, throws `refused(.wouldWaitForItself)`;
    /// the new operation is then cancelled.
    @inlinable public func run<Success: Sendable, Failure: Error>(
        _ name: String = "", options: OperationOptions = OperationOptions(),
        _ body: @escaping @Sendable () async throws(Failure) -> Success
    ) async throws(OperationFailure<Failure>) -> Success {
        try await run(AsyncOperation(name, options: options, body: body))
    }

    /// Adds an operation whose body takes a context, and waits for the value that the body returns.
    @inlinable @_disfavoredOverload
    public func run<Success: Sendable, Failure: Error>(
        _ name: String = "", options: OperationOptions = OperationOptions(),
        _ body: @escaping @Sendable (AsyncOperationContext) async throws(Failure) -> Success
    ) async throws(OperationFailure<Failure>) -> Success {
        try await run(AsyncOperation(name, options: options, body: body))
    }

    /// Adds `operation` and waits for its value; otherwise like `run` with a body.
    @inlinable public func run<Success: Sendable, Failure: Error>(
        _ operation: AsyncOperation<Success, Failure>
    ) async throws(OperationFailure<Failure>) -> Success {
        let end: OperationEnd
        do throws(UsageError) { end = try await run(operation.core) } catch { throw .refused(error) }
        return try AsyncOperation<Success, Failure>.result(of: operation.core, end).get()
    }

    /// Adds an operation and waits for its end, as `run` does.
    @usableFromInline func run(_ operation: OperationCore) async throws(UsageError) -> OperationEnd {
        try await operation.end(in: TaskContext()) { () throws(UsageError) in try core.add(operation) }
    }

    /// Reports a body of another type than the expected one, which the compiler cannot do with more than one `run`.
    @available(*, unavailable, message: "the body returns a value of another type than the one that is expected here")
    @_disfavoredOverload @_documentation(visibility: private)
    public func run<Success, Other>(
        _ name: String = "", options: OperationOptions = OperationOptions(),
        _ body: @escaping @Sendable () async throws -> Other
    ) async throws -> Success { fatalError() }

    /// Reports a body of another type than the expected one, for a body that takes a context.
    @available(*, unavailable, message: "the body returns a value of another type than the one that is expected here")
    @_disfavoredOverload @_documentation(visibility: private)
    public func run<Success, Other>(
        _ name: String = "", options: OperationOptions = OperationOptions(),
        _ body: @escaping @Sendable (AsyncOperationContext) async throws -> Other
    ) async throws -> Success { fatalError() }

    /// Reports an argument that is neither a body nor an operation with a value.
    @available(*, unavailable, message: "`run` takes a body or an AsyncOperation; a CompoundOperation has `run(on:)`")
    @_disfavoredOverload @_documentation(visibility: private)
    public func run(_ other: any AsyncOperationProtocol) async throws -> Never { fatalError() }

    /// Adds an operation with this body and returns it. Throws the errors of `add` for several operations.
    @discardableResult
    public func add<Success: Sendable, Failure: Error>(
        _ name: String = "", options: OperationOptions = OperationOptions(),
        _ body: @escaping @Sendable () async throws(Failure) -> Success
    ) throws(UsageError) -> AsyncOperation<Success, Failure> {
        let operation = AsyncOperation(name, options: options, body: body)
        try add(operation)
        return operation
    }

    /// Adds an operation whose body takes a context, and returns it.
    @discardableResult @_disfavoredOverload
    public func add<Success: Sendable, Failure: Error>(
        _ name: String = "", options: OperationOptions = OperationOptions(),
        _ body: @escaping @Sendable (AsyncOperationContext) async throws(Failure) -> Success
    ) throws(UsageError) -> AsyncOperation<Success, Failure> {
        let operation = AsyncOperation(name, options: options, body: body)
        try add(operation)
        return operation
    }
}

extension AsyncOperationQueue {
    /// An event of an operation of a queue, of a member of one, or of the queue itself.
    public struct Event: Sendable, Hashable {
        /// The kind of an event.
        public enum Kind: Sendable, Hashable {
            /// It was added by the body of this operation (`produce`); nil for a call from outside.
            case added(by: AsyncOperationID?)
            /// All its dependencies have ended; it waits only for its turn.
            case ready
            /// An attempt starts. Attempts count from 1; in a compound operation that is tried again, the count
            /// continues through all rounds.
            case started(attempt: Int)
            /// It was asked to stop while it ran.
            case cancelRequested(AsyncOperationContext.CancellationReason)
            /// An attempt failed. The next starts after this delay or later.
            case retry(after: Duration)
            /// The queue was suspended.
            case suspended
            /// The queue was resumed.
            case resumed
            /// It has ended for good. This is its last event.
            case finished(OperationOutcome)
        }

        /// The number among the events of the queue, from 0.
        public let sequence: UInt64
        /// The operation or queue that the event is about.
        public let id: AsyncOperationID
        /// The time since the creation of the queue, on its clock.
        public let time: Duration
        /// The kind of the event.
        public let kind: Kind
    }
}

extension AsyncOperationQueue.Event: CustomStringConvertible {
    /// The event in one line, such as "`load`: started" or "`load`: ended: success".
    public var description: String { "\(id): \(kind)" }
}

extension AsyncOperationQueue.Event.Kind: CustomStringConvertible {
    /// The kind as a phrase, such as `tried again after 5.0 seconds`.
    public var description: String {
        switch self {
        case .added(nil): "added"
        case .added(let producer?): "added by \(producer)"
        case .ready: "ready"
        case .started(1): "started"
        case .started(let attempt): "started, attempt \(attempt)"
        case .cancelRequested(let reason): "told to stop: \(reason)"
        case .retry(let delay): "tried again after \(delay)"
        case .suspended: "suspended"
        case .resumed: "resumed"
        case .finished(let outcome): "ended: \(outcome)"
        }
    }
}

extension AsyncOperationQueue {
    /// The number of ended operations, of those added since the queue was last idle. Members of compound operations
    /// do not count. It keeps its last value while the queue is idle.
    public var progress: OperationProgress { core.state.withLock { $0.progress } }

    /// The current progress, then the newest value after each change. A slow reader misses values in between, never
    /// the last. The stream ends with the queue, or after `shutdown`.
    public func progressUpdates() -> AsyncStream<OperationProgress> { core.progressUpdates() }
}

extension QueueCore {
    func progressUpdates() -> AsyncStream<OperationProgress> {
        ProgressListeners.stream { listener, id in
            state.withLock { state in
                listener.yield(state.progress)
                if state.isClosed, state.unfinished == 0 { return true }
                state.progressListeners.add(listener, as: id, knowing: state.progress)
                return false
            }
        } remove: { [weak self] id in
            _ = self?.state.withLock { $0.progressListeners.remove(id) }
        }
    }
}

extension QueueCore.State {
    /// Counts added operations, without members of compound operations.
    mutating func countAdded(_ count: Int) {
        if unfinished == 0 { progress = OperationProgress(completed: 0, total: 0) }
        unfinished += count
        progress.total += count
        progressListeners.tell(progress)
    }

    /// Counts the end of one of them.
    mutating func countEnded() {
        unfinished -= 1
        progress.completed += 1
        progressListeners.tell(progress)
    }
}
