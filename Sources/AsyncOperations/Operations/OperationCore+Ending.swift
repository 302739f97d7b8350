// The end of an operation, and telling everybody who waits for it.

extension OperationCore {
    /// Sets the end, once. Returns whether somebody is to be told of it, which `tell` does, and what it needed, to be
    /// freed outside all locks.
    func setEnd(_ end: OperationEnd) -> (hasListeners: Bool, needs: NeedList?) {
        state.withLock { state in (state.rare != nil, state.end(as: end)) }
    }

    /// Whether somebody's code runs when the end is told.
    var hasCompletions: Bool { state.withLock { $0.rare?.completions.isEmpty == false } }

    /// Tells of the end: completions first, in the order of their registration, then waiting tasks, then what waits
    /// elsewhere. Outside all locks.
    func tell(_ end: OperationEnd) {
        while let completions = nextCompletions() {
            for completion in completions { completion(end) }
        }
        let (waiters, followers, listeners) = state.withLock { state in
            tellProgress(state)
            let told = (
                state.rare?.waiters.takeAll(), state.rare?.followers ?? [], state.rare?.progressListeners.removeAll()
            )
            state.rare?.followers = []
            return told
        }
        waiters?.wake()
        for follower in followers { follower(end) }
        listeners?.finish()
    }

    /// The same where no queue has it: somebody's code runs in a task all the same, so that whoever ended the operation
    /// may hold a lock, and completions that end others do not nest.
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

    /// The completions that have come since the last call; nil, and from then on they are called at once, when there
    /// are none.
    private func nextCompletions() -> [RareState.Listener]? {
        state.withLock { state in
            guard let rare = state.rare else { return nil }
            if rare.completions.isEmpty {
                rare.isTold = true
                return nil
            }
            defer { rare.completions = [] }
            return rare.completions
        }
    }

    /// Calls `completion` when the operation has ended, after those that were added before; at once where all of them
    /// have been called.
    func addCompletion(_ completion: @escaping RareState.Listener) {
        let end = state.withLock { state -> OperationEnd? in
            if let end = state.toldEnd { return end }
            state.withRare { $0.completions.append(completion) }
            return nil
        }
        if let end { completion(end) }
    }

    /// Waits for the end, even if the waiting task is cancelled.
    func wait() async -> OperationEnd {
        _ = await withUnsafeContinuation { add($0, as: nil) }
        return endAfterWaiting
    }

    /// Waits for the end or for the cancellation of the waiting task, which gives nil.
    func waitUnlessCancelled() async -> OperationEnd? {
        let (ticket, end) = state.withLock { state -> (UInt64, OperationEnd?) in
            if let end = state.toldEnd { return (0, end) }
            return (state.withRare { $0.waiters.makeTicket() }, nil)
        }
        if let end { return end }
        let hasEnded = await withTaskCancellationHandler {
            await withUnsafeContinuation { add($0, as: ticket) }
        } onCancel: {
            state.withLock { $0.rare?.waiters.remove(ticket) }?.resume(returning: false)
        }
        return hasEnded ? endAfterWaiting : nil
    }

    private var endAfterWaiting: OperationEnd {
        guard let end else { preconditionFailure("\(id) woke its waiters before its end") }
        return end
    }

    /// Whoever has a ticket heeds its cancellation.
    private func add(_ waiter: UnsafeContinuation<Bool, Never>, as ticket: UInt64?) {
        let priority = Priority.current
        let (answer, control) = state.withLock { state -> (Bool?, BodyControl?) in
            if state.toldEnd != nil { return (true, nil) }
            // The handler of the cancellation may have come and gone already.
            if ticket != nil, Task.isCancelled { return (false, nil) }
            let isHigher = state.withRare { rare in
                rare.waiters.add(waiter, as: ticket ?? rare.waiters.makeTicket())
                if let highest = rare.waiterPriority, highest >= priority { return false }
                rare.waiterPriority = priority
                return true
            }
            guard isHigher, case .running(let control) = state.lifecycle else { return (nil, nil) }
            return (nil, control)
        }
        control?.raise(to: priority)
        if let answer { waiter.resume(returning: answer) }
    }
}

extension OperationCore.State {
    /// Sets the end. Returns what it needed, to be freed outside the lock.
    mutating func end(as end: OperationEnd) -> NeedList? {
        lifecycle = .ended(end)
        defer { needList = nil }
        return needList
    }

    /// The end, once everybody who asked before has been told of it.
    var toldEnd: OperationEnd? {
        guard let end = lifecycle.end else { return nil }
        return rare?.isTold ?? true ? end : nil
    }
}
