// Ends of operations, and what they mean for what is around them. Under the queue's lock.

extension QueueCore {
    func finish(_ row: OperationID, _ outcome: OperationOutcome, _ cause: OperationCause, _ state: inout State) {
        switch state.entries[row.row] {
        case .operation(let core):
            let end = end(of: core, outcome, cause, &state)
            if state.hasRetriedCompounds, core.outermostRetried != nil {
                return settle(core, Place(queue: self, row: row), end, &state)
            }
            if state.hasRetriedCompounds, let compound = core as? CompoundCore { finishMembers(of: compound, &state) }
            announce(.finished(outcome), of: core.id, &state)
            record(end, core.id, row, &state)
            finish(core, end, &state)
        case .standIn(let standIn):
            leave(standIn, &state)
            record(standIn.core.end ?? .success, standIn.core.id, row, &state)
        case .nothing, .ended: break
        }
    }

    /// Keeps the end of a row, unless it is a success, which is the cause of nothing.
    func record(_ end: OperationEnd, _ id: AsyncOperationID, _ row: OperationID, _ state: inout State) {
        state.entries[row.row] = end == .success ? .nothing : .ended(EndRecord(id, end))
    }

    /// Ends an operation for good.
    func finish(_ core: OperationCore, _ end: OperationEnd, _ state: inout State) {
        guard let parent = core.parent else {
            let (hasListeners, needs) = core.setEnd(end)
            free(needs, &state)
            let isCounted = !hasListeners || !core.hasCompletions
            if isCounted { state.countEnded() }
            return tell(core, end, hasListeners, isCounted: isCounted, &state)
        }
        let (hasListeners, isCounted, isLast, needs) = parent.withMembers { _, members in
            members.ended.append(core)
            let (hasListeners, needs) = core.setEnd(end)
            // While its completions run, they may still add members next to it.
            let isCounted = !hasListeners || !core.hasCompletions
            if isCounted { members.unfinished -= 1 }
            return (hasListeners, isCounted, isCounted && members.unfinished == 0, needs)
        }
        free(needs, &state)
        if isLast { closeIfEmpty(parent, &state) }
        tell(core, end, hasListeners, isCounted: isCounted, &state)
    }

    /// Lets go of what an operation needed that has ended for good.
    func free(_ needs: NeedList?, _ state: inout State) {
        guard let needs else { return }
        if needs.hasStandIns { release(needs.all, &state) }
        state.garbage.append(needs)
    }

    private func tell(
        _ core: OperationCore, _ end: OperationEnd, _ hasListeners: Bool, isCounted: Bool, _ state: inout State
    ) {
        let isOwn = core === state.ending
        if hasListeners || !isOwn { state.append(.tell(core, end, isCounted: isCounted, isOwn: isOwn)) }
    }

    func countEnd(of core: OperationCore, _ state: inout State) {
        guard let parent = core.parent else { return state.countEnded() }
        parent.withMembers { $1.unfinished -= 1 }
        closeIfEmpty(parent, &state)
    }

    /// Closes a compound operation that has started, once its last member has ended.
    func closeIfEmpty(_ compound: CompoundCore, _ state: inout State) {
        let row = compound.withMembers { operation, members -> OperationID? in
            guard case .open(let place, _) = operation.lifecycle, members.unfinished == 0, !members.isClosed else {
                return nil
            }
            members.isClosed = true
            return place.row
        }
        if let row { handle(.close(row), &state) }
    }

    private func end(
        of core: OperationCore, _ outcome: OperationOutcome, _ cause: OperationCause, _ state: inout State
    ) -> OperationEnd {
        switch outcome {
        case .success: return .success
        case .failure: return .failure
        case .skipped: return .skipped
        case .timeout:
            if case .member(let member) = cause, let end = state.entries[member.row].end { return end }
            let limit =
                switch cause {
                case .retryDeadline: core.options.retry?.deadline
                case .itself: core.state.withLock { $0.rare?.innerLimit }
                default: core.options.timeout
                }
            return .timeout(limit: limit ?? .zero, scope: core.id)
        case .cancelled:
            if case .member(let member) = cause, case .cancelled(let reason)? = state.entries[member.row].end {
                return .cancelled(reason)
            }
            return .cancelled(reason(of: cause, for: core, &state))
        case .notRun:
            switch cause {
            case .dependency(let row), .failFast(let row), .member(let row):
                let entry = state.entries[row.row]
                if case .notRun(let root)? = entry.end { return .notRun(rootCause: root) }
                return .notRun(rootCause: entry.id ?? core.id)
            case .itself, .deadline, .retryDeadline, .request, .stall, .condition:
                return .notRun(rootCause: core.id)
            }
        }
    }

    /// The reason of the nearest request around an operation. Noted on the way, because others inside ask for it too.
    private func inheritedReason(of core: OperationCore) -> AsyncOperationContext.CancellationReason {
        var reason: AsyncOperationContext.CancellationReason?
        var way: [CompoundCore] = []
        var next = core.parent
        while let outer = next, reason == nil {
            way.append(outer)
            (reason, next) = outer.withMembers { operation, members in
                (members.reason ?? operation.rare?.request.map { _ in .parent(outer.id) }, operation.parent)
            }
        }
        if let reason { for outer in way { outer.withMembers { $1.reason = reason } } }
        return reason ?? .requested
    }

    func reason(
        of cause: OperationCause, for core: OperationCore, _ state: inout State
    ) -> AsyncOperationContext.CancellationReason {
        switch cause {
        case .failFast(let row): return .sibling(state.entries[row.row].id ?? core.id)
        case .deadline(let row), .retryDeadline(let row): return .deadline(state.entries[row.row].id ?? core.id)
        case .itself, .dependency, .member, .request, .stall, .condition:
            if let request = core.request { return request }
            return inheritedReason(of: core)
        }
    }
}
