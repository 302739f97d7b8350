/// Begins bodies with the task-local values of one task, at any time and from any thread.
///
/// A new Swift task gets the values of the task that creates it, and there is no way to store them. So the owner of
/// the context begins the bodies that may begin at once, in `settle`, and leaves a task behind that begins the rest.
final class TaskContext: Sendable {
    private enum Stage {
        /// The call that adds the operation is still running; it begins the waiting bodies when it settles.
        case settling
        /// A task begins the bodies; nil unless it waits for more.
        case served(UnsafeContinuation<Void, Never>?)
        /// No more bodies are expected. One that comes anyway is started by a body that has the values, and begins at
        /// once.
        case over
    }

    private struct State {
        var stage = Stage.settling
        var waiting: [BodyControl] = []
    }

    /// The priority of the task that owns the context.
    let priority = Priority.current
    private let state = Lock(State())

    /// Begins a body now or soon.
    func begin(_ control: BodyControl) {
        let (isDirect, server) = state.withLock { state -> (Bool, UnsafeContinuation<Void, Never>?) in
            switch state.stage {
            case .over: return (true, nil)
            case .settling: state.waiting.append(control)
            case .served(let server):
                state.waiting.append(control)
                state.stage = .served(nil)
                return (false, server)
            }
            return (false, nil)
        }
        if isDirect { Worker.begin(control, .inheriting) }
        server?.resume()
    }

    /// Begins the waiting bodies. Called once, in the task that owns the context. If `expectsMore`, a task stays
    /// behind until `end`.
    func settle(expectsMore: Bool, _ beginning: Worker.Beginning = .inheriting) {
        let isServed = beginWaiting(beginning) { state in
            guard case .settling = state.stage else { return }
            // Another thread may be about to hand over a body that it has started.
            state.stage = expectsMore || state.waiting.isEmpty ? .served(nil) : .over
        }
        if isServed { launchInheriting { [self] in await serve() } }
    }

    /// Lets the task that stayed behind end.
    func end() {
        let server = state.withLock { state -> UnsafeContinuation<Void, Never>? in
            defer { state.stage = .over }
            if case .served(let server) = state.stage { return server }
            return nil
        }
        server?.resume()
    }

    private func serve() async {
        while beginWaiting() {
            await withUnsafeContinuation { continuation in
                let goesOn = state.withLock { state in
                    guard case .served = state.stage, state.waiting.isEmpty else { return true }
                    state.stage = .served(continuation)
                    return false
                }
                if goesOn { continuation.resume() }
            }
        }
    }

    /// Begins the waiting bodies. Returns false once the context is over.
    @discardableResult
    private func beginWaiting(
        _ beginning: Worker.Beginning = .inheriting, _ change: (inout State) -> Void = { _ in }
    ) -> Bool {
        let (controls, isOver) = state.withLock { state in
            change(&state)
            defer { state.waiting = [] }
            if case .over = state.stage { return (state.waiting, true) }
            return (state.waiting, false)
        }
        for control in controls.dropLast() { Worker.begin(control, .inheriting) }
        if let last = controls.last { Worker.begin(last, beginning) }
        return !isOver
    }
}
