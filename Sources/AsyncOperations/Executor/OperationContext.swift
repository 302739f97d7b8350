internal import Synchronization

/// What the work of a running operation knows about itself.
package final class OperationContext: Sendable {
    private enum State {
        case running(handler: (@Sendable (OperationCause) -> Void)?)
        case stopped(OperationCause)
    }

    /// The operation whose work this is.
    package let id: OperationID
    /// Which attempt it is, from 1.
    package let attempt: Int
    private let state = Mutex(State.running(handler: nil))
    private let tellLingering: @Sendable () -> Void

    init(id: OperationID, attempt: Int, tellLingering: @escaping @Sendable () -> Void) {
        self.id = id
        self.attempt = attempt
        self.tellLingering = tellLingering
    }

    /// Says that the work itself is over and only its clean-up goes on, to which the operation's own limit of time does
    /// not apply. Limits of groups still do.
    package func endTimeLimit() { tellLingering() }

    /// Why the work is to stop; nil while nobody asked for it.
    package var stopCause: OperationCause? {
        state.withLock { if case .stopped(let cause) = $0 { cause } else { nil } }
    }

    /// Calls `handler` once, when the work is to stop: at once where that has been asked for already. A second handler
    /// takes the place of the first. Runs wherever the scheduler runs and must not block.
    package func onStop(_ handler: @escaping @Sendable (OperationCause) -> Void) {
        let cause: OperationCause? = state.withLock { state in
            if case .stopped(let cause) = state { return cause }
            state = .running(handler: handler)
            return nil
        }
        if let cause { handler(cause) }
    }

    func stop(_ cause: OperationCause) {
        let handler = state.withLock { state -> (@Sendable (OperationCause) -> Void)? in
            guard case .running(let handler) = state else { return nil }
            state = .stopped(cause)
            return handler
        }
        handler?(cause)
    }
}
