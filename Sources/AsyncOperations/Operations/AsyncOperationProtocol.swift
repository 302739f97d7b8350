/// Anything that can be started, stopped, awaited and depended on: an operation, a compound operation, or a type of
/// yours that wraps one.
///
/// Synchronous calls return at once, may come from any thread, and never run a body. Tasks of the library call
/// completions and handlers, one at a time for each queue, so you may hold a lock during a call even if they take the
/// same lock. Two things do happen within a call: a completion or `onCancel` handler that comes too late to wait for
/// anything is called by the call that adds it, and a call that ends an operation may release its body, which runs the
/// `deinit` of what the body captured.
public protocol AsyncOperationProtocol: Sendable {
    /// The operation without the types of its value and error.
    var erased: AnyAsyncOperation { get }
}

extension AsyncOperationProtocol {
    private var core: OperationCore { erased.core }

    /// Identifies it in events, reports and errors; unique in the process.
    public var id: AsyncOperationID { core.id }

    /// Its name for reports; empty if it has none.
    public var name: String { core.name }

    /// How far it has come.
    public var state: OperationState { core.lifecycle.progress }

    /// Whether its body, or any of its members, may be running now.
    public var isRunning: Bool { state == .executing }

    /// Whether it has ended.
    public var isFinished: Bool { core.isFinished }

    /// Whether a request to cancel it was accepted, it is being stopped, or it ended as cancelled. Never goes back to
    /// false, not even for a compound operation that ends as a failure because a member had failed before the request.
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

    /// Whether a suspension holds it back: its own if it was started by `start()`, otherwise that of its queue.
    public var isSuspended: Bool {
        let (startsSuspended, queue, ownQueue) = core.state.withLock { state in
            (state.startsSuspended && state.lifecycle.end == nil, state.lifecycle.queue, state.rare?.ownQueue)
        }
        // What it produced may outlast it, and waits for the same `resume`.
        if let ownQueue, queue == nil { return !ownQueue.isIdle && ownQueue.isSuspended }
        return queue?.isSuspended ?? startsSuspended
    }

    /// The operations it depends on, in the order in which the dependencies were added. Empty once it has ended.
    public var dependencies: [AsyncOperationID] { core.state.withLock { $0.needs.map(\.core.id) } }

    /// Why it has not ended: the way to what has to happen first, such as an operation that was never started. nil if
    /// it has ended, or if only its own body has to return. A snapshot; for a log or a debugger. O(what is upstream).
    public var waitingFor: WaitPath? { core.waitPath }

    /// How it ended, without its value. Waits for the end, even if the waiting task is cancelled.
    ///
    /// For a wait that is refused, the outcome is `cancelled`; see `AsyncOperation.result`.
    public var outcome: OperationOutcome {
        get async {
            do throws(UsageError) { return try await core.awaitEnd().outcome } catch { return .cancelled }
        }
    }

    /// Calls `completion` once with how the operation ended, for callers who do not know its type. Otherwise like
    /// `AsyncOperation.addCompletion`.
    public func addOutcomeCompletion(_ completion: @escaping @Sendable (OperationOutcome) -> Void) {
        core.addCompletion { completion($0.outcome) }
    }

    /// Starts it on a queue of its own, in which any number of members may run at once. Bodies run at the caller's
    /// priority, unless their `taskPriority` says otherwise.
    ///
    /// `clock` measures timeouts, delays and back-offs; its `sleep` must throw only when its task is cancelled.
    ///
    /// Throws `alreadyStarted`, `alreadyFinished`, or `alreadyEnqueued` if it belongs to a queue or to a compound
    /// operation; `invalidTimeout`, `nestedMutex`, `invalidUnits` or `poolOfCompound` because of its options or those
    /// of a member.
    public func start(clock: any Clock<Duration> = ContinuousClock()) throws(UsageError) {
        try core.start(clock: clock)
    }

    /// Holds back everything that has not started: members, attempts, jobs of a waterfall. Running bodies go on unless
    /// they listen to their context. Before the start, it takes effect with `start()`, and has none if the operation is
    /// added to a queue, which is suspended as a whole.
    ///
    /// Throws `alreadyFinished`, and `alreadyEnqueued` if it belongs to a queue or to a compound operation.
    public func suspend() throws(UsageError) {
        try core.setSuspended(true)
    }

    /// Ends the suspension. Starts the operation if nobody has, on a continuous clock.
    ///
    /// Throws `alreadyFinished`, also after a cancel, `alreadyEnqueued` if it belongs to a queue or to a compound
    /// operation, and, if it starts the operation, what `start()` throws for its options.
    public func resume() throws(UsageError) {
        try core.setSuspended(false)
    }

    /// Asks the operation and everything in it to end soon. A running body is told, and the operation ends when the
    /// body returns. What has not started never will, and ends at once; a compound operation after its members, and
    /// after their completions.
    ///
    /// Returns true for one call only: the first before the end. Its reason counts; later calls change nothing.
    @discardableResult
    public func cancel(_ reason: AsyncOperationContext.CancellationReason = .requested) -> Bool { core.cancel(reason) }

    /// Makes it start only after `other`, wherever that runs, has ended as `kind` requires. If `other` ends otherwise,
    /// this one ends as `skipped` or `notRun`, and its body never runs.
    ///
    /// A second dependency on the same operation replaces the first one's kind; one made by `from:` keeps its kind,
    /// because the body needs the value.
    ///
    /// Throws `selfDependency`; `cycle` with the complete path, also if `other` waits for a place or a mutex that
    /// something around this operation keeps; and `alreadyStarted` or `alreadyFinished`. O(1) while nothing depends on
    /// this operation, otherwise linear in what `other` waits for.
    public func addDependency(
        on other: some AsyncOperationProtocol, _ kind: DependencyKind = .ok
    ) throws(UsageError) {
        try core.addDependency(on: other.erased.core, kind)
    }

    /// Removes a dependency, even while it is waited for. Returns false if there is none, or if it was made by `from:`
    /// and cannot be removed.
    ///
    /// Throws `alreadyStarted` or `alreadyFinished`.
    @discardableResult
    public func removeDependency(on other: some AsyncOperationProtocol) throws(UsageError) -> Bool {
        try core.removeDependency(on: other.erased.core)
    }
}
