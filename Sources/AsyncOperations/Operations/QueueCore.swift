/// The shared part of all handles of a queue: its operations, and the scheduler that decides about them.
///
/// All decisions are made under one lock. A call passes an event to the scheduler. The scheduler answers with
/// *commands*, which are applied to the operations before the lock is released, so half a change is never visible.
/// Everything that must happen outside the lock, above all user code, becomes an *effect*. The *duty* of a caller
/// says whether the caller itself or a task carries out the effects, in order.
///
/// An idle queue keeps no task, no alarm, and nothing of the operations that it has run.
final class QueueCore: Sendable {
    struct State {
        var width: Int
        var isSuspended = false
        var isClosed = false
        /// True if the last handle is gone.
        var isDropped = false
        /// The time on the queue's clock when the lock was taken, if anything depends on it; otherwise an earlier
        /// time.
        var now = Duration.zero
        /// True if anything in the queue has a time limit or may be tried again.
        var isTimed = false
        /// nil while the queue is idle.
        var scheduler: OperationScheduler?
        /// The number of the busy period, which grows whenever the queue stops being idle.
        var period: UInt64 = 0
        /// The content of each row of the scheduler.
        var entries: [RowEntry] = []
        /// The stand-ins of unfinished operations elsewhere, one for all dependents.
        var standIns: [AsyncOperationID: StandIn] = [:]
        var locks = KnownLocks()
        /// The number of operations that have not ended, without members of compound operations.
        var unfinished = 0
        var barriers = Barriers()
        /// True if any compound operation may be tried again, so that the ends of members may not be final.
        var hasRetriedCompounds = false
        /// True once a compound operation may hold what others want while something inside waits for something
        /// outside.
        var isEntangled = false
        var bodies = RunningBodies()
        var commands: [OperationScheduler.Command] = []
        var isCarryingOut = false
        /// The operation whose attempt is just ending: its own task releases the body.
        var ending: OperationCore?
        var effects = EffectQueue()
        /// True if something waits for units that may be free.
        var mustLook = false
        /// Units offered to other queues since the lock was taken.
        var offers: [PoolTable.Offer] = []
        /// Operations that have just got something to wait for, while bodies wait or the queue `isEntangled`.
        var suspects: [OperationCore] = []
        /// Objects to release once the lock is free, because that may run user code.
        var garbage: [any AnyObject & Sendable] = []
        /// Operations that wait for a place and raise the priority of those that have or get one before them.
        var urgent: [Urgent] = []
        /// Begins the bodies of an operation that was started by itself and needs a scheduler.
        var context: TaskContext?
        /// Created by the first wait for the queue to be idle.
        var idle: OneShot?
        /// The number of bodies that wait for the queue to be idle.
        var waitingBodies = 0
        var announcer = EventAnnouncer()
        var alarm: Alarm?
        var progress = OperationProgress(completed: 0, total: 0)
        var progressListeners = ProgressListeners()

        init(width: Int) { self.width = width }
    }

    let id: AsyncOperationID
    /// The operation that was started by itself and owns this queue; nil for a queue that the user created.
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

    /// Changes the state, then carries out the effects outside the lock or hands them to a task. Pass false for
    /// `inline` while carrying out an effect, because queues could otherwise call each other without end.
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
        // A custom clock is not read under the lock.
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
            let duty = state.effects.duty(isWorker: isWorker, mayDrain: inline)
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

    /// Records that the time matters from now on.
    func noteTimed(_ state: inout State) {
        if !state.isTimed { readClock(&state) }
        state.isTimed = true
    }

    /// Passes an event to the scheduler, and applies its commands to the operations.
    @inline(__always)  // A call less for each event.
    func handle(_ event: OperationScheduler.Event, _ state: inout State) {
        guard state.scheduler != nil else { return }
        if state.locks.pools.isEmpty {
            state.scheduler?.handle(event, at: state.now, into: &state.commands)
        } else {
            handleSharing(event, &state)
        }
        carryOut(&state)
    }

    /// The seed for the jitter of back-offs. A random number of the system would cost more than everything else in a
    /// small queue.
    private var seed: UInt64 { UInt64(truncatingIfNeeded: ObjectIdentifier(self).hashValue) }

    /// Restores the invariants of the unlocked state. Returns an alarm that is no longer needed.
    private func restoreInvariants(_ state: inout State) -> Alarm? {
        look(&state)
        endPeriod(&state)
        forgetEnded(&state)
        return setAlarm(&state)
    }

    /// Creates the scheduler, if the queue was idle.
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
        state.locks = KnownLocks()
        state.urgent = []
        state.barriers = Barriers()
        state.hasRetriedCompounds = false
        state.isEntangled = false
        state.isTimed = false
        if let context = state.context.take() { state.effects.append(.endContext(context)) }
        if let idle = state.idle.take() { state.effects.append(.idle(idle)) }
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
        guard state.locks.count > 0, let locks = state.scheduler?.locksAskedFor else { return }
        if !state.locks.pools.isEmpty { state.scheduler?.forgetPools() }
        state.locks.removeAll(besides: locks)
    }
}

// Calls that may come at any time.

extension QueueCore {
    func setSuspended(_ isSuspended: Bool) {
        update { state in
            guard state.isSuspended != isSuspended else { return }
            state.isSuspended = isSuspended
            announce(isSuspended ? .suspended : .resumed, of: id, &state)
            if state.scheduler == nil {
                pause(isSuspended, &state)
            } else {
                handle(isSuspended ? .suspend : .resume, &state)
            }
        }
    }

    func setWidth(_ width: Int) {
        update { state in
            if width < state.width, BodyWait.hasWaiting {
                for case .operation(let core) in state.entries { state.suspect(core) }
            }
            state.width = width
            handle(.width(width), &state)
        }
    }

    func close() { state.withLock { $0.isClosed = true } }

    /// Asks an operation to stop. Returns true if the request is accepted; nil if the operation is not in this queue.
    func cancel(_ core: OperationCore, _ reason: AsyncOperationContext.CancellationReason) -> Bool? {
        update { cancel(core, reason, &$0) }
    }

    private func cancel(
        _ core: OperationCore, _ reason: AsyncOperationContext.CancellationReason, _ state: inout State
    ) -> Bool? {
        let (row, isAccepted) = core.state.withLock { operation -> (OperationID?, Bool?) in
            guard operation.lifecycle.queue === self, let row = operation.lifecycle.row else { return (nil, nil) }
            if case .settled = operation.lifecycle { return (nil, false) }
            if case .running(let control) = operation.lifecycle, control.reason != nil,
                control.isAlone || state.scheduler?.mayBeginAnew(row) != true
            {
                return (nil, false)
            }
            let isFirst = operation.withRare { rare in
                defer { rare.request = rare.request ?? reason }
                return rare.request == nil
            }
            return (isFirst ? row : nil, isFirst)
        }
        guard let row else { return isAccepted }
        if row.isAlone { cancelAlone(core, reason, &state) } else { handle(.cancel(row), &state) }
        return isAccepted
    }

    /// Ends an operation that waits for itself on `path`. Returns false if it has gone on meanwhile. Requires the
    /// topology's lock.
    func end(_ core: OperationCore, asStuckIn path: [AsyncOperationID]) -> (Bool, Consequences) {
        decide { state in
            guard let row = waitingRow(of: core), state.scheduler?.isReady(row) == true else { return false }
            return cancel(core, .stuck(path), &state) == true
        }
    }

    /// Asks everything in the queue to stop.
    func cancelAll(_ reason: AsyncOperationContext.CancellationReason) { update { _ = cancelAll(reason, &$0) } }

    /// Asks everything in the queue to stop, within a change. Returns the operations that accepted the request.
    @discardableResult
    func cancelAll(_ reason: AsyncOperationContext.CancellationReason, _ state: inout State) -> [OperationCore] {
        operations(state).filter { cancel($0, reason, &state) == true }
    }

    /// The event that the queue becomes idle; nil if it is idle.
    func idleSignal() -> OneShot? {
        state.withLock { state in
            guard state.unfinished > 0 else { return nil }
            let idle = state.idle ?? OneShot()
            state.idle = idle
            return idle
        }
    }
}

/// The barriers of a queue that may not have ended. Later operations wait for each of them, not only for the last: a
/// barrier that is cancelled ends before those that it waits for.
struct Barriers {
    /// Weak, so that the operation is not freed under the lock. Unchecked: it does not change.
    private final class Barrier: @unchecked Sendable {
        private(set) weak var core: OperationCore?
        init(_ core: OperationCore) { self.core = core }
    }

    private var all: [Barrier] = []

    var isEmpty: Bool { all.isEmpty }

    /// In the order in which they were added.
    var cores: [OperationCore] { all.compactMap(\.core) }

    mutating func append(_ core: OperationCore) { all.append(Barrier(core)) }

    mutating func forgetEnded() { all.removeAll { $0.core?.isFinished ?? true } }
}

/// The operations that a shutdown cancelled.
final class ShutdownList: Sendable {
    private let cores = Lock<[OperationCore]>([])

    func append(_ stopped: [OperationCore]) { cores.withLock { $0 += stopped } }

    var reports: [OperationReport] {
        cores.withLock { $0 }.compactMap { core in core.end.map { OperationReport(core, $0) } }
    }
}

/// A queue whose lock the caller holds, for code that reads several queues and must not lock this one again.
///
/// The state is a copy that shares all arrays, and only for reading.
struct LockedQueue {
    let queue: QueueCore
    let state: QueueCore.State
    var joining: Joining?
}

/// Operations that are about to join a queue, or a compound operation in it.
struct Joining: Sendable {
    let cores: [OperationCore]
    /// nil for the queue itself.
    let parent: CompoundCore?

    func contains(_ core: OperationCore) -> Bool { cores.includes(core) }
}

extension QueueCore.State {
    /// The highest priority of operations that wait behind `core` for a place.
    mutating func urgency(behind core: OperationCore) -> Priority? {
        if urgent.isEmpty { return nil }
        urgent.removeAll { $0.core === core || $0.core.isFinished }
        return urgent.map(\.priority).max()
    }
}

/// An operation that waits behind others for a place, with the priority of the task that waits for its end.
struct Urgent: Sendable {
    let core: OperationCore
    let priority: Priority
}
