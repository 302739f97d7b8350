/// Begins bodies with the task-local values of one task, at any time and from any thread.
///
/// Swift gives a new task the values of the task that makes it, and offers no way to keep them. So the task whose
/// context it is begins what may begin at once, in `settle`, and leaves a task behind that begins the rest.
final class TaskContext: Sendable {
    private enum Stage {
        /// The call that adds the operation still runs, and begins what has come when it settles.
        case settling
        /// A task begins what comes; nil while it is on its way.
        case served(UnsafeContinuation<Void, Never>?)
        /// Nothing more is expected. What comes all the same is made by a body that has the values, and begins at once.
        case over
    }

    private struct State {
        var stage = Stage.settling
        var waiting: [BodyControl] = []
    }

    /// That of the task whose context it is.
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

    /// Begins what has come. To be called once, in the task whose context it is. If `expectsMore`, a task stays behind
    /// until `end`.
    func settle(expectsMore: Bool, _ beginning: Worker.Beginning = .inheriting) {
        let isServed = beginWaiting(beginning) { state in
            guard case .settling = state.stage else { return }
            // Another thread may be about to hand over what it has started.
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

    /// Returns false once it is over.
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
