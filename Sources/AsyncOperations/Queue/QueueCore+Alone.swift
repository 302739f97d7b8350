// An operation that runs alone and waits for nothing: started by itself, or the first in a queue that was idle. There
// is nothing to schedule, and a scheduler would cost more than the rest. What an operation produces that was started
// by itself is scheduled next to it; in any other queue it gets a row as soon as there is a second operation.

extension QueueCore {
    /// Starts the body. Returns false if the operation needs a scheduler.
    func beginAlone(_ core: OperationCore) -> Bool {
        guard core.hasDefaultOptions, !(core is CompoundCore) else { return false }
        let control = state.withLock { state -> BodyControl? in
            guard let control = claimAlone(core, &state) else { return nil }
            state.unfinished += 1
            return control
        }
        guard let control else { return false }
        begin(control)
        return true
    }

    /// Adds an operation without options and members to the queue, if that is idle. Returns false if it needs a
    /// scheduler.
    func placeAlone(_ core: OperationCore, _ producer: AsyncOperationID?, _ state: inout State) -> Bool {
        guard owner == nil, state.unfinished == 0, state.effects.isEmpty, !state.isDraining,
            let control = claimAlone(core, &state)
        else { return false }
        state.countAdded(1)
        announce(.added(by: producer), of: core.id, &state)
        announce(.ready, of: core.id, &state)
        announce(.started(attempt: 1), of: core.id, &state)
        state.effects.append(.begin(control))
        return true
    }

    private func claimAlone(_ core: OperationCore, _ state: inout State) -> BodyControl? {
        guard state.scheduler == nil, !state.isSuspended else { return nil }
        let priority = priority(of: core)
        let control = core.state.withLock { operation -> BodyControl? in
            guard case .idle = operation.lifecycle, operation.needList == nil,
                !operation.startsSuspended || owner == nil
            else { return nil }
            let control = BodyControl(
                core, Place(queue: self, row: .root), attempt: 1, progress: .executing, priority: priority,
                context: owner == nil ? operation.rare?.context : nil)
            operation.lifecycle = .running(control)
            return control
        }
        guard let control else { return nil }
        state.alone = control
        return control
    }

    /// Gives a row to the operation that runs alone, as if the scheduler, which is new, had started it.
    func scheduleAlone(_ state: inout State) {
        guard owner == nil, let control = state.alone.take() else { return }
        control.row = OperationID(row: state.entries.count)
        control.runningIndex = state.running.count
        state.entries.append(.operation(control.core))
        state.running.append(control)
        // What it would have the queue do has been done.
        var done: [OperationScheduler.Command] = []
        _ = state.scheduler?.add(OperationGraph.Options(), to: .root, at: state.now, into: &done)
        if control.core.request != nil { state.scheduler?.handle(.cancel(control.row), at: state.now, into: &done) }
    }

    /// Ends the operation after its body. Returns false if anything else is going on in the queue.
    func finishAlone(_ control: BodyControl, _ end: BodyEnd) -> Bool {
        let core = control.core
        let told = state.withLock { state -> (end: OperationEnd, hasListeners: Bool)? in
            guard state.alone === control, state.scheduler == nil, state.effects.isEmpty, !state.isDraining,
                !state.isObserved, !core.hasCompletions
            else { return nil }
            state.alone = nil
            let end = self.end(of: core, end)
            announce(.finished(end.outcome), of: core.id, &state)
            let (hasListeners, needs) = core.setEnd(end)
            assert(needs == nil)
            state.countEnded()
            return (end, hasListeners)
        }
        guard let told else { return false }
        core.releaseBody()
        if told.hasListeners { core.tell(told.end) }
        return true
    }

    /// Ends the operation after its body, next to what it has produced, or where its end is heard of.
    func endAlone(_ control: BodyControl, _ end: BodyEnd, _ state: inout State) {
        let end = self.end(of: control.core, end)
        announce(.finished(end.outcome), of: control.core.id, &state)
        finish(control.core, end, &state)
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
        announce(.cancelRequested(reason), of: core.id, &state)
        state.append(.stop(control))
    }
}

extension QueueCore.State {
    /// True if anything hears of the end of an operation, or of the queue's becoming idle.
    var isObserved: Bool {
        idle != nil || isClosed || isDropped || announcer.isHeard || !progressListeners.isEmpty
    }

    /// All attempts that run.
    var bodies: [BodyControl] { (alone.map { [$0] } ?? []) + running }
}

extension OperationID {
    /// The row of an operation that runs without a scheduler.
    var isAlone: Bool { self == .root }
}
