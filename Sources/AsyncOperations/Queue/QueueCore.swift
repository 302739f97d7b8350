internal import Synchronization

/// What all handles of a queue share: which operations it has, and the scheduler that runs them. It decides nothing
/// about when something runs; it translates between operations and the rows of an `OperationScheduler`.
///
/// Calls change the state under one lock and tell the scheduler under it too, so that it hears of things in the order in
/// which they were decided. Bodies, completions and handlers run outside.
final class QueueCore: Sendable {
    struct State {
        var width: Int
        var isSuspended = false
        /// What was last announced, so that pauses are announced once.
        var isPauseAnnounced = false
        var isClosed = false
        var run: QueueRun?
        /// The mutexes that anything in the run has asked for.
        var locks: [String: Int] = [:]
        /// Operations that are members of nothing and have not ended.
        var unfinished = 0
        /// Everything added later waits for it.
        var barrier: OperationCore?
        /// Made by the first who waits for the queue to be idle.
        var idle: OneShot?
    }

    /// How many operations of one that was started by itself may run at once. Bounded, because removing a child from a
    /// task group is a linear scan of its live children.
    static let ownWidth = 1024

    let id = AsyncOperationID()
    let name: String
    let clock: any Clock<Duration>
    let announcer: EventAnnouncer
    let state: Mutex<State>
    private let paused = Atomic(false)

    init(_ name: String, width: Int, clock: any Clock<Duration>) {
        self.name = name
        self.clock = clock
        announcer = EventAnnouncer(clock: clock)
        state = Mutex(State(width: width))
    }

    var isSuspended: Bool { state.withLock { $0.isSuspended } }

    /// Whether running bodies have been told of a pause.
    var isPaused: Bool { paused.load(ordering: .acquiring) }

    func setSuspended(_ isSuspended: Bool) {
        let isIdle = state.withLock { state in
            guard state.isSuspended != isSuspended else { return false }
            state.isSuspended = isSuspended
            guard let control = state.run?.control else { return true }
            if isSuspended { control.suspend() } else { control.resume() }
            return false
        }
        if isIdle { announcePause(isSuspended) }
    }

    /// Tells listeners, and the bodies that run, once for each change.
    func announcePause(_ isSuspended: Bool, in run: QueueRun? = nil) {
        let isNews = state.withLock { state in
            defer { state.isPauseAnnounced = isSuspended }
            return state.isPauseAnnounced != isSuspended
        }
        if isNews { announcer.announce(isSuspended ? .suspended : .resumed, of: id) }
        paused.store(isSuspended, ordering: .releasing)
        for core in run?.table.operations ?? [] {
            core.state.withLock { $0.control }?.setSuspended(isSuspended)
        }
    }

    func setWidth(_ width: Int) {
        state.withLock { state in
            state.width = width
            state.run?.control.setWidth(width)
        }
    }

    func close() { state.withLock { $0.isClosed = true } }

    /// Asks everything that is in the queue now to stop. Returns what it asked.
    @discardableResult
    func cancelAll(_ reason: CancellationReason) -> [OperationCore] {
        let cores = state.withLock { $0.run?.table.operations ?? [] }
        return cores.filter { $0.parent == nil && $0.cancel(reason) }
    }

    /// Fires when nothing is left to do; nil if nothing is left already.
    func idleSignal() -> OneShot? {
        state.withLock { state in
            guard state.unfinished > 0 else { return nil }
            let idle = state.idle ?? OneShot()
            state.idle = idle
            return idle
        }
    }

    /// The scheduler that runs what is added, made anew where the queue was idle.
    func run(_ state: inout State) -> QueueRun {
        if let run = state.run { return run }
        let run = Self.begin(self, clock, width: state.width)
        if state.isSuspended { run.control.suspend() }
        state.run = run
        return run
    }

    private static func begin<C: Clock<Duration>>(_ queue: QueueCore, _ clock: C, width: Int) -> QueueRun {
        let table = OperationTable()
        let executor = GraphExecutor(
            OperationGraph(isOpen: true), width: width, clock: clock, tellsLocks: true
        ) { attempt in
            guard let core = table.operation(attempt.id) else { return (.failure, false) }
            return await core.perform(attempt: attempt.number)
        }
        let run = QueueRun(table: table, control: executor)
        // Owned by what it runs: it ends with the last operation. Detached, so that it has neither the priority nor the
        // task-local values of whoever happened to add the first one.
        Task.detached {
            let questions = GraphExecutor<C>.Questions(conclude: { id, outcome in
                (table.isFailedStandIn(id) ? .failure : outcome, false)
            })
            await executor.run(questions: questions) { queue.carryOut($0, in: run) }
        }
        return run
    }
}
