/// The shared part of all handles of an operation: its identity, its lifecycle, and its waiters. It does not know the
/// type of its result.
///
/// Dependents retain the cores of their dependencies, never the reverse, and release them at their end, so chains of
/// any length are freed without recursion. Unchecked because it has subclasses; the same lock guards their state.
///
/// Locks are taken in this order: the topology's, a queue's, an operation's. Only a holder of the topology's lock may
/// lock two queues at once. Several operations are locked at once only from the outside in: one and operations inside
/// it.
@usableFromInline class OperationCore: @unchecked Sendable {
    @usableFromInline struct Need: Sendable {
        let core: OperationCore
        var kind: DependencyKind
        /// True if the body reads its value, so that the dependency cannot be removed.
        let carriesData: Bool
        /// Its stand-in in the dependent's queue, if it belongs to another queue.
        var standIn: StandIn?
    }

    /// The flags are in bytes that a lifecycle leaves free, because a million operations may wait at once.
    struct State {
        var lifecycle = Lifecycle.idle
        /// The number of times that something began to depend on it or to wait for it; saturates at the maximum.
        var dependents: UInt8 = 0
        /// True if it, or anything inside it, has ever had a dependency or a dependent.
        var hasEdges = false
        /// True if it was suspended before its start.
        var startsSuspended = false
        /// nil without dependencies, as for most operations.
        var needList: NeedList?
        weak var parent: CompoundCore?
        /// Rarely used state, allocated on demand.
        var rare: RareState?
        /// The value or error of the last attempt of its body.
        var made = Made.nothing
    }

    /// One attempt. Stores its value or error in the operation, in code that is compiled where their types are known.
    @usableFromInline typealias Body = @Sendable (AsyncOperationContext, OperationCore) async -> BodyEnd

    let id: AsyncOperationID
    /// nil for the defaults, as for most operations.
    private let settings: OperationSettings?
    let state: Lock<State>
    /// nil once it is released, after the end, and for a compound operation. No lock guards it, because the end comes
    /// once, after the last attempt.
    @exclusivity(unchecked) private(set) nonisolated(unsafe) var body: Body?

    /// Creates the core of a compound operation.
    init(_ id: AsyncOperationID, _ settings: OperationSettings?) {
        self.id = id
        self.settings = settings
        state = Lock(State())
    }

    /// Creates the core of an operation with a body.
    @usableFromInline init(
        _ name: String, _ options: OperationOptions, needs: [Need] = [], body: @escaping Body
    ) {
        id = AsyncOperationID(name)
        settings = .made(of: options)
        self.body = body
        var state = State(hasEdges: !needs.isEmpty)
        for need in needs { state.add(need) }
        self.state = Lock(state)
        for need in needs { need.core.noteNeed() }
    }

    var options: OperationOptions { settings?.options ?? OperationOptions() }
    var hasDefaultOptions: Bool { settings == nil }
    var name: String { id.name }
    var lifecycle: Lifecycle { state.withLock { $0.lifecycle } }
    var parent: CompoundCore? { state.withLock { $0.parent } }
    var end: OperationEnd? { lifecycle.end }
    var isFinished: Bool { end != nil }

    /// True if it, or anything inside it, has ever had a dependency or a dependent.
    var hasEdges: Bool { state.withLock { $0.hasEdges } }
    var needs: [Need] { state.withLock { $0.needs } }
    var neededCores: [OperationCore] { needs.map(\.core) }
    /// The members of a compound operation, in the order in which they were added; empty for other operations.
    var memberCores: [OperationCore] { (self as? CompoundCore)?.withMembers { $1.cores } ?? [] }
    var namesMutexes: Bool { !hasDefaultOptions && !options.mutexes.isEmpty }
    /// True if it needs one of a limited number of places in the enclosing operation.
    var isInLimited: Bool { parent?.isLimited == true }

    /// The first accepted request to cancel.
    var request: AsyncOperationContext.CancellationReason? { state.withLock { $0.rare?.request } }

    /// The error for reports; nil if there is none.
    var error: (any Error)? {
        if case .error(let error) = made { error } else { nil }
    }

    /// The progress that the body reported, complete after a success. Without a report, 0 of 1 before and 1 of 1
    /// after the end.
    func progress(in state: State) -> OperationProgress {
        let end = state.lifecycle.latestEnd
        guard let said = state.rare?.progress else { return OperationProgress(completed: end == nil ? 0 : 1, total: 1) }
        return end == .success ? OperationProgress(completed: said.total, total: said.total) : said
    }

    /// Releases the body after the end. Called once and outside all locks, because it may run user code.
    func releaseBody() { body = nil }
}

extension OperationCore.State {
    /// True if anything has ever waited for it.
    var isNeeded: Bool { dependents > 0 }

    /// Changes the rarely used state, allocating it on demand. If it is allocated only after the end, there were no
    /// listeners, so the end counts as reported.
    mutating func withRare<Answer>(_ change: (RareState) -> Answer) -> Answer {
        let rare = rare ?? RareState(isTold: lifecycle.end != nil)
        self.rare = rare
        return change(rare)
    }
}

// Operations that are started by themselves, not added to a queue.

extension Lifecycle {
    fileprivate var isIdle: Bool {
        if case .idle = self { true } else { false }
    }
}

extension OperationCore {
    /// Starts the operation on a queue of its own. Bodies have the priority and the task-local values of the caller.
    func start(clock: any Clock<Duration>) throws(UsageError) {
        let queue = QueueCore(name, width: .max, clock: clock, owner: id, priority: .current)
        if queue.beginAlone(self) { return }
        let context = TaskContext()
        queue.state.withLock { $0.context = context }
        do throws(UsageError) {
            try queue.add([self])
        } catch {
            // Otherwise a task would stay behind and wait for bodies.
            context.end()
            throw error
        }
        context.settle(expectsMore: mayBegin)
    }

    /// Starts everything that belongs to no queue and that a call waits for: the operation or its enclosing compound
    /// operation, and everything for which these wait. Throws the errors of `start` only for the operation or its
    /// enclosing operation; something upstream that cannot start may still end in another way.
    func startIfFree() throws(UsageError) {
        switch lifecycle {
        case .idle, .member: break
        case .dissolving, .taken, .waiting, .running, .open, .settled, .ended: return
        }
        let own = around.last
        for core in freeUpstream.reversed() {
            do throws(UsageError) {
                try core.start(clock: usualClock)
            } catch {
                switch error {
                // Another call was faster.
                case .alreadyStarted(core.id), .alreadyEnqueued(core.id), .alreadyFinished(core.id): continue
                default: if core === own { throw error }
                }
            }
        }
    }

    /// The operations that its end waits for and that have not been started or added.
    private var freeUpstream: [OperationCore] {
        var free: [OperationCore] = []
        var seen: Set<ObjectIdentifier> = []
        var pending: [OperationCore] = [self]
        while let core = pending.popLast() {
            guard seen.insert(ObjectIdentifier(core)).inserted else { continue }
            let (lifecycle, needs, parent) = core.state.withLock { ($0.lifecycle, $0.needs.map(\.core), $0.parent) }
            switch lifecycle {
            case .idle: free.append(core)
            case .member: if let parent { pending.append(parent) }
            case .dissolving, .taken, .waiting, .running, .open, .settled, .ended: continue
            }
            pending += needs
            pending += core.memberCores
        }
        return free
    }

    func setSuspended(_ isSuspended: Bool) throws(UsageError) {
        while true {
            if let ownQueue = try queueToSuspend(isSuspended) {
                // Waits until a start in progress is decided.
                ownQueue.setSuspended(isSuspended)
                // A refused start has given it back.
                guard lifecycle.isIdle else { return }
            } else if isSuspended {
                return
            } else {
                do throws(UsageError) {
                    return try start(clock: usualClock)
                } catch .alreadyStarted(id) {
                    // Another call was faster: either a start, which serves as well, or a queue, which this call must
                    // not resume.
                }
            }
        }
    }

    /// Returns the operation's own queue, if it was started by itself; nil if it has not started. In that case,
    /// records the suspension.
    private func queueToSuspend(_ isSuspended: Bool) throws(UsageError) -> QueueCore? {
        let (ownQueue, refusal) = state.withLock { state -> (QueueCore?, UsageError?) in
            switch state.lifecycle {
            // The operations that it produced may go on in its queue.
            case .ended: return (state.rare?.ownQueue, .alreadyFinished(id))
            case .dissolving: return (nil, .alreadyFinished(id))
            case .member: return (nil, .alreadyEnqueued(id))
            case .idle:
                state.startsSuspended = isSuspended
                return (nil, nil)
            case .taken, .waiting, .running, .open, .settled:
                guard let queue = state.lifecycle.queue, queue.owner == id else { return (nil, .alreadyEnqueued(id)) }
                state.withRare { $0.ownQueue = queue }
                return (queue, nil)
            }
        }
        // Queried outside the lock, because a queue's lock is taken before an operation's.
        if let refusal, ownQueue?.isIdle != false { throw refusal }
        return ownQueue
    }
}

extension OperationCore {
    var progress: OperationProgress { state.withLock { progress(in: $0) } }

    /// Sets the number of parts before the first has begun.
    func expect(_ total: Int) {
        state.withLock { state in state.withRare { $0.progress = OperationProgress(completed: 0, total: total) } }
    }

    /// Records the progress that a running body reports.
    func report(_ progress: OperationProgress, by control: BodyControl) {
        state.withLock { state in
            guard case .running(let running) = state.lifecycle, running === control else { return }
            state.withRare { $0.progress = progress }
            tellProgress(state)
        }
    }

    /// Reports the progress to listeners, because it may have changed. Requires the operation's lock. Inlined,
    /// because a call would copy the state, and usually there are no listeners.
    @inline(__always)
    func tellProgress(_ state: State) {
        guard let rare = state.rare, !rare.progressListeners.isEmpty else { return }
        rare.progressListeners.tell(progress(in: state))
    }

    func progressUpdates() -> AsyncStream<OperationProgress> {
        ProgressListeners.stream { listener, id in
            state.withLock { state in
                let present = progress(in: state)
                listener.yield(present)
                if state.toldEnd != nil { return true }
                state.withRare { $0.progressListeners.add(listener, as: id, knowing: present) }
                return false
            }
        } remove: { [weak self] id in
            _ = self?.state.withLock { $0.rare?.progressListeners.remove(id) }
        }
    }
}

extension AsyncOperationProtocol {
    /// The part of the operation that is done: the jobs of a waterfall, the direct members of a compound operation,
    /// or the progress that the body reports through its context. Otherwise 0 of 1, and 1 of 1 after the end. A
    /// success completes it. It goes back when the operation is tried again.
    public var progress: OperationProgress { erased.core.progress }

    /// The current progress, then the newest value after each change, until the end. A slow reader misses values in
    /// between, never the last.
    public func progressUpdates() -> AsyncStream<OperationProgress> { erased.core.progressUpdates() }
}

extension AsyncOperationContext {
    /// Reports the part of the work that is done, for `progress` and `progressUpdates` of the operation. Ignored in a
    /// job of a waterfall, whose operation counts its jobs.
    public func report(completed: Int, total: Int) {
        control.core.report(OperationProgress(completed: completed, total: total), by: control)
    }
}
