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
            // The new one is added before the old one is removed, so that the operation cannot start in between.
            connect(core, row, to: other, kind, isSecond: known != nil, &state)
            if let known { cut(known, from: row, &state) }
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
            cut(need, from: row, &state)
            state.garbage.append(need.core)
            return .success(true)
        }
    }

    private func cut(_ need: OperationCore.Need, from row: OperationID, _ state: inout State) {
        guard let prerequisite = need.standIn?.row ?? need.core.lifecycle.row else { return }
        handle(.unlink(dependent: row, prerequisite: prerequisite), &state)
    }

    private func waitingRow(of core: OperationCore) -> OperationID? {
        guard case .waiting(let place, _) = core.lifecycle, place.queue === self else { return nil }
        return place.row
    }

    private func refusal(of core: OperationCore) -> Result<Void, UsageError>? {
        core.state.withLock { $0.refusalToChange(core.id) }.map { .failure($0) }
    }
}
