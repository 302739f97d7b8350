/// Numbers the events of a queue and passes them to listeners. Guarded by the queue's lock.
struct EventAnnouncer: Sendable {
    private var next: UInt64 = 0
    private(set) var listeners: [AsyncOperationID: AsyncStream<AsyncOperationQueue.Event>.Continuation] = [:]

    var isHeard: Bool { !listeners.isEmpty }

    @inline(__always)  // Usually there are no listeners.
    mutating func announce(_ kind: AsyncOperationQueue.Event.Kind, of id: AsyncOperationID, at time: Duration) {
        if isHeard { tell(AsyncOperationQueue.Event(sequence: next, id: id, time: time, kind: kind)) }
        next += 1
    }

    private func tell(_ event: AsyncOperationQueue.Event) {
        for listener in listeners.values { listener.yield(event) }
    }

    mutating func add(_ listener: AsyncStream<AsyncOperationQueue.Event>.Continuation, as id: AsyncOperationID) {
        listeners[id] = listener
    }

    mutating func remove(_ id: AsyncOperationID) { listeners[id] = nil }

    /// Removes all listeners, and returns them so that their streams can be finished outside the lock.
    mutating func removeAll() -> [AsyncStream<AsyncOperationQueue.Event>.Continuation] {
        defer { listeners = [:] }
        return Array(listeners.values)
    }
}

extension QueueCore {
    func events(bufferingNewest count: Int) -> AsyncStream<AsyncOperationQueue.Event> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: AsyncOperationQueue.Event.self, bufferingPolicy: .bufferingNewest(count))
        let listener = AsyncOperationID()
        continuation.onTermination = { [weak self] _ in
            self?.state.withLock { $0.announcer.remove(listener) }
        }
        let isOver = state.withLock { state in
            if state.isClosed, state.unfinished == 0 { return true }
            state.announcer.add(continuation, as: listener)
            return false
        }
        if isOver { continuation.finish() }
        return stream
    }

    /// Finishes all streams, after all earlier effects.
    func finishEvents(_ state: inout State) {
        let listeners = state.announcer.removeAll()
        if !listeners.isEmpty { state.effects.append(.finishEvents(listeners)) }
        let progress = state.progressListeners.removeAll()
        if !progress.isEmpty { state.effects.append(.finishProgress(progress)) }
    }

    /// Finishes all streams after a shutdown.
    func endEvents() { update { finishEvents(&$0) } }

    /// Called when the last handle is gone. The operations go on, unless the queue is suspended, because it can no
    /// longer be resumed.
    func drop() {
        update { state in
            state.isDropped = true
            if state.isSuspended { cancelAll(.abandoned, &state) }
            if state.unfinished == 0 { finishEvents(&state) }
        }
    }
}

extension QueueCore.State {
    /// True if it refuses operations: it was shut down, or it can no longer be resumed.
    var takesNothing: Bool { isClosed || isDropped && isSuspended }
}
