// The end of an operation, and its report to listeners.

extension OperationCore {
    /// Sets the end, once. Returns whether `tell` has listeners to call, and the dependencies, to be released outside
    /// all locks.
    func setEnd(_ end: OperationEnd) -> (hasListeners: Bool, needs: NeedList?) {
        state.withLock { state in (state.rare != nil, state.end(as: end)) }
    }

    /// True if reporting the end runs user code.
    var hasCompletions: Bool { state.withLock { $0.rare?.completions.isEmpty == false } }

    /// Reports the end, outside all locks: to completions in the order in which they were added, then to waiting
    /// tasks, then to dependents in other queues.
    func tell(_ end: OperationEnd) {
        while true {
            switch nextListeners() {
            case .completions(let completions): for completion in completions { completion(end) }
            case .none: return
            case .waiters(let waiters): return waiters.wake()
            case .all(let waiters, let followers, let outer, let listeners):
                waiters.wake()
                for follower in followers { follower.queue.resolve(follower, end) }
                for listener in outer { listener(end) }
                return listeners.finish()
            }
        }
    }

    /// The next listeners to report an end to.
    private enum Listeners {
        case none
        /// Completions added since the last call; more may follow.
        case completions([RareState.Listener])
        /// Waiting tasks only, the usual case.
        case waiters(WaitingTasks)
        case all(WaitingTasks, [StandIn], [RareState.Listener], ProgressListeners)
    }

    /// Reports the end of an operation that belongs to no queue. Completions run in a task here too, so that the
    /// caller may hold a lock, and so that completions that end other operations do not nest.
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

    /// Returns the completions while there are any, then all other listeners; completions that are added after that
    /// are called at once.
    private func nextListeners() -> Listeners {
        state.withLock { state in
            guard let rare = state.rare else { return .none }
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

    /// Calls `completion` after the end and after all earlier completions; at once if those have been called.
    func addCompletion(_ completion: @escaping RareState.Listener) {
        let end = state.withLock { state -> OperationEnd? in
            if let end = state.toldEnd { return end }
            state.withRare { $0.completions.append(completion) }
            return nil
        }
        if let end { completion(end) }
    }

    /// Announces that the calling task is about to wait, so that a body that begins before the wait has its priority
    /// already; `context` begins the body.
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

    /// The context of the task that waits for the operation, or for an enclosing one, with that task's values.
    var context: TaskContext? { state.withLock { $0.rare?.context } }

    /// Makes `context` begin its attempts.
    func inherit(_ context: TaskContext) { state.withLock { state in state.withRare { $0.context = context } } }

    /// Makes its queue begin its attempts again, after a refusal.
    func dropContext() { state.withLock { $0.rare?.context = nil } }

    /// True if an attempt of its body may still begin.
    var mayBegin: Bool {
        switch lifecycle {
        case .ended: false
        case .running: !hasDefaultOptions && options.retry != nil
        case .idle, .dissolving, .member, .taken, .waiting, .open, .settled: true
        }
    }

    /// Waits for the end, even if the waiting task is cancelled.
    func wait() async -> OperationEnd {
        if let end = state.withLock({ $0.toldEnd }) { return end }
        _ = await withUnsafeContinuation { add($0, as: nil, nil) }
        return endAfterWaiting
    }

    /// Waits for the end; returns nil if `wait` is refused first.
    func waitUnlessRefused(as wait: BodyWait) async -> OperationEnd? {
        await withUnsafeContinuation { add($0, as: wait.ticket, wait) } ? endAfterWaiting : nil
    }

    /// Waits for the end; returns nil if the waiting task is cancelled, or `wait` is refused, first.
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

    /// Adds a waiting task. `ticket` is nil for a wait that only the end can end.
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
    /// Sets the end. Returns the dependencies, to be released outside the lock.
    mutating func end(as end: OperationEnd) -> NeedList? {
        lifecycle = .ended(end)
        defer { needList = nil }
        return needList
    }

    /// The end, once all completions have been called; nil before.
    var toldEnd: OperationEnd? {
        guard let end = lifecycle.end else { return nil }
        return rare?.isTold ?? true ? end : nil
    }
}

// Requests to stop, before and after the operation belongs to a queue.

extension OperationCore {
    /// Asks the operation to end soon. Returns true for the accepted request: the first before the end.
    @discardableResult
    func cancel(_ reason: AsyncOperationContext.CancellationReason) -> Bool {
        while true {
            if let queue = lifecycle.queue {
                // nil if it has left the queue meanwhile, or was not added.
                if let isAccepted = queue.cancel(self, reason) { return isAccepted }
                continue
            }
            switch cancelIdle(reason) {
            case .taken: continue
            case .refused: return false
            case .ended(let end, _):
                tellOutside(end)
                return true
            case .dissolving:
                dissolve(reason)
                return true
            }
        }
    }

    private enum IdleCancel: Sendable {
        /// A queue has added it meanwhile.
        case taken
        case refused
        /// Contains its dependencies, to be released outside the lock.
        case ended(OperationEnd, NeedList?)
        case dissolving
    }

    /// Ends an operation that belongs to no queue, or begins to end a compound operation.
    private func cancelIdle(_ reason: AsyncOperationContext.CancellationReason) -> IdleCancel {
        inParent { members in
            state.withLock { state in
                switch state.lifecycle {
                case .taken, .waiting, .running, .open, .settled: return .taken
                case .dissolving, .ended: return .refused
                case .idle, .member:
                    guard self is CompoundCore else {
                        members.ended.append(self)
                        return .ended(.cancelled(reason), state.end(as: .cancelled(reason)))
                    }
                    state.lifecycle = .dissolving
                    state.withRare { $0.request = reason }
                    return .dissolving
                }
            }
        }
    }

    /// Calls `body` with the members of the enclosing compound operation, under its lock, so that the end of a member
    /// and its report appear together. Without an enclosing operation, `body` gets an empty list that is discarded.
    private func inParent<Answer: Sendable>(_ body: (inout CompoundCore.Members) -> Answer) -> Answer {
        guard let parent else {
            var discarded = CompoundCore.Members()
            return body(&discarded)
        }
        return parent.withMembers { body(&$1) }
    }

    /// Ends a compound operation that belongs to no queue, after everything inside it, without recursion.
    private func dissolve(_ reason: AsyncOperationContext.CancellationReason) {
        var pending = [(core: self, reason: reason)]
        var order: [(core: OperationCore, reason: AsyncOperationContext.CancellationReason)] = []
        while let next = pending.popLast() {
            order.append(next)
            for member in next.core.memberCores {
                let isTaken = member.state.withLock { state in
                    guard case .member = state.lifecycle else { return false }
                    state.lifecycle = .dissolving
                    return true
                }
                if isTaken { pending.append((member, .parent(next.core.id))) }
            }
        }
        Self.finishDissolving(order.reversed(), from: 0)
    }

    /// Ends operations from `first` on, members before their compound operation. If another call is still ending a
    /// member, it goes on after that.
    private static func finishDissolving(
        _ order: [(core: OperationCore, reason: AsyncOperationContext.CancellationReason)], from first: Int
    ) {
        for index in first..<order.count {
            let (core, reason) = order[index]
            for member in core.memberCores {
                if member.isEnding({ _ in finishDissolving(order, from: index) }) { return }
            }
            let end = OperationEnd.cancelled(reason)
            _ = core.inParent { members in
                members.ended.append(core)
                return core.setEnd(end).needs
            }
            core.tellOutside(end)
        }
    }

    /// True if its end has not been reported to all listeners yet. Then `listener` is called too, as the last.
    private func isEnding(_ listener: @escaping RareState.Listener) -> Bool {
        state.withLock { state in
            if state.toldEnd != nil { return false }
            state.withRare { $0.outer.append(listener) }
            return true
        }
    }

    /// Called when the last handle is gone: the operation can no longer be started, or resumed if its own queue is
    /// suspended.
    func abandon() {
        let (isIdle, ownQueue) = state.withLock { state -> (Bool, QueueCore?) in
            if case .idle = state.lifecycle { return (true, nil) }
            // A waiting call tries to start it, possibly without success.
            if case .taken = state.lifecycle { state.withRare { $0.isAbandoned = true } }
            if let queue = state.lifecycle.queue, queue.owner == id { return (false, queue) }
            return (false, state.rare?.ownQueue)
        }
        // In a task: releasing a body may run user code, which must not happen where a handle is dropped, and may
        // drop the last handle of another operation, and so on.
        if isIdle { launch { [self] in cancel(.neverStarted) } }
        if let ownQueue, ownQueue.isSuspended { ownQueue.drop() }
    }
}
