/// One attempt of a body, and what reaches it from outside: requests to stop, suspension, priority.
final class BodyControl: Sendable {
    typealias CancelHandler = @Sendable (AsyncOperationContext.CancellationReason) -> Void
    typealias SuspendHandler = @Sendable (_ isSuspended: Bool) -> Void

    struct State {
        var reason: AsyncOperationContext.CancellationReason?
        /// Whether the handlers have been called; later ones are called at once.
        var isStopTold = false
        var progress: OperationState
        var isSuspended = false
        var isOver = false
        /// The worker whose task runs the body.
        var worker: Worker?
        var wait: BodyWait?
        var raisedTo: Priority?
        /// Whether the task was cancelled or its priority raised for this body, so that no other may run in it.
        var isWorkerSpent = false
        /// nil for most bodies.
        var listeners: BodyListeners?
        /// The attempt of a waterfall's job that runs in the body; it is told whatever the body is told.
        var job: BodyControl?
    }

    let core: OperationCore
    let queue: QueueCore
    /// Counted from 1.
    let attempt: Int
    /// What its task is to have; nil for that of the queue.
    let priority: Priority?
    /// The context that begins it; nil for its queue.
    let context: TaskContext?
    /// True if it began without a scheduler.
    let hasBegunAlone: Bool
    /// Both guarded by the queue's lock.
    nonisolated(unsafe) var row: OperationID
    nonisolated(unsafe) var runningIndex = 0
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

    /// An attempt of a waterfall's job, inside the body of the waterfall's operation.
    convenience init(ofJobIn body: BodyControl, attempt: Int) {
        self.init(
            body.core, Place(queue: body.queue, row: .root), attempt: attempt, progress: .ready, priority: body.priority
        )
    }

    /// True while it runs without a scheduler. With the queue's lock held.
    var isAlone: Bool { row.isAlone }

    /// True if the task of another body of its queue may run it.
    var mayShareTask: Bool { priority == nil && (context == nil || queue.owner != nil) }

    var reason: AsyncOperationContext.CancellationReason? { state.withLock { $0.reason } }
    var isOver: Bool { state.withLock { $0.isOver } }

    /// What the body waits for, if it does.
    var wait: BodyWait? { state.withLock { $0.wait } }

    func setWait(_ wait: BodyWait) { state.withLock { $0.wait = wait } }

    /// Returns false if that wait has ended already.
    func endWait(_ wait: BodyWait) -> Bool {
        state.withLock { state in
            guard state.wait === wait else { return false }
            state.wait = nil
            return true
        }
    }

    /// `executing` once its turn has come and everything before has been told.
    var progress: OperationState { state.withLock { $0.progress } }

    /// It waits for its turn only. Returns whether that is news.
    func becomeReady() -> Bool {
        state.withLock { state in
            guard state.progress == .pending else { return false }
            state.progress = .ready
            return true
        }
    }

    /// Its turn has come. Returns false if it is to stop already, so that the body never runs.
    func start() -> Bool {
        state.withLock { state in
            if state.reason == nil { state.progress = .executing }
            return state.progress == .executing
        }
    }

    /// The body is about to begin in the task of `worker`. Returns false if it is to stop already.
    func begin(on worker: Worker) -> Bool {
        let (isToRun, raisedTo) = state.withLock { state in
            state.worker = worker
            if state.raisedTo != nil { state.isWorkerSpent = true }
            return (state.reason == nil && !state.isOver, state.raisedTo)
        }
        if let raisedTo { worker.raise(to: raisedTo) }
        return isToRun
    }

    /// The body has returned, and nothing reaches it any more. Returns whether its task may run another one.
    func end() -> Bool {
        // Handlers are freed outside the lock.
        let (isUsable, listeners) = state.withLock { state in
            state.isOver = true
            state.worker = nil
            // If a stop is still to be told, its handlers are called all the same.
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

    /// From now on, `job` is told whatever the body is told; nil if none runs. The lock of a job is taken after that of
    /// its body.
    func setJob(_ job: BodyControl?) {
        // The previous one is freed outside the lock.
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

/// Who waits for what reaches a body. Unchecked: the lock of its control guards it, until it is taken out.
final class BodyListeners: @unchecked Sendable {
    var ofStop: [BodyControl.CancelHandler]
    var ofSuspension: [BodyControl.SuspendHandler] = []
    /// Tasks that wait for the end of a suspension.
    var sleepers: [UnsafeContinuation<Void, Never>] = []

    init(ofStop: [BodyControl.CancelHandler] = []) { self.ofStop = ofStop }
}

extension BodyControl.State {
    /// Changes the listeners; makes them first if there are none.
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
