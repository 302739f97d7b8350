internal import Synchronization

/// One sleeper for all deadlines of a compound operation, however many there are: a task per timeout would cost 2 KB
/// each.
final class Alarm<C: Clock>: Sendable where C.Duration == Duration {
    private struct State {
        var deadline: C.Instant?
        var waiter: UnsafeContinuation<Void, Never>?
        var isClosed = false
    }

    private let clock: C
    private let state = Mutex(State())

    init(clock: C) { self.clock = clock }

    /// Replaces the time at which `ring` is called.
    func set(_ deadline: C.Instant) {
        wake { $0.deadline = deadline }
    }

    func close() {
        wake { $0.isClosed = true }
    }

    private func wake(_ change: (inout State) -> Void) {
        let waiter = state.withLock { state in
            change(&state)
            return state.waiter.take()
        }
        waiter?.resume()
    }

    /// Calls `ring` at every deadline until the alarm is closed.
    func run(_ ring: @Sendable () -> Void) async {
        while let deadline = await next() {
            await withTaskGroup(of: Void.self) { race in
                // Cancelled when the deadline is replaced; then nothing is due.
                race.addTask { [clock] in try? await clock.sleep(until: deadline, tolerance: nil) }
                race.addTask { await self.changed(from: deadline) }
                await race.next()
                race.cancelAll()
                // Wakes `changed`, which does not listen to cancellation.
                wake { if $0.deadline == deadline, clock.now >= deadline { $0.deadline = nil } }
            }
            if clock.now >= deadline { ring() }
        }
    }

    private func next() async -> C.Instant? {
        while true {
            let (deadline, isClosed) = state.withLock { ($0.deadline, $0.isClosed) }
            if isClosed { return nil }
            if let deadline { return deadline }
            await change { $0.deadline == nil }
        }
    }

    private func changed(from deadline: C.Instant) async {
        await change { $0.deadline == deadline }
    }

    /// Waits while the state is as described and the alarm is open.
    private func change(while isSame: @Sendable (State) -> Bool) async {
        await withUnsafeContinuation { continuation in
            let hasChanged = state.withLock { state in
                let hasChanged = state.isClosed || !isSame(state)
                if !hasChanged { state.waiter = continuation }
                return hasChanged
            }
            if hasChanged { continuation.resume() }
        }
    }
}
