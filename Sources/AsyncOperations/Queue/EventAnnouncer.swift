internal import Synchronization

/// Numbers the events of a queue and hands them to whoever listens.
final class EventAnnouncer: Sendable {
    private struct State {
        var next: UInt64 = 0
        var listeners: [AsyncOperationID: AsyncStream<OperationEvent>.Continuation] = [:]
    }

    private let elapsed: @Sendable () -> Duration
    private let state = Mutex(State())

    init(clock: any Clock<Duration>) { elapsed = Self.stopwatch(clock) }

    private static func stopwatch<C: Clock<Duration>>(_ clock: C) -> @Sendable () -> Duration {
        let start = clock.now
        return { start.duration(to: clock.now) }
    }

    func announce(_ kind: OperationEvent.Kind, of id: AsyncOperationID) {
        let isHeard = state.withLock { state in
            if state.listeners.isEmpty { state.next += 1 }
            return !state.listeners.isEmpty
        }
        guard isHeard else { return }
        // Asked outside the lock: a clock may be somebody else's code.
        let time = elapsed()
        state.withLock { state in
            let event = OperationEvent(sequence: state.next, id: id, time: time, kind: kind)
            state.next += 1
            for listener in state.listeners.values { listener.yield(event) }
        }
    }

    func events(bufferingNewest count: Int) -> AsyncStream<OperationEvent> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: OperationEvent.self, bufferingPolicy: .bufferingNewest(count))
        let listener = AsyncOperationID()
        continuation.onTermination = { [weak self] _ in
            self?.state.withLock { _ = $0.listeners.removeValue(forKey: listener) }
        }
        state.withLock { $0.listeners[listener] = continuation }
        return stream
    }

    /// Ends all streams.
    func finish() {
        let listeners = state.withLock { state in
            defer { state.listeners = [:] }
            return state.listeners.values
        }
        for listener in listeners { listener.finish() }
    }
}
