// Operations that are started by themselves.

extension Lifecycle {
    fileprivate var isIdle: Bool {
        if case .idle = self { true } else { false }
    }
}

extension OperationCore {
    /// Starts it on a queue of its own. Bodies have the priority and the task-local values of the caller.
    func start(clock: any Clock<Duration>) throws(UsageError) {
        let queue = QueueCore(name, width: .max, clock: clock, owner: id, priority: .current)
        if queue.beginAlone(self) { return }
        let context = TaskContext()
        queue.state.withLock { $0.context = context }
        do throws(UsageError) {
            try queue.add([self])
        } catch {
            context.settle(expectsMore: false)
            throw error
        }
        context.settle(expectsMore: mayBegin)
    }

    /// Starts what belongs to no queue, because a call waits for its end: the operation or the compound operation
    /// around it, and everything that these wait for. Throws what `start` throws because of the options of the former;
    /// what cannot start of the latter may still end in another way.
    func startIfFree() throws(UsageError) {
        switch lifecycle {
        case .idle, .member: break
        case .dissolving, .taken, .waiting, .running, .open, .settled, .ended: return
        }
        let own = around.last
        for core in freeUpstream.reversed() {
            do throws(UsageError) {
                try core.start(clock: usualClock)
            } catch {
                switch error {
                // Another call was faster.
                case .alreadyStarted(core.id), .alreadyEnqueued(core.id), .alreadyFinished(core.id): continue
                default: if core === own { throw error }
                }
            }
        }
    }

    /// Everything that its end waits for and that nothing has started or added.
    private var freeUpstream: [OperationCore] {
        var free: [OperationCore] = []
        var seen: Set<ObjectIdentifier> = []
        var pending: [OperationCore] = [self]
        while let core = pending.popLast() {
            guard seen.insert(ObjectIdentifier(core)).inserted else { continue }
            let (lifecycle, needs, parent) = core.state.withLock { ($0.lifecycle, $0.needs.map(\.core), $0.parent) }
            switch lifecycle {
            case .idle: free.append(core)
            case .member: if let parent { pending.append(parent) }
            case .dissolving, .taken, .waiting, .running, .open, .settled, .ended: continue
            }
            pending += needs
            if let compound = core as? CompoundCore { pending += compound.withMembers { $1.cores } }
        }
        return free
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
                    return try start(clock: usualClock)
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
