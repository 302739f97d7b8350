extension OperationCore {
    var progress: OperationProgress { state.withLock { progress(in: $0) } }

    /// Sets the number of parts before the first has begun.
    func expect(_ total: Int) {
        state.withLock { state in state.withRare { $0.progress = OperationProgress(completed: 0, total: total) } }
    }

    /// Notes the progress that a running body reports.
    func report(_ progress: OperationProgress, by control: BodyControl) {
        state.withLock { state in
            guard case .running(let running) = state.lifecycle, running === control else { return }
            state.withRare { $0.progress = progress }
            tellProgress(state)
        }
    }

    /// Tells listeners that the progress may have changed. Under the operation's lock. Inlined, because a call would
    /// copy the state, and usually nobody listens.
    @inline(__always)
    func tellProgress(_ state: State) {
        guard let rare = state.rare, !rare.progressListeners.isEmpty else { return }
        rare.progressListeners.tell(progress(in: state))
    }

    func progressUpdates() -> AsyncStream<OperationProgress> {
        ProgressListeners.stream { listener, id in
            state.withLock { state in
                let present = progress(in: state)
                listener.yield(present)
                if state.toldEnd != nil { return true }
                state.withRare { $0.progressListeners.add(listener, as: id, knowing: present) }
                return false
            }
        } remove: { [weak self] id in
            _ = self?.state.withLock { $0.rare?.progressListeners.remove(id) }
        }
    }
}

extension AsyncOperationProtocol {
    /// How much of it is done: the jobs of a waterfall, the direct members of a compound operation, or what the body
    /// reports through its context; otherwise 0 of 1, and 1 of 1 after the end. A success completes it. It goes back
    /// when the operation is tried again.
    public var progress: OperationProgress { erased.core.progress }

    /// The current progress, then the newest whenever it has changed, until the end. A slow reader misses values in
    /// between, never the last.
    public func progressUpdates() -> AsyncStream<OperationProgress> { erased.core.progressUpdates() }
}

extension AsyncOperationContext {
    /// Reports how much of the work is done, for `progress` and `progressUpdates` of the operation. Ignored in a job of
    /// a waterfall, whose operation counts its jobs.
    public func report(completed: Int, total: Int) {
        control.core.report(OperationProgress(completed: completed, total: total), by: control)
    }
}
