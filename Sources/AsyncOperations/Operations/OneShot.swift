/// An event that happens once, and the tasks that wait for it.
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

    /// Returns the identity of a new wait.
    func makeTicket() -> UInt64 {
        state.withLock { $0.waiters.makeTicket() }
    }

    /// Waits, even if the waiting task is cancelled. Returns false if `wait` is refused first.
    func wait(as ticket: UInt64, _ wait: BodyWait?) async -> Bool {
        await withUnsafeContinuation { add($0, as: ticket, wait, heedsCancellation: false) }
    }

    /// Waits until the event has happened. Returns false if the waiting task is cancelled, or `wait` is refused,
    /// first.
    func waitUnlessCancelled(as ticket: UInt64, _ wait: BodyWait?) async -> Bool {
        await withTaskCancellationHandler {
            await withUnsafeContinuation { add($0, as: ticket, wait, heedsCancellation: true) }
        } onCancel: {
            stopWaiting(ticket)
        }
    }

    /// Wakes the task that waits with this ticket, if any.
    func stopWaiting(_ ticket: UInt64) {
        state.withLock { $0.waiters.remove(ticket) }?.resume(returning: false)
    }

    private func add(
        _ waiter: UnsafeContinuation<Bool, Never>, as ticket: UInt64, _ wait: BodyWait?, heedsCancellation: Bool
    ) {
        let answer = state.withLock { state -> Bool? in
            if state.hasHappened { return true }
            // The cancellation or refusal may have come already.
            if heedsCancellation && Task.isCancelled || wait?.isRefused == true { return false }
            state.waiters.add(waiter, as: ticket)
            return nil
        }
        if let answer { waiter.resume(returning: answer) }
    }
}

/// Tasks that wait for the same event. Usually there is only one, which needs no table.
struct WaitingTasks {
    typealias Continuation = UnsafeContinuation<Bool, Never>

    private var lastTicket: UInt64 = 0
    private var first: (ticket: UInt64, task: Continuation)?
    private var others: [UInt64: Continuation] = [:]

    /// Returns the identity of a new waiting task.
    mutating func makeTicket() -> UInt64 {
        lastTicket += 1
        return lastTicket
    }

    mutating func add(_ task: Continuation, as ticket: UInt64) {
        if first == nil { first = (ticket, task) } else { others[ticket] = task }
    }

    mutating func remove(_ ticket: UInt64) -> Continuation? {
        guard first?.ticket == ticket else { return others.removeValue(forKey: ticket) }
        defer { first = nil }
        return first?.task
    }

    /// Removes all tasks and returns them, to be woken outside all locks.
    mutating func takeAll() -> WaitingTasks {
        defer {
            first = nil
            if !others.isEmpty { others = [:] }
        }
        return self
    }

    func wake() {
        first?.task.resume(returning: true)
        for task in others.values { task.resume(returning: true) }
    }
}
