// Dependencies of operations that belong to the queue and have not started.

extension QueueCore {
    /// Makes `core` wait for `other` too. nil if the operation does not belong to the queue, no longer or not yet. With
    /// the topology locked.
    func link(
        _ core: OperationCore, to other: OperationCore, _ kind: DependencyKind
    ) -> (Result<Void, UsageError>?, Consequences) {
        decide { state -> Result<Void, UsageError>? in
            guard let row = waitingRow(of: core) else { return refusal(of: core) }
            guard state.scheduler?.hasBegun(row) == false else { return .failure(.alreadyStarted(core.id)) }
            let known = core.state.withLock { $0.need(of: other) }
            if let known, known.carriesData || known.kind == kind { return .success(()) }
            core.state.withLock { $0.add(OperationCore.Need(core: other, kind: kind, carriesData: false)) }
            if let known, let prerequisite = prerequisite(of: row, in: known, &state) {
                handle(.link(dependent: row, on: prerequisite, kind), &state)
            } else {
                connect(core, row, to: other, kind, &state)
            }
            if core.noteWayOutside(to: other) { state.isEntangled = true }
            state.suspect(core)
            return .success(())
        }
    }

    /// Removes a dependency. Returns false if there was none, and nil if the operation does not belong to the queue, no
    /// longer or not yet.
    func unlink(_ core: OperationCore, from other: OperationCore) -> (Result<Bool, UsageError>?, Consequences) {
        decide { state -> Result<Bool, UsageError>? in
            guard let row = waitingRow(of: core) else { return refusal(of: core)?.map { false } }
            guard let need = core.state.withLock({ $0.needList?.remove(other) }) else { return .success(false) }
            if let prerequisite = prerequisite(of: row, in: need, &state) {
                handle(.unlink(dependent: row, prerequisite: prerequisite), &state)
            }
            unlinkLastRound(of: other, from: core, row, &state)
            release([need], &state)
            state.garbage.append(need.core)
            return .success(true)
        }
    }

    /// Removes what a dependency on something in a retried compound operation adds, unless another one needs it too.
    private func unlinkLastRound(
        of other: OperationCore, from core: OperationCore, _ row: OperationID, _ state: inout State
    ) {
        guard let round = other.lastRound(seenFrom: core), round.lifecycle.queue === self,
            let last = round.lifecycle.row
        else { return }
        let needs = core.state.withLock { $0.needs.map(\.core) }
        if needs.contains(where: { $0.lastRound(seenFrom: core) === round }) { return }
        handle(.unlink(dependent: row, prerequisite: last, .rounds), &state)
    }

    /// The row that a row waits for, or has waited for, because of a dependency; nil if it never had to wait.
    private func prerequisite(
        of row: OperationID, in need: OperationCore.Need, _ state: inout State
    ) -> OperationID? {
        state.scheduler?.dependencies(of: row).first { prerequisite, kind in
            switch state.entries[prerequisite.row] {
            case .operation, .standIn, .ended: state.entries[prerequisite.row].id == need.core.id
            // It has succeeded. Which failure was waited for no longer matters: they all mean the same.
            case .nothing: kind == .failure && need.kind == .failure && need.core.end == .success
            }
        }?.prerequisite
    }

    func waitingRow(of core: OperationCore) -> OperationID? {
        guard case .waiting(let place, _) = core.lifecycle, place.queue === self else { return nil }
        return place.row
    }

    private func refusal(of core: OperationCore) -> Result<Void, UsageError>? {
        core.state.withLock { $0.refusalToChange(core.id) }.map { .failure($0) }
    }
}
