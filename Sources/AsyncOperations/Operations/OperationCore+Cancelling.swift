// Requests to stop, before and after a queue has the operation.

extension OperationCore {
    /// Asks the operation to end soon. True for the one call that is accepted: the first before its end.
    @discardableResult
    func cancel(_ reason: CancellationReason) -> Bool {
        while true {
            if let queue = lifecycle.queue {
                // nil: it has left the queue meanwhile, or has never come to it.
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
        /// A queue has it meanwhile.
        case taken
        case refused
        /// What it needed is to be freed outside the lock.
        case ended(OperationEnd, NeedList?)
        case dissolving
    }

    /// Ends an operation that no queue has; of a compound operation, begins to.
    private func cancelIdle(_ reason: CancellationReason) -> IdleCancel {
        inParent { members in
            state.withLock { state in
                switch state.lifecycle {
                case .taken, .waiting, .running, .open, .settled: return .taken
                case .dissolving, .ended: return .refused
                case .idle, .member:
                    guard self is CompoundCore else {
                        members?.ended.append(self)
                        return .ended(.cancelled(reason), state.end(as: .cancelled(reason)))
                    }
                    state.lifecycle = .dissolving
                    state.withRare { $0.request = reason }
                    return .dissolving
                }
            }
        }
    }

    /// Calls `body` with what the compound operation around it knows of its members, under the lock of that: so the end
    /// of a member and its report come at once.
    private func inParent<Answer: Sendable>(_ body: (inout CompoundCore.Members?) -> Answer) -> Answer {
        guard let parent else {
            var none: CompoundCore.Members?
            return body(&none)
        }
        return parent.withMembers { _, members in
            var some: CompoundCore.Members? = members
            defer { members = some ?? members }
            return body(&some)
        }
    }

    /// Ends a compound operation that no queue has, after everything inside it, without recursion.
    private func dissolve(_ reason: CancellationReason) {
        var pending = [(core: self, reason: reason)]
        var order: [(core: OperationCore, reason: CancellationReason)] = []
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

    /// Ends operations, members before what is around them, from `first` on. A member that somebody else is ending is
    /// waited for.
    private static func finishDissolving(_ order: [(core: OperationCore, reason: CancellationReason)], from first: Int)
    {
        for index in first..<order.count {
            let (core, reason) = order[index]
            for member in (core as? CompoundCore)?.withMembers({ $1.cores }) ?? [] {
                if member.follow({ _ in finishDissolving(order, from: index) }) == nil { return }
            }
            let end = OperationEnd.cancelled(reason)
            _ = core.inParent { members in
                members?.ended.append(core)
                return core.setEnd(end).needs
            }
            core.tellOutside(end)
        }
    }

    /// The last handle is gone. What has not been started never will be; what is suspended by its owner neither.
    func abandon() {
        let (isIdle, ownQueue) = state.withLock { state -> (Bool, QueueCore?) in
            if case .idle = state.lifecycle { return (true, nil) }
            if let queue = state.lifecycle.queue, queue.owner == id { return (false, queue) }
            return (false, state.rare?.ownQueue)
        }
        // In a task: to let go of a body runs somebody's code, which must not run where a handle happens to be dropped,
        // and may drop the last handle of the next, and so on without end.
        if isIdle { launch { [self] in cancel(.abandoned) } }
        if let ownQueue, ownQueue.isSuspended { ownQueue.drop() }
    }
}
