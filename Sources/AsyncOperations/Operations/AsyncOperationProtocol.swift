/// What can be started, stopped, waited for and depended on, whatever it makes: an operation, a compound operation, or a
/// type of your own that wraps one.
///
/// All calls are synchronous, come from any thread and never wait; none runs a body. Completions and handlers run in
/// tasks of the library, for each queue one after the other, so that a call may be made with a lock held that they take
/// too; only who asks to be told of what has happened already is told within the call. What a body captured may be freed
/// by the call that ends the operation.
public protocol AsyncOperationProtocol: Sendable {
    /// The operation without the types of what it makes.
    var erased: AnyAsyncOperation { get }
}

extension AsyncOperationProtocol {
    private var core: OperationCore { erased.core }

    /// Unique in the process.
    public var id: AsyncOperationID { core.id }

    /// For reports; empty where none was given.
    public var name: String { core.name }

    /// How far it has come.
    public var state: OperationState { core.lifecycle.progress }

    /// Whether its body, or one of its members, may run now.
    public var isRunning: Bool { state == .executing }

    /// Whether it is over.
    public var isFinished: Bool { core.isFinished }

    /// Whether it was asked to stop by a request that was accepted, or is being stopped, or has ended as cancelled. Once
    /// true, it stays so: also for a compound operation that ends as a failure, because a member had failed before.
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

    /// Whether it waits for `resume` where it was started by itself, or else whether its queue does.
    public var isSuspended: Bool {
        let (startsSuspended, queue, ownQueue) = core.state.withLock { state in
            (state.startsSuspended && state.lifecycle.end == nil, state.lifecycle.queue, state.rare?.ownQueue)
        }
        // What it produced may outlast it, and waits for the same `resume`.
        if let ownQueue, queue == nil { return !ownQueue.isIdle && ownQueue.isSuspended }
        return queue?.isSuspended ?? startsSuspended
    }

    /// What it waits for, in the order in which that was said. Empty after its end.
    public var dependencies: [AsyncOperationID] { core.state.withLock { $0.needs.map(\.core.id) } }

    /// The kind of its end. Waits for the end, even if the waiting task is cancelled.
    ///
    /// In the task of a body that would wait for itself by this, the answer is `cancelled`, at once.
    public var outcome: OperationOutcome {
        get async {
            do throws(UsageError) { return try await core.awaitEnd().outcome } catch { return .cancelled }
        }
    }

    /// Starts it by itself, on a queue of its own that lets any number of its members run at once; `clock` measures its
    /// timeouts and delays. Bodies have the priority of the caller, unless they are given one.
    ///
    /// Throws `alreadyStarted`, `alreadyFinished` or, where it belongs to a queue or compound operation,
    /// `alreadyEnqueued`; and `invalidTimeout` or `nestedMutex` for what it or a member asks for.
    public func start(clock: any Clock<Duration> = ContinuousClock()) throws(UsageError) {
        try core.start(clock: clock)
    }

    /// Lets nothing start that has not started: no member, no attempt, no job of a waterfall. What runs goes on unless
    /// it listens to its context. Before the start, it takes effect with `start`; a queue that it is added to has its own.
    ///
    /// Throws `alreadyFinished`, and `alreadyEnqueued` where it belongs to a queue: suspend that.
    public func suspend() throws(UsageError) {
        try core.setSuspended(true)
    }

    /// Ends a suspension. An operation that was never started is started.
    ///
    /// Throws `alreadyFinished`, also after a cancel, and `alreadyEnqueued` where it belongs to a queue.
    public func resume() throws(UsageError) {
        try core.setSuspended(false)
    }

    /// Asks it to end soon, and everything in it. What has not started ends at once and never will start; a running body
    /// is told and waited for. True for the one call that is accepted, the first before its end, whose reason counts.
    @discardableResult
    public func cancel(_ reason: CancellationReason = .requested) -> Bool { core.cancel(reason) }

    /// Lets it start only after `other`, wherever that runs, has ended in the way that `kind` asks for. Where that does
    /// not come about, this one ends as skipped or not run, and its body is not entered.
    ///
    /// Throws `selfDependency`; `cycle` with the whole way round; and `alreadyStarted` or `alreadyFinished` once it has
    /// started, or a compound operation around it that holds mutexes has. O(1) while nothing waits for this one, else as long as the
    /// chains that `other` waits for.
    public func addDependency(
        on other: some AsyncOperationProtocol, _ kind: EdgeKind = .ok
    ) throws(UsageError) {
        try core.addDependency(on: other.erased.core, kind)
    }

    /// Takes a dependency away, also while it is being waited for; one that carries data stays. False where there is
    /// none that could be taken away. Throws `alreadyStarted` or `alreadyFinished`.
    @discardableResult
    public func removeDependency(on other: some AsyncOperationProtocol) throws(UsageError) -> Bool {
        try core.removeDependency(on: other.erased.core)
    }
}
