internal import Synchronization

// One attempt of a body, and what stops it.

extension OperationCore {
    /// Runs one attempt in a task of its own, which is what a stop cancels.
    func perform(attempt: Int) async -> (outcome: OperationOutcome, mayRetry: Bool) {
        guard let (body, control, clock) = begin() else { return (.failure, false) }
        let context = AsyncOperationContext(core: self, control: control, attempt: attempt, clock: clock)
        let task = Task(priority: options.taskPriority) { await body(context) }
        control.attach(task)
        let end = await task.value
        control.end()
        noteEnd(of: end)
        switch end {
        case .success: return (.success, false)
        case .failure(let error): return (.failure, options.retriesError?(error) ?? true)
        case .stopped(let reason):
            // The scheduler hears of it before it hears of the end.
            cancel(reason)
            return (.failure, false)
        }
    }

    /// From here on a request comes too late, unless another attempt may follow.
    private func noteEnd(of end: BodyEnd) {
        state.withLock { state in
            state.control = nil
            switch end {
            case .success: state.isBodyOver = true
            case .failure: state.isBodyOver = options.retry == nil
            case .stopped: break
            }
        }
    }

    /// nil where a request came before the body could begin.
    private func begin() -> (Body, BodyControl, any Clock<Duration>)? {
        let control = BodyControl()
        let begun = state.withLock { state -> (body: Body, queue: QueueCore)? in
            guard state.request == nil, state.stop == nil, let body = state.body, let place = state.place else {
                return nil
            }
            state.control = control
            return (body, place.queue)
        }
        guard let begun else { return nil }
        if begun.queue.isPaused { control.setSuspended(true) }
        return (begun.body, control, begun.queue.clock)
    }

    /// Notes how far the scheduler is with it. False where a request has come before it could begin.
    @discardableResult
    func note(_ progress: OperationState) -> Bool {
        state.withLock { state in
            guard state.end == nil else { return false }
            if progress == .executing, compound == nil, state.request != nil || state.stop != nil { return false }
            state.progress = progress
            return true
        }
    }

    /// Notes that another attempt will come: what stopped the last one does not stop that.
    func noteRetry() {
        state.withLock { state in
            guard state.end == nil else { return }
            state.progress = .ready
            state.stop = nil
        }
    }

    /// Carries out the scheduler's decision to stop it. Returns the reason that counts: the first.
    @discardableResult
    func stop(_ reason: CancellationReason) -> CancellationReason {
        let (control, first) = state.withLock { state in
            state.stop = state.stop ?? reason
            return (state.control, state.stop ?? reason)
        }
        control?.cancel(first)
        return first
    }

    /// Asks the operation to end soon. True for the one call that is accepted: the first before its end.
    @discardableResult
    func cancel(_ reason: CancellationReason) -> Bool {
        let (isAccepted, isIdle) = state.withLock { state in
            guard state.end == nil, !state.isBodyOver, state.request == nil, state.stop == nil else {
                return (false, false)
            }
            state.request = reason
            // Under the lock, so that the scheduler hears of the request before it hears of a later end.
            if let place = state.place, state.isPosted { place.run.control.cancel(place.row) }
            return (true, !state.isTaken)
        }
        if isIdle { cancelIdle(reason) }
        return isAccepted
    }

    /// Ends an operation that belongs to nobody, and its members, without recursion.
    private func cancelIdle(_ reason: CancellationReason) {
        var pending = [(core: self, reason: reason)]
        var order: [(core: OperationCore, reason: CancellationReason)] = []
        while let next = pending.popLast() {
            order.append(next)
            let members = next.core.state.withLock { $0.members?.handles ?? [] }
            pending += members.map { ($0.core, .parent(next.core.id)) }
        }
        // Members end before what is around them.
        for entry in order.reversed() {
            entry.core.finish(.cancelled(entry.core.state.withLock { $0.request } ?? entry.reason))
        }
    }

    /// The last handle is gone. What has not been started never will be; what is suspended by its owner neither.
    func abandon() {
        let (isIdle, ownQueue) = state.withLock { (!$0.isTaken && $0.end == nil, $0.ownQueue) }
        if isIdle || ownQueue?.isSuspended == true { cancel(.abandoned) }
    }
}
