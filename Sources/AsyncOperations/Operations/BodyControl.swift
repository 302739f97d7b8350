/// One attempt of a body, and what reaches it from outside: requests to stop, suspension, priority.
final class BodyControl: Sendable {
    typealias CancelHandler = @Sendable (CancellationReason) -> Void
    typealias SuspendHandler = @Sendable (_ isSuspended: Bool) -> Void

    private struct State {
        var reason: CancellationReason?
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
        var cancelHandlers: [CancelHandler] = []
        var suspendHandlers: [SuspendHandler] = []
        var sleepers: [UnsafeContinuation<Void, Never>] = []
        /// The attempt of a waterfall's job that runs in the body; it is told whatever the body is told.
        var job: BodyControl?
    }

    let core: OperationCore
    let queue: QueueCore
    /// Counted from 1.
    let attempt: Int
    /// What its task is to have; nil for that of the queue.
    let priority: Priority?
    /// Whether it runs without a scheduler.
    let isAlone: Bool
    /// Both guarded by the queue's lock.
    nonisolated(unsafe) var row: OperationID
    nonisolated(unsafe) var runningIndex = 0
    private let state: Lock<State>

    init(_ core: OperationCore, _ place: Place, attempt: Int, isReady: Bool, priority: Priority?) {
        self.core = core
        queue = place.queue
        row = place.row
        isAlone = place.row.isAlone
        self.attempt = attempt
        self.priority = priority
        state = Lock(State(progress: isReady ? .ready : .pending))
    }

    /// An attempt of a waterfall's job, inside the body of the waterfall's operation.
    convenience init(ofJobIn body: BodyControl, attempt: Int) {
        self.init(
            body.core, Place(queue: body.queue, row: .root), attempt: attempt, isReady: true, priority: body.priority)
    }

    var reason: CancellationReason? { state.withLock { $0.reason } }
    var isOver: Bool { state.withLock { $0.isOver } }

    /// What the body waits for, if it does.
    var wait: BodyWait? { state.withLock { $0.wait } }

    func setWait(_ wait: BodyWait) { state.withLock { $0.wait = wait } }

    /// False if it does not wait so any more.
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
        let (isUsable, sleepers, _, _) = state.withLock { state in
            state.isOver = true
            state.worker = nil
            defer {
                state.sleepers = []
                state.suspendHandlers = []
                // If a stop is still to be told, its handlers are called all the same.
                if state.reason == nil { state.cancelHandlers = [] }
            }
            return (
                !state.isWorkerSpent, state.sleepers, state.suspendHandlers,
                state.reason == nil ? state.cancelHandlers : []
            )
        }
        for sleeper in sleepers { sleeper.resume() }
        return isUsable
    }

    /// Tells the body to stop; the first reason counts. `tellOfStop` must follow, outside all locks.
    func stop(_ reason: CancellationReason) {
        let job = state.withLock { state -> BodyControl? in
            guard state.reason == nil else { return nil }
            state.reason = reason
            state.isWorkerSpent = true
            return state.job
        }
        job?.stop(reason)
    }

    /// Cancels the task and calls the handlers of a stop.
    func tellOfStop() {
        let (reason, worker, sleepers) = state.withLock { state in
            defer { state.sleepers = [] }
            return (state.reason, state.worker, state.sleepers)
        }
        guard let reason else { return }
        worker?.cancel()
        while let handlers = nextCancelHandlers() { for handler in handlers { handler(reason) } }
        for sleeper in sleepers { sleeper.resume() }
        // A job that is set from now on is told by `setJob`.
        state.withLock { $0.job }?.tellOfStop()
    }

    /// The handlers added since the last call. nil if there are none; later ones are then called at once.
    private func nextCancelHandlers() -> [CancelHandler]? {
        state.withLock { state in
            if state.cancelHandlers.isEmpty {
                state.isStopTold = true
                return nil
            }
            defer { state.cancelHandlers = [] }
            return state.cancelHandlers
        }
    }

    /// Returns the handlers to call outside all locks; nil if nothing changes for the body.
    func setSuspended(_ isSuspended: Bool) -> [SuspendHandler]? {
        let (handlers, sleepers) = state.withLock { state -> ([SuspendHandler]?, [UnsafeContinuation<Void, Never>]) in
            guard state.isSuspended != isSuspended, !state.isOver else { return (nil, []) }
            state.isSuspended = isSuspended
            defer { if !isSuspended { state.sleepers = [] } }
            let jobHandlers = state.job?.setSuspended(isSuspended) ?? []
            return (state.suspendHandlers + jobHandlers, isSuspended ? [] : state.sleepers)
        }
        for sleeper in sleepers { sleeper.resume() }
        return handlers
    }

    /// Raises the priority of the body's task.
    func raise(to priority: Priority) {
        let worker = state.withLock { state in
            let given = state.raisedTo ?? self.priority ?? queue.priority ?? .medium
            guard priority > given else { return nil as Worker? }
            state.raisedTo = priority
            if state.worker != nil, !state.isOver { state.isWorkerSpent = true }
            return state.isOver ? nil : state.worker
        }
        worker?.raise(to: priority)
    }

    func onCancel(_ handler: @escaping CancelHandler) {
        let reason = state.withLock { state -> CancellationReason? in
            if state.isStopTold { return state.reason }
            if !state.isOver { state.cancelHandlers.append(handler) }
            return nil
        }
        if let reason { handler(reason) }
    }

    /// If it is suspended, the first call goes through the queue's effects like all others, so the last one is always
    /// true.
    func onSuspend(_ handler: @escaping SuspendHandler) {
        queue.update { queue in
            let isSuspended = state.withLock { state in
                if !state.isOver { state.suspendHandlers.append(handler) }
                return state.isSuspended && !state.isOver
            }
            if isSuspended { queue.append(.pause([handler], true)) }
        }
    }

    func waitWhileSuspended() async {
        await withUnsafeContinuation { continuation in
            let goesOn = state.withLock { state in
                if !state.isSuspended || state.reason != nil || state.isOver { return true }
                state.sleepers.append(continuation)
                return false
            }
            if goesOn { continuation.resume() }
        }
    }

    /// Whether the next job of a waterfall may begin at once, neither suspended nor stopped.
    var goesOn: Bool { state.withLock { !$0.isSuspended && $0.reason == nil } }

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
