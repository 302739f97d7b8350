// Requests to stop, before and after the operation belongs to a queue.

extension OperationCore {
    /// Asks the operation to end soon. Returns true for the request that is accepted: the first before its end.
    @discardableResult
    func cancel(_ reason: AsyncOperationContext.CancellationReason) -> Bool {
        while true {
            if let queue = lifecycle.queue {
                // nil if it has left the queue meanwhile, or did not get there.
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
        /// A queue has taken it meanwhile.
        case taken
        case refused
        /// Its dependencies are to be freed outside the lock.
        case ended(OperationEnd, NeedList?)
        case dissolving
    }

    /// Ends an operation that belongs to no queue; begins to end a compound operation.
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

    /// Calls `body` with the members of the compound operation around it, under the lock of that, so that the end of a
    /// member and its report appear together. Nobody sees the members if nothing is around it.
    private func inParent<Answer: Sendable>(_ body: (inout CompoundCore.Members) -> Answer) -> Answer {
        guard let parent else {
            var nobody = CompoundCore.Members()
            return body(&nobody)
        }
        return parent.withMembers { body(&$1) }
    }

    /// Ends a compound operation that belongs to no queue, after everything inside it, without recursion.
    private func dissolve(_ reason: AsyncOperationContext.CancellationReason) {
        var pending = [(core: self, reason: reason)]
        var order: [(core: OperationCore, reason: AsyncOperationContext.CancellationReason)] = []
        while let next = pending.popLast() {
            order.append(next)
            guard let compound = next.core as? CompoundCore else { continue }
            for member in compound.withMembers({ $1.cores }) {
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

    /// Ends operations from `first` on, members before what is around them. Goes on later if somebody else is still
    /// ending a member.
    private static func finishDissolving(
        _ order: [(core: OperationCore, reason: AsyncOperationContext.CancellationReason)], from first: Int
    ) {
        for index in first..<order.count {
            let (core, reason) = order[index]
            for member in (core as? CompoundCore)?.withMembers({ $1.cores }) ?? [] {
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

    /// Whether its end has not been told to everybody yet. If so, `listener` will hear of it, last.
    private func isEnding(_ listener: @escaping RareState.Listener) -> Bool {
        state.withLock { state in
            if state.toldEnd != nil { return false }
            state.withRare { $0.outer.append(listener) }
            return true
        }
    }

    /// The last handle is gone: nobody can start the operation any more, or resume it if it is suspended by itself.
    func abandon() {
        let (isIdle, ownQueue) = state.withLock { state -> (Bool, QueueCore?) in
            if case .idle = state.lifecycle { return (true, nil) }
            // A wait tries to start it, perhaps in vain.
            if case .taken = state.lifecycle { state.withRare { $0.isAbandoned = true } }
            if let queue = state.lifecycle.queue, queue.owner == id { return (false, queue) }
            return (false, state.rare?.ownQueue)
        }
        // In a task: releasing a body may run user code, which must not happen where a handle is dropped, and
        // may drop the last handle of another operation, and so on.
        if isIdle { launch { [self] in cancel(.neverStarted) } }
        if let ownQueue, ownQueue.isSuspended { ownQueue.drop() }
    }
}
