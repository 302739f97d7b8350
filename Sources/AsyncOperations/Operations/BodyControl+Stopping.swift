// How a request to stop reaches a running body.

extension BodyControl {
    /// Tells the body to stop; the first reason counts. `tellOfStop` must follow, outside all locks.
    func stop(_ reason: AsyncOperationContext.CancellationReason) {
        let job = state.withLock { state -> BodyControl? in
            guard state.reason == nil else { return nil }
            state.reason = reason
            state.isWorkerSpent = true
            return state.job
        }
        job?.stop(reason)
    }

    /// Cancels the task and calls the handlers of a stop.
    func tellOfStop() {
        let (reason, worker, sleepers) = state.withLock { state in
            (state.reason, state.worker, state.takeSleepers())
        }
        guard let reason else { return }
        worker?.cancel()
        while let handlers = nextCancelHandlers() { for handler in handlers { handler(reason) } }
        for sleeper in sleepers { sleeper.resume() }
        // A job that is set from now on is told by `setJob`.
        state.withLock { $0.job }?.tellOfStop()
    }

    /// The handlers added since the last call. nil if there are none; later ones are then called at once.
    private func nextCancelHandlers() -> [CancelHandler]? {
        state.withLock { state in
            guard let listeners = state.listeners, !listeners.ofStop.isEmpty else {
                state.isStopTold = true
                return nil
            }
            defer { listeners.ofStop = [] }
            return listeners.ofStop
        }
    }

    func onCancel(_ handler: @escaping CancelHandler) {
        let reason = state.withLock { state -> AsyncOperationContext.CancellationReason? in
            if state.isStopTold { return state.reason }
            if !state.isOver { state.withListeners { $0.ofStop.append(handler) } }
            return nil
        }
        if let reason { handler(reason) }
    }
}
