extension AsyncOperationQueue {
    /// How many operations are over, of all that were added since the queue last had nothing to do. Members of compound
    /// operations are not counted. It stays as it is while nothing is left to do.
    public var progress: OperationProgress { core.state.withLock { $0.progress } }

    /// The progress from now on: the present one, then the newest whenever it has changed. Whoever is slow misses what is
    /// between, and never the last. It ends with the queue, or after `shutdown`.
    public func progressUpdates() -> AsyncStream<OperationProgress> { core.progressUpdates() }
}

extension QueueCore {
    func progressUpdates() -> AsyncStream<OperationProgress> {
        ProgressListeners.stream { listener, id in
            state.withLock { state in
                listener.yield(state.progress)
                if state.isClosed, state.unfinished == 0 { return true }
                state.progressListeners.add(listener, as: id, knowing: state.progress)
                return false
            }
        } remove: { [weak self] id in
            _ = self?.state.withLock { $0.progressListeners.remove(id) }
        }
    }
}

extension QueueCore.State {
    /// Operations that are members of nothing have joined the queue.
    mutating func countAdded(_ count: Int) {
        if unfinished == 0 { progress = OperationProgress(completed: 0, total: 0) }
        unfinished += count
        progress.total += count
        progressListeners.tell(progress)
    }

    /// One of them has ended.
    mutating func countEnded() {
        unfinished -= 1
        progress.completed += 1
        progressListeners.tell(progress)
    }
}
