// An operation that was started by itself and waits for nothing: there is nothing to schedule, and a scheduler would cost
// more than the rest. What it produces is scheduled beside it.

extension QueueCore {
    /// Begins the body. False if there is more to it.
    func beginAlone(_ core: OperationCore, _ state: inout State) -> Bool {
        guard owner != nil, state.scheduler == nil, !state.isSuspended, core.hasDefaultOptions, !(core is CompoundCore)
        else {
            return false
        }
        let priority = priority(of: core)
        let control = core.state.withLock { operation -> BodyControl? in
            guard case .idle = operation.lifecycle, operation.needList == nil, !operation.startsSuspended else {
                return nil
            }
            let control = BodyControl(
                core, Place(queue: self, row: .root), attempt: 1, isReady: true, priority: priority)
            operation.lifecycle = .running(control)
            return control
        }
        guard let control else { return false }
        _ = control.start()
        state.unfinished += 1
        state.running.append(control)
        state.effects.append(.begin(control))
        return true
    }

    /// The body has ended. A request that came before decides.
    func endAlone(_ control: BodyControl, _ end: BodyEnd, _ state: inout State) {
        let core = control.core
        if let reason = core.request { return finish(core, .cancelled(reason), &state) }
        switch end {
        case .success: finish(core, .success, &state)
        case .failure: finish(core, .failure, &state)
        case .timeout(let limit): finish(core, .timeout(limit: limit, scope: core.id), &state)
        case .stopped(let reason): finish(core, .cancelled(reason), &state)
        }
    }

    func cancelAlone(_ core: OperationCore, _ reason: CancellationReason, _ state: inout State) {
        guard case .running(let control) = core.lifecycle else { return }
        control.stop(reason)
        state.append(.stop(control))
    }
}

extension OperationID {
    /// The row of an operation that runs without a scheduler.
    var isAlone: Bool { self == .root }
}
