internal import Synchronization

/// What can be started, stopped, waited for and depended on, whatever it makes: an operation, a compound operation, or a
/// type of your own that wraps one.
///
/// All calls are synchronous, come from any thread and never wait; none runs a body. A completion that they bring about
/// may run before they return.
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
    public var state: OperationState { core.state.withLock { $0.progress } }

    /// Whether its body, or one of its members, may run now.
    public var isRunning: Bool { state == .executing }

    /// Whether it is over.
    public var isFinished: Bool { core.isFinished }

    /// Whether it was asked to stop, or has been stopped, or has ended as cancelled.
    public var isCancelled: Bool {
        core.state.withLock { state in
            if let end = state.end { return end.outcome == .cancelled }
            return state.request != nil || state.stop != nil
        }
    }

    /// Whether it waits for `resume` where it was started by itself, or else whether its queue does.
    public var isSuspended: Bool {
        let (startsSuspended, place) = core.state.withLock { ($0.startsSuspended, $0.place) }
        return place?.queue.isSuspended ?? startsSuspended
    }

    /// The kind of its end. Waits for the end, even if the waiting task is cancelled.
    public var outcome: OperationOutcome { get async { await core.wait().outcome } }

    /// Starts it by itself, on a queue of its own that lets any number of its members run at once; `clock` measures its
    /// timeouts and delays.
    ///
    /// Throws `alreadyStarted`, `alreadyFinished` or, where it belongs to a queue or compound operation,
    /// `alreadyEnqueued`; and `invalidTimeout` or `nestedMutex` for what it or a member asks for.
    public func start(clock: any Clock<Duration> = ContinuousClock()) throws(UsageError) {
        if let error = core.state.withLock({ $0.progress == .executing ? UsageError.alreadyStarted(id) : nil }) {
            throw error
        }
        let queue = QueueCore(name, width: QueueCore.ownWidth, clock: clock)
        if core.state.withLock({ $0.startsSuspended }) { queue.setSuspended(true) }
        try queue.add([erased], isOwn: true)
    }

    /// Lets nothing start that has not started: no member, no attempt, no job of a waterfall. What runs goes on unless
    /// it listens to its context. Before the start, it takes effect with the start.
    ///
    /// Throws `alreadyFinished`, and `alreadyEnqueued` where it belongs to a queue: suspend that.
    public func suspend() throws(UsageError) {
        try setSuspended(true)
    }

    /// Ends a suspension. An operation that was never started is started.
    ///
    /// Throws `alreadyFinished`, also after a cancel, and `alreadyEnqueued` where it belongs to a queue.
    public func resume() throws(UsageError) {
        try setSuspended(false)
    }

    private func setSuspended(_ isSuspended: Bool) throws(UsageError) {
        let (ownQueue, refusal) = core.state.withLock { state -> (QueueCore?, UsageError?) in
            if state.end != nil { return (nil, .alreadyFinished(id)) }
            if state.isTaken, state.ownQueue == nil { return (nil, .alreadyEnqueued(id)) }
            if state.ownQueue == nil { state.startsSuspended = isSuspended }
            return (state.ownQueue, nil)
        }
        if let refusal { throw refusal }
        if let ownQueue {
            ownQueue.setSuspended(isSuspended)
        } else if !isSuspended {
            try start()
        }
    }

    /// Asks it to end soon, and everything in it. What has not started ends at once and never will start; a running body
    /// is told and waited for. True for the one call that is accepted, the first before its end, whose reason counts.
    @discardableResult
    public func cancel(_ reason: CancellationReason = .requested) -> Bool { core.cancel(reason) }

    /// Lets it start only after `other`, wherever that runs, has ended in the way that `kind` asks for. Where that does
    /// not come about, this one ends as skipped or not run, and its body is not entered.
    ///
    /// Throws `selfDependency`; `cycle` with the whole way round; and `alreadyEnqueued`, `alreadyStarted` or
    /// `alreadyFinished` once it has been added to a queue. O(1) while nothing waits for this one, else as long as the
    /// chains that `other` waits for.
    public func addDependency(
        on other: some AsyncOperationProtocol, _ kind: EdgeKind = .ok
    ) throws(UsageError) {
        try core.addDependency(on: other.erased.core, kind)
    }

    /// Takes a dependency away, also while it is being waited for; one that carries data stays. Throws `alreadyStarted`
    /// or `alreadyFinished`.
    public func removeDependency(on other: some AsyncOperationProtocol) throws(UsageError) {
        try core.removeDependency(on: other.erased.core)
    }
}

/// An operation without the types of what it makes.
///
/// Dropping the last handle of an operation that was never started ends it as `cancelled(.abandoned)`.
public final class AnyAsyncOperation: AsyncOperationProtocol {
    let core: OperationCore

    init(_ core: OperationCore) { self.core = core }

    deinit { core.abandon() }

    /// Itself.
    public var erased: AnyAsyncOperation { self }
}
