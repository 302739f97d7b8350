extension AsyncOperationQueue {
    /// How many operations have ended, of those added since the queue was last idle. Members of compound operations do
    /// not count. It keeps its last value while the queue is idle.
    public var progress: OperationProgress { core.state.withLock { $0.progress } }

    /// The current progress, then the newest whenever it has changed. A slow reader misses values in between, never the
    /// last. The stream ends with the queue, or after `shutdown`.
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
    /// Notes that operations were added, members of compound operations not counted.
    mutating func countAdded(_ count: Int) {
        if unfinished == 0 { progress = OperationProgress(completed: 0, total: 0) }
        unfinished += count
        progress.total += count
        progressListeners.tell(progress)
    }

    /// Notes that one of them has ended.
    mutating func countEnded() {
        unfinished -= 1
        progress.completed += 1
        progressListeners.tell(progress)
    }
}
