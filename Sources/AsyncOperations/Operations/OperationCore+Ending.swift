internal import Synchronization

// Tells everybody who waits for an operation how it ended.

extension OperationCore {
    /// Ends the operation, unless it has ended: the end is stored, then completions are called in the order of their
    /// registration, then waiters are woken, then whatever waits elsewhere for it is told.
    func finish(_ end: OperationEnd) {
        let isFirst = state.withLock { state in
            guard state.end == nil else { return false }
            state.end = end
            state.progress = .finished
            return true
        }
        guard isFirst else { return }
        while let completions = nextCompletions() {
            for completion in completions { completion(end) }
        }
        let (signal, followers, _) = state.withLock { state in
            defer { state.followers = [] }
            return (state.signal.take(), state.followers, released(&state))
        }
        signal?.happen()
        for follower in followers { follower(end) }
    }

    /// The completions that have come since the last call; nil, and from then on they are called at once, when there
    /// are none.
    private func nextCompletions() -> [@Sendable (OperationEnd) -> Void]? {
        state.withLock { state in
            if state.completions.isEmpty {
                state.isTold = true
                return nil
            }
            defer { state.completions = [] }
            return state.completions
        }
    }

    /// Lets go of everything that an ended operation has no use for. What it returns is to be freed outside the lock,
    /// because freeing a body runs user code.
    private func released(_ state: inout State) -> (Body?, [Need], QueueCore?, BodyControl?) {
        defer {
            state.body = nil
            state.needs = []
            state.place = nil
            state.ownQueue = nil
            state.control = nil
        }
        return (state.body, state.needs, state.ownQueue, state.control)
    }

    /// Calls `completion` when the operation has ended, after those that were added before; at once where all of them
    /// have been called.
    func addCompletion(_ completion: @escaping @Sendable (OperationEnd) -> Void) {
        let end = state.withLock { state -> OperationEnd? in
            if state.isTold { return state.end }
            state.completions.append(completion)
            return nil
        }
        if let end { completion(end) }
    }

    /// Calls `follower` after all completions and waiters.
    func follow(_ follower: @escaping @Sendable (OperationEnd) -> Void) {
        let end = state.withLock { state -> OperationEnd? in
            if state.isTold { return state.end }
            state.followers.append(follower)
            return nil
        }
        if let end { follower(end) }
    }

    /// Waits for the end, even if the waiting task is cancelled.
    func wait() async -> OperationEnd {
        if let signal = signal() { await signal.wait() }
        return endAfterWaiting
    }

    /// Waits for the end or for the cancellation of the waiting task, which gives nil.
    func waitUnlessCancelled() async -> OperationEnd? {
        guard let signal = signal() else { return endAfterWaiting }
        return await signal.waitUnlessCancelled() ? endAfterWaiting : nil
    }

    private var endAfterWaiting: OperationEnd {
        guard let end else { preconditionFailure("\(id) woke its waiters before its end") }
        return end
    }

    /// nil where there is nothing to wait for any more.
    private func signal() -> OneShot? {
        state.withLock { state in
            guard !state.isTold else { return nil }
            let signal = state.signal ?? OneShot()
            state.signal = signal
            return signal
        }
    }
}
