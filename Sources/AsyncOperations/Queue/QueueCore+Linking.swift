// Dependencies of operations that belong to the queue and have not started.

extension QueueCore {
    /// Lets `core` wait for `other` too. nil if the operation is not here any more, or not yet. With the topology
    /// locked.
    func link(
        _ core: OperationCore, to other: OperationCore, _ kind: EdgeKind
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
            state.suspect(core)
            return .success(())
        }
    }

    /// Removes a dependency. Returns whether there was one; nil if the operation does not belong to the queue, no
    /// longer or not yet.
    func unlink(_ core: OperationCore, from other: OperationCore) -> Result<Bool, UsageError>? {
        update { state in
            guard let row = waitingRow(of: core) else { return refusal(of: core)?.map { false } }
            guard let need = core.state.withLock({ $0.needList?.remove(other) }) else { return .success(false) }
            if let prerequisite = prerequisite(of: row, in: need, &state) {
                handle(.unlink(dependent: row, prerequisite: prerequisite), &state)
            }
            release([need], &state)
            state.garbage.append(need.core)
            return .success(true)
        }
    }

    /// The row for which a row waits because of a need, or has waited; nil where it never had to.
    private func prerequisite(
        of row: OperationID, in need: OperationCore.Need, _ state: inout State
    ) -> OperationID? {
        state.scheduler?.needs(of: row).first { prerequisite, kind in
            switch state.entries[prerequisite.row] {
            case .operation, .standIn, .ended: state.entries[prerequisite.row].id == need.core.id
            // It has succeeded. Whose failure was waited for does not matter any more: they are all the same.
            case .nothing: kind == .failure && need.kind == .failure && need.core.end == .success
            }
        }?.prerequisite
    }

    private func waitingRow(of core: OperationCore) -> OperationID? {
        guard case .waiting(let place, _) = core.lifecycle, place.queue === self else { return nil }
        return place.row
    }

    private func refusal(of core: OperationCore) -> Result<Void, UsageError>? {
        core.state.withLock { $0.refusalToChange(core.id) }.map { .failure($0) }
    }
}
