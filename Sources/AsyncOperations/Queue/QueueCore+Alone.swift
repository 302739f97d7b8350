// An operation that is started by itself and waits for nothing. There is nothing to schedule, and a scheduler would
// cost more than the rest. What it produces is scheduled next to it.

extension QueueCore {
    /// Starts the body. Returns false if the operation needs a scheduler.
    func beginAlone(_ core: OperationCore) -> Bool {
        guard core.hasDefaultOptions, !(core is CompoundCore) else { return false }
        guard let control = state.withLock({ claimAlone(core, &$0) }) else { return false }
        begin(control)
        return true
    }

    private func claimAlone(_ core: OperationCore, _ state: inout State) -> BodyControl? {
        guard state.scheduler == nil, !state.isSuspended else { return nil }
        let priority = priority(of: core)
        let control = core.state.withLock { operation -> BodyControl? in
            guard case .idle = operation.lifecycle, operation.needList == nil, !operation.startsSuspended else {
                return nil
            }
            let control = BodyControl(
                core, Place(queue: self, row: .root), attempt: 1, progress: .executing, priority: priority)
            operation.lifecycle = .running(control)
            return control
        }
        guard let control else { return nil }
        state.unfinished += 1
        state.alone = control
        return control
    }

    /// Ends the operation after its body. Returns false if anything else is going on in the queue.
    func finishAlone(_ control: BodyControl, _ end: BodyEnd) -> Bool {
        let core = control.core
        let told = state.withLock { state -> (end: OperationEnd, hasListeners: Bool)? in
            guard state.scheduler == nil, state.effects.isEmpty, !state.isDraining else { return nil }
            state.alone = nil
            let end = self.end(of: core, end)
            return (end, core.setEnd(end).hasListeners)
        }
        guard let told else { return false }
        core.releaseBody()
        if told.hasListeners { core.tell(told.end) }
        state.withLock { $0.countEnded() }
        return true
    }

    /// Ends the operation after its body, next to what it has produced.
    func endAlone(_ control: BodyControl, _ end: BodyEnd, _ state: inout State) {
        finish(control.core, self.end(of: control.core, end), &state)
    }

    /// The end of the operation. A request to cancel that came before the body ended decides.
    private func end(of core: OperationCore, _ end: BodyEnd) -> OperationEnd {
        if let reason = core.request { return .cancelled(reason) }
        return switch end {
        case .success: .success
        case .failure: .failure
        case .timeout(let limit): .timeout(limit: limit, scope: core.id)
        case .stopped(let reason): .cancelled(reason)
        }
    }

    func cancelAlone(_ core: OperationCore, _ reason: AsyncOperationContext.CancellationReason, _ state: inout State) {
        guard case .running(let control) = core.lifecycle else { return }
        control.stop(reason)
        state.append(.stop(control))
    }
}

extension QueueCore.State {
    /// All attempts that run.
    var bodies: [BodyControl] { (alone.map { [$0] } ?? []) + running }
}

extension OperationID {
    /// The row of an operation that runs without a scheduler.
    var isAlone: Bool { self == .root }
}
