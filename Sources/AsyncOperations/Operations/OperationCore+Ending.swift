// The end of an operation, and who is told of it.

extension OperationCore {
    /// Sets the end, once. Returns whether `tell` has anybody to tell, and the dependencies, to be freed outside all
    /// locks.
    func setEnd(_ end: OperationEnd) -> (hasListeners: Bool, needs: NeedList?) {
        state.withLock { state in (state.rare != nil, state.end(as: end)) }
    }

    /// Whether telling the end runs user code.
    var hasCompletions: Bool { state.withLock { $0.rare?.completions.isEmpty == false } }

    /// Tells the end, outside all locks: to completions in the order in which they were added, then to waiting tasks,
    /// then to dependents in other queues.
    func tell(_ end: OperationEnd) {
        while true {
            switch nextListeners() {
            case .completions(let completions): for completion in completions { completion(end) }
            case .nobody: return
            case .waiters(let waiters): return waiters.wake()
            case .all(let waiters, let followers, let outer, let listeners):
                waiters.wake()
                for follower in followers { follower.queue.resolve(follower, end) }
                for listener in outer { listener(end) }
                return listeners.finish()
            }
        }
    }

    /// Who is to be told of an end next.
    private enum Listeners {
        case nobody
        /// Those added since the last call; later ones may follow.
        case completions([RareState.Listener])
        /// Tasks only, the usual case.
        case waiters(WaitingTasks)
        case all(WaitingTasks, [StandIn], [RareState.Listener], ProgressListeners)
    }

    /// The same for an operation that belongs to no queue. Completions run in a task here too, so that the caller may
    /// hold a lock, and completions that end other operations do not nest.
    func tellOutside(_ end: OperationEnd) {
        if hasCompletions {
            launch { [self] in
                tell(end)
                releaseBody()
            }
        } else {
            tell(end)
            releaseBody()
        }
    }

    /// Completions while there are any; those that come later are called at once. Then all others.
    private func nextListeners() -> Listeners {
        state.withLock { state in
            guard let rare = state.rare else { return .nobody }
            if !rare.completions.isEmpty {
                defer { rare.completions = [] }
                return .completions(rare.completions)
            }
            rare.isTold = true
            let waiters = rare.waiters.takeAll()
            if rare.followers.isEmpty, rare.outer.isEmpty, rare.progressListeners.isEmpty { return .waiters(waiters) }
            tellProgress(state)
            defer {
                rare.followers = []
                rare.outer = []
            }
            return .all(waiters, rare.followers, rare.outer, rare.progressListeners.removeAll())
        }
    }

    /// Calls `completion` after the end and after the completions added before; at once if all those have been called.
    func addCompletion(_ completion: @escaping RareState.Listener) {
        let end = state.withLock { state -> OperationEnd? in
            if let end = state.toldEnd { return end }
            state.withRare { $0.completions.append(completion) }
            return nil
        }
        if let end { completion(end) }
    }

    /// Says that the calling task is about to wait, so that a body that begins before it does has its priority already;
    /// `context` begins it.
    func expectWaiter(_ context: TaskContext?) {
        let priority = Priority.current
        state.withLock { state in
            guard state.toldEnd == nil else { return }
            state.withRare { rare in
                rare.waiterPriority = max(priority, rare.waiterPriority ?? priority)
                rare.context = context
            }
        }
    }

    /// That of the task that waits for it, or for what is around it, with its own values.
    var context: TaskContext? { state.withLock { $0.rare?.context } }

    /// Lets `context` begin its attempts.
    func inherit(_ context: TaskContext) { state.withLock { state in state.withRare { $0.context = context } } }

    /// Leaves its attempts to its queue again, after a refusal.
    func dropContext() { state.withLock { $0.rare?.context = nil } }

    /// True if an attempt of its body may still begin.
    var mayBegin: Bool {
        switch lifecycle {
        case .ended: false
        case .running: options.retry != nil
        case .idle, .dissolving, .member, .taken, .waiting, .open, .settled: true
        }
    }

    /// Waits for the end, even if the waiting task is cancelled.
    func wait() async -> OperationEnd {
        if let end = state.withLock({ $0.toldEnd }) { return end }
        _ = await withUnsafeContinuation { add($0, as: nil, nil) }
        return endAfterWaiting
    }

    /// The same; nil if `wait` is refused before.
    func waitUnlessRefused(as wait: BodyWait) async -> OperationEnd? {
        await withUnsafeContinuation { add($0, as: wait.ticket, wait) } ? endAfterWaiting : nil
    }

    /// Waits for the end; nil if the waiting task is cancelled, or `wait` refused, before.
    func waitUnlessCancelled(as wait: BodyWait? = nil) async -> OperationEnd? {
        let (ticket, end) = state.withLock { state -> (UInt64, OperationEnd?) in
            if let end = state.toldEnd { return (0, end) }
            return (wait?.ticket ?? state.withRare { $0.waiters.makeTicket() }, nil)
        }
        if let end { return end }
        let hasEnded = await withTaskCancellationHandler {
            await withUnsafeContinuation { add($0, as: ticket, wait) }
        } onCancel: {
            stopWaiting(ticket)
        }
        return hasEnded ? endAfterWaiting : nil
    }

    /// Wakes the task that waits with this ticket, if any.
    func stopWaiting(_ ticket: UInt64) {
        state.withLock { $0.rare?.waiters.remove(ticket) }?.resume(returning: false)
    }

    private var endAfterWaiting: OperationEnd {
        guard let end else { preconditionFailure("\(id) woke its waiters before its end") }
        return end
    }

    /// `ticket` is nil for a wait that only the end can end.
    private func add(_ waiter: UnsafeContinuation<Bool, Never>, as ticket: UInt64?, _ wait: BodyWait?) {
        let priority = Priority.current
        let (answer, isNews) = state.withLock { state -> (Bool?, Bool) in
            if state.toldEnd != nil { return (true, false) }
            // The cancellation or refusal may have come already.
            if ticket != nil, wait?.isRefused ?? false || wait?.heedsCancellation ?? true && Task.isCancelled {
                return (false, false)
            }
            let isNews = state.withRare { rare in
                rare.waiters.add(waiter, as: ticket ?? rare.waiters.makeTicket())
                rare.waiterPriority = max(priority, rare.waiterPriority ?? priority)
                return rare.noteRaise(to: priority)
            }
            return (nil, isNews)
        }
        if isNews { raiseUpstream(to: priority) }
        if let answer { waiter.resume(returning: answer) }
    }
}

extension OperationCore.State {
    /// Sets the end. Returns the dependencies, to be freed outside the lock.
    mutating func end(as end: OperationEnd) -> NeedList? {
        lifecycle = .ended(end)
        defer { needList = nil }
        return needList
    }

    /// The end, once all completions have been called.
    var toldEnd: OperationEnd? {
        guard let end = lifecycle.end else { return nil }
        return rare?.isTold ?? true ? end : nil
    }
}
