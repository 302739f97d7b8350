internal import Synchronization

/// What reaches one attempt of a body from outside while it runs: requests to stop, suspension.
final class BodyControl: Sendable {
    private struct State {
        var reason: CancellationReason?
        var isSuspended = false
        var isOver = false
        var task: Task<BodyEnd, Never>?
        var cancelHandlers: [@Sendable (CancellationReason) -> Void] = []
        var suspendHandlers: [@Sendable (Bool) -> Void] = []
        var sleepers: [UnsafeContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())

    var reason: CancellationReason? { state.withLock { $0.reason } }
    var isOver: Bool { state.withLock { $0.isOver } }

    /// The task in which the body runs, to be cancelled with it.
    func attach(_ task: Task<BodyEnd, Never>) {
        let isCancelled = state.withLock { state in
            state.task = task
            return state.reason != nil
        }
        if isCancelled { task.cancel() }
    }

    /// The first reason stays.
    func cancel(_ reason: CancellationReason) {
        let (task, handlers, sleepers) = state.withLock { state in
            guard state.reason == nil, !state.isOver else {
                return (
                    nil as Task<BodyEnd, Never>?, [] as [@Sendable (CancellationReason) -> Void],
                    [] as [UnsafeContinuation<Void, Never>]
                )
            }
            state.reason = reason
            defer {
                state.cancelHandlers = []
                state.sleepers = []
            }
            return (state.task, state.cancelHandlers, state.sleepers)
        }
        task?.cancel()
        for handler in handlers { handler(reason) }
        for sleeper in sleepers { sleeper.resume() }
    }

    func setSuspended(_ isSuspended: Bool) {
        let (handlers, sleepers) = state.withLock { state in
            guard state.isSuspended != isSuspended, !state.isOver else {
                return ([] as [@Sendable (Bool) -> Void], [] as [UnsafeContinuation<Void, Never>])
            }
            state.isSuspended = isSuspended
            defer { if !isSuspended { state.sleepers = [] } }
            return (state.suspendHandlers, isSuspended ? [] : state.sleepers)
        }
        for handler in handlers { handler(isSuspended) }
        for sleeper in sleepers { sleeper.resume() }
    }

    /// Says that the body has returned: nobody is told anything from now on.
    func end() {
        _ = state.withLock { state in
            state.isOver = true
            // To be freed outside the lock.
            defer {
                state.cancelHandlers = []
                state.suspendHandlers = []
                state.task = nil
            }
            return (state.cancelHandlers, state.suspendHandlers)
        }
    }

    func onCancel(_ handler: @escaping @Sendable (CancellationReason) -> Void) {
        let reason = state.withLock { state -> CancellationReason? in
            guard state.reason == nil, !state.isOver else { return state.reason }
            state.cancelHandlers.append(handler)
            return nil
        }
        if let reason { handler(reason) }
    }

    func onSuspend(_ handler: @escaping @Sendable (Bool) -> Void) {
        let isSuspended = state.withLock { state in
            if !state.isOver { state.suspendHandlers.append(handler) }
            return state.isSuspended
        }
        if isSuspended { handler(true) }
    }

    func waitWhileSuspended() async {
        await withUnsafeContinuation { continuation in
            let goesOn = state.withLock { state in
                if !state.isSuspended || state.reason != nil { return true }
                state.sleepers.append(continuation)
                return false
            }
            if goesOn { continuation.resume() }
        }
    }
}
