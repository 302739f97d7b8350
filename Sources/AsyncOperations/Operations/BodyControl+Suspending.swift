// How a suspension of the queue reaches a running body.

extension BodyControl {
    /// Returns the handlers to call outside all locks; nil if nothing changes for the body.
    func setSuspended(_ isSuspended: Bool) -> [SuspendHandler]? {
        let (handlers, sleepers) = state.withLock { state -> ([SuspendHandler]?, [UnsafeContinuation<Void, Never>]) in
            guard state.isSuspended != isSuspended, !state.isOver else { return (nil, []) }
            state.isSuspended = isSuspended
            let jobHandlers = state.job?.setSuspended(isSuspended) ?? []
            let handlers = (state.listeners?.ofSuspension ?? []) + jobHandlers
            return (handlers, isSuspended ? [] : state.takeSleepers())
        }
        for sleeper in sleepers { sleeper.resume() }
        return handlers
    }

    /// If it is suspended, the first call goes through the queue's effects like all others, so the last one is always
    /// true.
    func onSuspend(_ handler: @escaping SuspendHandler) {
        queue.update { queue in
            let isSuspended = state.withLock { state in
                if !state.isOver { state.withListeners { $0.ofSuspension.append(handler) } }
                return state.isSuspended && !state.isOver
            }
            if isSuspended { queue.append(.pause([handler], true)) }
        }
    }

    func waitWhileSuspended() async {
        await withUnsafeContinuation { continuation in
            let goesOn = state.withLock { state in
                if !state.isSuspended || state.reason != nil || state.isOver { return true }
                state.withListeners { $0.sleepers.append(continuation) }
                return false
            }
            if goesOn { continuation.resume() }
        }
    }

    /// Whether the next job of a waterfall may begin at once, neither suspended nor stopped.
    var goesOn: Bool { state.withLock { !$0.isSuspended && $0.reason == nil } }
}
