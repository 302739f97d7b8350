// Priorities of waiting tasks, which reach what has to end first.

extension OperationCore {
    /// Raises the body, the members, what they depend on and what their bodies wait for. Each operation passes on a
    /// priority once, so many waits for the same things cost no more than one. To be called without a lock, because
    /// handlers of raised tasks run.
    func raise(to priority: Priority) {
        guard priority > .lowest else { return }
        var pending: [OperationCore] = []
        var next: OperationCore? = self
        while let core = next {
            let (body, causes) = core.noteWaiter(of: priority)
            pending += causes
            body?.raise(to: priority)
            if case .end(let awaited, _)? = body?.wait?.target { pending.append(awaited) }
            next = pending.popLast()
        }
    }

    /// Returns who has to be told; nobody if it knows of such a waiter already.
    private func noteWaiter(of priority: Priority) -> (BodyControl?, [OperationCore]) {
        state.withLock { state in
            guard state.waiterPriority < priority, state.lifecycle.end == nil else { return (nil, []) }
            state.waiterPriority = priority
            if case .running(let body) = state.lifecycle { return (body, []) }
            return (nil, causes(in: state))
        }
    }
}
