// Operations that are started by themselves.

extension Lifecycle {
    fileprivate var isIdle: Bool {
        if case .idle = self { true } else { false }
    }
}

extension OperationCore {
    /// Starts it on a queue of its own. If `inherits`, bodies have the priority and the task-local values of the
    /// caller.
    func start(clock: any Clock<Duration>, inherits: Bool = false) throws(UsageError) {
        let queue = QueueCore(
            name, width: .max, clock: clock, owner: id, priority: .current, inherits: inherits)
        try queue.add(self)
    }

    func setSuspended(_ isSuspended: Bool) throws(UsageError) {
        while true {
            if let ownQueue = try queueToSuspend(isSuspended) {
                // Waits until a start that is going on is decided.
                ownQueue.setSuspended(isSuspended)
                // One that was refused has given it back.
                guard lifecycle.isIdle else { return }
            } else if isSuspended {
                return
            } else {
                do throws(UsageError) {
                    return try start(clock: ContinuousClock())
                } catch .alreadyStarted(id) {
                    // Somebody else was faster: a start, which is as good, or a queue, which is not for this to resume.
                }
            }
        }
    }

    /// Its own queue, if it was started by itself; nil if it has not started yet, which is then noted.
    private func queueToSuspend(_ isSuspended: Bool) throws(UsageError) -> QueueCore? {
        let (ownQueue, refusal) = state.withLock { state -> (QueueCore?, UsageError?) in
            switch state.lifecycle {
            // What it produced may go on in its queue.
            case .ended: return (state.rare?.ownQueue, .alreadyFinished(id))
            case .dissolving: return (nil, .alreadyFinished(id))
            case .member: return (nil, .alreadyEnqueued(id))
            case .idle:
                state.startsSuspended = isSuspended
                return (nil, nil)
            case .taken, .waiting, .running, .open, .settled:
                guard let queue = state.lifecycle.queue, queue.owner == id else { return (nil, .alreadyEnqueued(id)) }
                state.withRare { $0.ownQueue = queue }
                return (queue, nil)
            }
        }
        // Asked outside the lock, because a queue's lock is taken before an operation's.
        if let refusal, ownQueue?.isIdle != false { throw refusal }
        return ownQueue
    }
}
