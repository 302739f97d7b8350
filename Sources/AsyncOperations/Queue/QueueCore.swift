/// What all handles of a queue share: its operations, and the scheduler that decides about them.
///
/// Everything is decided under one lock. A call tells the scheduler what happened; the scheduler answers with
/// *commands*, which are applied to the operations before the lock is released, so nobody sees half a change. What must
/// happen outside the lock, above all everything that runs user code, becomes an *effect*. The *duty* of a
/// caller says who carries out the effects, in order: the caller itself or a task.
///
/// An idle queue keeps no task, no alarm and nothing of what it has run.
final class QueueCore: Sendable {
    struct State {
        var width: Int
        var isSuspended = false
        var isClosed = false
        /// Whether the last handle is gone.
        var isDropped = false
        /// On the queue's clock, when the lock was taken, if anything depends on it; otherwise earlier.
        var now = Duration.zero
        /// Whether anything in the queue has a limit or is tried again.
        var isTimed = false
        /// nil while the queue is idle.
        var scheduler: OperationScheduler?
        /// The number of the busy period: it grows whenever the queue stops being idle.
        var period: UInt64 = 0
        /// What each row of the scheduler is.
        var entries: [RowEntry] = []
        /// The stand-ins of operations elsewhere that have not ended, one for all dependents.
        var standIns: [AsyncOperationID: StandIn] = [:]
        /// The mutexes that operations name, and perhaps some that nothing names any more.
        var locks: [String: Int] = [:]
        var pools: [KnownPool] = []
        /// Numbers are not reused in a period.
        var nextLock = 0
        /// How many operations have not ended, members of compound operations not counted.
        var unfinished = 0
        var barriers = Barriers()
        /// Whether any compound operation may be tried again, so that ends of members may not be final.
        var hasRetriedCompounds = false
        /// True once a compound operation may hold what others want while something inside waits for something outside.
        var isEntangled = false
        /// The attempts that run, and the one that runs without a scheduler.
        var running: [BodyControl] = []
        var alone: BodyControl?
        /// Attempts that the scheduler started before a suspension, but that had not been announced.
        var held: [BodyControl] = []
        var commands: [OperationScheduler.Command] = []
        var isCarryingOut = false
        /// The operation whose attempt is just ending: its own task releases the body.
        var ending: OperationCore?
        var effects: [Effect] = []
        /// Whether something waits for units that may be free.
        var mustLook = false
        /// Units that others may have, since the lock was taken.
        var offers: [PoolTable.Offer] = []
        /// Operations that have just got something to wait for, while bodies wait or the queue `isEntangled`.
        var suspects: [OperationCore] = []
        /// Objects to be freed once the lock is released, because that may run code of the user's.
        var garbage: [any AnyObject & Sendable] = []
        /// Whether effects wait that must be told before anything starts.
        var isTelling = false
        /// Whether somebody is carrying out effects and will look for more.
        var isDraining = false
        /// What waits for a place, and hurries what has or gets one before it.
        var urgent: [Urgent] = []
        /// Begins the bodies of an operation that was started by itself and needs a scheduler.
        var context: TaskContext?
        /// Made by the first who waits for the queue to be idle.
        var idle: OneShot?
        /// How many bodies wait for that.
        var waitingBodies = 0
        var announcer = EventAnnouncer()
        var alarm: Alarm?
        var progress = OperationProgress(completed: 0, total: 0)
        var progressListeners = ProgressListeners()

        init(width: Int) { self.width = width }
    }

    let id: AsyncOperationID
    /// The operation that was started by itself and has this queue for its own; nil for a queue that the user made.
    let owner: AsyncOperationID?
    /// The priority of bodies that have none of their own; nil for the default of tasks.
    let priority: Priority?
    let clock: any Clock<Duration>
    let timer: Timer
    let state: Lock<State>

    init(
        _ name: String, width: Int, clock: any Clock<Duration>, owner: AsyncOperationID? = nil,
        priority: Priority? = nil
    ) {
        id = AsyncOperationID(name, .queue)
        self.owner = owner
        self.priority = priority
        self.clock = clock
        timer = Timer(clock)
        state = Lock(State(width: width))
    }

    var isSuspended: Bool { state.withLock { $0.isSuspended } }
    var isIdle: Bool { state.withLock { $0.unfinished == 0 } }

    /// Changes the state, then carries out the effects outside the lock or hands them to a task. Not `inline` for a
    /// caller that is itself carrying out an effect, because queues could then call each other without end.
    @discardableResult
    func update<Answer: Sendable>(inline: Bool = true, _ change: (inout State) -> Answer) -> Answer {
        let (answer, consequences) = decide(inline: inline, change)
        carry(consequences)
        return answer
    }

    /// Changes the state. The caller must carry out the consequences once it holds no lock.
    func decide<Answer: Sendable>(
        inline: Bool = true, isWorker: Bool = false, _ change: (inout State) -> Answer
    ) -> (Answer, Consequences) {
        // A clock that the user wrote is not asked under the lock.
        let now = timer.isPlain ? nil : timer.now
        return state.withLock { state in
            if let now {
                state.now = max(now, state.now)
            } else if state.isTimed || state.announcer.isHeard {
                readClock(&state)
            }
            let answer = change(&state)
            let alarm = restoreInvariants(&state)
            let garbage = state.takeGarbage()
            let duty = duty(&state, isWorker: isWorker, mayDrain: inline)
            return (
                answer,
                Consequences(
                    duty: duty, alarm: alarm, garbage: garbage, suspects: state.takeSuspects(),
                    offers: state.takeOffers())
            )
        }
    }

    /// Reads the time, which takes longer than most changes.
    private func readClock(_ state: inout State) {
        if timer.isPlain { state.now = max(timer.now, state.now) }
    }

    /// Notes that from now on it matters what time it is.
    func noteTimed(_ state: inout State) {
        if !state.isTimed { readClock(&state) }
        state.isTimed = true
    }

    /// Tells the scheduler what happened, and applies its commands to the operations.
    func handle(_ event: OperationScheduler.Event, _ state: inout State) {
        guard state.scheduler != nil else { return }
        if state.pools.isEmpty {
            state.scheduler?.handle(event, at: state.now, into: &state.commands)
        } else {
            handleSharing(event, &state)
        }
        carryOut(&state)
    }

    /// The seed for the jitter of back-offs. A random number of the system would cost more than the rest of a small
    /// queue.
    private var seed: UInt64 { UInt64(truncatingIfNeeded: ObjectIdentifier(self).hashValue) }

    /// Restores what must be true whenever the lock is free. Returns an alarm that is no longer needed.
    private func restoreInvariants(_ state: inout State) -> Alarm? {
        look(&state)
        endPeriod(&state)
        forgetEnded(&state)
        return setAlarm(&state)
    }

    /// Makes the scheduler, if the queue was idle.
    func beginPeriod(_ state: inout State) {
        guard state.scheduler == nil else { return }
        state.period += 1
        state.entries = [.nothing]
        var scheduler = OperationScheduler(
            OperationGraph(isOpen: true), width: state.width, seed: seed, groupsWaitForTheirTurn: true,
            knowsAllNeeds: false)
        scheduler.tellsLocks = true
        state.scheduler = scheduler
        handle(.begin, &state)
        scheduleAlone(&state)
        if state.isSuspended { handle(.suspend, &state) }
    }

    /// Forgets everything, if the last operation has ended.
    private func endPeriod(_ state: inout State) {
        guard state.unfinished == 0, state.scheduler != nil || state.isObserved else { return }
        state.scheduler = nil
        for case .standIn(let standIn) in state.entries { leave(standIn, &state) }
        state.entries = []
        state.standIns = [:]
        state.locks = [:]
        state.pools = []
        state.nextLock = 0
        state.urgent = []
        state.barriers = Barriers()
        state.hasRetriedCompounds = false
        state.isEntangled = false
        state.isTimed = false
        if let context = state.context.take() { state.append(.endContext(context)) }
        if let idle = state.idle.take() { state.append(.idle(idle)) }
        if state.isClosed || state.isDropped { finishEvents(&state) }
    }

    /// Removes the rows of operations that have ended, when they are the larger part.
    private func forgetEnded(_ state: inout State) {
        guard let ended = state.scheduler?.endedCount, ended > 1024, ended > state.entries.count / 4 * 3,
            let renumbering = state.scheduler?.removeEnded()
        else { return }
        state.entries.renumber(by: renumbering) { entry, id in
            switch entry {
            case .operation(let core): core.state.withLock { $0.lifecycle.row = id }
            case .standIn(let standIn): standIn.row = id
            case .nothing, .ended: break
            }
        }
        guard state.nextLock > 0, let locks = state.scheduler?.locksAskedFor else { return }
        state.locks = state.locks.filter { locks.contains(LockID(index: $0.value)) }
        guard !state.pools.isEmpty else { return }
        state.pools.removeAll { !locks.contains($0.lock) }
        state.scheduler?.forgetPools()
    }
}
