/// Anything that can be started, stopped, awaited and depended on: an operation, a compound operation, or a type of
/// yours that wraps one.
///
/// Synchronous calls return at once, may come from any thread, and never run a body. Tasks of the library call
/// completions and handlers, one at a time for each queue, so you may hold a lock during a call even if they take the
/// same lock. There are two exceptions. A completion or `onCancel` handler that is added too late to wait for
/// anything is called within the call that adds it. And a call that ends an operation may release its body, which
/// runs the `deinit` of the values that the body captured.
public protocol AsyncOperationProtocol: Sendable {
    /// The operation without the types of its value and error.
    var erased: AnyAsyncOperation { get }
}

extension AsyncOperationProtocol {
    private var core: OperationCore { erased.core }

    /// The identity in events, reports and errors; unique in the process.
    public var id: AsyncOperationID { core.id }

    /// The name for reports; empty if there is none.
    public var name: String { core.name }

    /// The current state.
    public var state: OperationState { core.lifecycle.progress }

    /// True if its body, or any of its members, may be running now.
    public var isRunning: Bool { state == .executing }

    /// True if it has ended.
    public var isFinished: Bool { core.isFinished }

    /// True if a request to cancel it was accepted, if it is being stopped, or if it ended as cancelled. Once a
    /// request was accepted it stays true, even for a compound operation that ends as a failure because a member had
    /// failed before the request.
    public var isCancelled: Bool {
        core.state.withLock { state in
            if state.rare?.request != nil { return true }
            switch state.lifecycle {
            case .ended(.cancelled), .dissolving: return true
            case .running(let control): return control.reason != nil
            case .ended, .idle, .member, .taken, .waiting, .open, .settled: return false
            }
        }
    }

    /// True if a suspension holds it back: its own if it was started by `start()`, otherwise that of its queue.
    public var isSuspended: Bool {
        let (startsSuspended, queue, ownQueue) = core.state.withLock { state in
            (state.startsSuspended && state.lifecycle.end == nil, state.lifecycle.queue, state.rare?.ownQueue)
        }
        // The operations that it produced may outlast it, and wait for the same `resume`.
        if let ownQueue, queue == nil { return !ownQueue.isIdle && ownQueue.isSuspended }
        return queue?.isSuspended ?? startsSuspended
    }

    /// The operations on which it depends, in the order in which the dependencies were added. Empty once it has
    /// ended.
    public var dependencies: [AsyncOperationID] { core.neededCores.map(\.id) }

    /// The outcome of the operation. Waits for the end, even if the waiting task is cancelled.
    ///
    /// If the wait is refused, the outcome is `cancelled`; see `AsyncOperation.result`.
    public var outcome: OperationOutcome {
        get async {
            do throws(UsageError) { return try await core.awaitEnd().outcome } catch { return .cancelled }
        }
    }

    /// Calls `completion` once with the outcome, for callers who do not know the operation's type. Otherwise like
    /// `AsyncOperation.addCompletion`.
    public func addOutcomeCompletion(_ completion: @escaping @Sendable (OperationOutcome) -> Void) {
        core.addCompletion { completion($0.outcome) }
    }

    /// Starts the operation on a queue of its own, in which any number of members may run at once. Bodies run at the
    /// caller's priority, unless their `taskPriority` says otherwise.
    ///
    /// `clock` measures timeouts, delays and back-offs; its `sleep` must throw only when its task is cancelled.
    ///
    /// Throws `alreadyStarted`, `alreadyFinished`, or `alreadyEnqueued` if it belongs to a queue or to a compound
    /// operation; `invalidTimeout`, `nestedMutex`, `invalidUnits` or `poolOfCompound` because of its options or those
    /// of a member.
    public func start(clock: any Clock<Duration> = ContinuousClock()) throws(UsageError) {
        try core.start(clock: clock)
    }

    /// Holds back everything that has not started: members, attempts, jobs of a waterfall. Running bodies go on
    /// unless they listen to their context. Before the start, the suspension takes effect with `start()`; it has no
    /// effect if the operation is added to a queue, which is suspended as a whole.
    ///
    /// Throws `alreadyFinished`, and `alreadyEnqueued` if it belongs to a queue or to a compound operation.
    public func suspend() throws(UsageError) {
        try core.setSuspended(true)
    }

    /// Ends the suspension. Starts the operation on a continuous clock if it has not been started.
    ///
    /// Throws `alreadyFinished`, also after a cancel; `alreadyEnqueued` if it belongs to a queue or to a compound
    /// operation; and, if it starts the operation, the errors of `start()` about its options.
    public func resume() throws(UsageError) {
        try core.setSuspended(false)
    }

    /// Asks the operation and all its members to end soon. A running body receives the request, and its operation
    /// ends when the body returns. Everything that has not started ends at once and never starts. A compound
    /// operation ends after its members and their completions.
    ///
    /// Returns true for one call only: the first before the end. Its reason counts; later calls have no effect.
    @discardableResult
    public func cancel(_ reason: AsyncOperationContext.CancellationReason = .requested) -> Bool { core.cancel(reason) }

    /// Makes it start only after `other`, wherever that runs, has ended as `kind` requires. If `other` ends
    /// otherwise, this operation ends as `skipped` or `notRun`, and its body never runs.
    ///
    /// A second dependency on the same operation replaces the kind of the first. A dependency that was created by
    /// `from:` keeps its kind, because the body needs the value.
    ///
    /// Throws `selfDependency`; `cycle` with the complete path, also if `other` waits for a place or a mutex that an
    /// operation enclosing this one holds; and `alreadyStarted` or `alreadyFinished`. O(1) while nothing depends on
    /// this operation, otherwise linear in the operations for which `other` waits.
    public func addDependency(
        on other: some AsyncOperationProtocol, _ kind: DependencyKind = .ok
    ) throws(UsageError) {
        try core.addDependency(on: other.erased.core, kind)
    }

    /// Removes a dependency, even one that is being waited for. Returns false if there is none, or if it was created
    /// by `from:` and cannot be removed.
    ///
    /// Throws `alreadyStarted` or `alreadyFinished`.
    @discardableResult
    public func removeDependency(on other: some AsyncOperationProtocol) throws(UsageError) -> Bool {
        try core.removeDependency(on: other.erased.core)
    }
}

/// An operation without the types of its value and error.
///
/// Dropping the last handle of an operation that was never started ends it as `cancelled(.neverStarted)`.
///
/// Unchecked because it has subclasses; they add no mutable state.
public class AnyAsyncOperation: AsyncOperationProtocol, @unchecked Sendable {
    @usableFromInline let core: OperationCore

    @usableFromInline init(_ core: OperationCore) { self.core = core }

    deinit { core.abandon() }

    /// The operation itself.
    public final var erased: AnyAsyncOperation { self }
}
