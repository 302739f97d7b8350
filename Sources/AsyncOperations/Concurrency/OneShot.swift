/// Something that happens once, and the tasks that wait for it.
final class OneShot: Sendable {
    private struct State {
        var hasHappened = false
        var waiters = WaitingTasks()
    }

    private let state = Lock(State())

    /// Wakes all waiting tasks; later ones do not wait.
    func happen() {
        let waiters = state.withLock { state in
            state.hasHappened = true
            return state.waiters.takeAll()
        }
        waiters.wake()
    }

    /// Waits, even if the waiting task is cancelled.
    func wait() async {
        _ = await withUnsafeContinuation { add($0, as: ticket(), heedsCancellation: false) }
    }

    /// Waits until it has happened or the waiting task is cancelled, which gives false.
    func waitUnlessCancelled() async -> Bool {
        let ticket = ticket()
        return await withTaskCancellationHandler {
            await withUnsafeContinuation { add($0, as: ticket, heedsCancellation: true) }
        } onCancel: {
            state.withLock { $0.waiters.remove(ticket) }?.resume(returning: false)
        }
    }

    private func ticket() -> UInt64 {
        state.withLock { $0.waiters.makeTicket() }
    }

    private func add(_ waiter: UnsafeContinuation<Bool, Never>, as ticket: UInt64, heedsCancellation: Bool) {
        let answer = state.withLock { state -> Bool? in
            if state.hasHappened { return true }
            // The handler of the cancellation may have come and gone already.
            if heedsCancellation, Task.isCancelled { return false }
            state.waiters.add(waiter, as: ticket)
            return nil
        }
        if let answer { waiter.resume(returning: answer) }
    }
}
