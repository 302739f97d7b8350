/// One attempt of a body, and the signals that reach it from outside: stop requests, suspension, priority.
final class BodyControl: Sendable {
    typealias CancelHandler = @Sendable (AsyncOperationContext.CancellationReason) -> Void
    typealias SuspendHandler = @Sendable (_ isSuspended: Bool) -> Void

    struct State {
        var reason: AsyncOperationContext.CancellationReason?
        /// True if the handlers have been called; later ones are called at once.
        var isStopTold = false
        var progress: OperationState
        var isSuspended = false
        var isOver = false
        /// The worker whose task runs the body.
        var worker: Worker?
        var wait: BodyWait?
        var raisedTo: Priority?
        /// True if the task was cancelled or its priority raised for this body, so that no other body may run in it.
        var isWorkerSpent = false
        /// Allocated on demand; nil for most bodies.
        var listeners: BodyListeners?
        /// The attempt of a waterfall's job that runs in the body; it receives all signals of the body.
        var job: BodyControl?
    }

    let core: OperationCore
    let queue: QueueCore
    /// Counts from 1.
    let attempt: Int
    /// The priority of its task; nil for that of the queue.
    let priority: Priority?
    /// The context that begins the body; nil if its queue does.
    let context: TaskContext?
    /// True if it began without a scheduler.
    let hasBegunAlone: Bool
    /// Both are guarded by the queue's lock.
    nonisolated(unsafe) var row: OperationID
    fileprivate nonisolated(unsafe) var runningIndex = 0
    let state: Lock<State>

    init(
        _ core: OperationCore, _ place: Place, attempt: Int, progress: OperationState, priority: Priority?,
        context: TaskContext? = nil
    ) {
        self.core = core
        queue = place.queue
        row = place.row
        hasBegunAlone = place.row.isAlone
        self.attempt = attempt
        self.priority = priority
        self.context = context
        state = Lock(State(progress: progress))
    }

    /// Creates an attempt of a waterfall's job, inside the body of the waterfall's operation.
    convenience init(ofJobIn body: BodyControl, attempt: Int) {
        self.init(
            body.core, Place(queue: body.queue, row: .root), attempt: attempt, progress: .ready, priority: body.priority
        )
    }

    /// True while it runs without a scheduler. Requires the queue's lock.
    var isAlone: Bool { row.isAlone }

    /// True if the task of another body of its queue may run it.
    var mayShareTask: Bool { priority == nil && (context == nil || queue.owner != nil) }

    var reason: AsyncOperationContext.CancellationReason? { state.withLock { $0.reason } }
    var isOver: Bool { state.withLock { $0.isOver } }

    /// The wait that the body is in, if any.
    var wait: BodyWait? { state.withLock { $0.wait } }

    func setWait(_ wait: BodyWait) { state.withLock { $0.wait = wait } }

    /// Ends a wait. Returns false if it has ended already.
    func endWait(_ wait: BodyWait) -> Bool {
        state.withLock { state in
            guard state.wait === wait else { return false }
            state.wait = nil
            return true
        }
    }

    /// `executing` once its turn has come and all earlier events have been reported.
    var progress: OperationState { state.withLock { $0.progress } }

    /// Records that it waits only for its turn. Returns false if that was known already.
    func becomeReady() -> Bool {
        state.withLock { state in
            guard state.progress == .pending else { return false }
            state.progress = .ready
            return true
        }
    }

    /// Records that its turn has come. Returns false if it must stop already, so that the body never runs.
    func start() -> Bool {
        state.withLock { state in
            if state.reason == nil { state.progress = .executing }
            return state.progress == .executing
        }
    }

    /// Records that the body is about to begin in the task of `worker`. Returns false if it must stop already.
    func begin(on worker: Worker) -> Bool {
        let (isToRun, raisedTo) = state.withLock { state in
            state.worker = worker
            if state.raisedTo != nil { state.isWorkerSpent = true }
            return (state.reason == nil && !state.isOver, state.raisedTo)
        }
        if let raisedTo { worker.raise(to: raisedTo) }
        return isToRun
    }

    /// Records that the body has returned; from now on no signal reaches it. Returns true if its task may run another
    /// body.
    func end() -> Bool {
        // Handlers are released outside the lock.
        let (isUsable, listeners) = state.withLock { state in
            state.isOver = true
            state.worker = nil
            // If a stop has not been reported yet, its handlers are still called.
            let later = state.reason == nil ? nil : state.listeners.map { BodyListeners(ofStop: $0.ofStop) }
            defer { state.listeners = later }
            return (!state.isWorkerSpent, state.listeners)
        }
        if let listeners { for sleeper in listeners.sleepers { sleeper.resume() } }
        return isUsable
    }

    /// Raises the priority of the body's task.
    func raise(to priority: Priority) {
        let worker = state.withLock { state in
            let given = state.raisedTo ?? self.priority ?? context?.priority ?? queue.priority ?? .medium
            guard priority > given else { return nil as Worker? }
            state.raisedTo = priority
            if state.worker != nil, !state.isOver { state.isWorkerSpent = true }
            return state.isOver ? nil : state.worker
        }
        worker?.raise(to: priority)
    }

    /// Makes `job` receive all signals of the body from now on; nil if no job runs. The lock of a job is taken after
    /// that of its body.
    func setJob(_ job: BodyControl?) {
        // The previous job is released outside the lock.
        let (isStopTold, _) = state.withLock { state in
            let last = state.job
            state.job = job
            if let job {
                if let reason = state.reason { job.stop(reason) }
                _ = job.setSuspended(state.isSuspended)
            }
            return (state.isStopTold, last)
        }
        if isStopTold { job?.tellOfStop() }
    }
}

/// The listeners to the signals of a body. Unchecked: the lock of its control guards them until they are taken out.
final class BodyListeners: @unchecked Sendable {
    var ofStop: [BodyControl.CancelHandler]
    var ofSuspension: [BodyControl.SuspendHandler] = []
    /// Tasks that wait for the end of a suspension.
    var sleepers: [UnsafeContinuation<Void, Never>] = []

    init(ofStop: [BodyControl.CancelHandler] = []) { self.ofStop = ofStop }
}

extension BodyControl.State {
    /// Changes the listeners, allocating them on demand.
    mutating func withListeners(_ change: (BodyListeners) -> Void) {
        let listeners = listeners ?? BodyListeners()
        self.listeners = listeners
        change(listeners)
    }

    mutating func takeSleepers() -> [UnsafeContinuation<Void, Never>] {
        guard let listeners else { return [] }
        defer { listeners.sleepers = [] }
        return listeners.sleepers
    }
}

// Suspensions of the queue while a body runs.

extension BodyControl {
    /// Sets the suspension. Returns the handlers to call outside all locks; nil if nothing changes for the body.
    func setSuspended(_ isSuspended: Bool) -> [SuspendHandler]? {
        let (handlers, sleepers) = state.withLock { state -> ([SuspendHandler]?, [UnsafeContinuation<Void, Never>]) in
            guard state.isSuspended != isSuspended, !state.isOver else { return (nil, []) }
            state.isSuspended = isSuspended
            let jobHandlers = state.job?.setSuspended(isSuspended) ?? []
            let handlers = (state.listeners?.ofSuspension ?? []) + jobHandlers
            return (handlers, isSuspended ? [] : state.takeSleepers())
        }
        for sleeper in sleepers { sleeper.resume() }
        return handlers
    }

    /// Adds a handler. If the body is suspended, the first call goes through the queue's effects like all others, so
    /// that the last call is always right.
    func onSuspend(_ handler: @escaping SuspendHandler) {
        queue.update { queue in
            let isSuspended = state.withLock { state in
                if !state.isOver { state.withListeners { $0.ofSuspension.append(handler) } }
                return state.isSuspended && !state.isOver
            }
            if isSuspended { queue.effects.append(.pause([handler], true)) }
        }
    }

    func waitWhileSuspended() async {
        await withUnsafeContinuation { continuation in
            let goesOn = state.withLock { state in
                if !state.isSuspended || state.reason != nil || state.isOver { return true }
                state.withListeners { $0.sleepers.append(continuation) }
                return false
            }
            if goesOn { continuation.resume() }
        }
    }

    /// True if the next job of a waterfall may begin at once: the body is neither suspended nor asked to stop.
    var goesOn: Bool { state.withLock { !$0.isSuspended && $0.reason == nil } }
}

// Requests to stop a running body.

extension BodyControl {
    /// Records a stop; the first reason counts. Call `tellOfStop` afterwards, outside all locks.
    func stop(_ reason: AsyncOperationContext.CancellationReason) {
        let job = state.withLock { state -> BodyControl? in
            guard state.reason == nil else { return nil }
            state.reason = reason
            state.isWorkerSpent = true
            return state.job
        }
        job?.stop(reason)
    }

    /// Cancels the task and calls the stop handlers.
    func tellOfStop() {
        let (reason, worker, sleepers) = state.withLock { state in
            (state.reason, state.worker, state.takeSleepers())
        }
        guard let reason else { return }
        worker?.cancel()
        while let handlers = nextCancelHandlers() { for handler in handlers { handler(reason) } }
        for sleeper in sleepers { sleeper.resume() }
        // A job that is set from now on gets the stop from `setJob`.
        state.withLock { $0.job }?.tellOfStop()
    }

    /// The handlers added since the last call. nil if there are none; later handlers are then called at once.
    private func nextCancelHandlers() -> [CancelHandler]? {
        state.withLock { state in
            guard let listeners = state.listeners, !listeners.ofStop.isEmpty else {
                state.isStopTold = true
                return nil
            }
            defer { listeners.ofStop = [] }
            return listeners.ofStop
        }
    }

    func onCancel(_ handler: @escaping CancelHandler) {
        let reason = state.withLock { state -> AsyncOperationContext.CancellationReason? in
            if state.isStopTold { return state.reason }
            if !state.isOver { state.withListeners { $0.ofStop.append(handler) } }
            return nil
        }
        if let reason { handler(reason) }
    }
}

/// The attempts that run in a queue. Guarded by the queue's lock.
struct RunningBodies {
    /// The one that runs without a scheduler.
    var alone: BodyControl?
    private var scheduled: [BodyControl] = []
    /// Attempts that the scheduler started before a suspension, and that were not announced before it.
    private var held: [BodyControl] = []

    var all: [BodyControl] { (alone.map { [$0] } ?? []) + scheduled }

    /// Adds an attempt that the scheduler has started.
    mutating func add(_ control: BodyControl) {
        control.runningIndex = scheduled.count
        scheduled.append(control)
    }

    @inline(__always)  // A call less for each body.
    mutating func remove(_ control: BodyControl) {
        if control.isAlone {
            alone = nil
            return
        }
        let last = scheduled.removeLast()
        guard last !== control else { return }
        scheduled[control.runningIndex] = last
        last.runningIndex = control.runningIndex
    }

    /// Keeps a running attempt from beginning until it is released.
    mutating func hold(_ control: BodyControl) { held.append(control) }

    /// Returns true if the attempt was held and may begin now.
    mutating func release(_ control: BodyControl) -> Bool {
        guard let index = held.firstIndex(where: { $0 === control }) else { return false }
        held.remove(at: index)
        return true
    }

    /// Releases all attempts that are held, and returns them.
    mutating func takeHeld() -> [BodyControl] {
        defer { held = [] }
        return held
    }
}
