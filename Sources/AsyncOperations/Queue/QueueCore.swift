/// What all handles of a queue share: which operations it has, and the scheduler that decides about them.
///
/// Everything is decided under one lock: a call tells the scheduler what happened and carries its commands over to the
/// operations before anybody else is let in, so that a state is never half told. What is to be done outside the lock,
/// above all everything that runs somebody's code, goes through `effects`, in order. A queue that has nothing to do
/// keeps no task, no sleeper and nothing of what it has run.
final class QueueCore: Sendable {
    struct State {
        var width: Int
        var isSuspended = false
        var isClosed = false
        /// Whether the last handle is gone.
        var isDropped = false
        /// On the queue's clock, when the lock was taken.
        var now = Duration.zero
        /// nil while there is nothing to do.
        var scheduler: OperationScheduler?
        /// Counts the times in which there was something to do.
        var period: UInt64 = 0
        /// What each row of the scheduler is.
        var entries: [RowEntry] = []
        /// What stands in for operations elsewhere that have not ended: one for all that need the same.
        var standIns: [AsyncOperationID: StandIn] = [:]
        /// The mutexes that anything has asked for in this period.
        var locks: [String: Int] = [:]
        /// Operations that are members of nothing and have not ended.
        var unfinished = 0
        /// Everything added later waits for it. Weak, so that it is not freed under the lock.
        weak var barrier: OperationCore?
        /// Whether a compound operation may be tried again, so that ends of members may not be final.
        var hasRetriedCompounds = false
        var running: [BodyControl] = []
        /// Attempts whose turn came in a suspension: the scheduler had started them before, but nobody had been told.
        var held: [BodyControl] = []
        var commands: [OperationScheduler.Command] = []
        var isCarryingOut = false
        /// Why what is inside these is being stopped by the present commands.
        var reasons: [AsyncOperationID: CancellationReason] = [:]
        /// The operation whose attempt is just over: its own task lets go of its body.
        var ending: OperationCore?
        var effects: [Effect] = []
        /// What is no longer used, to be freed when the lock is not held, because that may run somebody's code.
        var garbage: [any AnyObject & Sendable] = []
        /// Whether somebody is to be told something before what starts may start.
        var isTelling = false
        /// Whether somebody is carrying out effects, and will look for more.
        var isDraining = false
        /// Made by the first who waits for the queue to be idle.
        var idle: OneShot?
        var announcer = EventAnnouncer()
        var alarm: Alarm?
        var progress = OperationProgress(completed: 0, total: 0)
        var progressListeners = ProgressListeners()
    }

    let id: AsyncOperationID
    /// The operation whose queue it is, because it was started by itself; nil for a queue of its own right.
    let owner: AsyncOperationID?
    /// That of bodies which are not given another one; nil for what tasks have without one.
    let priority: Priority?
    /// Whether bodies have the priority and the task-local values of whoever started the operation.
    let inherits: Bool
    let clock: any Clock<Duration>
    let timer: Timer
    let state: Lock<State>

    init(
        _ name: String, width: Int, clock: any Clock<Duration>, owner: AsyncOperationID? = nil,
        priority: Priority? = nil, inherits: Bool = false
    ) {
        id = AsyncOperationID(name, .queue)
        self.owner = owner
        self.priority = priority
        self.inherits = inherits
        self.clock = clock
        timer = Timer(clock)
        state = Lock(State(width: width))
    }

    var isSuspended: Bool { state.withLock { $0.isSuspended } }
    var isIdle: Bool { state.withLock { $0.unfinished == 0 } }

    /// Changes the state, then does what follows from it outside the lock, or sees to it that somebody does. Not
    /// `inline` for a caller that is itself told of something, because then calls of queues could nest without end.
    @discardableResult
    func update<Answer: Sendable>(inline: Bool = true, _ change: (inout State) -> Answer) -> Answer {
        let (answer, consequences) = decide(inline: inline, change)
        carry(consequences)
        return answer
    }

    /// Changes the state. What follows is to be carried out by the caller, when it holds no other lock either.
    func decide<Answer: Sendable>(
        inline: Bool = true, isWorker: Bool = false, _ change: (inout State) -> Answer
    ) -> (Answer, Consequences) {
        let now = timer.now
        return state.withLock { state in
            state.now = max(now, state.now)
            let answer = change(&state)
            let alarm = settle(&state)
            let garbage = state.takeGarbage()
            let duty = duty(&state, isWorker: isWorker, mayDrain: inline)
            return (answer, Consequences(duty: duty, alarm: alarm, garbage: garbage))
        }
    }

    /// Tells the scheduler what happened and carries its commands over to the operations.
    func handle(_ event: OperationScheduler.Event, _ state: inout State) {
        guard state.scheduler != nil else { return }
        state.scheduler?.handle(event, at: state.now, into: &state.commands)
        carryOut(&state)
    }

    /// Chance for back-offs; asking the system for it would cost more than the rest of a small queue.
    private var seed: UInt64 { UInt64(truncatingIfNeeded: ObjectIdentifier(self).hashValue) }

    /// What has to be true whenever the lock is free. Returns an alarm that nobody waits for any more.
    private func settle(_ state: inout State) -> Alarm? {
        endPeriod(&state)
        forgetEnded(&state)
        return setAlarm(&state)
    }

    /// The scheduler that runs what is added, made anew where the queue had nothing to do.
    func begin(_ state: inout State) {
        guard state.scheduler == nil else { return }
        state.period += 1
        state.entries = [.nothing]
        var scheduler = OperationScheduler(
            OperationGraph(isOpen: true), width: state.width, seed: seed, groupsWaitForTheirTurn: true)
        scheduler.tellsLocks = true
        state.scheduler = scheduler
        if state.isSuspended { handle(.suspend, &state) }
        handle(.begin, &state)
    }

    /// The last operation has ended: nothing is kept that a later one does not need.
    private func endPeriod(_ state: inout State) {
        guard state.unfinished == 0, state.scheduler != nil else { return }
        state.scheduler = nil
        for case .standIn(let standIn) in state.entries { state.garbage.append(standIn) }
        state.entries = []
        state.standIns = [:]
        state.locks = [:]
        state.barrier = nil
        state.hasRetriedCompounds = false
        if let idle = state.idle.take() { state.append(.idle(idle)) }
        if state.isClosed || state.isDropped { finishEvents(&state) }
    }

    /// Removes the rows of what has ended, when they are the larger part.
    private func forgetEnded(_ state: inout State) {
        guard let ended = state.scheduler?.endedCount, ended > 1024, ended > state.entries.count / 2,
            let renumbering = state.scheduler?.removeEnded()
        else { return }
        var kept: [RowEntry] = []
        kept.reserveCapacity(renumbering.count)
        for (row, entry) in state.entries.enumerated() {
            guard let id = renumbering[OperationID(row: row)] else { continue }
            kept.append(entry)
            switch entry {
            case .operation(let core): core.state.withLock { $0.lifecycle.row = id }
            case .standIn(let standIn): standIn.row = id
            case .nothing, .ended: break
            }
        }
        state.entries = kept
    }
}
